"""File positions of reads and writes. Calls without an offset continue at the previous end or seek."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag, Kind
from ...events.batch import IntArray
from ..common.grouping import Grouping
from ..common.state import Ints, Rows

_NOWHERE: Final = -1  # no earlier call through this handle
_UNSURE, _CERTAIN, _APPENDED = 0, 1, 2
"""Certainty of a handle's position. Appended data lies at the end of the file, independent of the position."""


class PositionedCalls(NamedTuple):
    """Reads and writes with their positions; each column has shape (n,)."""

    row: Rows
    """Event number."""
    offset: Ints
    before: Ints
    """End of the previous call through the same handle, bytes; -1 for the first call."""
    known: npt.NDArray[np.bool_]
    """Whether the position is certain. The call states it, or a seek or open implies it. Uncertain for files that
    are appended to, or that another process opened."""


class Positions:
    """Tracks the positions of a bounded number of open files.

    Attributes:
        forgotten: number of evicted handles; the next call of one counts as its first.
    """

    def __init__(self, bound: int) -> None:
        self.forgotten = 0
        self._bound = bound
        # per handle: position, end of the last call, certainty
        self._known: OrderedDict[tuple[int, int], tuple[int, int, int]] = OrderedDict()

    def place(self, batch: EventBatch, rows: Rows, stream: Ints) -> PositionedCalls:
        """Find the positions of reads and writes.

        Args:
            batch: events.
            rows: opens, seeks, reads and writes in order of their ends; at least one.
            stream: stream number of each row.
        """
        handle = batch.handle[rows].astype(np.int64)
        handle = np.where(handle == 0, -1 - batch.file[rows].astype(np.int64), handle)
        kind, size = batch.kind[rows], batch.bytes[rows].astype(np.int64)
        recorded = batch.offset[rows].astype(np.int64)
        found = Grouping([stream, handle])
        keys = list(zip(stream[found.first].tolist(), handle[found.first].tolist(), strict=True))
        carried = np.array([self._known.get(key, (0, _NOWHERE, _UNSURE)) for key in keys], np.int64).reshape(-1, 3)

        order = np.argsort(found.number.astype(np.uint16 if len(found) < 2**16 else np.int64), kind="stable")
        group = found.number[order]
        kind, size, recorded = kind[order], size[order], recorded[order]
        moves = (kind == Kind.READ) | (kind == Kind.WRITE)
        advance = np.where(moves & (recorded < 0), size, 0)
        passed = np.cumsum(advance) - advance
        first = np.ones(len(order), np.bool_)
        first[1:] = group[1:] != group[:-1]
        opened, sought = kind == Kind.CREATE, (kind == Kind.SEEK) & (recorded >= 0)
        anchor = first | opened | sought
        start = np.where(sought, recorded, np.where(opened, 0, carried[group, 0]))
        at = np.maximum.accumulate(np.where(anchor, np.arange(len(order)), 0))
        position = start[at] + passed - passed[at]
        certainty = _certainty(batch.flags[rows][order], opened, first, carried[group, 2])
        certain = ((sought | opened | (certainty == _CERTAIN))[at]) & (certainty != _APPENDED)
        offset = np.where(moves & (recorded >= 0), recorded, position)

        last = np.flatnonzero(np.append(group[1:] != group[:-1], True))
        data = np.flatnonzero(moves)
        end, of_data = offset[data] + size[data], group[data]
        before = np.empty(len(data), np.int64)
        before[1:] = end[:-1]
        fresh = np.ones(len(data), np.bool_)
        fresh[1:] = of_data[1:] != of_data[:-1]
        before[fresh] = carried[of_data[fresh], 1]
        reopened = np.maximum.accumulate(np.where(opened, np.arange(len(order)), -1))[data]
        previous = np.concatenate([[-1], data[:-1]])
        before[(reopened > previous) & (reopened >= 0) & (group[np.maximum(reopened, 0)] == of_data)] = _NOWHERE

        ends = carried[:, 1].copy()
        final = np.flatnonzero(np.append(of_data[1:] != of_data[:-1], True)) if len(data) else data
        ends[of_data[final]] = end[final]
        at_last = position[last] + advance[last]
        surely = np.where(certainty[last] == _APPENDED, _APPENDED, certain[last].astype(np.int64))
        for number, where, sure in zip(group[last].tolist(), at_last.tolist(), surely.tolist(), strict=True):
            self._remember(keys[number], (where, int(ends[number]), sure))
        return PositionedCalls(rows[order[data]], offset[data], before, certain[data] | (recorded[data] >= 0))

    def _remember(self, key: tuple[int, int], state: tuple[int, int, int]) -> None:
        known = self._known
        known[key] = state
        known.move_to_end(key)
        if len(known) > self._bound:
            known.popitem(last=False)
            self.forgotten += 1


def _certainty(flags: IntArray, opened: npt.NDArray[np.bool_], first: npt.NDArray[np.bool_], carried: Ints) -> Ints:
    """Return the certainty of each row's handle position. It is that after the last open, or as carried over.

    Args:
        flags: flags of the rows, sorted by handle.
        opened: whether each row is an open.
        first: whether each row is the first of its handle.
        carried: earlier certainty of each row's handle, int64[n].
    """
    append = (flags & int(Flag.APPEND)) > 0
    recorded = np.where(opened, np.where(append, _APPENDED, _CERTAIN), carried)
    at = np.maximum.accumulate(np.where(opened | first, np.arange(len(recorded)), 0))
    return recorded[at]


def jumps_of(placed: PositionedCalls) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return the calls that do not start at the end of the previous one.

    The second mask marks those that start before it. Both are bool[n].
    """
    jump = (placed.before >= 0) & (placed.offset != placed.before)
    return jump, jump & (placed.offset < placed.before)
