"""Where in its file each read and write lies: calls that say no offset go on from the one before, or from a seek."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Kind
from ..common.grouping import Grouping
from ..common.state import Ints, Rows

_NOWHERE: Final = -1


class Placed(NamedTuple):
    """Reads and writes with their places; each column has shape (n,)."""

    row: Rows
    """Which event."""
    offset: Ints
    before: Ints
    """Where the call before, through the same handle, ended; -1 for the first."""


class Positions:
    """Follows the position of each open file, a bounded number of them.

    Attributes:
        forgotten: handles that made room for others; their next call counts as their first.
    """

    def __init__(self, bound: int) -> None:
        self.forgotten = 0
        self._bound = bound
        self._known: OrderedDict[tuple[int, int], tuple[int, int]] = OrderedDict()  # position, end of the last call

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
        carried = np.array([self._known.get(key, (0, _NOWHERE)) for key in keys], np.int64).reshape(-1, 2)

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
        for number, where in zip(group[last].tolist(), at_last.tolist(), strict=True):
            self._remember(keys[number], (where, int(ends[number])))
        return Placed(rows[order[data]], offset[data], before)

    def _remember(self, key: tuple[int, int], state: tuple[int, int]) -> None:
        known = self._known
        known[key] = state
        known.move_to_end(key)
        if len(known) > self._bound:
            known.popitem(last=False)
            self.forgotten += 1


def jumps_of(placed: Placed) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Tells which calls do not begin where the one before ended, and which of them lie before it, bool[n]."""
    jump = (placed.before >= 0) & (placed.offset != placed.before)
    return jump, jump & (placed.offset < placed.before)
