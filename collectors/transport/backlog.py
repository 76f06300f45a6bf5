"""Queue of batches that wait to be sent, in memory and then in spool files.

Jobs take turns, so waiting batches of one job do not delay those of the others (``fair_queue``).

If batches are stored for the next collector, all are in its file, and only there while memory is full.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...events import Definitions, EventBatch, empty_batch, is_constant
from .collector_store import BatchState, CollectorStore
from .fair_queue import FairQueue
from .spool_files import Place, SpoolFiles

_HEADER_BYTES = 512


@dataclass(slots=True)
class WaitingBatch:
    """A batch that was not sent yet; its stream numbers it when it is sent."""

    stream: str
    batch: EventBatch | None
    """None while the batch is in a file."""
    definitions: Definitions
    since_s: float
    size: int
    events: int
    moved: int
    """Bytes that the events moved."""
    place: Place | None = None
    row: int = 0
    """Row in the stored spool; 0: it is not stored."""
    job: str = ""
    is_only_stored: bool = False
    """The batch does not count as in memory, although it stays there until it is committed."""


class Backlog:
    """A queue bounded in bytes. When it is full the oldest batch is dropped; the caller keeps its definitions.

    Args:
        capacity_bytes: bound on batches in memory.
        spool: receives batches while the memory is full; None: none are spooled.
        store: receives all batches for the next collector; excludes ``spool``.

    Attributes:
        bytes: bytes in memory.
        events: number of all waiting events.
    """

    def __init__(
        self, capacity_bytes: int, spool: SpoolFiles | None = None, store: CollectorStore | None = None
    ) -> None:
        self.bytes = 0
        self.events = 0
        self._capacity = capacity_bytes
        self._spool = spool
        self._collector_store = store
        self._uncommitted: list[WaitingBatch] = []
        self._queue: FairQueue[WaitingBatch] = FairQueue()

    def __len__(self) -> int:
        return len(self._queue)

    def push(
        self, stream: str, batch: EventBatch, definitions: Definitions, now_s: float, used: int, job: str = ""
    ) -> list[WaitingBatch]:
        """Append a batch. Returns the batches dropped so that the queue and ``used`` further bytes fit."""
        waiting = WaitingBatch(stream, batch, definitions, now_s, size_of(batch), len(batch), batch.moved, job=job)
        dropped = [] if self._collector_store is None else self._store(waiting, self._collector_store)
        while not waiting.is_only_stored and self.bytes + waiting.size + used > self._capacity:
            if waiting.row:
                waiting.is_only_stored = True
                self._uncommitted.append(waiting)
                break
            if self._spool is not None and len(batch) and (place := self._spool.append(batch)) is not None:
                waiting.place, waiting.batch = place, None
                break
            if not self._queue:
                break
            dropped.append(self._drop())
        self._queue.append(waiting)
        self.events += waiting.events
        if waiting.place is None and not waiting.is_only_stored:
            self.bytes += waiting.size
        return dropped

    def restore(self, waiting: WaitingBatch) -> None:
        """Append a batch that another collector left; its events are read when it is sent."""
        self._queue.append(waiting)
        self.events += waiting.events

    def on_commit(self, used: int, *, is_kept: bool) -> list[WaitingBatch]:
        """Process the result of a commit of the stored file; returns the batches dropped."""
        fresh, self._uncommitted = self._uncommitted, []
        if is_kept:
            for waiting in fresh:
                waiting.batch = None
            return []
        dropped: list[WaitingBatch] = []
        queued = {id(waiting) for waiting in self._queue} if fresh else set()
        for waiting in fresh:
            if id(waiting) in queued:
                waiting.row, waiting.is_only_stored = 0, False
                self.bytes += waiting.size
        while self.bytes + used > self._capacity and self._queue:
            dropped.append(self._drop())
        return dropped

    def pop(self) -> tuple[WaitingBatch, EventBatch | None]:
        """Remove the next batch to send and return it with its events, which are None if they cannot be read."""
        due = self._queue.take()
        self.events -= due.events
        batch = due.batch
        if batch is None and self._collector_store is not None:
            batch = self._collector_store.read(due.row)
        elif batch is None and self._spool is not None and due.place is not None:
            batch = self._spool.read(due.place)
        self._leave(due)
        return due, batch

    def close(self) -> None:
        """Remove the files, except what is stored for the next collector."""
        if self._spool is not None:
            self._spool.close()

    def _store(self, waiting: WaitingBatch, store: CollectorStore) -> list[WaitingBatch]:
        """Write a batch to the stored file; returns the batches dropped so that it fits."""
        dropped = []
        batch = waiting.batch or empty_batch()
        while not (row := store.put(waiting.stream, batch, waiting.definitions)):
            if store.is_failing or not self._queue:
                break
            dropped.append(self._drop())
        waiting.row = row
        return dropped

    def _drop(self) -> WaitingBatch:
        dropped = self._queue.take_oldest()
        self.events -= dropped.events
        self._leave(dropped)
        if self._collector_store is not None:
            self._collector_store.finish_batch(dropped.row, BatchState.DROPPED, dropped.definitions)
        return dropped

    def _leave(self, dropped: WaitingBatch) -> None:
        if dropped.is_only_stored:
            return
        if dropped.place is None:
            self.bytes -= dropped.size
        elif self._spool is not None:
            self._spool.release(dropped.place)


def size_of(batch: EventBatch) -> int:
    """Return the bytes of a batch; constant columns have none."""
    return _HEADER_BYTES + sum(column.nbytes for column in batch.columns().values() if not is_constant(column))
