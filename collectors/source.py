"""What a source is: something that is polled and gives streams and their events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct, field

from ..events import Definitions, EventBatch, InputError, StreamInfo


class Opened(Struct, frozen=True):
    """A stream begins; comes before everything else of the stream."""

    stream: str
    info: StreamInfo


class Changed(Struct, frozen=True):
    """What is known of a stream has changed; its job stays the same."""

    stream: str
    info: StreamInfo


class Chunk(Struct, frozen=True):
    """Events of a stream, with the definitions that they are the first to use. May hold definitions alone."""

    stream: str
    batch: EventBatch
    definitions: Definitions


class Lost(Struct, frozen=True):
    """Of a stream, or of a job and none of its streams, something was lost."""

    losses: Counter[str]
    """Since the last of its kind, by the counter's name (``events_dropped:ring_full`` ...)."""
    stream: str = ""
    """An open stream; "": the losses belong to none."""
    job: str = ""
    """Where no stream is named."""


class Closed(Struct, frozen=True):
    """A stream ends; nothing of it follows."""

    stream: str
    losses: Counter[str] = field(default_factory=Counter)
    """What of it was lost, by the counter's name (``events_dropped:ring_full`` ...); all that ``Lost`` told, too."""


SourceItem: TypeAlias = Opened | Changed | Chunk | Lost | Closed


class Problems(Struct):
    """Malformed input that was skipped: all counted, the first ``kept`` remembered for a person to read."""

    kept: int = 100
    total: int = 0
    first: list[InputError] = field(default_factory=list)

    def add(self, problem: InputError) -> None:
        """Counts one problem and keeps it while there is room."""
        self.total += 1
        if len(self.first) < self.kept:
            self.first.append(problem)


class UnsupportedData(Struct):
    """Counts of valid data that events cannot represent, by kind.

    ``what`` is a plural in words, such as ``calls of MPI that name no file``; past ``most`` kinds the others share one.
    """

    most: int = 100
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, what: str, count: int = 1) -> None:
        """Counts things of one kind; none of them is no news."""
        if count > 0:
            known = what in self.counts or len(self.counts) < self.most
            self.counts[what if known else "things of further kinds"] += count

    def merge(self, other: UnsupportedData) -> None:
        """Adds what another input could not carry over."""
        for what, count in other.counts.items():
            self.add(what, count)


class Source(Protocol):
    """One input of a collector. It is polled from one thread; ``poll`` never blocks and does bounded work.

    A source that replays finished input hands out everything over successive polls and then is ``finished``;
    one that follows growing input is finished only when what it follows has ended or ``close`` was called.
    """

    problems: Problems
    counters: Counter[str]
    """Cumulative; ``events``, ``bytes_read``, and for each way to lose something a name such as
    ``events_dropped:ring_full`` or ``lines_malformed``."""

    @property
    def finished(self) -> bool:
        """True once no later poll can give anything."""
        ...

    def poll(self) -> list[SourceItem]:
        """Returns what is new, at most about 65,536 events a stream; an empty list when nothing is."""
        ...

    def close(self) -> None:
        """Releases descriptors and memory; safe to call twice."""
        ...


@runtime_checkable
class BufferingSource(Protocol):
    """A source that holds events back for fuller batches."""

    def stop_buffering(self) -> None:
        """From now on each poll returns all events that are there."""
        ...


@runtime_checkable
class Waking(Protocol):
    """A source that says when it is to be polled."""

    def sleep(self) -> bool:
        """Has the descriptor tell of news from now on; False: not of all, so it is to be polled soon."""
        ...

    def fileno(self) -> int:
        """Returns a descriptor that can be read when there is news."""
        ...


@runtime_checkable
class Lasting(Protocol):
    """A source that another collector can go on with where this one is."""

    def go_on_from(self, places: Mapping[str, bytes]) -> None:
        """Begins behind what another collector has kept; to be called before the first poll.

        From then on what was read is not let go of before ``placed``.
        """
        ...

    def places(self, is_queued: Callable[[str, bool], bool]) -> dict[str, bytes | None]:
        """Returns up to where it was read, by names of its own; None where that is not needed any more.

        Args:
            is_queued: tells of a stream whether all that was given of it is ready to be kept; has it made ready, where
                its second argument says that this is urgent.
        """
        ...

    def placed(self) -> None:
        """Takes in that what ``places`` returned is kept, and all that was read before."""
        ...


class Origin(Struct, frozen=True):
    """What the collector knows of the streams that a source will open and the input itself may not say."""

    job: str
    host: str = ""
    user: str = ""
