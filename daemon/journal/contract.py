"""What stands between the socket and the sequence state, whatever keeps it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from ...events import IotideError
from ...events.network.wire import Frame


class JournalError(IotideError):
    """A journal cannot be used; the text says which and why."""


class Position(NamedTuple):
    """Where in a journal something stands; positions are ordered.

    A writer has an epoch of its own, later ones higher, so that what an earlier writer still says can be told from what
    the present one does.
    """

    epoch: int
    record: int


class Moment(NamedTuple):
    """When something came in, by the clocks that decide what becomes of it, s."""

    clock_s: float
    """The time of day."""
    steady_s: float
    """The clock by which jobs age."""
    now_s: float
    """The clock by which collectors fall silent."""


class Kind(IntEnum):
    """What a record says."""

    MESSAGE = 1
    """A message of the peer ``sender``, as it came."""
    TICK = 2
    """Collectors were looked at, whether they are silent."""
    AGE = 3
    """The job in the first frame was moved through its life; ``sender`` tells whether its period was looked for."""
    PREDICT = 4
    """It was predicted, likewise."""
    RESTART = 5
    """Another aggregator went on from here: all connections are new."""


@contextlib.contextmanager
def unrecorded(*_: object) -> Iterator[None]:
    """Surrounds a step that nobody records."""
    yield


class Record(NamedTuple):
    """One thing that changes the state."""

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
    """An ordered record of what changes the state, on disk once it is synced."""

    def append(self, frames: Sequence[Frame], sender: bytes, moment: Moment, kind: Kind = Kind.MESSAGE) -> Position:
        """Takes in a record, and returns where it will stand; it may not be on disk yet."""
        ...

    def sync(self, *, wait: bool = False) -> Position:
        """Has all that was appended put on disk; returns up to where it is: less than all, unless ``wait`` is set."""
        ...

    def replay(self, after: Position) -> Iterator[Replayed]:
        """Returns what stands after a position, in order, as far as it can be read; what cannot is told."""
        ...


class KeptJournal(Journal, Protocol):
    """A journal as an aggregator uses it: in one place, with one writer, and shorter after each snapshot."""

    @property
    def start(self) -> Position:
        """The position before all that was there when it was opened."""
        ...

    @property
    def last(self) -> Position:
        """The last position that was given to a record."""
        ...

    @property
    def synced(self) -> Position:
        """The last position that is on disk."""
        ...

    @property
    def problem(self) -> str:
        """Why nothing more is written; "" while all is well."""
        ...

    @property
    def is_fenced(self) -> bool:
        """Whether another writer goes on with it: this one's state is nobody's, and nothing may be answered."""
        ...

    @property
    def pending_bytes(self) -> int:
        """Bytes that are not written yet."""
        ...

    @property
    def total_bytes(self) -> int:
        """Bytes that all of it takes."""
        ...

    @property
    def syncs(self) -> int:
        """How often the disk was made to take what came."""
        ...

    @property
    def sync_s(self) -> float:
        """How long that took."""
        ...

    def set_aside(self) -> None:
        """Has nothing replayed; what is there stays for whoever wants to know."""
        ...

    def bring(self, snapshot: Path) -> None:
        """Has the last snapshot stand in a file, where the journal keeps snapshots itself; before ``replay``."""
        ...

    def begin(self, after: Position, on_synced: Callable[[], None]) -> Position:
        """Starts an epoch behind all that was replayed; returns the position before its first record."""
        ...

    def flush(self) -> None:
        """Has all that was appended written, though not put on disk."""
        ...

    def trim(self, until: Position) -> None:
        """Lets go of what stands up to a position, which a snapshot holds that was committed."""
        ...

    def restart(self, on_synced: Callable[[], None]) -> Position:
        """Goes on after an error; what is appended from then on counts after ``accept`` alone."""
        ...

    def accept(self) -> None:
        """Makes what was appended since ``restart`` part of the journal, once a snapshot has all that was before."""
        ...

    def close(self) -> None:
        """Writes what is there; nothing is appended after it."""
        ...

    def remove(self) -> None:
        """Lets go of all records, which the snapshot that was committed holds; after ``close``."""
        ...

    def release(self) -> None:
        """Lets another aggregator go on; the last thing that is done with it."""
        ...
