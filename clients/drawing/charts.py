"""Colours and axis units that all charts share, independent of the drawing library."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

READ: Final = "#d9822b"
WRITE: Final = "#0b6e99"
PHASE: Final = "#7a3e9d"
WAVE: Final = "#1b2733"
SOFT: Final = "#8a97a5"
MISS: Final = "#c0392b"
FURTHER_PERIODS: Final = ("#2e8b57", "#b8860b", "#c2185b")
"""Colours of further periods, in order; there are at most as many."""

_TIME_UNITS: Final = (
    ("days", 86400.0, 3.0),
    ("h", 3600.0, 3.0),
    ("min", 60.0, 10.0),
    ("s", 1.0, 1.0),
    ("ms", 1e-3, 0.0),
)
_RATE_UNITS: Final = (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0))


class Unit(Struct, frozen=True):
    """A unit of an axis. A value in it is the value in base units (s, bytes/s) over ``factor``."""

    name: str
    factor: float


def time_unit(span_s: float) -> Unit:
    """Return the unit in which a time span has a few digits.

    >>> time_unit(0.4).name, time_unit(90).name, time_unit(1800).name, time_unit(90_000).name
    ('ms', 's', 'min', 'h')
    """
    return next(Unit(name, factor) for name, factor, least in _TIME_UNITS if abs(span_s) >= least * factor)


def rate_unit(top: float) -> Unit:
    """Return the unit of a bandwidth axis that reaches up to ``top`` bytes/s.

    >>> rate_unit(2.5e9).name, rate_unit(0).name
    ('GB/s', 'B/s')
    """
    return next((Unit(name, factor) for name, factor in _RATE_UNITS if top >= factor), Unit("B/s", 1.0))
