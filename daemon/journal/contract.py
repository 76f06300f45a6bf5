"""Interfaces of journals between the socket and the sequence state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from ...events import IotideError
from ...events.network.wire import Frame
from ..jobs.lifecycle.recorded_steps import Kind


class JournalError(IotideError):
    """A journal cannot be used; the text has name and reason."""


class Position(NamedTuple):
    """Position in a journal; positions are ordered.

    Each writer has an epoch, higher than that of earlier writers, so that late records of an earlier writer can be
    distinguished.
    """

    epoch: int
    record: int


class Moment(NamedTuple):
    """Arrival time of input, by the clocks that determine its handling, s."""

    clock_s: float
    """Time of day."""
    steady_s: float
    """Clock for ages of jobs."""
    now_s: float
    """Clock for silence of collectors."""


class Record(NamedTuple):
    """One change of the state."""

    position: Position
    kind: Kind
    sender: bytes
    moment: Moment
    frames: list[bytes]


class Gap(NamedTuple):
    """Records that cannot be read."""

    first: int
    """Number of the first one."""
    missing: int
    where: str
    """File and byte."""


Replayed: TypeAlias = Record | Gap


class Journal(Protocol):
    """An ordered record of state changes, on disk once it is synced."""

    def append(self, frames: Sequence[Frame], sender: bytes, moment: Moment, kind: Kind = Kind.MESSAGE) -> Position:
        """Append a record, and return its future position; it may not be on disk yet."""
        ...

    def sync(self, *, wait: bool = False) -> Position:
        """Write appended records to disk. Return the synced position: less than all, unless ``wait`` is set."""
        ...

    def replay(self, after: Position) -> Iterator[Replayed]:
        """Yield the records after a position, in order; unreadable ones are reported as gaps."""
        ...


class WriteStatus(Protocol):
    """State of the writing, as a journal and its writer report it."""

    @property
    def problem(self) -> str:
        """Reason why nothing more is written; "" if all is well."""
        ...

    @property
    def delay(self) -> str:
        """Reason why records have been waiting for seconds and are retried; "" if they are stored."""
        ...

    @property
    def pending_bytes(self) -> int:
        """Bytes that are not yet stored."""
        ...

    @property
    def total_bytes(self) -> int:
        """Bytes of everything stored."""
        ...

    @property
    def syncs(self) -> int:
        """Number of syncs."""
        ...

    @property
    def sync_s(self) -> float:
        """Total time of syncs, s."""
        ...


class DurableJournal(Journal, WriteStatus, Protocol):
    """A journal as used by an aggregator.

    It is stored in one place, with one writer, and truncated after each snapshot.
    """

    @property
    def start(self) -> Position:
        """The position before everything that existed at opening."""
        ...

    @property
    def last(self) -> Position:
        """The position of the last record."""
        ...

    @property
    def synced(self) -> Position:
        """The last position that is on disk."""
        ...

    @property
    def is_fenced(self) -> bool:
        """Whether another writer has taken over. This one's state is then void, and nothing may be answered."""
        ...

    def skip_replay(self) -> None:
        """Skip the replay; existing records are kept for inspection."""
        ...

    def fetch_snapshot(self, snapshot: Path) -> None:
        """Fetch the last snapshot to a file, if the journal stores snapshots itself; before ``replay``."""
        ...

    def begin(self, after: Position, on_synced: Callable[[], None]) -> Position:
        """Start an epoch after the replayed records; return the position before its first record."""
        ...

    def flush(self) -> None:
        """Write all appended records, without a sync."""
        ...

    def trim(self, until: Position) -> None:
        """Remove records up to a position that a committed snapshot covers."""
        ...

    def restart(self, on_synced: Callable[[], None]) -> Position:
        """Continue after an error; records appended from now on are only valid after ``accept``."""
        ...

    def accept(self) -> None:
        """Make records appended since ``restart`` part of the journal. A snapshot must cover all earlier ones."""
        ...

    def close(self) -> None:
        """Write all appended records; nothing is appended afterwards."""
        ...

    def remove(self) -> None:
        """Remove all records, which the committed snapshot covers; after ``close``."""
        ...

    def release(self) -> None:
        """Let another aggregator take over; the last call."""
        ...
