"""Nesting by thread, time and layer, for traces that do not record it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....events import EventBatch, Flag, Layer
from ..calls import TOP_DOWN

_LOW: Final = 2**32


_UPPER: Final = (Layer.NETCDF, Layer.PNETCDF, Layer.HDF5, Layer.MPIIO)


def lacks_depth(batches: Iterable[EventBatch]) -> bool:
    """Return whether a trace has calls of several layers, including upper ones, but no depths."""
    present: set[int] = set()
    for batch in batches:
        if batch.depth.any():
            return False
        present.update(np.unique(batch.layer[~_summaries(batch)]).tolist())
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
    depth = np.zeros(len(batch), np.uint8)
    innermost = np.full(len(batch), -1, np.intp)
    thread = (batch.pid.astype(np.int64) << 32) + (batch.tid.astype(np.int64) & (_LOW - 1))
    thread = thread * 1_000_003 + batch.rank  # ranks of one file may share a pid
    order = np.lexsort((batch.start, thread))
    order = order[~_summaries(batch)[order]]
    borders = np.flatnonzero(np.diff(thread[order])) + 1
    for rows in np.split(order, borders):
        _nest_thread(batch, rows, depth, innermost)
    columns: dict[str, Any] = {"depth": depth}
    if not batch.handle.any():
        handle = _handles(batch)
        parent = np.where(innermost >= 0, handle[innermost], np.uint32(0))
        columns |= {"handle": handle, "parent": parent.astype(np.uint32)}
    made = batch.replace(**columns)
    return made.select(np.lexsort((255 - depth, batch.end)))


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
    """Numbers pairs of a layer and a file from 1. 0 for calls without a file."""
    pairs = batch.file.astype(np.int64) * len(Layer) + batch.layer
    _, number = np.unique(pairs, return_inverse=True)
    return np.where(batch.file == 0, 0, number + 1).astype(np.uint32)
