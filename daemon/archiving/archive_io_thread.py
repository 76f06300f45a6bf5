"""File work of archives in order, in a separate thread. A slow disk blocks nothing else."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec import Struct

from ...events import ConfigError

_SUFFIX: Final = ".iotide"
_MAX_SAME_NAMES: Final = 1000
"""Maximum number of jobs with the same name that begin in the same second."""
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._@-]+")
_SYNC_UNSUPPORTED: Final = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)
"""Errors of file systems without fsync."""


class WaitingBytes(Struct):
    """Bytes of all jobs that wait to be written."""

    in_flight: int = 0
    """Waiting for the disk, which is writing."""
    stuck: int = 0
    """Waiting for space on the disk, or for another obstacle to be removed."""


class Written(NamedTuple):
    """Result of an append."""

    pieces: int
    """Number of pieces that are completely in the file."""
    error: OSError | None
    is_unsaved: bool = False
    """Whether fsync failed for earlier data. It is then unknown how much of it is on disk."""


class ArchiveFile:
    """An append-only file that always ends with a complete piece; created by the first write.

    Its name consists of the job and its start time. ``append`` and ``close`` are called in the disk's thread.

    Args:
        folder: folder; created if necessary.
        job: any text.
        begun_s: Unix time.
        writing: set that contains the path while the file is written, from before its creation, so that it is not taken
            for a finished archive.
        is_ours: returns whether an existing file of that name is the beginning of this one, by a killed daemon, and is
            to be overwritten.
        moves: continue a file of another daemon as a copy that replaces it. That daemon may only be stalled; later
            writes of it then have no effect.
    """

    def __init__(
        self,
        folder: Path,
        job: str,
        begun_s: float,
        writing: set[Path],
        is_ours: Callable[[Path], bool] = lambda path: False,
        moves: bool = False,
    ) -> None:
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(begun_s))
        self._stem = f"{_UNSAFE_CHARACTERS.sub('_', job)[:100].lstrip('.') or 'job'}-{stamp}"
        self.folder = folder
        self._writing = writing
        self._is_ours = is_ours
        self._moves = moves
        self._descriptor = -1
        self._size = 0
        self._is_torn = False
        self.path: Path | None = None
        """Path of the file; None before its creation."""

    def resume(self, path: Path, size: int) -> None:
        """Continue a file, truncated to a size; before any append.

        Raises:
            OSError: it cannot be written, or is shorter.
        """
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            if (actual_size := os.fstat(descriptor).st_size) < size:
                raise OSError(errno.EIO, f"it has {actual_size} bytes of {size}")
            if self._moves:
                copy = _copy(path, size)
                os.close(descriptor)
                descriptor = copy
            os.ftruncate(descriptor, size)
            os.lseek(descriptor, size, os.SEEK_SET)
        except OSError:
            os.close(descriptor)
            raise
        self._writing.add(path)
        self._descriptor, self._size, self.path = descriptor, size, path

    def append(self, pieces: Sequence[bytes], *, save: bool) -> Written:
        """Append as many pieces as there is space for; ``save``: fsync the file."""
        done = 0
        try:
            if self._descriptor < 0 and pieces:
                self._open()
            for piece in pieces:
                self._append(piece)
                done += 1
        except OSError as error:
            return Written(done, error)
        if save and self._descriptor >= 0:
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                if error.errno not in _SYNC_UNSUPPORTED:
                    return Written(done, error, is_unsaved=True)
        return Written(done, None)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1

    def release(self) -> None:
        """Mark the file as no longer written; after ``close``."""
        if self.path is not None:
            self._writing.discard(self.path)

    def _open(self) -> None:
        with contextlib.suppress(OSError):  # opening the file reports the error
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for attempt in range(_MAX_SAME_NAMES):
            path = self.folder / f"{self._stem}{f'-{attempt}' if attempt else ''}{_SUFFIX}"
            if path in self._writing:
                continue
            self._writing.add(path)
            begin = os.O_CREAT | os.O_EXCL
            try:
                if self._is_ours(path):
                    if self._moves:
                        path.unlink(missing_ok=True)
                    else:
                        begin = os.O_TRUNC | os.O_NOFOLLOW
                self._descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | begin, 0o600)
            except FileExistsError:
                self._writing.discard(path)
            except OSError:
                self._writing.discard(path)
                raise
            else:
                self.path = path
                return
        raise FileExistsError(errno.EEXIST, f"there are {_MAX_SAME_NAMES} archives of that name and second")

    def _append(self, piece: bytes) -> None:
        if self._is_torn:
            raise OSError(errno.EIO, "an incomplete write could not be removed from the file")
        rest = memoryview(piece)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            self._truncate_to_complete()
            raise
        self._size += len(piece)

    def _truncate_to_complete(self) -> None:
        """Truncate the file to the last complete piece; remove a file without one."""
        try:
            os.ftruncate(self._descriptor, self._size)
            os.lseek(self._descriptor, self._size, os.SEEK_SET)
        except OSError:
            self._is_torn = True
        if not self._size and self.path is not None:
            self.close()
            with contextlib.suppress(OSError):
                self.path.unlink()
            self.release()
            self.path, self._is_torn = None, False


class _Task(Struct, frozen=True):
    future: Future[Any]
    callback: Callable[[Any], None]


def _copy(path: Path, size: int) -> int:
    """Replace a file by a copy of its first bytes. Return a descriptor at the end of the copy."""
    partial = path.with_name(f".{path.name}.partial")
    source = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            done = 0
            while done < size and (sent := os.sendfile(descriptor, source, done, size - done)):
                done += sent
            os.fsync(descriptor)
            partial.replace(path)
        except OSError:
            os.close(descriptor)
            raise
    finally:
        os.close(source)
    return descriptor


class ArchiveIoThread:
    """Runs work in a thread, and delivers the results on request."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "archives")
        self._tasks: deque[_Task] = deque()

    def submit(self, work: Callable[[], Any], then: Callable[[Any], None] = lambda done: None) -> None:
        """Run work after all earlier work.

        Args:
            work: function for the disk's thread.
            then: called by ``deliver_results`` with the result; not called if ``work`` raised an OSError.
        """
        self._tasks.append(_Task(self._pool.submit(work), then))

    def deliver_results(self, *, wait: bool = False) -> None:
        """Deliver the results of completed work; ``wait``: of all work."""
        while self._tasks and (wait or self._tasks[0].future.done()):
            task = self._tasks.popleft()
            try:
                result = task.future.result()
            except OSError:
                continue
            task.callback(result)

    def close(self) -> None:
        """Wait for all work."""
        self.deliver_results(wait=True)
        self._pool.shutdown()


