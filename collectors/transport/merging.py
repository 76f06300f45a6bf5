"""Merge small chunks of streams into batches."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from ...events import Definitions, EventBatch, concatenate
from ..sent_definitions import extend
from ..source import Chunk
from .backlog import size_of


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
