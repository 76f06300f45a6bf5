"""The events of finished traces.

Few are in memory, more are read again each time from the trace or a temporary file.
"""

from __future__ import annotations

import contextlib
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ...analyzers.signal.selection import clip
from ...archive.blocks import MAGIC
from ...archive.file.reader import ArchiveReader
from ...collectors.source import Input, Origin
from ...collectors.sources.sniffing import is_archive
from ...events import EventBatch, InputError, is_constant
from .event_spool import EventSpool

MAX_HELD_BYTES: Final = 48 * 2**20
"""Maximum bytes of all files' columns in memory."""


def is_archive_file(path: Path) -> bool:
    """Return whether a file is an uncompressed archive."""
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return is_archive(file.read(len(MAGIC)))
    return False


class TraceEvents:
    """Events in the order of the files; they may be iterated repeatedly.

    Archives that are too large for memory are read again each time, as they are far smaller than their events. For
    other formats the events are in a temporary file.

    Args:
        signal_only: calls that move no bytes are not needed; archives are then read only once, too.
        keeps_signal: store the columns for the signal of archives in a temporary file, if it is iterated often.
        most_bytes: maximum bytes of all files' columns in memory.

    Attributes:
        events: number of events.
        span_ns: start of the first and end of the last one; (0, 0) without events.
    """

    def __init__(
        self, *, signal_only: bool = False, keeps_signal: bool = False, most_bytes: int = MAX_HELD_BYTES
    ) -> None:
        self._signal_only = signal_only
        self._keeps_signal = keeps_signal
        self.events = 0
        self.span_ns = (0, 0)
        self._room = most_bytes
        self._parts: list[_MemoryStore | _ArchiveStore | EventSpool] = []
        self._paths: list[Path] = []
        self._ends: dict[str, tuple[int, bool]] = {}

    def begin(self, path: Path) -> None:
        """Begin a new file: the following events are from it."""
        self._paths.append(path)
        self._parts.append(_MemoryStore() if self._room > 0 else self._store_for(path))

    def add(self, stream: str, batch: EventBatch) -> None:
        """Add events.

        Raises:
            UnavailableError: the disk is full.
        """
        end = batch.end
        first, last = int(batch.start.min()), int(end.max())
        latest, ordered = self._ends.get(stream, (int(end[0]), True))
        ordered = ordered and latest <= int(end[0]) and not bool((end[1:] < end[:-1]).any())
        self._ends[stream] = int(end[-1]), ordered
        known = self.span_ns if self.events else (first, last)
        self.span_ns = min(known[0], first), max(known[1], last)
        self.events += len(batch)
        part = self._parts[-1]
        part.put(stream, batch)
        if isinstance(part, _MemoryStore):
            self._room -= sum(column.nbytes for column in batch.columns().values() if not is_constant(column))
            if self._room <= 0:
                self._spill()

    def __iter__(self) -> Iterator[tuple[str, EventBatch]]:
        for part in self._parts:
            yield from part

    def of_signal(self) -> Iterator[tuple[str, EventBatch]]:
        """Yield the events of the signal. Columns that the signal does not need may be missing."""
        for part in self._parts:
            yield from part.signal if isinstance(part, _ArchiveStore) and part.signal is not None else part

    @property
    def names(self) -> Sequence[str]:
        """The streams with events, in order of first occurrence."""
        return list(self._ends)

    def by_end(self, stream: str) -> bool:
        """Return whether the events of a stream are ordered by end."""
        return self._ends[stream][1]

    def of_streams(self) -> Iterator[tuple[str, Iterator[EventBatch]]]:
        """Yield each stream with its events, in the order of ``names``."""
        for name in self._ends:
            yield name, self._of(name)

    def _of(self, name: str) -> Iterator[EventBatch]:
        for part in self._parts:
            yield from part.of(name)

    def _spill(self) -> None:
        for number, part in enumerate(self._parts):
            if isinstance(part, _MemoryStore):
                self._parts[number] = elsewhere = self._store_for(self._paths[number])
                for name, batch in part:
                    elsewhere.put(name, batch)

    def _store_for(self, path: Path) -> _ArchiveStore | EventSpool:
        if self._signal_only or not is_archive_file(path):
            return EventSpool(signal_only=self._signal_only)
        return _ArchiveStore(path, EventSpool(signal_only=True) if self._keeps_signal else None)


class EventsWithin:
    """The events within a window of time. Those at its edges with their share of the bytes.

    Attributes:
        events: number of events.
        span_ns: start of the first and end of the last one; (0, 0) without events.
    """

    def __init__(self, whole: TraceEvents | EventsWithin, from_ns: int, to_ns: int) -> None:
        self._whole, self._from_ns, self._to_ns = whole, from_ns, to_ns
        self.events = 0
        spans = []
        for _, batch in self:
            self.events += len(batch)
            spans.append((int(batch.start.min()), int(batch.end.max())))
        self.span_ns = min((low for low, _ in spans), default=0), max((high for _, high in spans), default=0)

    def __iter__(self) -> Iterator[tuple[str, EventBatch]]:
        for name, batch in self._whole:
            within = clip(batch, self._from_ns, self._to_ns)
            if len(within):
                yield name, within


class _MemoryStore:
    """Events in memory."""

    def __init__(self) -> None:
        self._chunks: list[tuple[str, EventBatch]] = []
        self._streams: dict[str, list[EventBatch]] = {}

    def put(self, name: str, batch: EventBatch) -> None:
        self._chunks.append((name, batch))
        self._streams.setdefault(name, []).append(batch)

    def __iter__(self) -> Iterator[tuple[str, EventBatch]]:
        return iter(self._chunks)

    def of(self, stream: str) -> Iterator[EventBatch]:
        return iter(self._streams.get(stream, ()))


class _ArchiveStore:
    """Repeatable events of an archive. Their number per stream is always the same, even if the file grows.

    Args:
        path: the archive.
        signal: stores the columns for the signal of all events, so that they need not be decoded again.
    """

    def __init__(self, path: Path, signal: EventSpool | None = None) -> None:
        self._path = path
        self.signal = signal
        self._calls: Counter[str] = Counter()
        self._opened: tuple[ArchiveReader, dict[str, list[int]]] | None = None

    def put(self, name: str, batch: EventBatch) -> None:
        self._calls[name] += len(batch)
        if self.signal is not None:
            self.signal.put(name, batch)

    def __iter__(self) -> Iterator[tuple[str, EventBatch]]:
        for name in self._calls:
            for batch in self.of(name):
                yield name, batch

    def of(self, stream: str) -> Iterator[EventBatch]:
        left = self._calls.get(stream, 0)
        if left and self._opened is None:
            self._opened = self._open()
        reader, numbers = self._opened or (None, {})
        for number in numbers.get(stream, ()):
            with contextlib.suppress(InputError):  # reported the first time
                for calls in reader.calls(number, signatures=False) if reader else ():
                    batch = calls.batch if len(calls.batch) <= left else calls.batch.select(slice(0, left))
                    left -= len(batch)
                    if len(batch):
                        yield batch
                    if not left:
                        return

    def _open(self) -> tuple[ArchiveReader, dict[str, list[int]]]:
        file = self._path.open("rb")
        weakref.finalize(self, file.close)
        reader = ArchiveReader(file, str(self._path))
        about = Input(str(self._path), Origin(job=""))
        numbers: dict[str, list[int]] = {}
        for number, stream in reader.streams.items():
            numbers.setdefault(about.stream("archive", stream.name), []).append(number)
        return reader, numbers
