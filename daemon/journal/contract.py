"""What stands between the socket and the sequence state, whatever keeps it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol, TypeAlias

from ...events import IotideError
from ...events.wire import Frame


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
