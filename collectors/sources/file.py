"""Source that reads one file: a tail for the bytes, a parser for their meaning, and a report of unreadable parts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np

from ...events import InputError
from ...events.files import readable
from ...events.losses import INPUT_BYTES, events_of
from ...events.network.wire import sendable_events
from ..files.lines import BYTE_ORDER_MARK
from ..files.tail import CHUNK_BYTES, GzipTail, Restart
from ..source import (
    Chunk,
    Closed,
    Input,
    Lost,
    Opened,
    Origin,
    Parser,
    ParserFactory,
    Problems,
    SourceItem,
    UnsupportedData,
)

_MAX_JOBS: Final = 64
"""Maximum number of jobs per input that receive losses. Further jobs' losses are only in the collector's counters."""
_BYTES: Final = "bytes_dropped:"


class InputLosses:
    """Compares the counters of one input with the losses that its jobs were sent.

    An unreadable line does not say which job it belongs to. If an input contains several jobs, its losses are therefore
    reported to each of them. Losses that the input itself reports for a stream, as archives do, are not reported again.

    Args:
        counters: counters of the input.
        job: job to report to if the input names none.
    """

    def __init__(self, counters: Counter[str], job: str) -> None:
        self._counters = counters
        self._job = job
        self._jobs: dict[str, None] = {}
        self._reported: Counter[str] = Counter()
        self._of_streams: dict[str, Counter[str]] = {}
        """Reported losses of each open stream."""

    def after(self, items: Iterable[SourceItem]) -> list[SourceItem]:
        """Return the items of one poll, followed by the new losses for each job."""
        whole = [self._without_impossible(item) if isinstance(item, Chunk) else item for item in items]
        for item in whole:
            if isinstance(item, Opened) and len(self._jobs) < _MAX_JOBS:
                self._jobs[item.info.job] = None
            elif isinstance(item, Lost | Closed) and item.stream:
                self._add_reported(item)
        now = Counter({_spelled(name): count for name, count in self._counters.items() if _is_reported(name)})
        increase = now - self._reported
        if increase:
            self._reported += increase
            whole += [Lost(Counter(increase), job=job) for job in self._jobs or (self._job,)]
        return whole

    def _add_reported(self, item: Lost | Closed) -> None:
        """Take in that losses of a stream are reported; those at its end include earlier ones."""
        losses = Counter({_spelled(name): count for name, count in item.losses.items() if _is_reported(name)})
        if isinstance(item, Closed):
            losses -= self._of_streams.pop(item.stream, Counter())
        elif losses:
            self._of_streams.setdefault(item.stream, Counter()).update(losses)
        self._reported += losses

    def _without_impossible(self, chunk: Chunk) -> Chunk:
        """Remove calls with impossible values: on the wire, they would cost their whole batch."""
        good = sendable_events(chunk.batch)
        if good is None:
            return chunk
        self._counters["events_dropped:malformed"] += int(len(good) - np.count_nonzero(good))
        return msgspec.structs.replace(chunk, batch=chunk.batch.select(good))


def _is_reported(name: str) -> bool:
    return name.startswith(_BYTES) or events_of({name: 1}) > 0


def _spelled(name: str) -> str:
    """Return the counter's name for a job. It counts bytes of the input, not bytes moved by calls."""
    return INPUT_BYTES + name.removeprefix(_BYTES) if name.startswith(_BYTES) else name


HEAD_BYTES = 65_536
"""Maximum number of bytes used to recognise a format; normally the first line is enough."""
_DIGEST_BYTES: Final = 256


