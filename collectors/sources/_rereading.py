"""Read a file again from its beginning. Events that the previous collector has stored are left out."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, NamedTuple

import msgspec

from ..source import Chunk, SourceItem

_HEAD_BYTES: Final = 256


class FileIdentity(NamedTuple):
    """Identity of a file: its inode and a digest of its beginning."""

    device: int
    inode: int
    length: int
    digest: bytes


class _Place(NamedTuple):
    identity: FileIdentity
    generation: int
    events: dict[str, int]


class Rereading:
    """Counts the events of a file's streams. It skips as many as a stored position says.

    The same bytes give the same events in the same order, however they are split, so a count is a position.
    """

    def __init__(self) -> None:
        self._before: _Place | None = None
        self._identity: FileIdentity | None = None
        self._generation = 0
        self._events: Counter[str] = Counter()
        self._events_to_skip: Counter[str] = Counter()
        self._has_new_events = False

    def resume_from(self, place: bytes) -> None:
        """Set the stored position; malformed positions are ignored."""
        with suppress(msgspec.MsgspecError):
            self._before = msgspec.msgpack.decode(place, type=_Place)

    def begin(self, inode: tuple[int, int], head: bytes, generation: int) -> int:
        """Begins a file. Returns its generation, which is the stored one if the file is the same."""
        before, self._before = self._before, None
        self._events = Counter()
        if before is not None and before.identity == _identity(inode, head, before.identity.length):
            self._events = Counter(before.events)
            generation = before.generation
        self._events_to_skip = self._events.copy()
        self._identity, self._generation = _identity(inode, head, _HEAD_BYTES), generation
        return generation

    def after(self, items: Iterable[SourceItem]) -> list[SourceItem]:
        """Return the items without the events that were stored before."""
        return [self._fresh(item) if isinstance(item, Chunk) else item for item in items]

    def read_position(self, is_queued: Callable[[str, bool], bool]) -> bytes | None:
        """Return the read position. Returns None if it has not changed or its events are not ready to be stored."""
        if not self._has_new_events or self._identity is None:
            return None
        if not all([is_queued(stream, False) for stream in self._events]):  # noqa: C419  (each is to be asked)
            return None
        self._has_new_events = False
        return msgspec.msgpack.encode(_Place(self._identity, self._generation, self._events))

    def _fresh(self, chunk: Chunk) -> Chunk:
        left_out = min(self._events_to_skip[chunk.stream], len(chunk.batch))
        self._events_to_skip[chunk.stream] -= left_out
        self._events[chunk.stream] += len(chunk.batch) - left_out
        self._has_new_events = True
        if not left_out:
            return chunk
        return msgspec.structs.replace(chunk, batch=chunk.batch.select(slice(left_out, None)))


def _identity(inode: tuple[int, int], head: bytes, length: int) -> FileIdentity:
    known = head[: min(length, _HEAD_BYTES)]
    return FileIdentity(*inode, len(known), hashlib.blake2b(known, digest_size=16).digest())
