"""Distribution of the bytes of requests over bins of equal length.

A request [s, e) of v bytes moves them at the constant rate v / (e - s). Binning by volume loses nothing at any bin
length, whereas sampling the bandwidth at points in time aliases. Source: [FTIO], Eq. 1, where the difference is called
abstraction error.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..common.grouping import native

_MIN_REQUESTS: Final = 256
"""Minimum number of requests for which the compiled helper pays off."""

Numbers = npt.NDArray[np.integer[Any]] | npt.NDArray[np.floating[Any]]


def bin_range(
    start: npt.NDArray[np.int64], end: npt.NDArray[np.int64], bin_ns: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first and last bin that each request [start, end) touches, int64. Empty ones touch one bin."""
    compiled = _compiled(start, end)
    if compiled is not None:
        first, last = np.empty(len(start), np.int64), np.empty(len(start), np.int64)
        compiled.bins_range(start.ctypes.data, end.ctypes.data, len(start), bin_ns, first.ctypes.data, last.ctypes.data)
        return first, last
    return start // bin_ns, np.maximum(end - 1, start) // bin_ns


def spread(
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    volume: Numbers,
    first: npt.NDArray[np.int64],
    last: npt.NDArray[np.int64],
    *,
    bin_ns: int,
    lowest: int,
    bins: int,
) -> npt.NDArray[np.float64]:
    """Return the bytes in each bin, float64[bins]. The bins are ``lowest .. lowest + bins - 1``.

    Requests within one bin are summed at once. For the others, the two partial bins get their shares, and the full bins
    between come from one cumulative sum over changes of the rate. This sum uses rates of at most a request's volume per
    bin, so that rounding stays below 1e-15 of the volume. Bins that no request touches are exactly 0.

    Args:
        start: start of each request, ns.
        end: end of each request, ns, at least ``start``.
        volume: bytes of each request.
        first: first bin of each request, as returned by ``bin_range``.
        last: last bin of each request, below ``lowest + bins``.
        bin_ns: length of a bin.
        lowest: index of the first bin wanted; earlier bins are dropped.
        bins: number of bins wanted.
    """
    total, across = _within(first, last, volume, lowest, bins)
    if not len(across):
        return total
    begun, ended = first[across], last[across]
    per_ns = volume[across] / (end[across] - start[across])
    total += _sums(begun - lowest, per_ns * ((begun + 1) * bin_ns - start[across]), bins)
    total += _sums(ended - lowest, per_ns * (end[across] - ended * bin_ns), bins)
    first, last = begun, ended
    full = np.flatnonzero((last - first > 1) & (last > lowest))
    if len(full):
        begin = np.maximum(first[full] + 1 - lowest, 0)
        stop = last[full] - lowest
        rate = per_ns[full] * bin_ns
        change = np.bincount(begin, rate, bins + 1) - np.bincount(stop, rate, bins + 1)
        running = np.bincount(begin, minlength=bins + 1) - np.bincount(stop, minlength=bins + 1)
        level = np.cumsum(change)[:bins]
        total += np.where(np.cumsum(running)[:bins] > 0, np.maximum(level, 0.0), 0.0)
    return total


def _within(
    first: npt.NDArray[np.int64], last: npt.NDArray[np.int64], volume: Numbers, lowest: int, bins: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Return the bytes in each bin from requests within one bin. It also returns the rows of the others."""
    compiled = _compiled(first, last)
    if compiled is not None and volume.dtype == np.int64:
        total, rows = np.zeros(bins), np.empty(len(first), np.intp)
        across = compiled.bins_sum(
            first.ctypes.data, last.ctypes.data, volume.ctypes.data, volume.strides[0], len(first), lowest,
            total.ctypes.data, rows.ctypes.data,
        )  # fmt: skip
        return total, rows[:across].copy()
    within = first == last
    if within.all():
        return _sums(first - lowest, volume, bins), np.zeros(0, np.intp)
    return _sums(first[within] - lowest, volume[within], bins), np.flatnonzero(~within)


def _compiled(*columns: npt.NDArray[np.int64]) -> ctypes.CDLL | None:
    """Return the compiled helper if it exists, pays off, and can read the columns."""
    if len(columns[0]) < _MIN_REQUESTS or any(not column.flags.c_contiguous for column in columns):
        return None
    return native()


def _sums(position: npt.NDArray[np.int64], weight: Numbers, bins: int) -> npt.NDArray[np.float64]:
    if len(position) and position.min() < 0:
        inside = position >= 0
        position, weight = position[inside], weight[inside]
    # NumPy's type stubs do not distinguish the weighted count's float64 from integers
    return np.bincount(position, weight, bins).astype(np.float64, copy=False)
