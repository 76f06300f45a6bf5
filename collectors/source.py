"""Interfaces of sources, which the collector polls for streams and their events, and of parsers of one file's bytes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct, field

from ..events import Definitions, EventBatch, InputError, StreamInfo
from ..events.counted_text import counted
from ..events.losses import EVENTS
from ..events.network.limits import MAX_STREAM_ID


class Opened(Struct, frozen=True):
    """A stream begins; precedes everything else of the stream."""

    stream: str
    info: StreamInfo


class Changed(Struct, frozen=True):
    """The StreamInfo of a stream has changed; its job stays the same."""

    stream: str
    info: StreamInfo


class Chunk(Struct, frozen=True):
    """Events of a stream and the definitions that they use first. May contain definitions alone."""

    stream: str
    batch: EventBatch
    definitions: Definitions


class Lost(Struct, frozen=True):
    """Something was lost from a stream, or from a job but none of its streams."""

    losses: Counter[str]
    """Losses since the last ``Lost`` of the stream or job, by counter (``events_dropped:ring_full`` ...)."""
    stream: str = ""
    """An open stream; "": the losses belong to no stream."""
    job: str = ""
    """The job, if no stream is named."""


class Closed(Struct, frozen=True):
    """A stream ends; nothing of it follows."""

    stream: str
    losses: Counter[str] = field(default_factory=Counter)
    """Losses of the stream, by counter (``events_dropped:ring_full`` ...), including those that ``Lost`` reported."""


SourceItem: TypeAlias = Opened | Changed | Chunk | Lost | Closed


class Problems(Struct):
    """Skipped malformed input: all problems are counted, and the first ``kept`` are stored."""

    kept: int = 100
    total: int = 0
    first: list[InputError] = field(default_factory=list)

    def add(self, problem: InputError) -> None:
        """Count one problem and store it if there is room."""
        self.total += 1
        if len(self.first) < self.kept:
            self.first.append(problem)


class CollectedProblems(Problems):
    """Problems of several sources, taken over while they go on."""

    taken: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Number of problems, and of stored ones, taken from each source."""

    def take(self, source: Source) -> None:
        """Add the problems of a source that are not added yet."""
        total, stored = self.taken.get(id(source), (0, 0))
        problems = source.problems
        self.total += problems.total - total
        self.first.extend(problems.first[stored:][: self.kept - len(self.first)])
        self.taken[id(source)] = problems.total, len(problems.first)

    def forget(self, source: Source) -> None:
        """Forget a source that ends, after its last problems."""
        self.take(source)
        del self.taken[id(source)]


class UnsupportedData(Struct):
    """Counts of valid data that events cannot represent, by kind.

    ``what`` is a plural phrase, such as ``calls of MPI that name no file``; beyond ``most`` kinds, the rest share one.
    """

    most: int = 100
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, what: str, count: int = 1) -> None:
        """Add ``count`` things of one kind; a count of 0 has no effect."""
        if count > 0:
            known = what in self.counts or len(self.counts) < self.most
            self.counts[what if known else "things of further kinds"] += count

    def merge(self, other: UnsupportedData) -> None:
        """Add the counts of another input."""
        for what, count in other.counts.items():
            self.add(what, count)


class Source(Protocol):
    """One input of a collector. It is polled from one thread; ``poll`` never blocks and does bounded work.

    A source that replays finished input returns all of it over successive polls and is then ``finished``. A source that
    follows growing input is finished only when that input has ended or ``close`` was called.
    """

    problems: Problems
    counters: Counter[str]
    """Cumulative counters. They are ``events``, ``bytes_read``, and one for each kind of loss, such as
    ``events_dropped:ring_full`` or ``lines_malformed``."""

    @property
    def finished(self) -> bool:
        """True once no later poll can return anything."""
        ...

    def poll(self) -> list[SourceItem]:
        """Return new items, at most about 65,536 events per stream. Returns an empty list if there are none."""
        ...

    def close(self) -> None:
        """Releases descriptors and memory; can be called twice."""
        ...


