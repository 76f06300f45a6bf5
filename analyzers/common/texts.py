"""Texts of findings: sizes, durations, lists and layer names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_LAYERS: Final = {"MPIIO": "MPI-IO", "NETCDF": "NetCDF", "PNETCDF": "PnetCDF"}
_MAX_LISTED: Final = 3  # maximum number of listed names
_UNITS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def layer_label(layer: str) -> str:
    """Return the usual spelling of a layer's name."""
    return _LAYERS.get(layer, layer)


def list_text(names: Iterable[str]) -> str:
    """List the first names, and the number of further ones.

    >>> list_text(["a", "b"]), list_text("abcde")
    ('a, b', 'a, b, c and 2 more')
    """
    every = list(names)
    more = len(every) - _MAX_LISTED
    return ", ".join(every[:_MAX_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def duration_text(seconds: float) -> str:
    """Format a duration.

    >>> duration_text(12.345), duration_text(0.00234), duration_text(0.0)
    ('12.3 s', '2.34 ms', '0 us')
    """
    unit, name = next((row for row in _UNITS if seconds >= row[0]), _UNITS[-1])
    return f"{seconds / unit:,.0f} {name}" if seconds / unit >= 100 else f"{seconds / unit:.3g} {name}"


def size_text(size: float) -> str:
    """Format bytes with a binary unit.

    >>> size_text(12), size_text(4096), size_text(1_572_864)
    ('12 B', '4 KiB', '1.5 MiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1023.5 or unit == "GiB":
            break
        size /= 1024
    digits = f"{size:.1f}".removesuffix(".0") if size < 99.95 and unit != "B" else f"{size:.0f}"
    return f"{digits} {unit}"
