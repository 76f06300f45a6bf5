"""Queue of events that are not yet analyzed. Many small batches cost as much as one large one, and more memory."""

from __future__ import annotations

from typing import Final, NamedTuple, Self

from msgspec import Struct, field

from ...events import EventBatch, StreamInfo, concatenate

_MAX_PIECES: Final = 16
"""Maximum number of separate batches. An array of few events takes more memory than the events."""


class Run(NamedTuple):
    """Rows of one stream, and its introduction at that time."""

    stream: str
    info: StreamInfo
    length: int


class QueuedEvents(Struct, frozen=True):
    """Events in order of arrival, in the job's numbering.

    Attributes:
        batch: events.
        runs: streams of the rows, from the first row on.
    """

    batch: EventBatch
    runs: list[Run]
    _parts: list[tuple[EventBatch, str, StreamInfo]] = field(default_factory=list)

    @classmethod
    def of(cls, batch: EventBatch, stream: str, info: StreamInfo) -> Self:
        """Create an object from the events of one stream."""
        return cls(batch, [Run(stream, info, len(batch))])

    @property
    def lengths(self) -> list[int]:
        """Number of events of each run."""
        return [run.length for run in self.runs]

    def parts(self) -> list[tuple[EventBatch, str, StreamInfo]]:
        """Return the events of each run; they are split once and cached."""
        if len(self.runs) == 1:
            return [(self.batch, self.runs[0].stream, self.runs[0].info)]
        if not self._parts:
            at = 0
            for stream, info, length in self.runs:
                self._parts.append((self.batch.select(slice(at, at + length)), stream, info))
                at += length
        return self._parts


class AnalysisQueue:
    """Queue of batches. ``since`` returns the events from a position on, so that each reader continues where it was."""

    def __init__(self) -> None:
        self._batches: list[EventBatch] = []
        self._runs: list[Run] = []
        self._length = 0
        self._whole: QueuedEvents | None = None
        """All events as one object, cached on first request."""

    def __len__(self) -> int:
        """Return the number of queued events."""
        return self._length

    def put(self, batch: EventBatch, stream: str, info: StreamInfo) -> None:
        """Add events of a stream."""
        runs = [Run(stream, info, len(batch))]
        if self._runs and self._runs[-1].stream == stream and self._runs[-1].info is info:
            runs = [Run(stream, info, self._runs.pop().length + len(batch))]
        self.put_runs(batch, runs)

    def put_runs(self, batch: EventBatch, runs: list[Run]) -> None:
        """Add events of several streams."""
        self._whole = None
        if len(self._batches) == _MAX_PIECES:
            self._batches = [concatenate(self._batches)]
        self._batches.append(batch)
        self._length += len(batch)
        self._runs += runs

    def since(self, first: int) -> QueuedEvents:
        """Return all events except the ``first`` ones; there must be some."""
        if len(self._batches) > 1:
            self._batches = [concatenate(self._batches)]
        if not first:
            if self._whole is None:
                self._whole = QueuedEvents(self._batches[0], self._runs[:])
            return self._whole
        runs, before = [], 0
        for stream, info, length in self._runs:
            if before + length > first:
                runs.append(Run(stream, info, before + length - max(before, first)))
            before += length
        return QueuedEvents(self._batches[0].select(slice(first, None)), runs)

    def pack(self) -> None:
        """Concatenate all events to one batch that shares no memory with received messages."""
        if self._batches:
            self._batches, self._whole = [concatenate(self._batches)], None

    def clear(self) -> None:
        """Remove all events."""
        self._batches, self._runs, self._length, self._whole = [], [], 0, None
