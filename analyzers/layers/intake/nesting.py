"""Nesting of calls by thread, depth and time."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ....events import Layer
from ...common.sorting import order_of, sorted_distinct
from ...common.state import Ints, Rows, distinct
from ..calls import ABSORBED, BOTTOM, CHANGED, FREE, LAYERS, NO_FATE, PASSED, PROGRAM, SPLIT, UNTOLD, Calls, moves

_NONE: Final = -1  # no enclosing call
_ABOVE: Final = {
    Layer.KERNEL: Layer.POSIX, Layer.POSIX: Layer.MPIIO, Layer.STDIO: Layer.MPIIO, Layer.MPIIO: Layer.HDF5,
    Layer.HDF5: Layer.NETCDF, Layer.PNETCDF: Layer.NETCDF,
}  # fmt: skip
"""Calling layer by layer, if a trace only records that a call is nested."""


class Nested(NamedTuple):
    """Result of nesting.

    Attributes:
        calls: the same calls, sorted by thread and end if any is nested.
        closed: whether all enclosing calls are known, bool[n].
        orphans: number of calls whose enclosing call was never observed to end.
    """

    calls: Calls
    closed: npt.NDArray[np.bool_]
    orphans: int


def nest(calls: Calls) -> Nested:
    """Find the enclosing calls that have ended. It adds the time of nested calls to them.

    The enclosing call of a call is the next one of its thread that ends later and has a lower depth. If that does not
    span the call, the actual enclosing call was never observed: the call is an orphan and counts as the program's.
    """
    if not calls.depth.any():
        calls.over[calls.over == UNTOLD] = PROGRAM
        assign_fates(calls)
        return Nested(calls, np.ones(len(calls), np.bool_), 0)
    calls = _by_thread_and_end(calls)
    encloser, orphan = _enclosers(calls)
    levels = sorted_distinct(calls.depth)
    levels = levels[levels > FREE]
    has_encloser = (encloser != _NONE) & (calls.over == UNTOLD)
    _add_below(calls, np.flatnonzero(has_encloser), encloser)
    closed = (calls.depth == FREE) | orphan
    around, depth = calls.around.copy(), np.where(orphan, np.uint8(FREE), calls.depth)
    collective = np.full(len(calls), _NONE, np.int64)
    is_collective = calls.collective & (calls.layer == Layer.MPIIO)
    bit = np.left_shift(np.uint8(1), calls.layer)
    for level in levels.tolist():
        rows = np.flatnonzero((calls.depth == level) & (encloser != _NONE))
        above = encloser[rows]
        around[rows] |= around[above] | bit[above]
        depth[rows] = depth[above]
        closed[rows] = closed[above]
        collective[rows] = np.where(is_collective[above], above, collective[above])
    _add_to_collectives(calls, collective)
    calls.around, calls.depth = around, depth
    calls.over[closed & (calls.over == UNTOLD)] = PROGRAM
    assign_fates(calls)
    return Nested(calls, closed, int(calls.count[orphan].sum()))


def with_summaries_placed(calls: Calls) -> Calls:
    """Set the calling layer of nested summaries; their times do not identify the enclosing call.

    Their time is subtracted from the first summary of that layer with the same thread, file and kind.
    """
    rows = np.flatnonzero(calls.summed & (calls.depth > FREE))
    if len(rows):
        above = np.arange(LAYERS)
        above[list(_ABOVE)] = list(_ABOVE.values())
        over = above[calls.layer[rows]]
        calls.over[rows], calls.over_kind[rows] = over, calls.kind[rows]
        calls.around[rows] |= np.left_shift(1, over).astype(np.uint8)
        _add_below_summaries(calls, rows)
    calls.depth = np.where(calls.summed, np.uint8(FREE), calls.depth)
    return calls


def _add_below_summaries(calls: Calls, rows: Rows) -> None:
    able = np.flatnonzero(calls.summed & (calls.depth == FREE))
    columns = (calls.thread, calls.file, calls.kind.astype(np.int64), calls.layer.astype(np.int64))
    places: dict[tuple[int, ...], int] = {}
    for place, *key in zip(able.tolist(), *(column[able].tolist() for column in columns), strict=True):
        places.setdefault(tuple(key), place)
    wanted = (*(column[rows].tolist() for column in columns[:3]), calls.over[rows].tolist())
    found = np.array([places.get(key, _NONE) for key in zip(*wanted, strict=True)], np.intp)
    rows, found = rows[found != _NONE], found[found != _NONE]
    np.add.at(calls.below_ns, found, calls.ns[rows])
    calls.below_ns[found] = np.minimum(calls.below_ns[found], calls.ns[found])


def _by_thread_and_end(calls: Calls) -> Calls:
    threads, group = distinct(calls.thread)
    if len(threads) > 1 and (group[1:] < group[:-1]).any():
        order = order_of(group, len(threads))
        calls, group = calls.take(order), group.take(order)
    back = (calls.end[1:] < calls.end[:-1]) & (group[1:] == group[:-1])
    if back.any():
        calls = calls.take(np.lexsort((255 - calls.depth, calls.end, group)))
    return calls


def _enclosers(calls: Calls) -> tuple[Rows, npt.NDArray[np.bool_]]:
    encloser = np.full(len(calls), _NONE, np.intp)
    orphan = np.zeros(len(calls), np.bool_)
    able = ~calls.summed & (calls.over == UNTOLD)
    for level in sorted_distinct(calls.depth).tolist():
        if level == FREE:
            continue
        rows = np.flatnonzero(calls.depth == level)
        able_here = np.flatnonzero(able & (calls.depth < level))
        if not len(able_here):
            continue
        at = np.searchsorted(able_here, rows)
        there = able_here[np.minimum(at, len(able_here) - 1)]
        same = (at < len(able_here)) & (calls.thread[there] == calls.thread[rows])
        spans = same & (calls.start[there] <= calls.start[rows]) & (calls.end[there] >= calls.end[rows])
        encloser[rows[spans]] = there[spans]
        orphan[rows[same & ~spans]] = True
    return encloser, orphan


def _add_below(calls: Calls, rows: Rows, encloser: Rows) -> None:
    """Add the sums of calls to their directly enclosing calls."""
    above = encloser[rows]
    calls.over[rows] = calls.layer[above]
    calls.over_kind[rows] = calls.kind[above]
    np.add.at(calls.below_ns, above, calls.ns[rows])
    same_way = (calls.kind[rows] == calls.kind[above]) & moves(calls)[rows]
    rows, above = rows[same_way], above[same_way]
    np.add.at(calls.below, above, calls.count[rows])
    np.add.at(calls.below_bytes, above, calls.bytes[rows])


def _add_to_collectives(calls: Calls, collective: Ints) -> None:
    """Add the work in the lowest layers to the enclosing collective calls.

    Only bytes of the same direction and file count: for example, reads of ``/proc`` by a library are not program data.
    """
    lowest = (np.left_shift(1, calls.layer.astype(np.int64)) & BOTTOM) != 0
    outer = lowest & ((calls.around & BOTTOM) == 0) & (collective != _NONE)
    rows = np.flatnonzero(outer)
    np.add.at(calls.system_ns, collective[rows], calls.ns[rows])
    moving = moves(calls)
    rows = rows[moving[rows]]
    above = collective[rows]
    same_way = (calls.kind[rows] == calls.kind[above]) | ~moving[above]
    same_file = (calls.file[rows] == calls.file[above]) | (calls.file[above] == 0)
    rows = rows[same_way & same_file]
    np.add.at(calls.system_bytes, collective[rows], calls.bytes[rows])


def assign_fates(calls: Calls) -> None:
    """Set the translation of requests above the lowest layers, once all nested calls have ended."""
    upper = (np.left_shift(1, calls.layer.astype(np.int64)) & BOTTOM) == 0
    rows = np.flatnonzero(upper & moves(calls) & ~calls.summed & (calls.fate == NO_FATE))
    below = calls.below[rows]
    alike = calls.below_bytes[rows] == calls.bytes[rows]
    one = np.where(alike, PASSED, CHANGED)
    calls.fate[rows] = np.where(below == 0, ABSORBED, np.where(below == 1, one, SPLIT))
