"""What has come in and was not analysed yet: many small batches take as long as one large one, and more memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from ..events import EventBatch, StreamInfo, concatenate

_MOST_PIECES: Final = 16
"""Batches beside one another; an array of few events takes more memory than the events."""


class Run(NamedTuple):
    """Rows of one stream, and what it said of itself when they came."""

    stream: str
    info: StreamInfo
    length: int


@dataclass(frozen=True, slots=True)
class Taken:
    """Events in the order in which they came, in the job's numbers.

    Attributes:
        batch: the events.
        runs: whose they are, from the first row on.
    """

    batch: EventBatch
    runs: list[Run]

    @classmethod
    def of(cls, batch: EventBatch, stream: str, info: StreamInfo) -> Self:
        """Returns events of one stream."""
        return cls(batch, [Run(stream, info, len(batch))])

    def parts(self) -> Iterator[tuple[EventBatch, str, StreamInfo]]:
        """Yields the events of each run."""
        if len(self.runs) == 1:
            yield self.batch, self.runs[0].stream, self.runs[0].info
            return
        at = 0
        for stream, info, length in self.runs:
            yield self.batch.select(slice(at, at + length)), stream, info
            at += length


class Held:
    """A row of batches; ``since`` returns what came from some event on, so that each reader goes on where it was."""

    def __init__(self) -> None:
        self._batches: list[EventBatch] = []
        self._runs: list[Run] = []
        self._length = 0

    def __len__(self) -> int:
        """Events that are held."""
        return self._length

    def put(self, batch: EventBatch, stream: str, info: StreamInfo) -> None:
        """Adds events of a stream."""
        if len(self._batches) == _MOST_PIECES:
            self._batches = [concatenate(self._batches)]
        self._batches.append(batch)
        self._length += len(batch)
        if self._runs and self._runs[-1].stream == stream and self._runs[-1].info is info:
            self._runs[-1] = Run(stream, info, self._runs[-1].length + len(batch))
        else:
            self._runs.append(Run(stream, info, len(batch)))

    def since(self, first: int) -> Taken:
        """Returns all events but the ``first`` ones; there must be some."""
        if len(self._batches) > 1:
            self._batches = [concatenate(self._batches)]
        if not first:
            return Taken(self._batches[0], self._runs)
        runs, before = [], 0
        for stream, info, length in self._runs:
            if before + length > first:
                runs.append(Run(stream, info, before + length - max(before, first)))
            before += length
        return Taken(self._batches[0].select(slice(first, None)), runs)

    def pack(self) -> None:
        """Makes one batch of them that shares no memory with what came over the wire."""
        if self._batches:
            self._batches = [concatenate(self._batches)]

    def clear(self) -> None:
        """Lets go of all events."""
        self._batches, self._runs, self._length = [], [], 0