@runtime_checkable
class BufferingSource(Protocol):
    """A source that delays events for fuller batches."""

    def stop_buffering(self) -> None:
        """Make each later poll return all available events."""
        ...


@runtime_checkable
class WaitingSource(Protocol):
    """A source whose items may come later than the poll that asks for them."""

    is_waiting: bool
    """Whether a later poll has items although this one may have none."""


@runtime_checkable
class WakeableSource(Protocol):
    """A source that notifies when it must be polled."""

    def sleep(self) -> bool:
        """Enable notification through the descriptor; False: not for all input, so poll again soon."""
        ...

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when there is new input."""
        ...


@runtime_checkable
class ResumableSource(Protocol):
    """A source whose position another collector can resume."""

    def resume_from(self, places: Mapping[str, bytes]) -> None:
        """Resumes after the data that another collector has stored. Must be called before the first poll.

        From then on, data is released only after ``positions_stored``.
        """
        ...

    def read_positions(self, is_queued: Callable[[Iterable[str], bool], bool]) -> dict[str, bytes | None]:
        """Return read positions by the source's own names. Returns None for a position that is not needed any more.

        Args:
            is_queued: function that returns whether all events of the streams before a position are ready to be stored
                together; its second argument makes them ready because the request is urgent.
        """
        ...

    def positions_stored(self) -> None:
        """Confirm that the positions of ``read_positions`` and all data before them are stored."""
        ...


class Origin(Struct, frozen=True):
    """Facts about a source's streams that the input itself may not contain."""

    job: str
    host: str = ""
    user: str = ""


class Parser(Protocol):
    """Reads one format. The events do not depend on where the input is split into chunks."""

    problems: Problems
    counters: Counter[str]

    def feed(self, data: bytes) -> list[SourceItem]:
        """Parse the next bytes and return the items that they complete."""
        ...

    def finish(self) -> list[SourceItem]:
        """End the input; returns pending items, and ``Closed`` for each open stream."""
        ...


class Input(Struct, frozen=True):
    """Description of a parser's input."""

    name: str
    """Path of the file, for messages and for formats that encode facts in it."""
    origin: Origin
    modified_ns: int | None = None
    """Time of the file's last change, ns since the Unix epoch. The date of stamps that have none."""
    generation: int = 1
    """1, plus one each time the file was rotated or truncated."""
    problems: Problems = field(default_factory=Problems)
    counters: Counter[str] = field(default_factory=Counter)
    unsupported: UnsupportedData = field(default_factory=UnsupportedData)
    """Receives the data that a parser could not represent, at the latest in ``finish``."""
    beyond: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Calls that were left out, by what there were too many of, and the bound."""

    def stream(self, source: str, part: str = "") -> str:
        """Return the id of a stream of this input. Ids too long for the wire are cut and get a digest."""
        tail = f"#{self.generation}" if self.generation > 1 else ""
        whole = f"{source}:{self.name}{tail}" + (f":{part}" if part else "")
        if len(whole) <= MAX_STREAM_ID:
            return whole
        digest = hashlib.blake2b(whole.encode(errors="backslashreplace"), digest_size=12).hexdigest()
        return whole[: MAX_STREAM_ID - len(digest) - 1] + "~" + digest

    def malformed(self, line: int | None, problem: str, expected: str) -> None:
        """Count and report a skipped line (or record)."""
        self.counters["lines_malformed"] += 1
        self.problems.add(InputError(self.name, line, problem, expected))

    def left_out(self, count: int, what: str, most: int, reason: str = "too_many_streams") -> None:
        """Count calls of streams (or machines ...) beyond a bound, as a loss of the input's jobs."""
        self.counters[EVENTS + reason] += count
        self.beyond[what, most] += count

    def report_left_out(self) -> None:
        """Report the calls beyond bounds; at the input's end, when they are known."""
        for (what, most), count in self.beyond.items():
            problem = f"{counted(count, f'calls of further {what}')} left out"
            self.problems.add(InputError(self.name, None, problem, f"at most {most:,} {what}"))
        self.beyond.clear()


ParserFactory: TypeAlias = Callable[[Input], Parser]
