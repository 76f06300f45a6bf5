"""Source that replays recorded streams in the order of time. It replays at the recorded or another speed."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ..archive.file.reader import ArchivedStream, ArchiveReader, Calls
from ..events import Definitions, EventBatch, InputError, StreamInfo, empty_batch
from ..events.definitions import FileInfo
from .source import Chunk, Closed, Opened, Problems, SourceItem

MAX_EVENTS: Final = 65_536
"""Maximum number of calls that one poll returns."""
SLICE_NS: Final = 50_000_000
"""Maximum lead of one stream over the others at full speed."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A stream of a recording. It has the start of its first call and the end of its last one, ns."""

    reader: ArchiveReader
    number: int
    calls: int
    first_ns: int
    last_ns: int


def recorded_streams(readers: Sequence[ArchiveReader]) -> list[Recorded]:
    """Return the streams of recordings that have calls.

    Raises:
        InputError: a section is corrupt.
    """
    found = []
    for reader in readers:
        for number in reader.streams:
            sections = [(each.calls, each.first_ns, each.last_ns) for each in reader.sections(number)]
            if sections:
                calls, first, last = zip(*sections, strict=True)
                found.append(Recorded(reader, number, sum(calls), min(first), max(last)))
    return found


class Replayer:
    """Replays recordings. Each call is returned at its end time, by a clock that may be accelerated.

    Memory use: the current section of each active stream.

    Args:
        streams: the streams to replay.
        speed: recorded seconds per second; infinity: as fast as the consumer accepts calls.
        change: function that replaces a stream's StreamInfo.
        shift_ns: offset added to all times, ns.
        clock: any steady clock, s.
    """

    def __init__(
        self,
        streams: Sequence[Recorded],
        speed: float,
        change: Callable[[StreamInfo], StreamInfo] = lambda info: info,
        shift_ns: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self._speed, self._change, self._shift_ns, self._clock = speed, change, shift_ns, clock
        self._first_ns = min((each.first_ns for each in streams), default=0)
        self._began_s: float | None = None
        self._waiting = [(each.first_ns, place, _Stream(each, place)) for place, each in enumerate(streams)]
        heapq.heapify(self._waiting)

    @property
    def finished(self) -> bool:
        """True once everything was returned, or ``stop`` was called."""
        return not self._waiting

    def poll(self) -> list[SourceItem]:
        """Return the calls that are due, at most about 65,536."""
        if self._began_s is None:
            self._began_s = self._clock()
        items: list[SourceItem] = []
        room = MAX_EVENTS
        while self._waiting and room > 0:
            due, place, stream = self._waiting[0]
            until = due + SLICE_NS if self._speed == float("inf") else self._now_ns()
            if due > until:
                break
            try:
                given, after = stream.take(until, room, self._change, self._shift_ns)
            except InputError as error:
                self.problems.add(error)
                given, after = stream.abandon(), None
            for item in given:
                if isinstance(item, Chunk):
                    room -= len(item.batch)
                    self.counters["events"] += len(item.batch)
            items += given
            if after is None:
                heapq.heappop(self._waiting)
            else:
                heapq.heapreplace(self._waiting, (after, place, stream))
        return items

    def stop(self) -> None:
        """End the replay; the caller of ``poll`` closes the open streams."""
        self._waiting.clear()

    def close(self) -> None:
        """Do the same as ``stop``."""
        self.stop()

    def _now_ns(self) -> int:
        elapsed = self._clock() - (self._began_s or 0.0)
        return self._first_ns + int(elapsed * self._speed * 1e9)


class _Stream:
    """One stream and its replay position."""

    def __init__(self, recorded: Recorded, place: int) -> None:
        self._recorded = recorded
        self._name = ""
        self._place = place
        self._calls: Iterator[Calls] | None = None
        self._batch: EventBatch = empty_batch()
        self._definitions = Definitions()
        self._due: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._latest = np.int64(recorded.first_ns)

    def take(
        self, until: int, most: int, change: Callable[[StreamInfo], StreamInfo], shift_ns: int
    ) -> tuple[list[SourceItem], int | None]:
        """Return the items that are due, and the time of the next ones. Returns None at the stream's end.

        Raises:
            InputError: a section is corrupt.
        """
        items: list[SourceItem] = []
        if self._calls is None:
            self._calls = self._recorded.reader.calls(self._recorded.number)
            items += self._open(change)
        if not len(self._batch) and not self._fetch():
            return [*items, Closed(self._name)], None
        count = min(int(np.searchsorted(self._due, until, "right")), most)
        if count:
            part = self._batch.select(slice(0, count))
            if shift_ns:
                part = part.replace(start=part.start + shift_ns)
            items.append(Chunk(self._name, part, self._definitions))
            self._definitions = Definitions()
            self._batch, self._due = self._batch.select(slice(count, None)), self._due[count:]
        if not len(self._batch) and not self._fetch():
            return [*items, Closed(self._name)], None
        return items, int(self._due[0])

    def abandon(self) -> list[SourceItem]:
        """Return the items that close a stream that cannot be read any further."""
        return [Closed(self._name)] if self._name else []

    def _fetch(self) -> bool:
        """Read the next calls; False: there are none."""
        for each in self._calls or ():
            if len(each.batch):
                self._batch, self._definitions = each.batch, each.definitions
                self._due = np.maximum(np.maximum.accumulate(each.batch.end), self._latest)
                self._latest = self._due[-1]
                return True
        return False

    def _open(self, change: Callable[[StreamInfo], StreamInfo]) -> list[SourceItem]:
        archived = self._recorded.reader.streams[self._recorded.number]
        self._name = f"{self._place}:{archived.name}"
        items: list[SourceItem] = [Opened(self._name, change(archived.info))]
        if names := _names(archived):
            items.append(Chunk(self._name, empty_batch(), names))
        return items


def _names(archived: ArchivedStream) -> Definitions:
    places = range(1, max(archived.files, default=0) + 1)
    files = [(place, archived.files.get(place, FileInfo(""))) for place in places]
    return Definitions([], files, list(archived.handles.items()))
