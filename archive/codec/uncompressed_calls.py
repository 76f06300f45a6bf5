"""Keep few calls of a stream uncompressed until its section is closed. Equal processes are then encoded once."""

from __future__ import annotations

from hashlib import blake2b
from operator import attrgetter
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from ...events.batch import EventBatch, concatenate, is_constant
from ...events.definitions import Definitions, DefinitionTable
from ...events.schema import COLUMNS
from ..integers.number_templates import count_numbers
from .encoding import Part

MAX_UNCOMPRESSED_CALLS: Final = 128
"""Maximum number of uncompressed calls."""
_BYTES: Final = 2000
"""Approximate memory of the objects of a batch, bytes."""
_MAX_TEXTS: Final = 512
"""Maximum number of definitions of a stream whose calls are looked up in the cache."""
_MAX_BYTES: Final = 1 << 22
"""Maximum size of cached parts, bytes; above it all are discarded."""
_THREAD: Final = 3
"""Number of values per thread, the last decimal ones of a section's text: pid, tid and rank."""
_ALIKE: Final = tuple(name for name in COLUMNS if name not in ("start", "duration", "rank", "pid", "tid"))
"""Columns that are equal for calls whose parts differ only in the thread."""
_alike: Final = attrgetter(*_ALIKE)
_MAX_KEYS: Final = 64
"""Maximum number of keys that are found by the identities of columns."""
_MAX_KEY_BYTES: Final = 1 << 22
"""Maximum size of the columns that these keys keep, bytes; above it all are discarded."""

_encoder = msgspec.msgpack.Encoder()


class UncompressedCalls(Struct):
    """The calls of one stream that are in no open section."""

    _batches: list[EventBatch] = field(default_factory=list)
    _defined: list[tuple[int, int]] = field(default_factory=list)
    """Numbers of strings and signatures defined when each batch arrived."""
    _calls: int = 0

    @property
    def nbytes(self) -> int:
        """Approximate memory use."""
        return sum(_BYTES + len(batch) * _ROW_BYTES for batch in self._batches)

    def put(self, batch: EventBatch, table: DefinitionTable) -> bool:
        """Store copies of calls; False if there would be too many."""
        if self._calls + len(batch) > MAX_UNCOMPRESSED_CALLS:
            return False
        if len(batch):
            self._calls += len(batch)
            self._batches.append(_own(batch))
            self._defined.append((table.string_count, table.signature_count))
        return True

    def take(self, table: DefinitionTable) -> EventBatch | None:
        """Return and remove the calls; numbers undefined on arrival remain unknown."""
        if not self._batches:
            return None
        now = table.string_count, table.signature_count
        batches = [
            batch if defined == now else _as_defined(batch, *defined)
            for batch, defined in zip(self._batches, self._defined, strict=True)
        ]
        self._batches, self._defined, self._calls = [], [], 0
        return concatenate(batches)


class PartCache:
    """Cached parts of sections of few calls. It serves sections that differ only in times, pid and tid."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[Part, int]] = {}
        self._bytes = 0
        self._keys: dict[tuple[int, ...], tuple[tuple[npt.NDArray[Any], ...], Definitions, bytes | None]] = {}
        """Keys by the identities of columns, which live as long as they are here."""
        self._key_bytes = 0

    def key_of_whole(self, batch: EventBatch, definitions: Definitions, table: DefinitionTable) -> bytes | None:
        """Return the key of a stream's only batch. Batches of repeated processes share most columns."""
        columns = (*_alike(batch), batch.rank)
        threads = (batch.pid, batch.tid, batch.rank)
        if not all(map(is_constant, threads)) or batch.pid[0] < 0 or batch.tid[0] < 0:
            return self.key_of(batch, table)
        ids = tuple(map(id, columns))
        if (known := self._keys.get(ids)) is not None:
            _, defined, key = known
            if defined.strings == definitions.strings and defined.signatures == definitions.signatures:
                return key
        key, size = self.key_of(batch, table), sum(map(_kept_bytes, columns))
        if len(self._keys) >= _MAX_KEYS or self._key_bytes + size > _MAX_KEY_BYTES:
            self._keys.clear()
            self._key_bytes = 0
        if size <= _MAX_KEY_BYTES:
            self._keys[ids] = columns, definitions, key
            self._key_bytes += size
        return key

    @staticmethod
    def key_of(batch: EventBatch, table: DefinitionTable) -> bytes | None:
        """Return a key that is equal for calls with similar parts. None: the parts are not cached."""
        if table.string_count + table.signature_count > _MAX_TEXTS:
            return None
        thread = [_only(column) for column in (batch.pid, batch.tid, batch.rank)]
        if thread[0] is None or thread[1] is None or thread[2] is None or thread[0] < 0 or thread[1] < 0:
            return None
        texts = _encoder.encode((thread[2], *table.call_texts()))
        return blake2b(b"".join([*(each.tobytes() for each in _alike(batch)), texts]), digest_size=20).digest()

    def find(self, key: bytes, batch: EventBatch) -> Part | None:
        """Return the part for calls with the given key."""
        if (known := self._known.get(key)) is None:
            return None
        part, place = known
        numbers = part.numbers.copy()
        numbers[place], numbers[place + 1] = batch.pid[0], batch.tid[0]
        return Part(part.pieces, numbers)

    def remember(self, key: bytes, part: Part) -> None:
        """Store the part created for calls with the given key."""
        self._bytes += sum(map(len, part.pieces)) + part.numbers.nbytes
        if self._bytes > _MAX_BYTES:
            self._known.clear()
            self._bytes = 0
        self._known[key] = part, count_numbers(part.pieces[0], words=False) - _THREAD


_ROW_BYTES: Final = sum(dtype.itemsize for dtype, _ in COLUMNS.values())


def _own(batch: EventBatch) -> EventBatch:
    """Return a batch without views, which would keep larger memory."""
    columns = batch.columns()
    return EventBatch(
        **{name: each if each.base is None or is_constant(each) else each.copy() for name, each in columns.items()}
    )


def _as_defined(batch: EventBatch, strings: int, signatures: int) -> EventBatch:
    return batch.replace(
        call=np.where(batch.call < strings, batch.call, 0),
        signature=np.where(batch.signature < signatures, batch.signature, 0),
    )


def _kept_bytes(column: npt.NDArray[Any]) -> int:
    """Return the size of the memory that a column keeps, bytes."""
    if is_constant(column):
        return 0
    return int(getattr(column.base, "nbytes", column.nbytes))


def _only(column: npt.NDArray[np.integer]) -> int | None:
    """Return the value of a constant column."""
    first = column[0]
    return int(first) if is_constant(column) or (column == first).all() else None
