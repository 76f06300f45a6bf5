"""Work on archives' files in a thread of its own, in order: a slow disk keeps nobody waiting."""

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
_MOST_ALIKE: Final = 1000
"""Jobs of one name that begin in one second."""
_UNFIT = re.compile(r"[^A-Za-z0-9._@-]+")
_CANNOT_SAVE: Final = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)
"""What file systems say that have no fsync."""


class WaitingBytes(Struct):
    """What waits to be written, of all jobs."""

    moving: int = 0
    """For the disk, which writes."""
    stuck: int = 0
    """For room on the disk, or whatever keeps files from taking more."""


class Written(NamedTuple):
    """What became of an attempt to append."""

    pieces: int
    """How many of the pieces are wholly in the file."""
    error: OSError | None
    is_unsaved: bool = False
    """Whether the error is that the disk did not take what the file already has: nobody knows what of it is there."""


class ArchiveFile:
    """A file that is only ever appended to, and ends with a whole piece; made when there is something to write.

    Named after the job and when it began. ``append`` and ``close`` are for the disk's thread.

    Args:
        folder: made where it is missing.
        job: any text.
        begun_s: Unix time.
        writing: has the path as long as the file is written, from before it is there: so nobody takes it for a
            finished one.
        is_ours: tells of a file of that name whether it is the beginning of this one, by a daemon that was killed, and
            is to be written anew.
        moves: a file that another daemon wrote is gone on with as a copy that takes its place, as that daemon may only
            stand still: what it writes when it wakes up goes nowhere.
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
        self._stem = f"{_UNFIT.sub('_', job)[:100].lstrip('.') or 'job'}-{stamp}"
        self.folder = folder
        self._writing = writing
        self._is_ours = is_ours
        self._moves = moves
        self._descriptor = -1
        self._size = 0
        self._is_torn = False
        self.path: Path | None = None
        """Where it is; None while there is no file."""

    def take_up(self, path: Path, size: int) -> None:
        """Goes on with a file, of which nothing is kept behind so many bytes; before anything is appended.

        Raises:
            OSError: it cannot be written, or is shorter.
        """
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            if (there := os.fstat(descriptor).st_size) < size:
                raise OSError(errno.EIO, f"it has {there} bytes of {size}")
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
        """Appends as many of the pieces as there is room for; ``save``: has the disk take what the file has."""
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
                if error.errno not in _CANNOT_SAVE:
                    return Written(done, error, is_unsaved=True)
        return Written(done, None)

    def close(self) -> None:
        """Closes the file."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1

    def let_go(self) -> None:
        """Says that it is written no more; after ``close``."""
        if self.path is not None:
            self._writing.discard(self.path)

    def _open(self) -> None:
        with contextlib.suppress(OSError):  # opening the file tells
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for attempt in range(_MOST_ALIKE):
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
        raise FileExistsError(errno.EEXIST, f"there are {_MOST_ALIKE} archives of that name and second")

    def _append(self, piece: bytes) -> None:
        if self._is_torn:
            raise OSError(errno.EIO, "a piece that was cut off could not be taken back")
        rest = memoryview(piece)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            self._take_back()
            raise
        self._size += len(piece)

    def _take_back(self) -> None:
        """Has the file end with the last whole piece; one that has none goes."""
        try:
            os.ftruncate(self._descriptor, self._size)
            os.lseek(self._descriptor, self._size, os.SEEK_SET)
        except OSError:
            self._is_torn = True
        if not self._size and self.path is not None:
            self.close()
            with contextlib.suppress(OSError):
                self.path.unlink()
            self.let_go()
            self.path, self._is_torn = None, False


class _Task(Struct, frozen=True):
    future: Future[Any]
    then: Callable[[Any], None]


def _copy(path: Path, size: int) -> int:
    """Has a copy of a file's first bytes take its place; returns the descriptor of that, at its end."""
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
    """Takes work and says later, when asked, how it went."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "archives")
        self._tasks: deque[_Task] = deque()

    def do(self, work: Callable[[], Any], then: Callable[[Any], None] = lambda done: None) -> None:
        """Has something done after all that was asked for before.

        Args:
            work: runs in the disk's thread.
            then: is given what it returned, by ``settle``; not called when it raised an OSError.
        """
        self._tasks.append(_Task(self._pool.submit(work), then))

    def settle(self, *, wait: bool = False) -> None:
        """Hands out the results of what is done; ``wait``: of all."""
        while self._tasks and (wait or self._tasks[0].future.done()):
            task = self._tasks.popleft()
            try:
                result = task.future.result()
            except OSError:
                continue
            task.then(result)

    def close(self) -> None:
        """Waits for all that was asked for."""
        self.settle(wait=True)
        self._pool.shutdown()


def make_writable(folder: Path) -> None:
    """Makes the folder of archives if it is absent.

    Raises:
        ConfigError: it cannot be made, or its file system is read-only.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
    except OSError as error:
        raise ConfigError(
            f"archive.folder = {folder}: no archives can be written: {error.strerror}; repair its disk, or set "
            "archive.folder to another folder"
        ) from None


def sync_files(paths: Sequence[Path], folder: Path) -> None:
    """Has the disk take what files of a folder have, and their names.

    Raises:
        OSError: it did not.
    """
    if not paths:
        return
    for path in (*paths, folder):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in _CANNOT_SAVE:
                raise
        finally:
            os.close(descriptor)


def make_room(folder: Path, in_use: Callable[[], set[Path]], room: int, oldest_s: float) -> int:
    """Removes finished archives that are too old, and the oldest of what takes too much room.

    Args:
        folder: where they are.
        in_use: archives that are being written, asked for after the folder was looked at.
        room: bytes that the others may take.
        oldest_s: time of the last change below which an archive is too old, s.

    Returns:
        How many were removed.
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
