"""Clipping of events to a time window."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...events import EventBatch
from ...events.summaries import summary_rows


def clip(batch: EventBatch, from_ns: int, to_ns: int) -> EventBatch:
    """Return the events within [from, to). Events that cross an edge are cut, with their share of the bytes.

    An event moves its bytes at a constant rate. Shares are rounded so that those of adjacent windows add up to the
    total. An event of zero duration belongs to the window that contains its start.
    """
    start, end = batch.start.astype(np.int64, copy=False), batch.end
    touching = (start < to_ns) & ((end > from_ns) | (start >= from_ns))
    if not touching.all():
        batch, start, end = batch.select(touching), start[touching], end[touching]
    crossing = (start < from_ns) | (end > to_ns)
    if not crossing.any():
        return batch
    low, high = np.maximum(start, from_ns), np.minimum(end, to_ns)
    volume = batch.bytes.astype(np.int64, copy=False)
    cut = np.flatnonzero(crossing)
    shared = volume.copy()
    shared[cut] = _moved(start, end, volume, high, cut) - _moved(start, end, volume, low, cut)
    columns: dict[str, npt.NDArray[np.int64]] = {"start": low, "duration": high - low, "bytes": shared}
    if (rows := summary_rows(batch)) is not None:
        for name in ("offset", "requested"):  # of a summary: the time that its calls took, and their number
            whole = getattr(batch, name).astype(np.int64)
            parts = whole.copy()
            parts[cut] = _moved(start, end, whole, high, cut) - _moved(start, end, whole, low, cut)
            columns[name] = np.where(rows, parts, whole)
    return batch.replace(**columns)


def _moved(
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    volume: npt.NDArray[np.int64],
    until: npt.NDArray[np.int64],
    rows: npt.NDArray[np.intp],
) -> npt.NDArray[np.int64]:
    """Return the bytes that events have moved by a time each. They are integers that depend on nothing else."""
    begin, stop, moved = start[rows], end[rows], volume[rows]
    part = (until[rows] - begin) / np.maximum(stop - begin, 1)
    done: npt.NDArray[np.int64] = np.rint(moved * part).astype(np.int64)
    return np.where(until[rows] >= stop, moved, done)
