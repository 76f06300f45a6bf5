"""Interface of a journal that decides when messages may be answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...events.network.wire import Frame
from .ingest_core import Reply


class SyncTimes(Protocol):
    """Number and duration of a journal's syncs."""

    @property
    def syncs(self) -> int:
        """Number of syncs."""
        ...

    @property
    def sync_s(self) -> float:
        """Total time of syncs, s."""
        ...


class InputJournal(Protocol):
    """Journals messages before they are answered."""

    @property
    def journal(self) -> SyncTimes:
        """The journal."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether so many bytes wait for the disk that no more messages should be read."""
        ...

    @property
    def has_deferred_answers(self) -> bool:
        """Whether processed messages wait for a working disk."""
        ...

    def receive(self, identity: bytes, frames: Sequence[Frame], now_s: float) -> list[Reply]:
        """Journal and process a message; return the answers that need not wait."""
        ...

    def tick(self, now_s: float) -> None:
        """Journal and run a check of collectors for silence."""
        ...

    def sync(self) -> None:
        """Sync records that answers wait for."""
        ...

    def pop_durable(self) -> list[Reply]:
        """Return the answers whose records are on disk now."""
        ...
