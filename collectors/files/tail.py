"""Follow a file by polling: growth, rotation, truncation, and files that are missing or removed."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections import Counter
from enum import Enum
from pathlib import Path
from types import TracebackType

from ...events import InputError

CHUNK_BYTES = 1 << 20
_FINGERPRINT_BYTES = 256


class Restart(Enum):
    """Returned once by ``FileTail.read`` when the following bytes do not continue the previous ones."""

    ROTATED = "rotated"
    """Another file has the name now; the old one was read to its end."""
    TRUNCATED = "truncated"
    """The file was truncated or rewritten in place; it is read again from its beginning."""


class FileTail:
    """Reads a regular file piece by piece without blocking. The bytes are interpreted by the parser.

    Changes are detected by polling ``stat`` and by comparing the last bytes read with the file. Notifications are not
    used because parallel file systems deliver none for writes of other nodes (decision 0002).

    Args:
        path: the file; with ``follow`` it need not exist yet.
        follow: wait for more data at the end of the file.
        chunk_bytes: maximum number of bytes that one ``read`` returns.
        counters: receives ``bytes_read``, ``file_rotated``, ``file_truncated`` and ``file_vanished``.
    """

    def __init__(
        self, path: str | Path, *, follow: bool, chunk_bytes: int = CHUNK_BYTES, counters: Counter[str] | None = None
    ) -> None:
        self.path = Path(path)
        self.counters: Counter[str] = Counter() if counters is None else counters
        self._follow = follow
        self._chunk_bytes = chunk_bytes
        self._descriptor: int | None = None
        self._position = 0
        self._last_bytes = b""
        self._ended = False
        self._vanished = False
        self._opened_before = False

    @property
    def ended(self) -> bool:
        """True once no more data can follow. This is at the end of a finished file, or after ``close``."""
        return self._ended

    @property
    def modified_ns(self) -> int | None:
        """Time of the file's last change, int64 ns since the Unix epoch; None without a file."""
        return None if self._descriptor is None else os.fstat(self._descriptor).st_mtime_ns

    @property
    def inode(self) -> tuple[int, int]:
        """Device and inode of the open file; zeros if none is open."""
        if self._descriptor is None:
            return 0, 0
        found = os.fstat(self._descriptor)
        return found.st_dev, found.st_ino

    def read(self) -> bytes | Restart:
        """Return the next bytes, b"" when there are none now, or a ``Restart``.

        Raises:
            InputError: the file cannot be opened or read; the next call tries again.
        """
        if self._ended:
            return b""
        try:
            return self._read()
        except OSError as error:
            self._release()
            if self._follow and error.errno in (errno.ENOENT, errno.ESTALE):
                return b""
            self._ended = not self._follow
            problem = f"cannot be read ({error.strerror})"
            raise InputError(str(self.path), None, problem, "a regular file that may be read") from None

    def stop(self) -> None:
        """Stop following: the tail ends once the present content is read."""
        self._follow = False

    def close(self) -> None:
        """Close the descriptor; nothing more is read."""
        self._ended = True
        self._release()

    def __enter__(self) -> FileTail:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _read(self) -> bytes | Restart:
        if self._descriptor is None:
            self._open()
            if self._opened_before:
                self.counters["file_rotated"] += 1
                return Restart.ROTATED
            self._opened_before = True
        if self._follow and self._was_rewritten():
            return self._restart(Restart.TRUNCATED)
        if data := self._take():
            return data
        if not self._follow:
            self.close()
            return b""
        return self._find_rotated_file()

    def _take(self) -> bytes:
        data = os.pread(self._file(), self._chunk_bytes, self._position)
        if data:
            self._position += len(data)
            self._last_bytes = (self._last_bytes + data)[-_FINGERPRINT_BYTES:]
            self.counters["bytes_read"] += len(data)
        return data

    def _was_rewritten(self) -> bool:
        size = os.fstat(self._file()).st_size
        if size <= self._position:
            return size < self._position
        # A file that was truncated and written past the old end between two polls is longer, but has other bytes.
        known = self._last_bytes
        return os.pread(self._file(), len(known), self._position - len(known)) != known

    def _find_rotated_file(self) -> bytes | Restart:
        mine = os.fstat(self._file())
        try:
            named = self.path.stat()
        except FileNotFoundError:
            if not self._vanished:
                self._vanished = True
                self.counters["file_vanished"] += 1
            return b""
        self._vanished = False
        if (named.st_dev, named.st_ino) == (mine.st_dev, mine.st_ino):
            return b""
        if data := self._take():  # written between the last read and the rename
            return data
        self._release()
        self._open()
        return self._restart(Restart.ROTATED)

    def _restart(self, why: Restart) -> Restart:
        self._position, self._last_bytes = 0, b""
        self.counters[f"file_{why.value}"] += 1
        return why

    def _open(self) -> None:
        descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a FIFO must not block
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(errno.EINVAL, "not a regular file")
        self._descriptor, self._position, self._last_bytes = descriptor, 0, b""

    def _file(self) -> int:
        if self._descriptor is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._descriptor

    def _release(self) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
        self._descriptor = None
