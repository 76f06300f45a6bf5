"""Work on archives' files in a thread of its own, in order: a slow disk keeps nobody waiting."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_SUFFIX: Final = ".iotide"
_MOST_ALIKE: Final = 1000
"""Jobs of one name that begin in one second."""
_UNFIT = re.compile(r"[^A-Za-z0-9._@-]+")


class ArchiveFile:
    """A file that is only ever appended to; what takes long is for the disk's thread.

    Raises:
        OSError: it cannot be made, or there is one of that name.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb", 0)
        self._written = 0
        self._is_broken = False

    def append(self, data: bytes) -> int:
        """Appends whole blocks; after an error nothing is appended any more, so that what is there can be read.

        Returns:
            Bytes that were appended.
        """
        if self._is_broken:
            return 0
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            self._is_broken = True
            raise
        self._written += len(data)
        return len(data)

    def save(self) -> None:
        """Has the disk take what was appended."""
        try:
            if not self._is_broken:
                os.fsync(self._file.fileno())
        except OSError:
            self._is_broken = True
            raise

    def close(self) -> None:
        """Closes the file; one that took nothing goes."""
        self._is_broken = True
        with contextlib.suppress(OSError):
            self._file.close()
        if not self._written:
            with contextlib.suppress(OSError):
                self.path.unlink()


def new_file(folder: Path, job: str, begun_s: float, writing: set[Path]) -> ArchiveFile | None:
    """Makes an archive's file, named after the job and when it began; None: it cannot be made.

    Args:
        folder: made where it is missing.
        job: any text.
        begun_s: Unix time.
        writing: is given the path, before the file is there: so nobody takes it for a finished one.
    """
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(begun_s))
    fit = _UNFIT.sub("_", job)[:100].lstrip(".") or "job"
    with contextlib.suppress(OSError):  # opening the file tells
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for attempt in range(_MOST_ALIKE):
        path = folder / f"{fit}-{stamp}{f'-{attempt}' if attempt else ''}{_SUFFIX}"
        if path in writing:
            continue
        writing.add(path)
        try:
            return ArchiveFile(path)
        except FileExistsError:
            writing.discard(path)
        except OSError:
            writing.discard(path)
            break
    return None


@dataclass(frozen=True, slots=True)
class _Task:
    future: Future[Any]
    size: int
    then: Callable[[Any], None]
    failed: Callable[[OSError], None]


class Disk:
    """Takes work and says later, when asked, how it went.

    Attributes:
        waiting_bytes: what has yet to be written.
    """

    def __init__(self) -> None:
        self.waiting_bytes = 0
        self._pool = ThreadPoolExecutor(1, "archives")
        self._tasks: deque[_Task] = deque()

    def do(
        self,
        work: Callable[[], Any],
        then: Callable[[Any], None] = lambda done: None,
        failed: Callable[[OSError], None] = lambda error: None,
        size: int = 0,
    ) -> None:
        """Has something done after all that was asked for before.

        Args:
            work: runs in the disk's thread.
            then: is given what it returned, by ``settle``.
            failed: is given its error, by ``settle``.
            size: bytes that it holds.
        """
        self.waiting_bytes += size
        self._tasks.append(_Task(self._pool.submit(work), size, then, failed))

    def settle(self, *, wait: bool = False) -> None:
        """Hands out the results of what is done; ``wait``: of all."""
        while self._tasks and (wait or self._tasks[0].future.done()):
            task = self._tasks.popleft()
            self.waiting_bytes -= task.size
            try:
                result = task.future.result()
            except OSError as error:
                task.failed(error)
            else:
                task.then(result)

    def close(self) -> None:
        """Waits for all that was asked for."""
        self.settle(wait=True)
        self._pool.shutdown()


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
