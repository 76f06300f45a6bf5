"""Appending to a journal: the part that journals in files and in NATS streams have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic, Protocol, TypeVar

from ...events.network.wire import Frame
from ..jobs.lifecycle.recorded_steps import Kind
from .contract import JournalError, Moment, Position, WriteStatus
from .segment_writer import Pending

_RECORD_BYTES: Final = 128  # approximate size of a record without its frames


class RecordWriter(WriteStatus, Protocol):
    """Writes records in another thread, in their order."""

    @property
    def synced(self) -> int:
        """Number of the last record that is stored."""
        ...

    def put(self, record: Pending) -> None:
        """Append a record."""
        ...

    def sync(self, number: int, *, wait: bool) -> None:
        """Store the records up to a number."""
        ...

    def flush(self) -> None:
        """Pass on all records."""
        ...


_Writer = TypeVar("_Writer", bound=RecordWriter)


class AppendingJournal(Generic[_Writer]):
    """A journal that appends records by a writer, once it has one."""

    def __init__(self) -> None:
        self._writer: _Writer | None = None
        self._epoch = 0
        self._next = 1
        """Number of the next record."""

    def append(self, frames: Sequence[Frame], sender: bytes, moment: Moment, kind: Kind = Kind.MESSAGE) -> Position:
        """Append a record, and return its future position."""
        number, self._next = self._next, self._next + 1
        size = _RECORD_BYTES + sum(len(frame) for frame in frames)
        self._open_writer.put(Pending(number, kind, sender, moment, frames, size))
        return Position(self._epoch, number)

    def sync(self, *, wait: bool = False) -> Position:
        """Store appended records. Return the stored position: less than all, unless ``wait`` is set."""
        self._open_writer.sync(self._next - 1, wait=wait)
        return self.synced

    def flush(self) -> None:
        """Pass all appended records on, without a sync."""
        self._open_writer.flush()

    @property
    def synced(self) -> Position:
        """The last position that is stored."""
        return Position(self._epoch, self._open_writer.synced)

    @property
    def last(self) -> Position:
        """The position of the last record."""
        return Position(self._epoch, self._next - 1)

    @property
    def problem(self) -> str:
        """Reason why nothing more is stored; "" if all is well."""
        return self._open_writer.problem

    @property
    def delay(self) -> str:
        """Reason why records have been waiting for seconds and are retried; "" if they are stored."""
        return self._open_writer.delay

    @property
    def pending_bytes(self) -> int:
        """Bytes that are not yet stored."""
        return self._open_writer.pending_bytes

    @property
    def total_bytes(self) -> int:
        """Bytes of everything stored."""
        return self._open_writer.total_bytes

    @property
    def syncs(self) -> int:
        """Number of syncs; of a stream, of appended messages."""
        return self._open_writer.syncs

    @property
    def sync_s(self) -> float:
        """Total time of syncs, s."""
        return self._open_writer.sync_s

    @property
    def _open_writer(self) -> _Writer:
        if self._writer is None:
            raise JournalError("the journal has no epoch yet")
        return self._writer
