"""File positions of reads and writes, and byte ranges by process. A write has the time from which others can see it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag, Kind, Layer
from ...events.batch import IntArray
from ..common.grouping import Grouping
from ..common.state import Ints, Packed, Rows, State, narrowest
from .threads import Threads

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


_CALLS: Final = 8_192
"""Maximum number of calls per stream whose extents are kept."""
_OF_STREAM: Final = 1_024
"""Approximate maximum number of extents per stream."""
_MAX_SHOWN: Final = 4
"""Maximum number of flushes and closes kept, per extent of the budget."""
_MAX_GAP_NS: Final = 100_000_000
"""Maximum pause between contiguous calls of one extent, ns. Times within an extent are interpolated."""
_HANDLES: Final = 256  # maximum number of tracked file positions
_SHOWS: Final = (int(Kind.SYNC), int(Kind.DESTROY), int(Kind.DELETE))
"""Kinds of calls that make writes visible to others: flush or close. DELETE ends visibility."""
_KINDS: Final = np.zeros(256, np.bool_)
_KINDS[[Kind.CREATE, Kind.SEEK, Kind.READ, Kind.WRITE, *_SHOWS]] = True
_LAYERS: Final = np.zeros(256, np.bool_)
_LAYERS[[Layer.POSIX, Layer.KERNEL]] = True
_COLUMNS: Final = 8
_LOW, _HIGH, _FIRST, _LAST = 3, 4, 5, 6  # columns of a range
_LOOSE: Final = 256
"""Maximum number of extents in wide columns."""


_PackedColumns = list[npt.NDArray[Any]]
"""Columns of extents. Sizes and durations replace the ends."""


class Extents(NamedTuple):
    """Contiguous byte ranges; each column has shape (n,)."""

    stream: Ints
    file: Ints
    write: npt.NDArray[np.bool_]
    low: Ints
    high: Ints
    first: Ints
    """Start of the first call of each range, ns."""
    last: Ints
    """End of the last call of each range, ns."""
    thread: Ints

    def time_at(self, row: int, offset: int) -> int:
        """Return the time at which a range reaches an offset, ns: its calls are alike and in order of offsets."""
        low, first = int(self.low[row]), int(self.first[row])
        # integers: a float of a Unix time in ns is off by up to 128
        return first + (int(self.last[row]) - first) * (offset - low) // (int(self.high[row]) - low)

    def at(self, rows: Rows) -> Extents:
        """Return the given rows."""
        return Extents(*[column[rows] for column in self])  # type: ignore[arg-type]  # columns in their order


class Flushes(NamedTuple):
    """Flushes and closes of files by streams; each column has shape (n,)."""

    stream: Ints
    file: Ints
    at: Ints


class ExtentTable(Packed, State):
    """Extents of the first calls of each stream; extents beyond the budget are dropped.

    Attributes:
        left_out: number of dropped extents.
    """

    def __init__(self, budget: int) -> None:
        self.left_out = 0
        self._budget = budget
        self._positions = Positions(_HANDLES)
        self._calls: dict[int, int] = {}
        self._held: dict[int, int] = {}
        self._extents: list[Ints] = []  # the latest
        self._packed: list[_PackedColumns] = []  # the others
        self._shown: list[Ints] = []
        self._length = 0
        self._shows = 0

    def __getstate__(self) -> dict[str, object]:
        """Return the state with all extents in wide columns, as saved states have it."""
        state = dict(vars(self))
        state["_extents"] = [*map(_unpacked, state.pop("_packed")), *self._extents]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._packed = []
        self.pack()

    def update(self, batch: EventBatch, stream: Ints, threads: Threads, data: npt.NDArray[np.bool_]) -> None:
        """Add calls.

        Args:
            batch: events; those of each stream in order of their ends.
            stream: stream number of each event.
            threads: numbering of threads.
            data: whether each event is on a file that counts.
        """
        wanted = _KINDS.take(batch.kind) & _LAYERS.take(batch.layer) & data & (batch.file != 0)
        wanted &= (batch.flags & int(Flag.FAILED)) == 0
        wanted &= batch.depth == 0
        rows = self._with_room(np.flatnonzero(wanted), stream)
        if not len(rows):
            return
        shows = np.isin(batch.kind[rows], _SHOWS)
        ended = rows[shows]
        if len(ended) and self._shows < _MAX_SHOWN * self._budget:
            self._shows += len(ended)
            file = batch.file[ended].astype(np.int64)
            self._shown.append(np.stack([stream[ended], file, batch.start[ended] + batch.duration[ended]]))
        rows = rows[~shows]
        if not len(rows):
            return
        placed = self._positions.place(batch, rows, stream[rows])
        at, offset = placed.row[placed.known], placed.offset[placed.known]
        size = batch.bytes[at].astype(np.int64)
        some = size > 0
        if some.any():
            at = at[some]
            thread = threads.of(stream[at], batch.tid[at], batch.pid[at], batch.rank[at])
            self._keep(batch, at, offset[some], size[some], stream[at], thread, ended)

    def close_stream(self, stream: int) -> None:
        """Forget the counters of a stream that has ended."""
        self._calls.pop(stream, None)
        self._held.pop(stream, None)

    def extents(self) -> Extents:
        """Return a copy of all extents."""
        parts = [np.zeros((_COLUMNS, 0), np.int64), *map(_unpacked, self._packed), *self._extents]
        stream, file, write, low, high, first, last, thread = np.concatenate(parts, axis=1)
        return Extents(stream, file, write.astype(np.bool_), low, high, first, last, thread)

    def flushes(self) -> Flushes:
        """Return the times at which writes became visible."""
        return Flushes(*(np.concatenate(self._shown, axis=1) if self._shown else np.zeros((3, 0), np.int64)))

    def pack(self) -> None:
        """Store all extents in the narrowest integer types that hold them."""
        if self._extents:
            columns = np.concatenate(self._extents, axis=1)
            columns[_HIGH] -= columns[_LOW]
            columns[_LAST] -= columns[_FIRST]
            self._packed.append([narrowest(column) for column in columns])
            self._extents = []

    def _with_room(self, rows: Rows, stream: Ints) -> Rows:
        """Return the rows of streams that are still below their bounds."""
        if not len(rows) or self._length >= self._budget:
            return rows[:0]
        numbers, count = np.unique(stream[rows], return_counts=True)
        full = []
        for number, calls in zip(numbers.tolist(), count.tolist(), strict=True):
            before = self._calls.get(number, 0)
            self._calls[number] = before + calls
            if before >= _CALLS or self._held.get(number, 0) >= _OF_STREAM:
                full.append(number)
        return rows[~np.isin(stream[rows], full)] if full else rows

    def _keep(
        self, batch: EventBatch, at: Rows, offset: Ints, size: Ints, stream: Ints, thread: Ints, ended: Rows
    ) -> None:
        """Store extents, and merge contiguous calls unless a pause, a flush or a close lies between them."""
        start = batch.start[at].astype(np.int64)
        ends = start + batch.duration[at].astype(np.int64)
        file, write = batch.file[at].astype(np.int64), (batch.kind[at] == Kind.WRITE).astype(np.int64)
        epoch = np.searchsorted(ended, at)
        follows = np.zeros(len(at), np.bool_)
        follows[1:] = (
            (offset[1:] == offset[:-1] + size[:-1])
            & (file[1:] == file[:-1])
            & (write[1:] == write[:-1])
            & (thread[1:] == thread[:-1])
            & (epoch[1:] == epoch[:-1])
            & (start[1:] - ends[:-1] <= _MAX_GAP_NS)
        )
        begin = np.flatnonzero(~follows)
        begin = begin[: max(self._budget - self._length, 0)]
        self.left_out += int(np.count_nonzero(~follows)) - len(begin)
        if not len(begin):
            return
        end = np.append(np.flatnonzero(~follows)[1:], len(at))[: len(begin)] - 1
        self._extents.append(
            np.stack(
                [
                    stream[begin], file[begin], write[begin], offset[begin], offset[end] + size[end],
                    start[begin], ends[end], thread[begin],
                ]
            )
        )  # fmt: skip
        if sum(part.shape[1] for part in self._extents) >= _LOOSE:
            self.pack()
        self._length += len(begin)
        numbers, counts = np.unique(stream[begin], return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            self._held[number] = self._held.get(number, 0) + count


def _unpacked(columns: _PackedColumns) -> Ints:
    """Return the wide columns of extents, int64[columns, n]."""
    made = np.stack([column.astype(np.int64) for column in columns])
    made[_HIGH] += made[_LOW]
    made[_LAST] += made[_FIRST]
    return made