def make_writable(folder: Path) -> None:
    """Make the folder of archives if it is absent.

    Raises:
        ConfigError: it cannot be made, or its file system is read-only.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
    except OSError as error:
        raise ConfigError(
            f"archive.folder = {folder}: no archives can be written: {error.strerror}; make the "
            "folder writable, or set archive.folder to another folder"
        ) from None


def sync_files(paths: Sequence[Path], folder: Path) -> None:
    """Fsync files of a folder, and the folder itself.

    Raises:
        OSError: it failed.
    """
    if not paths:
        return
    for path in (*paths, folder):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in _SYNC_UNSUPPORTED:
                raise
        finally:
            os.close(descriptor)


def apply_retention(folder: Path, in_use: Callable[[], set[Path]], room: int, oldest_s: float) -> int:
    """Remove finished archives that are too old, and the oldest ones beyond the quota.

    Args:
        folder: folder of the archives.
        in_use: returns the archives being written; called after the folder was listed.
        room: maximum bytes of the other archives.
        oldest_s: time of the last change before which an archive is too old, s.

    Returns:
        Number of removed archives.
    """
    found = []
    for path in folder.glob(f"*{_SUFFIX}"):
        try:
            if path.is_file() and not path.is_symlink():
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        except OSError:
            continue
    writing = in_use()
    found = sorted(each for each in found if each[2] not in writing)
    total, removed = sum(size for _, size, _ in found), 0
    for modified, size, path in found:
        if total <= room and modified >= oldest_s:
            break
        try:
            path.unlink()
        except OSError:
            continue
        total -= size
        removed += 1
    return removed
