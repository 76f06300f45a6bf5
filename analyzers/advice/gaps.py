"""Time between the calls of a thread that belongs to them: of an interpreter, or of a library that is not traced."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag, Layer
from ...events.batch import IntArray
from ..common.grouping import Grouping
from ..common.state import Ints, Rows
from .call_sums import BETWEEN, split
from .call_sums import Rows as Sums

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_SHORT: Final = 3
"""Largest gap that may belong to a call, as a multiple of the longer one of the two calls around it. In longer gaps the
program computes."""
_SHORTEST_NS: Final = 2_000
"""Gap that may belong to any call, ns: a few hundred instructions of an interpreter."""
_LONGEST_NS: Final = 200_000
"""Largest gap that may belong to a call, ns: h5py between the calls that make a dataset."""
_LIBRARY_NS: Final = 50_000
"""Gap that may belong to any call of a format library by an interpreter, ns: Python code of h5py, types and selections.
Between the calls that make a dataset or an attribute are 1 to 17 us, more than three times the longest of these calls.
"""
_SURE_NS: Final = np.array([[0, 500], [1_000, 5_000]])
"""Gap that surely belongs to a call, ns, by whether a format library is called, and whether by an interpreter. Outside
of the calls Python takes 0.5 to 0.8 us in a write or ``os.stat``, ``H5Sselect_hyperslab`` 0.4 us, h5py 1 to 17 us."""
_LIBRARIES: Final = np.zeros(256, np.bool_)
_LIBRARIES[[Layer.HDF5, Layer.NETCDF, Layer.PNETCDF]] = True
_LOG_UNIT: Final = 1024.0  # a logarithm of 1, as an integer
_MAX_NS: Final = 2**46
_KIND_BITS: Final = 7  # bits of layer and kind
WAITS_NS: Final = 50_000.0
"""Typical duration from which calls wait for storage, ns."""
_MOST_STRETCHED: Final = 8.0


class Gaps(NamedTuple):
    """Time before calls, from the end of the previous call of the thread; each column has shape (n,)."""

    row: Rows
    """Event number."""
    most: Ints
    """Time that may belong to the call, ns; 0 for gaps in which the program computes."""
    sure: Ints
    """Part of it that an interpreter or a library surely takes, ns."""


def gaps_before(batch: EventBatch, stream: Ints, interpreted: Flags, count: int) -> Gaps:
    """Return the time that may belong to each call of the program itself with a previous one in the batch.

    Args:
        batch: events in the order of their ends.
        stream: stream of each event.
        interpreted: whether an interpreter makes each call.
        count: maximum number of calls to examine.
    """
    rows = np.flatnonzero((batch.depth == 0) & ((batch.flags & int(Flag.BEGUN)) == 0))[:count]
    if len(rows) < 2:
        none = np.zeros(0, np.int64)
        return Gaps(rows[:0], none, none)
    thread = Grouping([stream[rows], batch.tid[rows]]).number
    order = np.argsort(thread, kind="stable")
    rows, thread = rows[order], thread[order]
    start, duration = batch.start[rows].astype(np.int64), batch.duration[rows].astype(np.int64)
    gap = start[1:] - start[:-1] - duration[:-1]
    kept: Flags = thread[1:] == thread[:-1]
    library, slow = _LIBRARIES.take(batch.layer[rows[1:]]), interpreted[rows[1:]]
    shortest = np.where(library & slow, _LIBRARY_NS, _SHORTEST_NS)
    around = np.maximum(np.maximum(duration[1:], duration[:-1]) * _SHORT, shortest)
    most = np.where((gap > 0) & (gap <= np.minimum(around, _LONGEST_NS)), gap, 0)
    sure = np.minimum(most, _SURE_NS[library.astype(np.intp), slow.astype(np.intp)])
    return Gaps(rows[1:][kept], most[kept], sure[kept])


def sizes_of(duration: IntArray) -> tuple[Ints, Ints]:
    """Return durations, ns, and their logarithms, for ``stretch_of``; both sum up as integers."""
    ns = np.clip(duration.astype(np.int64), 1, _MAX_NS)
    return ns, np.rint(np.log2(ns) * _LOG_UNIT).astype(np.int64)


def stretch_of(key: Ints, sums: Ints) -> tuple[Floats, Flags]:
    """Return by how much other processes lengthen the time of each row: the mean duration over the typical one.

    A thread that waits for a processor does so as often between calls as in them. Few calls show this, so the calls of
    a thread on all files count together. Calls that wait for storage show no such factor.

    Args:
        key: key of each row.
        sums: number of calls, sum of their gaps, of their durations and of the logarithms of these, int64[n, >= 4].

    Returns:
        The factor of each row, and whether its calls wait for storage.
    """
    keys = split(key)
    _, group = np.unique(keys.thread << _KIND_BITS | keys.layer << 4 | keys.kind, return_inverse=True)
    calls, ns, logs = (np.bincount(group, sums[:, column]) for column in (0, 2, 3))
    calls = np.maximum(calls, 1)
    typical = np.exp2(logs / calls / _LOG_UNIT)
    waits = typical >= WAITS_NS
    return np.where(waits, 1.0, np.clip(ns / calls / typical, 1.0, _MOST_STRETCHED))[group], waits[group]


def gaps_and_orders(rows: Sums) -> tuple[Sums, Sums]:
    """Split the table of call orders: the time between calls, with the keys of their cells, and the orders."""
    between = (rows.key & BETWEEN) > 0
    gaps, orders = (Sums(*(column[chosen] for column in rows)) for chosen in (between, ~between))
    return gaps._replace(key=gaps.key & ~BETWEEN), orders
