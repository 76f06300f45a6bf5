"""Time between the calls of a thread that belongs to them: of an interpreter, or of a library that is not traced."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag
from ...events.batch import IntArray
from ..common.grouping import Grouping
from ..common.state import Ints, Rows
from .cells import Rows as Sums
from .keys import BETWEEN

Floats = npt.NDArray[np.float64]
_SHORT: Final = 3
"""Largest gap that may belong to a call, as a multiple of the longer one of the two calls around it. In longer gaps the
program computes."""
_SHORTEST_NS: Final = 2_000
"""Gap that may belong to any call, ns: a few hundred instructions of an interpreter."""
_LONGEST_NS: Final = 200_000
"""Largest gap that may belong to a call, ns: h5py between the calls that make a dataset."""
_LOG_UNIT: Final = 1024.0  # a logarithm of 1, as an integer
_MAX_NS: Final = 2**46
_WAITS_NS: Final = 50_000.0
"""Mean duration from which calls wait for storage, ns."""
_MOST_STRETCHED: Final = 8.0


def gaps_before(batch: EventBatch, stream: Ints, most: int) -> tuple[Rows, Ints]:
    """Return the time that may belong to each call, from the end of the previous call of its thread.

    Args:
        batch: events in the order of their ends.
        stream: stream of each event.
        most: maximum number of calls to examine.

    Returns:
        Event numbers of calls of the program itself with a previous one in the batch, and ns before each; 0 for gaps in
        which the program computes.
    """
    rows = np.flatnonzero((batch.depth == 0) & ((batch.flags & int(Flag.BEGUN)) == 0))[:most]
    if len(rows) < 2:
        return rows[:0], np.zeros(0, np.int64)
    thread = Grouping([stream[rows], batch.tid[rows]]).number
    order = np.argsort(thread, kind="stable")
    rows, thread = rows[order], thread[order]
    start, duration = batch.start[rows].astype(np.int64), batch.duration[rows].astype(np.int64)
    gap = start[1:] - start[:-1] - duration[:-1]
    around = np.maximum(np.maximum(duration[1:], duration[:-1]) * _SHORT, _SHORTEST_NS)
    kept: npt.NDArray[np.bool_] = thread[1:] == thread[:-1]
    return rows[1:][kept], np.where((gap > 0) & (gap <= np.minimum(around, _LONGEST_NS)), gap, 0)[kept]


def sizes_of(duration: IntArray) -> tuple[Ints, Ints]:
    """Return durations, ns, and their logarithms, for ``stretch_of``; both sum up as integers."""
    ns = np.clip(duration.astype(np.int64), 1, _MAX_NS)
    return ns, np.rint(np.log2(ns) * _LOG_UNIT).astype(np.int64)


def stretch_of(calls: Ints, ns: Ints, logs: Ints) -> Floats:
    """Return by how much other processes lengthen the time of a thread: the mean duration over the typical one.

    A thread that waits for a processor does so as often between calls as in them. Calls that wait for storage show no
    such factor.

    Args:
        calls: number of calls, at least one each.
        ns: sum of their durations.
        logs: sum of the logarithms of their durations.
    """
    mean = ns / calls
    typical = np.exp2(logs / calls / _LOG_UNIT)
    return np.where(mean < _WAITS_NS, np.clip(mean / typical, 1.0, _MOST_STRETCHED), 1.0)


def gaps_and_orders(rows: Sums) -> tuple[Sums, Sums]:
    """Split the table of call orders: the time between calls, with the keys of their cells, and the orders."""
    between = (rows.key & BETWEEN) > 0
    gaps, orders = (Sums(*(column[chosen] for column in rows)) for chosen in (between, ~between))
    return gaps._replace(key=gaps.key & ~BETWEEN), orders