class FileSource:
    """Replays or follows a file, gzip-compressed or not.

    After a rotation or a truncation its streams end and new ones begin.

    Args:
        path: the file; with ``follow`` it need not exist yet.
        choose: function that selects the parser from the file's first bytes; called for each generation of the file.
        origin: job and host of the streams if the file contains neither.
        follow: wait for more data at the end of the file.
        chunk_bytes: maximum number of bytes read in one poll.
    """

    def __init__(
        self,
        path: str | Path,
        choose: Callable[[bytes], ParserFactory],
        origin: Origin,
        *,
        follow: bool,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self.unsupported = UnsupportedData()
        self._losses = InputLosses(self.counters, origin.job)
        self._tail = GzipTail(path, follow=follow, chunk_bytes=chunk_bytes, counters=self.counters)
        self._choose = choose
        self._origin = origin
        self._parser: Parser | None = None
        self._about: Input | None = None
        self._head = b""
        self._generation = 0
        self._complaint = ""
        self._finished = False
        self._rereading = Rereading()
        self._follows = follow
        self._is_placed = False

    @property
    def finished(self) -> bool:
        """True once no later poll can return anything."""
        return self._finished

    def poll(self) -> list[SourceItem]:
        """Read at most ``chunk_bytes`` and return the events that they complete."""
        return [] if self._finished else self._rereading.after(self._losses.after(self._read()))

    def resume_from(self, places: Mapping[str, bytes]) -> None:
        """Skips the events that the previous collector has stored. It does so if the file is still the same."""
        self._rereading.resume_from(places.get(self._place_name, b""))

    def read_positions(self, is_queued: Callable[[Iterable[str], bool], bool]) -> dict[str, bytes | None]:
        """Return the read position; a finished file that was read to its end needs none."""
        if self._finished and not self._follows:
            return {self._place_name: None} if self._is_placed else {}
        place = self._rereading.read_position(is_queued)
        self._is_placed = self._is_placed or place is not None
        return {} if place is None else {self._place_name: place}

    def positions_stored(self) -> None:
        """Do nothing: the file stays available."""

    @property
    def _place_name(self) -> str:
        return f"file:{readable(Path(self._tail.path).absolute())}"

    def stop(self) -> None:
        """Stop following: later polls return the present content, including an incomplete last line."""
        self._tail.stop()

    def close(self) -> None:
        """Close the file without reading the rest. Counts it if nothing could be read from it."""
        if not self._finished and self._is_unread():
            self.counters["inputs_unread"] += 1
        self._tail.close()
        self._parser, self._head, self._finished = None, b"", True

    def _read(self) -> list[SourceItem]:
        try:
            data = self._tail.read()
        except InputError as problem:
            self._complain(problem)
            data = b""
        else:
            self._complaint = ""
        if isinstance(data, Restart):
            return self._end_generation()
        items = self._parse(data) if data else []
        if self._tail.ended:
            items += self._end_generation()
            self._finished = True
        return items

    def _parse(self, data: bytes) -> list[SourceItem]:
        if self._parser is not None:
            return self._parser.feed(data)
        self._head = (self._head + data).removeprefix(BYTE_ORDER_MARK)
        if BYTE_ORDER_MARK.startswith(self._head):
            return []
        binary = self._head[:1] >= b"\x80"
        if not binary and b"\n" not in self._head.lstrip() and len(self._head) < HEAD_BYTES:
            return []
        return self._begin(may_wait=len(self._head) < HEAD_BYTES)

    def _begin(self, *, may_wait: bool) -> list[SourceItem]:
        try:
            factory = self._choose(self._head)
        except InputError as problem:
            if may_wait:
                return []
            self.problems.add(problem)
            factory = Unreadable
        self._generation = self._rereading.begin(self._tail.inode, self._head, self._generation + 1)
        head, self._head = self._head, b""
        self._about = Input(
            name=readable(self._tail.path),
            origin=self._origin,
            modified_ns=self._tail.modified_ns,
            generation=self._generation,
            problems=self.problems,
            counters=self.counters,
            unsupported=self.unsupported,
        )
        self._parser = factory(self._about)
        return self._parser.feed(head)

    def _end_generation(self) -> list[SourceItem]:
        items = self._begin(may_wait=False) if self._head else []
        parser, self._parser = self._parser, None
        items += parser.finish() if parser else []
        if self._about is not None:
            self._about.report_left_out()
        return items

    def _is_unread(self) -> bool:
        if self._head:
            try:
                self._choose(self._head)
            except InputError as problem:
                self.problems.add(problem)
                return True
        path = Path(self._tail.path)
        if not self.counters["bytes_read"] and not self._complaint and not path.exists():
            self.problems.add(
                InputError(str(path), None, "was never there", "a file that is written while it is followed")
            )
            return True
        return bool(self._complaint) or isinstance(self._parser, Unreadable)

    def _complain(self, problem: InputError) -> None:
        if str(problem) != self._complaint:  # a followed file has the same error at every poll
            self._complaint = str(problem)
            self.problems.add(problem)


class Unreadable:
    """Replaces the parser if the format is unknown: counts the bytes that cannot be used."""

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters

    def feed(self, data: bytes) -> list[SourceItem]:
        """Count the bytes as dropped."""
        self.counters["bytes_dropped:unknown_format"] += len(data)
        return []

    def finish(self) -> list[SourceItem]:
        """Return nothing, as nothing is pending."""
        return []


class FileIdentity(NamedTuple):
    """Identity of a file: its inode and a digest of its beginning."""

    device: int
    inode: int
    length: int
    digest: bytes


class _Place(NamedTuple):
    identity: FileIdentity
    generation: int
    events: dict[str, int]


class Rereading:
    """Counts the events of a file's streams. It skips as many as a stored position says.

    The same bytes give the same events in the same order, however they are split, so a count is a position.
    """

    def __init__(self) -> None:
        self._before: _Place | None = None
        self._identity: FileIdentity | None = None
        self._generation = 0
        self._events: Counter[str] = Counter()
        self._events_to_skip: Counter[str] = Counter()
        self._has_new_events = False

    def resume_from(self, place: bytes) -> None:
        """Set the stored position; malformed positions are ignored."""
        with suppress(msgspec.MsgspecError):
            self._before = msgspec.msgpack.decode(place, type=_Place)

    def begin(self, inode: tuple[int, int], head: bytes, generation: int) -> int:
        """Begins a file. Returns its generation, which is the stored one if the file is the same."""
        before, self._before = self._before, None
        self._events = Counter()
        if before is not None and before.identity == _identity(inode, head, before.identity.length):
            self._events = Counter(before.events)
            generation = before.generation
        self._events_to_skip = self._events.copy()
        self._identity, self._generation = _identity(inode, head, _DIGEST_BYTES), generation
        return generation

    def after(self, items: Iterable[SourceItem]) -> list[SourceItem]:
        """Return the items without the events that were stored before."""
        return [self._fresh(item) if isinstance(item, Chunk) else item for item in items]

    def read_position(self, is_queued: Callable[[Iterable[str], bool], bool]) -> bytes | None:
        """Return the read position. Returns None if it has not changed or its events are not ready to be stored."""
        if not self._has_new_events or self._identity is None:
            return None
        if not is_queued(self._events, False):
            return None
        self._has_new_events = False
        return msgspec.msgpack.encode(_Place(self._identity, self._generation, self._events))

    def _fresh(self, chunk: Chunk) -> Chunk:
        left_out = min(self._events_to_skip[chunk.stream], len(chunk.batch))
        self._events_to_skip[chunk.stream] -= left_out
        self._events[chunk.stream] += len(chunk.batch) - left_out
        self._has_new_events = True
        if not left_out:
            return chunk
        return msgspec.structs.replace(chunk, batch=chunk.batch.select(slice(left_out, None)))


def _identity(inode: tuple[int, int], head: bytes, length: int) -> FileIdentity:
    known = head[: min(length, _DIGEST_BYTES)]
    return FileIdentity(*inode, len(known), hashlib.blake2b(known, digest_size=16).digest())
