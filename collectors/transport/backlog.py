"""Batches that wait to be sent: in memory, and where there is a spool, in files behind what fills the memory."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from ...events import Definitions, EventBatch, is_constant
from .spool_files import Place, SpoolFiles

_HEADER_BYTES = 512


@dataclass(slots=True)
class Waiting:
    """A batch that was not sent yet; its stream gives it a number when it is."""

    stream: str
    batch: EventBatch | None
    """None while it lies in a file."""
    definitions: Definitions
    since_s: float
    size: int
    events: int
    moved: int
    """Bytes that the events moved."""
    place: Place | None = None


class Backlog:
    """A queue bounded in bytes. When it is full the oldest batch goes; the caller keeps its definitions.

    Args:
        capacity_bytes: of batches in memory.
        spool: takes what comes while the memory is full; None: nothing does.

    Attributes:
        bytes: in memory.
        events: of all that waits.
    """

    def __init__(self, capacity_bytes: int, spool: SpoolFiles | None = None) -> None:
        self.bytes = 0
        self.events = 0
        self._capacity = capacity_bytes
        self._spool = spool
        self._queue: deque[Waiting] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def push(self, stream: str, batch: EventBatch, definitions: Definitions, now_s: float, used: int) -> list[Waiting]:
        """Appends a batch; returns those that had to go so that the queue and ``used`` further bytes fit."""
        waiting = Waiting(stream, batch, definitions, now_s, size_of(batch), len(batch), batch.moved)
        gone = []
        while self.bytes + waiting.size + used > self._capacity:
            if self._spool is not None and len(batch) and (place := self._spool.put(batch)) is not None:
                waiting.place, waiting.batch = place, None
                break
            if not self._queue:
                break
            gone.append(self._take())
            self._leave(gone[-1])
        self._queue.append(waiting)
        self.events += waiting.events
        if waiting.place is None:
            self.bytes += waiting.size
        return gone

    def pop(self) -> tuple[Waiting, EventBatch | None]:
        """Takes the oldest out; returns it and its batch, None where the file that it lay in cannot be read."""
        oldest = self._take()
        batch = oldest.batch
        if batch is None and self._spool is not None and oldest.place is not None:
            batch = self._spool.read(oldest.place)
        self._leave(oldest)
        return oldest, batch

    def close(self) -> None:
        """Removes the files."""
        if self._spool is not None:
            self._spool.close()

    def _take(self) -> Waiting:
        oldest = self._queue.popleft()
        self.events -= oldest.events
        return oldest

    def _leave(self, gone: Waiting) -> None:
        if gone.place is None:
            self.bytes -= gone.size
        elif self._spool is not None:
            self._spool.leave(gone.place)


def size_of(batch: EventBatch) -> int:
    """Returns the bytes that a batch holds; constant columns hold none."""
    return _HEADER_BYTES + sum(column.nbytes for column in batch.columns().values() if not is_constant(column))
