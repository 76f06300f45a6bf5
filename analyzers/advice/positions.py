"""Where in its file each read and write lies: calls that say no offset go on from the one before, or from a seek."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag, Kind
from ...events.batch import IntArray
from ..common.grouping import Grouping
from ..common.state import Ints, Rows

_NOWHERE: Final = -1
_UNSURE, _CERTAIN, _APPENDED = 0, 1, 2
"""How sure a handle's position is; what is appended lies at the end, wherever others have moved it."""


class Placed(NamedTuple):
    """Reads and writes with their places; each column has shape (n,)."""

    row: Rows
    """Which event."""
    offset: Ints
    before: Ints
    """Where the call before, through the same handle, ended; -1 for the first."""
    known: npt.NDArray[np.bool_]
    """Whether the place is certain: said by the call, or followed from a seek or an open; not where files are appended
    to, or were opened by another process."""


class Positions:
    """Follows the position of each open file, a bounded number of them.

    Attributes:
        forgotten: handles that made room for others; their next call counts as their first.
    """

    def __init__(self, bound: int) -> None:
        self.forgotten = 0
        self._bound = bound
        # position, end of the last call, certainty
        self._known: OrderedDict[tuple[int, int], tuple[int, int, int]] = OrderedDict()

    def place(self, batch: EventBatch, rows: Rows, stream: Ints) -> Placed:
        """Finds the places of reads and writes.

        Args:
            batch: events.
            rows: those that open, seek, read or write, in the order of their ends; at least one.
            stream: the number of each row's stream.
        """
        handle = batch.handle[rows].astype(np.int64)
        handle = np.where(handle == 0, -1 - batch.file[rows].astype(np.int64), handle)
        kind, size = batch.kind[rows], batch.bytes[rows].astype(np.int64)
        said = batch.offset[rows].astype(np.int64)
        found = Grouping([stream, handle])
        keys = list(zip(stream[found.first].tolist(), handle[found.first].tolist(), strict=True))
        carried = np.array([self._known.get(key, (0, _NOWHERE, _UNSURE)) for key in keys], np.int64).reshape(-1, 3)

        order = np.argsort(found.number.astype(np.uint16 if len(found) < 2**16 else np.int64), kind="stable")
        group = found.number[order]
        kind, size, said = kind[order], size[order], said[order]
        moves = (kind == Kind.READ) | (kind == Kind.WRITE)
        advance = np.where(moves & (said < 0), size, 0)
        passed = np.cumsum(advance) - advance
        first = np.ones(len(order), np.bool_)
        first[1:] = group[1:] != group[:-1]
        opened, sought = kind == Kind.CREATE, (kind == Kind.SEEK) & (said >= 0)
        anchor = first | opened | sought
        start = np.where(sought, said, np.where(opened, 0, carried[group, 0]))
        at = np.maximum.accumulate(np.where(anchor, np.arange(len(order)), 0))
        position = start[at] + passed - passed[at]
        certainty = _certainty(batch.flags[rows][order], opened, first, carried[group, 2])
        certain = ((sought | opened | (certainty == _CERTAIN))[at]) & (certainty != _APPENDED)
        offset = np.where(moves & (said >= 0), said, position)

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
        return Placed(rows[order[data]], offset[data], before, certain[data] | (said[data] >= 0))

    def _remember(self, key: tuple[int, int], state: tuple[int, int, int]) -> None:
        known = self._known
        known[key] = state
        known.move_to_end(key)
        if len(known) > self._bound:
            known.popitem(last=False)
            self.forgotten += 1


def _certainty(flags: IntArray, opened: npt.NDArray[np.bool_], first: npt.NDArray[np.bool_], carried: Ints) -> Ints:
    """Returns how sure the position of each row's handle is by its last open, or by what was known before.

    Args:
        flags: of rows, those of each handle together.
        opened: which rows are opens.
        first: which are the first of their handle.
        carried: what was known of each row's handle before, int64[n].
    """
    append = (flags & int(Flag.APPEND)) > 0
    said = np.where(opened, np.where(append, _APPENDED, _CERTAIN), carried)
    at = np.maximum.accumulate(np.where(opened | first, np.arange(len(said)), 0))
    return said[at]


def jumps_of(placed: Placed) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Tells which calls do not begin where the one before ended, and which of them lie before it, bool[n]."""
    jump = (placed.before >= 0) & (placed.offset != placed.before)
    return jump, jump & (placed.offset < placed.before)
