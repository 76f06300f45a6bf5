"""Events that wait to be sent: small chunks are merged into batches, which wait in memory and then in spool files.

Jobs take turns, so waiting batches of one job do not delay those of the others (``FairQueue``).

If batches are stored for the next collector, all are in its file, and only there while memory is full.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Generic, Protocol, TypeVar

from ...events import Definitions, EventBatch, concatenate, empty_batch, is_constant
from ..sent_definitions import extend
from ..source import Chunk
from .collector_store import BatchState, CollectorStore
from .spool_files import Place, SpoolFiles

_HEADER_BYTES = 512


class HasJob(Protocol):
    """A queued item."""

    @property
    def job(self) -> str:
        """Job of the item."""
        ...


_Item = TypeVar("_Item", bound=HasJob)


class FairQueue(Generic[_Item]):
    """Queue of items by job.

    Every second item taken is the oldest of all. The others belong to the job that began to wait last, which then moves
    to the end of the line if it has more items. So a job that keeps up waits for few items of a job that catches up,
    and takes at most half of the sending rate from it.
    """

    def __init__(self) -> None:
        self._all: OrderedDict[int, _Item] = OrderedDict()  # by order of arrival
        self._of: OrderedDict[str, deque[int]] = OrderedDict()  # by job; the last one is next
        self._numbers = count()
        self._is_oldest_next = True

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[_Item]:
        return iter(self._all.values())

    def append(self, item: _Item) -> None:
        """Append an item to its job's queue."""
        number = next(self._numbers)
        self._all[number] = item
        self._of.setdefault(item.job, deque()).append(number)

    def take(self) -> _Item:
        """Remove and return the next item; raises KeyError if there is none."""
        if self._is_oldest_next or len(self._of) == 1:
            self._is_oldest_next = False
            return self.take_oldest()
        self._is_oldest_next = True
        job, numbers = self._of.popitem()
        item = self._all.pop(numbers.popleft())
        if numbers:
            self._of[job] = numbers
            self._of.move_to_end(job, last=False)
        return item

    def take_oldest(self) -> _Item:
        """Remove and return the oldest item; raises KeyError if there is none."""
        _, item = self._all.popitem(last=False)
        numbers = self._of[item.job]
        numbers.popleft()
        if not numbers:
            del self._of[item.job]
        return item


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


@dataclass(slots=True)
class _Open:
    """Chunks of one stream."""

    since_s: float
    batches: list[EventBatch] = field(default_factory=list)
    events: int = 0
    size: int = 0
    definitions: Definitions = field(default_factory=Definitions)


class Merging:
    """Chunks by stream, in the order in which the streams began to wait.

    Attributes:
        bytes: size of all chunks.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self._open: OrderedDict[str, _Open] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, stream: str) -> bool:
        return stream in self._open

    @property
    def events(self) -> int:
        """Number of events in all chunks."""
        return sum(merging.events for merging in self._open.values())

    def add(self, stream: str, chunk: Chunk, now_s: float) -> int:
        """Add a chunk; returns the number of waiting events of its stream."""
        merging = self._open.setdefault(stream, _Open(now_s))
        extend(merging.definitions, chunk.definitions)
        if len(chunk.batch):
            merging.batches.append(chunk.batch)
            merging.events += len(chunk.batch)
            merging.size += (size := size_of(chunk.batch))
            self.bytes += size
        return merging.events

    def waiting_since(self, limit_s: float) -> list[str]:
        """Return the streams whose first chunk arrived at or before ``limit_s``."""
        return [stream for stream, merging in self._open.items() if merging.since_s <= limit_s]

    def take(self, stream: str) -> tuple[EventBatch, Definitions] | None:
        """Remove the chunks of a stream and return them as one batch; None if there are none."""
        if (merging := self._open.pop(stream, None)) is None:
            return None
        self.bytes -= merging.size
        return concatenate(merging.batches), merging.definitions
