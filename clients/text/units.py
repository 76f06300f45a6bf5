"""Human-readable numbers, times and layer names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from ...events.counted_text import counted
from ...results.jobs.job import NotCounted

_PREFIXES: Final = ("", "k", "M", "G", "T", "P", "E")
_LAYERS: Final = {"MPIIO": "MPI-IO", "NETCDF": "NetCDF", "PNETCDF": "PnetCDF", "OTHER": "other"}


def byte_text(count: float) -> str:
    """Format a number of bytes with a decimal prefix.

    >>> byte_text(999), byte_text(4096), byte_text(12_500_000)
    ('999 B', '4.1 kB', '12.5 MB')
    """
    return f"{_scaled(count)}B"


def rate_text(bytes_per_second: float) -> str:
    """Format a bandwidth.

    >>> rate_text(2.5e9)
    '2.5 GB/s'
    """
    return f"{_scaled(bytes_per_second)}B/s"


def duration_text(seconds: float) -> str:
    """Format a duration with three significant digits; a long one as hours and minutes.

    >>> duration_text(0.0000123), duration_text(0.0123), duration_text(0.9999), duration_text(754), duration_text(7260)
    ('12.3 us', '12.3 ms', '1 s', '12 min 34 s', '2 h 01 min')
    """
    if not math.isfinite(seconds):
        return "?"
    if 0 < abs(seconds) < 0.0009995:
        return f"{seconds * 1e6:.3g} us"
    if abs(seconds) < 0.9995:
        return f"{seconds * 1e3:.3g} ms"
    if abs(seconds) < 120:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    if whole < 7200:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def clock_text(unix_s: float) -> str:
    """Format a time as local wall-clock time with tenths."""
    return datetime.fromtimestamp(unix_s).astimezone().strftime("%H:%M:%S.%f")[:-5]


def clock_lines(off_s: Mapping[str, float]) -> Iterator[str]:
    """Yield a line for each host whose clock was off.

    >>> list(clock_lines({"n1": -7200.0}))
    ['the clock of n1 was 2 h 00 min behind; its calls were moved by as much']
    """
    for host, seconds in off_s.items():
        way = "ahead" if seconds > 0 else "behind"
        yield f"the clock of {host} was {duration_text(abs(seconds))} {way}; its calls were moved by as much"


def not_counted_text(left: NotCounted) -> str:
    """Format the moved bytes that are not counted; "" without any.

    >>> not_counted_text(NotCounted(system_read=709_000, channel_written=12))
    'not counted: 709.0 kB of imports and system files, 12 B through pipes, sockets and devices'
    >>> not_counted_text(NotCounted())
    ''
    """
    parts = {
        "of imports and system files": left.system_read + left.system_written,
        "through pipes, sockets and devices": left.channel_read + left.channel_written,
    }
    amounts = [f"{byte_text(moved)} {where}" for where, moved in parts.items() if moved]
    return f"not counted: {', '.join(amounts)}" if amounts else ""


def mapped_text(left: NotCounted) -> str:
    """Format the length of mapped files, whose loads and stores are not calls; "" without any.

    >>> mapped_text(NotCounted(mapped_for_writing=64_000_000, flushed_at_most=64_000_000))
    'not seen: stores to 64.0 MB of mapped files (msync wrote back at most 64.0 MB)'
    >>> mapped_text(NotCounted(mapped_for_reading=4_900_000, files_mapped_for_reading=1))
    'not seen: loads from 4.9 MB of 1 mapped file'
    >>> mapped_text(NotCounted(mapped_for_writing=8192, mapped_for_reading=9000, files_mapped_for_reading=2))
    'not seen: stores to 8.2 kB of mapped files, loads from 9.0 kB of 2 mapped files'
    """
    parts = []
    if left.mapped_for_writing:
        flushed = f" (msync wrote back at most {byte_text(left.flushed_at_most)})" if left.flushed_at_most else ""
        parts.append(f"stores to {byte_text(left.mapped_for_writing)} of mapped files{flushed}")
    if left.mapped_for_reading:
        files = counted(left.files_mapped_for_reading, "mapped files")
        parts.append(f"loads from {byte_text(left.mapped_for_reading)} of {files}")
    return f"not seen: {', '.join(parts)}" if parts else ""


def _scaled(number: float) -> str:
    if not math.isfinite(number):
        return "? "
    for prefix in _PREFIXES:
        if abs(number) < 999.95 or prefix == _PREFIXES[-1]:
            text = f"{number:.0f}" if not prefix else f"{number:.1f}"
            return f"{text} {prefix}"
        number /= 1000
    raise AssertionError("unreachable")


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
