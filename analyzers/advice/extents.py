"""Which bytes of which files processes read and write, and when others may count on seeing them."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag, Kind, Layer
from ..common.state import Ints, Rows, State
from .positions import Positions
from .threads import Threads

_CALLS: Final = 8_192
"""Calls of a stream whose extents are kept."""
_OF_STREAM: Final = 1_024
"""Extents of a stream that are kept, about."""
_MOST_SHOWN: Final = 4
"""Flushes and closes that are kept, for each extent that has room."""
_HANDLES: Final = 256
_SHOWS: Final = (int(Kind.SYNC), int(Kind.DESTROY), int(Kind.DELETE))
"""What makes writes visible to others: a flush or a close; what is removed is seen by nobody."""
_KINDS: Final = np.zeros(256, np.bool_)
_KINDS[[Kind.CREATE, Kind.SEEK, Kind.READ, Kind.WRITE, *_SHOWS]] = True
_LAYERS: Final = np.zeros(256, np.bool_)
_LAYERS[[Layer.POSIX, Layer.KERNEL]] = True
_COLUMNS: Final = 8


class Extents(NamedTuple):
    """Runs of bytes; each column has shape (n,)."""

    stream: Ints
    file: Ints
    write: npt.NDArray[np.bool_]
    low: Ints
    high: Ints
    first: Ints
    """When the first of its calls began, ns."""
    last: Ints
    """When the last of them ended, ns."""
    thread: Ints

    def at(self, rows: Rows) -> Extents:
        """Returns some of them."""
        return Extents(*[column[rows] for column in self])  # type: ignore[arg-type]  # columns in their order


class Shown(NamedTuple):
    """When streams flushed or closed files; each column has shape (n,)."""

    stream: Ints
    file: Ints
    at: Ints


class ExtentTable(State):
    """The extents of the first calls of each stream; what has no room is left out.

    Attributes:
        left_out: extents without room.
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
        """Takes in calls.

        Args:
            batch: events, those of each stream in the order of their ends.
            stream: the number of each one's stream.
            threads: numbers the threads.
            data: which are on files that count.
        """
        wanted = _KINDS.take(batch.kind) & _LAYERS.take(batch.layer) & data & (batch.file != 0)
        wanted &= (batch.flags & int(Flag.FAILED)) == 0
        wanted &= batch.depth == 0
        rows = self._with_room(np.flatnonzero(wanted), stream)
        if not len(rows):
            return
        shows = np.isin(batch.kind[rows], _SHOWS)
        ended = rows[shows]
        if len(ended) and self._shows < _MOST_SHOWN * self._budget:
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
        """Takes in that a stream has ended."""
        self._calls.pop(stream, None)
        self._held.pop(stream, None)

    def extents(self) -> Extents:
        """Returns copies of all extents."""
        columns = np.concatenate(self._extents, axis=1) if self._extents else np.zeros((_COLUMNS, 0), np.int64)
        stream, file, write, low, high, first, last, thread = columns
        return Extents(stream, file, write.astype(np.bool_), low, high, first, last, thread)

    def shown(self) -> Shown:
        """Returns when writes became visible."""
        return Shown(*(np.concatenate(self._shown, axis=1) if self._shown else np.zeros((3, 0), np.int64)))

    def _with_room(self, rows: Rows, stream: Ints) -> Rows:
        """Returns the rows of streams of which few calls were looked at."""
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
        """Joins calls that go on where the one before ended, unless something became visible between them."""
        file, write = batch.file[at].astype(np.int64), (batch.kind[at] == Kind.WRITE).astype(np.int64)
        epoch = np.searchsorted(ended, at)
        follows = np.zeros(len(at), np.bool_)
        follows[1:] = (
            (offset[1:] == offset[:-1] + size[:-1])
            & (file[1:] == file[:-1])
            & (write[1:] == write[:-1])
            & (thread[1:] == thread[:-1])
            & (epoch[1:] == epoch[:-1])
        )
        begin = np.flatnonzero(~follows)
        begin = begin[: max(self._budget - self._length, 0)]
        self.left_out += int(np.count_nonzero(~follows)) - len(begin)
        if not len(begin):
            return
        end = np.append(np.flatnonzero(~follows)[1:], len(at))[: len(begin)] - 1
        start = batch.start[at].astype(np.int64)
        self._extents.append(
            np.stack(
                [
                    stream[begin], file[begin], write[begin], offset[begin], offset[end] + size[end],
                    start[begin], start[end] + batch.duration[at][end], thread[begin],
                ]
            )
        )  # fmt: skip
        self._length += len(begin)
        numbers, counts = np.unique(stream[begin], return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            self._held[number] = self._held.get(number, 0) + count
