"""Nesting by thread, time and layer, for traces that do not record it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....events import EventBatch, Flag, Layer, concatenate
from ...common.sorting import sorted_distinct
from ..calls import TOP_DOWN

_LOW: Final = 2**32


_UPPER: Final = (Layer.NETCDF, Layer.PNETCDF, Layer.HDF5, Layer.MPIIO)


def lacks_depth(batches: Iterable[EventBatch]) -> bool:
    """Return whether a trace has calls of several layers, including upper ones, but no depths."""
    present: set[int] = set()
    for batch in batches:
        if batch.depth.any():
            return False
        present.update(sorted_distinct(batch.layer[~_summaries(batch)]).tolist())
    return len(present) > 1 and not present.isdisjoint(_UPPER)


def nested_by_time(batch: EventBatch) -> EventBatch:
    """Set the depth of calls from their times. A call is nested in the calls of upper layers of the same thread.

    A call is nested in a call of an upper layer that spans it. Calls of one layer are never nested in one another, so
    coarse clocks do no harm. Summaries of many calls are neither nested nor enclosing. Without handles, each file gets
    one per layer.

    Args:
        batch: all events of a stream, of a trace that ``lacks_depth``.

    Returns:
        The same events sorted by end, with ``depth``, ``handle`` and ``parent``.
    """
    made = TimeNester(has_handles=bool(batch.handle.any())).add(batch)
    return made.select(np.lexsort((255 - made.depth, made.end)))


class TimeNester:
    """Sets the depths of a stream's calls like ``nested_by_time``, from pieces in order of their starts.

    It keeps the newest call of each thread and layer, since only that one can span later calls.

    Args:
        has_handles: whether the stream's calls have handles.
    """

    def __init__(self, *, has_handles: bool) -> None:
        self._has_handles = has_handles
        self._newest: EventBatch | None = None

    def add(self, batch: EventBatch) -> EventBatch:
        """Return the next events with ``depth``, ``handle`` and ``parent``.

        No event of an earlier piece starts later, and none of two pieces start together. Within a piece, any order is
        possible.
        """
        before = 0 if self._newest is None else len(self._newest)
        whole = batch if self._newest is None else concatenate([self._newest, batch])
        depth = np.zeros(len(whole), np.uint8)
        innermost = np.full(len(whole), -1, np.intp)
        thread = (whole.pid.astype(np.int64) << 32) + (whole.tid.astype(np.int64) & (_LOW - 1))
        thread = thread * 1_000_003 + whole.rank  # ranks of one file may share a pid
        order = np.lexsort((whole.start, thread))
        order = order[~_summaries(whole)[order]]
        borders = np.flatnonzero(np.diff(thread[order])) + 1
        for rows in np.split(order, borders):
            _nest_thread(whole, rows, depth, innermost)
        columns: dict[str, Any] = {"depth": depth}
        if not self._has_handles:
            handle = _handles(whole)
            parent = np.where(innermost >= 0, handle[innermost], np.uint32(0))
            columns |= {"handle": handle, "parent": parent.astype(np.uint32)}
        _, newest = np.unique(thread[order][::-1] * len(Layer) + whole.layer[order][::-1], return_index=True)
        self._newest = whole.select(np.sort(order[::-1][newest]))
        return whole.replace(**columns).select(slice(before, None))


def _summaries(batch: EventBatch) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (batch.flags & int(Flag.AGGREGATE)) != 0
    return found


def _nest_thread(
    batch: EventBatch, rows: npt.NDArray[np.intp], depth: npt.NDArray[np.uint8], innermost: npt.NDArray[np.intp]
) -> None:
    """Set the depths of one thread's events, sorted by start."""
    layer, start, end = batch.layer[rows], batch.start[rows], batch.end[rows]
    present = [each for each in TOP_DOWN if (layer == each).any()]
    for above, upper in enumerate(present[:-1]):
        uppers = np.flatnonzero(layer == upper)
        lowers = np.flatnonzero(np.isin(layer, present[above + 1 :]))
        at = np.searchsorted(start[uppers], start[lowers], "right") - 1
        spanning = uppers[np.maximum(at, 0)]
        inside = (at >= 0) & (end[spanning] >= end[lowers])
        depth[rows[lowers[inside]]] += 1
        innermost[rows[lowers[inside]]] = rows[spanning[inside]]


def _handles(batch: EventBatch) -> npt.NDArray[np.uint32]:
    """Return the number of each call's layer and file; 0 without a file."""
    pairs = batch.file.astype(np.int64) * len(Layer) + batch.layer
    return np.where(batch.file == 0, 0, pairs + 1).astype(np.uint32)
