"""Display names of layers, and format of call times."""

from __future__ import annotations

from typing import Final

from .units import duration_text

_LAYERS: Final = {"MPIIO": "MPI-IO", "NETCDF": "NetCDF", "PNETCDF": "PnetCDF", "OTHER": "other"}


def time_text(seconds: float) -> str:
    """Format a duration; below a millisecond in microseconds.

    >>> time_text(0.0000153), time_text(0.0), time_text(1.5)
    ('15.3 us', '0 ms', '1.5 s')
    """
    return f"{seconds * 1e6:.3g} us" if 0 < abs(seconds) < 1e-3 else duration_text(seconds)


def layer_name(layer: str) -> str:
    """Return the display name of a layer."""
    return _LAYERS.get(layer, layer)


def caller_name(layer: str) -> str:
    """Return the display name of a caller."""
    return layer_name(layer) if layer else "program"
