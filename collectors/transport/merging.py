"""Chunks of streams that wait for more, so that a batch is worth its message."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from ...events import Definitions, EventBatch, concatenate
from ..source import Chunk
from .backlog import size_of
from .window import extend


@dataclass(slots=True)
class _Open:
    """Chunks of one stream."""

    since_s: float
    batches: list[EventBatch] = field(default_factory=list)
    events: int = 0
    size: int = 0
    definitions: Definitions = field(default_factory=Definitions)


class Merging:
    """Chunks by stream, in the order in which their streams began to wait.

    Attributes:
        bytes: of all chunks.
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
        """Events of all chunks."""
        return sum(merging.events for merging in self._open.values())

    def add(self, stream: str, chunk: Chunk, now_s: float) -> int:
        """Takes in a chunk; returns how many events of its stream wait."""
        merging = self._open.setdefault(stream, _Open(now_s))
        extend(merging.definitions, chunk.definitions)
        if len(chunk.batch):
            merging.batches.append(chunk.batch)
            merging.events += len(chunk.batch)
            merging.size += (size := size_of(chunk.batch))
            self.bytes += size
        return merging.events

    def waiting_since(self, limit_s: float) -> list[str]:
        """Returns the streams whose first chunk came at ``limit_s`` or before."""
        return [stream for stream, merging in self._open.items() if merging.since_s <= limit_s]

    def take(self, stream: str) -> tuple[EventBatch, Definitions] | None:
        """Takes out what waits of a stream, as one batch; None where nothing does."""
        if (merging := self._open.pop(stream, None)) is None:
            return None
        self.bytes -= merging.size
        return concatenate(merging.batches), merging.definitions
