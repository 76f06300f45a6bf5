"""Common phrases of findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_LAYERS: Final = {"MPIIO": "MPI-IO", "NETCDF": "NetCDF", "PNETCDF": "PnetCDF"}
_MAX_LISTED: Final = 3  # maximum number of listed names
_UNITS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def spoken(layer: str) -> str:
    """Return the usual spelling of a layer's name."""
    return _LAYERS.get(layer, layer)


def some(number: int, thing: str) -> str:
    """Format a count with its noun.

    >>> some(1, "read"), some(1200, "read")
    ('1 read', '1,200 reads')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def listed(names: Iterable[str]) -> str:
    """List the first names, and the number of further ones.

    >>> listed(["a", "b"]), listed("abcde")
    ('a, b', 'a, b, c and 2 more')
    """
    every = list(names)
    more = len(every) - _MAX_LISTED
    return ", ".join(every[:_MAX_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def lasting(seconds: float) -> str:
    """Format a duration.

    >>> lasting(12.345), lasting(0.00234), lasting(0.0)
    ('12.3 s', '2.34 ms', '0 us')
    """
    unit, name = next((row for row in _UNITS if seconds >= row[0]), _UNITS[-1])
    return f"{seconds / unit:,.0f} {name}" if seconds / unit >= 100 else f"{seconds / unit:.3g} {name}"
