"""Writes a journal's files in a thread: records that arrive meanwhile are written together. Stores what was synced."""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ...events.network.wire import Frame
from ..jobs.lifecycle.recorded_steps import Kind
from .contract import JournalError, Moment, Position
from .segments import HEADER_BYTES, SUFFIX, Segment, encode, header, name_of, save_folder

MARK_NAME: Final = "synced"
_MARK: Final = struct.Struct("<8sQQ")
_MAGIC: Final = b"iotsync1"
_SUM: Final = struct.Struct("<I")


class SyncedMark:
    """The last synced position, in a separate file. Otherwise a damaged end of the journal is not detectable.

    The number is written before the acknowledgement of what it covers, but not synced: it survives a killed daemon.
    After a failure of the machine it may be an older number, which is weaker but not wrong.

    Args:
        folder: folder of the journal.
        epoch: epoch of the writer.

    Raises:
        OSError: the file cannot be created.
    """

    def __init__(self, folder: Path, epoch: int) -> None:
        self._epoch = epoch
        self._descriptor = os.open(folder / MARK_NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def write(self, number: int) -> None:
        """Store the number of the last synced record; on failure the previous number stays."""
        fields = _MARK.pack(_MAGIC, self._epoch, number)
        with contextlib.suppress(OSError):
            os.pwrite(self._descriptor, fields + _SUM.pack(zlib.crc32(fields)), 0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def read_mark(folder: Path) -> Position | None:
    """Return the stored position; None if there is none, or it cannot be read."""
    try:
        content = (folder / MARK_NAME).read_bytes()
    except OSError:
        return None
    if len(content) != _MARK.size + _SUM.size or zlib.crc32(content[: _MARK.size]) != _SUM.unpack(content[-4:])[0]:
        return None
    magic, epoch, number = _MARK.unpack_from(content)
    return Position(epoch, number) if magic == _MAGIC else None


STAGED: Final = ".staged"
"""Suffix of files that are no part of the journal yet. Without the snapshot before them, nothing in them counts."""
_MAX_PIECES: Final = 512  # per writev; the limit of the system is 1024
_LAZY_BYTES: Final = 1 << 20
"""Bytes of records without a waiting answer, above which they are written."""


class Pending(NamedTuple):
    """A record to write."""

    number: int
    kind: Kind
    sender: bytes
    moment: Moment
    frames: Sequence[Frame]
    size: int


class SegmentWriter:
    """Appends records to files of bounded size.

    ``put``, ``sync`` and the attributes are for one thread, the owner's; the files belong to the writer.

    Args:
        folder: existing folder.
        epoch: epoch of this writer.
        first: number of the first record.
        segment_bytes: size from which a new file is started.
        quota_bytes: maximum size of all files; exceeding it is an error like a full disk.
        older: earlier files.
        on_synced: called from the thread when more is on disk, and after an error.
        is_staged: the files become part of the journal only with ``accept``.

    Attributes:
        synced: number of the last record that is on disk.
        syncs: number of syncs.
        sync_s: total time of syncs, s.
        problem: reason why nothing more is written; "" if all is well.
        delay: always "": a disk that accepts no writes is a problem.
    """

    delay = ""

    def __init__(
        self,
        folder: Path,
        epoch: int,
        first: int,
        segment_bytes: int,
        quota_bytes: int,
        older: Sequence[Segment],
        on_synced: Callable[[], None],
        *,
        is_staged: bool = False,
    ) -> None:
        self.synced = first - 1
        self.syncs = 0
        self.sync_s = 0.0
        self.problem = ""
        self._folder, self._epoch = folder, epoch
        self._segment_bytes, self._quota_bytes = segment_bytes, quota_bytes
        self._on_synced = on_synced
        self._changed = threading.Condition()
        self._pending: list[Pending] = []
        self._pending_bytes = 0
        self._sync_target = self._written = first - 1
        self._is_closing = self._is_flushing = self._is_accepting = False
        self._is_staged = is_staged
        self._trim_before = 0
        self._older_segments = [(segment.path, segment.first, segment.path.stat().st_size) for segment in older]
        self._older_bytes = sum(size for _, _, size in self._older_segments)
        self._descriptor = -1
        self._path = folder
        self._size = 0
        self._first = first
        self._begin(first)
        self._mark = SyncedMark(folder, epoch)
        self._marked = first - 1
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    @property
    def pending_bytes(self) -> int:
        """Bytes that are not yet written."""
        return self._pending_bytes

    @property
    def total_bytes(self) -> int:
        """Bytes of all files."""
        return self._older_bytes + self._size

    def put(self, record: Pending) -> None:
        """Add a record. It is written when an answer waits for it, or when many are waiting."""
        with self._changed:
            self._pending.append(record)
            self._pending_bytes += record.size
            if self._pending_bytes > _LAZY_BYTES:
                self._changed.notify_all()

    def sync(self, number: int, *, wait: bool = False) -> None:
        """Write all records up to a number to disk."""
        with self._changed:
            self._sync_target = max(self._sync_target, number)
            self._changed.notify_all()
            while wait and self.synced < number and not self.problem:
                self._changed.wait()

    def flush(self) -> None:
        """Write all added records without a sync. They survive a killed daemon, but maybe not a failed machine."""
        with self._changed:
            self._is_flushing = bool(self._pending)
            self._changed.notify_all()

    def trim(self, keep_from: int) -> None:
        """Remove files without records from a number on, except the current one."""
        with self._changed:
            self._trim_before = max(self._trim_before, keep_from)
            self._changed.notify_all()

    def accept(self) -> None:
        """Make staged files part of the journal, and wait for the thread. A failure is stored in ``problem``."""
        with self._changed:
            self._is_accepting = self._is_staged
            self._changed.notify_all()
            while self._is_accepting:
                self._changed.wait()

    def close(self) -> None:
        """Write the remaining records, and end the thread."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join()

    # ---- in the thread ----

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (self._has_work or self._is_closing or self._is_accepting):
                    self._changed.wait()
                accepting = self._is_accepting
                if self._is_closing and not (accepting or self._pending or self._removable(self._trim_before)):
                    break
                records, self._pending = self._pending, []
                self._pending_bytes = 0
                self._is_flushing = False
                wanted, keep_from = self._sync_target, self._trim_before
            synced, problem = self.synced, ""
            try:
                self._trim(keep_from)
                if not self.problem:
                    if accepting:
                        self._accept_staged()
                    self._write(records)
                    if self._written > synced and (self._is_closing or wanted > synced):
                        begun_s = time.monotonic()
                        os.fdatasync(self._descriptor)
                        self.sync_s += time.monotonic() - begun_s
                        self.syncs += 1
                        synced = self._written
                    if not self._is_staged and synced > self._marked:
                        self._mark.write(synced)
                        self._marked = synced
            except Exception as error:  # no caller may wait for a thread that has ended
                problem = (error.strerror if isinstance(error, OSError) else None) or str(error) or repr(error)
            with self._changed:
                self.synced = synced
                self.problem = self.problem or problem
                self._is_accepting = self._is_accepting and not accepting
                self._changed.notify_all()
            self._on_synced()
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
        self._mark.close()

    @property
    def _has_work(self) -> bool:
        is_wanted = self._sync_target > self.synced and not self.problem
        is_large = self._is_flushing or self._pending_bytes > _LAZY_BYTES or bool(self._pending and self.problem)
        return is_wanted or is_large or bool(self._removable(self._trim_before))

    def _removable(self, keep_from: int) -> list[tuple[Path, int, int]]:
        ends = [first for _, first, _ in self._older_segments[1:]] + [self._first]
        return [each for each, end in zip(self._older_segments, ends, strict=False) if end <= keep_from]

    def _trim(self, keep_from: int) -> None:
        gone = self._removable(keep_from)
        for path, _, size in gone:
            with contextlib.suppress(OSError):  # a remaining file is skipped on replay
                path.unlink(missing_ok=True)
            self._older_bytes -= size
        self._older_segments = self._older_segments[len(gone) :]

    def _write(self, records: Sequence[Pending]) -> None:
        pieces: list[Frame] = []
        for record in records:
            if self._size >= self._segment_bytes:
                self._flush(pieces)
                pieces = []
                self._rotate(record.number)
            fresh = encode(record.number, record.kind, record.sender, record.moment, record.frames)
            pieces += fresh
            self._size += sum(len(piece) for piece in fresh)
            if self.total_bytes > self._quota_bytes:
                raise JournalError(f"journal.quota_bytes = {self._quota_bytes} is reached")
            if len(pieces) > _MAX_PIECES:
                self._flush(pieces)
                pieces = []
        self._flush(pieces)
        if records:
            self._written = records[-1].number

    def _flush(self, pieces: Sequence[Frame]) -> None:
        for at in range(0, len(pieces), _MAX_PIECES):
            some = [memoryview(piece).cast("B") for piece in pieces[at : at + _MAX_PIECES]]
            while some:
                written = os.writev(self._descriptor, some)
                while some and written >= len(some[0]):
                    written -= len(some.pop(0))
                if some:
                    some[0] = some[0][written:]

    def _accept_staged(self) -> None:
        """Rename staged files to their names in the journal."""
        self._older_segments = [(_accept_file(path), first, size) for path, first, size in self._older_segments]
        self._path = _accept_file(self._path)
        save_folder(self._folder)
        self._is_staged = False

    def _rotate(self, first: int) -> None:
        os.fsync(self._descriptor)
        os.close(self._descriptor)
        self._older_segments.append((self._path, self._first, self._size))
        self._older_bytes += self._size
        self._begin(first)

    def _begin(self, first: int) -> None:
        """Start a file.

        Raises:
            JournalError: there is a later writer.
        """
        for path in self._folder.glob(f"*{SUFFIX}"):
            if path.name > name_of(self._epoch + 1, 0):
                raise JournalError(f"{path} belongs to a later aggregator; this one must not write any more")
        name = Path(name_of(self._epoch, first))
        self._path, self._first = self._folder / (name.with_suffix(STAGED) if self._is_staged else name), first
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._flush([header(self._epoch, first)])  # a disk with few bytes left takes a part of it
        os.fsync(self._descriptor)
        save_folder(self._folder)
        self._size = HEADER_BYTES


def _accept_file(path: Path) -> Path:
    """Rename a staged file; return its new path."""
    return path.replace(path.with_suffix(SUFFIX)) if path.suffix == STAGED else path
