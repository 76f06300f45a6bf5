"""Store a collector's unacknowledged data in a folder, for the next collector.

The store is an SQLite database (decision 0008). All changes between two commits are one transaction: batches, the
numbers that they were sent with, and the read positions of sources. So none of these is stored without the others.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from ...events import ConfigError, Definitions, EventBatch, StreamInfo
from ...events.network.wire import Frame
from .spool_files import (
    packed,
    packed_definitions,
    packed_info,
    size_of_pieces,
    unpacked,
    unpacked_definitions,
    unpacked_info,
)

_log = logging.getLogger(__name__)
NAME: Final = "unacknowledged.db"
VERSION: Final = 1
_RETRY_S: Final = 10.0
_PAGE: Final = 16_384
_SPARE_PAGES: Final = (64 << 20) // _PAGE
"""Free pages that remain in the file, so that it need not grow again."""
_GIVEN_BACK: Final = 256
"""Maximum number of further free pages that each transaction releases."""
_TABLES: Final = (
    "CREATE TABLE facts(name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID",
    "CREATE TABLE places(name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID",
    "CREATE TABLE streams(name TEXT PRIMARY KEY, at INTEGER, source TEXT, info BLOB, next_seq INTEGER, made INTEGER, "
    "ended INTEGER, losses BLOB) WITHOUT ROWID",
    "CREATE TABLE batches(row INTEGER PRIMARY KEY, stream TEXT, what INTEGER, seq INTEGER, events INTEGER, "
    "moved INTEGER, size INTEGER, definitions BLOB, columns BLOB)",
    "CREATE INDEX batches_of_stream ON batches(stream)",
)


_Row: TypeAlias = tuple[Any, ...]


class BatchState(IntEnum):
    """State of a batch. Only the definitions of batches that are not needed any more are stored."""

    WAITING = 0
    SENT = 1
    DROPPED = 2
    """Dropped; its definitions are sent with a later batch."""
    DONE = 3


class StoredStream(NamedTuple):
    """Stored state of a stream."""

    name: str
    at: int
    """Position in the order in which streams were opened."""
    source: str
    """Name of the stream at its source."""
    info: StreamInfo
    next_seq: int
    made: int
    ended: bool
    losses: Counter[str]


class StoredBatch(NamedTuple):
    """Stored state of a batch, without its events."""

    row: int
    stream: str
    state: BatchState
    seq: int
    events: int
    moved: int
    size: int
    definitions: Definitions


class CollectorStore:
    """Store of a collector's state; nothing is written before ``commit``.

    While the disk rejects writes, new batches are not stored. This is counted and retried.

    Args:
        folder: folder of the store, created if missing; used by one collector at a time.
        most_bytes: bound on the stored batches.
        clock: a steady clock, s.

    Attributes:
        bytes: size of the stored batches.
        failures: number of transactions or reads of batches that failed.

    Raises:
        ConfigError: the folder cannot be used, or another collector uses it.
    """

    def __init__(self, folder: Path, most_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.bytes = 0
        self.failures = 0
        self.most_bytes = most_bytes
        self._clock = clock
        self._path = folder / NAME
        self._retry_at_s = -1.0
        self._facts: dict[str, bytes] = {}
        self._positions: dict[str, bytes | None] = {}
        self._streams: dict[str, _Row | None] = {}
        self._uncommitted: dict[int, _Row] = {}
        self._numbers: dict[int, int] = {}
        self._finished: dict[int, tuple[BatchState, bytes]] = {}
        self._sizes: dict[int, int] = {}
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._database = self._open_database()
        except OSError as error:
            raise ConfigError(f"state = {folder}: {error.strerror}; expected a folder that may be written") from None
        except sqlite3.Error as error:
            text = "is used by another collector" if "locked" in str(error) else f"cannot be used ({error})"
            raise ConfigError(f"state = {folder} {text}; expected a folder of its own") from None
        found = self._scalar("SELECT max(row) FROM batches")
        self._last = found if isinstance(found, int) else 0

    # ---- data of the previous collector ----

    def fact(self, name: str) -> bytes:
        """Return a stored fact; empty if there is none."""
        found = self._scalar("SELECT value FROM facts WHERE name = ?", name)
        return found if isinstance(found, bytes) else b""

    def positions(self) -> dict[str, bytes]:
        """Return the read positions of sources, by the sources' own names."""
        return dict(self._database.execute("SELECT name, value FROM places"))

    def streams(self) -> list[StoredStream]:
        """Return the streams that were not ended and acknowledged, in order."""
        rows = self._database.execute(
            "SELECT name, at, source, info, next_seq, made, ended, losses FROM streams ORDER BY at"
        )
        return [
            StoredStream(name, at, source, unpacked_info(info), next_seq, made, bool(ended), counts_of(losses))
            for name, at, source, info, next_seq, made, ended, losses in rows
        ]

    def batches(self) -> Iterator[StoredBatch]:
        """Yield all batches, in order."""
        rows = self._database.execute(
            "SELECT row, stream, what, seq, events, moved, size, definitions FROM batches ORDER BY row"
        ).fetchall()
        for row, stream, state, seq, events, moved, size, definitions in rows:
            self._hold(row, size if state in (BatchState.WAITING, BatchState.SENT) else 0)
            yield StoredBatch(
                row, stream, BatchState(state), seq, events, moved, size, unpacked_definitions(definitions)
            )

    # ---- data of this collector ----

    def put(self, stream: str, batch: EventBatch, definitions: Definitions) -> int:
        """Add a batch. Returns its row, or 0 if the disk rejects writes or there is no room."""
        pieces = packed(batch)
        size = size_of_pieces(pieces)
        if self.is_failing or self.bytes + size > self.most_bytes:
            return 0
        return self._put(stream, BatchState.WAITING, len(batch), batch.moved, pieces, definitions)

    def store_definitions(self, stream: str, definitions: Definitions) -> None:
        """Add definitions that are sent with a later batch."""
        self._put(stream, BatchState.DROPPED, 0, 0, (), definitions)

    def read(self, row: int) -> EventBatch | None:
        """Return the events of a committed batch; None if they cannot be read."""
        batch = None
        with suppress(sqlite3.Error):
            columns = self._scalar("SELECT columns FROM batches WHERE row = ?", row)
            batch = unpacked(columns) if isinstance(columns, bytes) else None
        self.failures += batch is None
        return batch

    def record_seq(self, row: int, seq: int) -> None:
        """Record the number of the first message that carries a batch."""
        if row in self._sizes:
            self._numbers[row] = seq

    def finish_batch(self, row: int, state: BatchState, definitions: Definitions) -> None:
        """Record that a batch is not needed any more. Its definitions are, until its stream is removed."""
        if row not in self._sizes:
            return
        self.bytes -= self._sizes[row]
        self._sizes[row] = 0
        self._numbers.pop(row, None)
        left = packed_definitions(definitions)
        if (fresh := self._uncommitted.get(row)) is not None and left:
            self._uncommitted[row] = (*fresh[:2], state, *fresh[3:6], 0, left, b"")
            return
        if self._uncommitted.pop(row, None) is None:
            self._finished[row] = state, left
        if not left:
            del self._sizes[row]

    def store_fact(self, name: str, value: bytes) -> None:
        """Store a fact."""
        self._facts[name] = value

    def store_position(self, name: str, value: bytes | None) -> None:
        """Record the read position of a source; None: the source is not read any more."""
        self._positions[name] = value

    def store_stream(self, kept: StoredStream) -> None:
        """Record the state of a stream."""
        info, losses = packed_info(kept.info), packed_counts(kept.losses)
        self._streams[kept.name] = (*kept[:3], info, *kept[4:6], int(kept.ended), losses)

    def remove_stream(self, stream: str) -> None:
        """Remove a stream, because it was acknowledged completely or refused."""
        self._streams[stream] = None
        for row in [row for row, fresh in self._uncommitted.items() if fresh[1] == stream]:
            del self._uncommitted[row]
            self.bytes -= self._sizes.pop(row, 0)

    @property
    def is_failing(self) -> bool:
        """Whether the last transaction failed and it is not time to retry."""
        return self._clock() < self._retry_at_s

    def commit(self) -> bool:
        """Write all changes. Return False if the disk rejects them.

        Batches since the last commit are then not stored.
        """
        if not (
            self._facts or self._positions or self._streams or self._uncommitted or self._numbers or self._finished
        ):
            return not self.is_failing
        try:
            if self.is_failing:
                raise sqlite3.OperationalError("the last write failed a few seconds ago")
            self._write()
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._database.execute("ROLLBACK")
            for row in self._uncommitted:
                self.bytes -= self._sizes.pop(row, 0)
                self._numbers.pop(row, None)
            self._uncommitted.clear()
            if not self.is_failing:
                self.failures += 1
                self._retry_at_s = self._clock() + _RETRY_S
                _log.warning("further calls will be lost if this collector is killed: %s", error)
            return False
        for taken in (self._facts, self._positions, self._streams, self._uncommitted, self._numbers, self._finished):
            taken.clear()
        return True

    def close(self) -> None:
        """Releases the folder; removes the store if nothing remains to be sent."""
        is_empty = False
        with suppress(sqlite3.Error), closing(self._database):
            self.commit()
            is_empty = not self._scalar("SELECT EXISTS(SELECT 1 FROM streams) OR EXISTS(SELECT 1 FROM places)")
        if is_empty:
            self._path.unlink(missing_ok=True)

    # ---- internals ----

    def _open_database(self) -> sqlite3.Connection:
        try:
            return _database(self._path)
        except sqlite3.OperationalError:
            raise
        except (sqlite3.DatabaseError, VersionError) as error:
            aside = self._path.with_suffix(".unreadable")
            _log.error("%s: %s; the file is renamed to %s, and its calls are not sent", self._path, error, aside.name)
            self._path.replace(aside)
            for suffix in ("-wal", "-shm", "-journal"):
                self._path.with_name(NAME + suffix).unlink(missing_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            return _database(self._path)

    def _put(
        self,
        stream: str,
        state: BatchState,
        events: int,
        moved: int,
        pieces: tuple[()] | list[Frame],
        definitions: Definitions,
    ) -> int:
        self._last += 1
        columns = b"".join(pieces)
        self._uncommitted[self._last] = (
            *(self._last, stream, state, 0, events, moved, len(columns)),
            packed_definitions(definitions),
            columns,
        )
        self._hold(self._last, len(columns))
        return self._last

    def _hold(self, row: int, size: int) -> None:
        self._sizes[row] = size
        self.bytes += size

    def _write(self) -> None:
        do, many = self._database.execute, self._database.executemany
        do("BEGIN IMMEDIATE")
        many("INSERT OR REPLACE INTO facts VALUES (?, ?)", self._facts.items())
        places = [(name, value) for name, value in self._positions.items() if value is not None]
        many("INSERT OR REPLACE INTO places VALUES (?, ?)", places)
        many("DELETE FROM places WHERE name = ?", _removed_names(self._positions))
        streams = [values for values in self._streams.values() if values is not None]
        many("INSERT OR REPLACE INTO streams VALUES (?, ?, ?, ?, ?, ?, ?, ?)", streams)
        many("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", self._uncommitted.values())
        many("UPDATE batches SET what = 1, seq = ? WHERE row = ?", ((seq, row) for row, seq in self._numbers.items()))
        kept = [(state, left, row) for row, (state, left) in self._finished.items() if left]
        many("UPDATE batches SET what = ?, size = 0, columns = x'', definitions = ? WHERE row = ?", kept)
        many("DELETE FROM batches WHERE row = ?", ((row,) for row, (_, left) in self._finished.items() if not left))
        gone = list(_removed_names(self._streams))
        many("DELETE FROM streams WHERE name = ?", gone)
        for (name,) in gone:
            for (row,) in do("SELECT row FROM batches WHERE stream = ?", (name,)).fetchall():
                self.bytes -= self._sizes.pop(row, 0)
        many("DELETE FROM batches WHERE stream = ?", gone)
        do("COMMIT")
        if self._finished or gone:
            free = self._scalar("PRAGMA freelist_count")
            if isinstance(free, int) and free > _SPARE_PAGES:
                do(f"PRAGMA incremental_vacuum({_GIVEN_BACK})").fetchall()

    def _scalar(self, statement: str, *values: object) -> Any:
        found = self._database.execute(statement, values).fetchone()
        return None if found is None else found[0]


class VersionError(Exception):
    """The file has another version."""


def packed_counts(counts: Mapping[str, int]) -> bytes:
    """Return counts as bytes."""
    return msgspec.msgpack.encode({name: int(count) for name, count in counts.items()})


def counts_of(data: bytes) -> Counter[str]:
    """Return the counts; empty for no bytes."""
    return Counter(msgspec.msgpack.decode(data, type=dict[str, int]) if data else {})


def _removed_names(entries: Mapping[str, object]) -> Iterator[tuple[str]]:
    return ((name,) for name, value in entries.items() if value is None)


def _database(path: Path) -> sqlite3.Connection:
    found = sqlite3.connect(path, isolation_level=None, timeout=0.0, check_same_thread=False)
    try:
        for pragma in (f"page_size = {_PAGE}", "auto_vacuum = incremental", "locking_mode = exclusive"):
            found.execute(f"PRAGMA {pragma}")
        found.execute("PRAGMA journal_mode = wal")
        found.execute("PRAGMA synchronous = normal")
        (version,) = found.execute("PRAGMA user_version").fetchone()
        if not version:
            found.execute("BEGIN IMMEDIATE")
            for table in _TABLES:
                found.execute(table)
            found.execute(f"PRAGMA user_version = {VERSION}")
            found.execute("COMMIT")
        elif version != VERSION:
            raise VersionError(f"it is of version {version}, and this iotide reads {VERSION}")
        found.execute("SELECT count(*) FROM streams").fetchone()
    except BaseException:
        found.close()
        raise
    return found
