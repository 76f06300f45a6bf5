"""Batches that wait to be sent. A disk spool takes this place when batches are to outlive the collector."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from ...events import Definitions, EventBatch, is_constant

_HEADER_BYTES = 512


@dataclass(slots=True)
class Waiting:
    """A batch that was not sent yet; its stream gives it a number when it is."""

    stream: str
    batch: EventBatch
    definitions: Definitions
    since_s: float
    size: int


class Backlog:
    """A queue bounded in bytes. When it is full the oldest batch goes; the caller keeps its definitions."""

    def __init__(self, capacity_bytes: int) -> None:
        self.bytes = 0
        self.events = 0
        self._capacity = capacity_bytes
        self._queue: deque[Waiting] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def push(self, stream: str, batch: EventBatch, definitions: Definitions, now_s: float, used: int) -> list[Waiting]:
        """Appends a batch; returns those that had to go so that the queue and ``used`` further bytes fit."""
        waiting = Waiting(stream, batch, definitions, now_s, size_of(batch))
        self._queue.append(waiting)
        self.bytes += waiting.size
        self.events += len(batch)
        gone = []
        while self.bytes + used > self._capacity and len(self._queue) > 1:
            gone.append(self.pop())
        return gone

    def pop(self) -> Waiting:
        """Takes the oldest batch out."""
        oldest = self._queue.popleft()
        self.bytes -= oldest.size
        self.events -= len(oldest.batch)
        return oldest


def size_of(batch: EventBatch) -> int:
    """Returns the bytes that a batch holds; constant columns hold none."""
    return _HEADER_BYTES + sum(column.nbytes for column in batch.columns().values() if not is_constant(column))
