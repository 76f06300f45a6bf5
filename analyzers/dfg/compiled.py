"""Adds large batches of ordered events to the parts of a graph.

The compiled helper does this; NumPy is the fallback.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..common.grouping import native
from ..common.state import Ints, Rows
from .state.concurrency import Concurrency
from .state.nodes_and_edges import Durations, Edges, Nodes
from .state.open_cases import OpenCases

MIN_EVENTS: Final = 256
"""Minimum number of events for which the helper pays off."""
_OUT_OF_ORDER, _NO_MEMORY = -1, -2


def library(events: int) -> ctypes.CDLL | None:
    """Return the helper if it exists and the batch is large enough."""
    return native() if events >= MIN_EVENTS else None


def tally(
    compiled: ctypes.CDLL, nodes: Nodes, durations: Durations, rows: Rows, start: Ints, duration: Ints, size: Ints
) -> None:
    """Add events to the sums by activity and to the quantiles of durations. Columns have shape (n,), n >= 1."""
    made, shortest = Nodes(len(nodes.events)), np.full(len(nodes.events), 2**62)
    columns = (made.events, made.bytes, made.timed, made.first, shortest, made.longest, made.ns, made.rates)
    addresses = _addresses(*columns)
    compiled.graph_tally(*_pointers(rows, start, duration, size), len(rows), addresses.ctypes.data)
    nodes.add_sums(made)
    some = np.flatnonzero(made.events)
    base, shift, counts = durations.room_for(some, shortest[some], made.longest[some])
    compiled.graph_buckets(*_pointers(rows, duration), len(rows), base.ctypes.data, shift, counts.ctypes.data)


def sweep(compiled: ctypes.CDLL, concurrency: Concurrency, rows: Rows, start: Ints, duration: Ints) -> bool:
    """Add events to the maximum concurrency; return False without changes if some come too early."""
    running = concurrency.running(len(rows))
    left = compiled.graph_sweep(
        *_pointers(rows, start, duration), len(rows),
        *_pointers(concurrency.latest, concurrency.most), len(concurrency.most),
        concurrency.kept, *_pointers(*running),
    )  # fmt: skip
    if left == _NO_MEMORY:
        raise MemoryError
    if left != _OUT_OF_ORDER:
        concurrency.keep(running[0][:left], running[1][:left])
    return bool(left != _OUT_OF_ORDER)


def follow(
    compiled: ctypes.CDLL,
    nodes: Nodes,
    edges: Edges,
    cases: OpenCases,
    slots: Rows,
    rows: Rows,
    start: Ints,
    duration: Ints,
) -> bool:
    """Count edges, and cases per activity; return False without changes if the helper cannot.

    It requires that events of a case are in order of their starts and that no edge is new. ``slots`` has one entry per
    event, or one for all.
    """
    seen, (number, width, count, gap) = cases.activities(), edges.tables()
    addresses = np.array(
        [
            *_pointers(cases.last, cases.last_start, cases.last_end), len(cases.last), seen.ctypes.data, seen.shape[1],
            *_pointers(nodes.cases, nodes.starts, number), width, *_pointers(count, gap),
        ],
        np.int64,
    )  # fmt: skip
    step = 0 if len(slots) == 1 else 1
    done = compiled.graph_follow(
        addresses.ctypes.data, slots.ctypes.data, step, *_pointers(rows, start, duration), len(rows)
    )
    if done == _NO_MEMORY:
        raise MemoryError
    return bool(done)


def _pointers(*columns: npt.NDArray[Any]) -> list[int]:
    return [column.ctypes.data for column in columns]


def _addresses(*columns: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.array(_pointers(*columns), np.int64)
