"""Byte ranges that processes read and write. Each write has the time at which others can see it."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag, Kind, Layer
from ..common.state import Ints, Rows, State
from .positions import Positions
from .threads import Threads

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


class ExtentTable(State):
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
        self._extents: list[Ints] = []
        self._shown: list[Ints] = []
        self._length = 0
        self._shows = 0

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
        columns = np.concatenate(self._extents, axis=1) if self._extents else np.zeros((_COLUMNS, 0), np.int64)
        stream, file, write, low, high, first, last, thread = columns
        return Extents(stream, file, write.astype(np.bool_), low, high, first, last, thread)

    def flushes(self) -> Flushes:
        """Return the times at which writes became visible."""
        return Flushes(*(np.concatenate(self._shown, axis=1) if self._shown else np.zeros((3, 0), np.int64)))

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
        self._length += len(begin)
        numbers, counts = np.unique(stream[begin], return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            self._held[number] = self._held.get(number, 0) + count
