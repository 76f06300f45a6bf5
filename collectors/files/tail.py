"""Follow a file, plain or gzip, by polling: growth, rotation, truncation, and files that are missing or removed."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import zlib
from collections import Counter
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from ...events import InputError

CHUNK_BYTES = 1 << 20
_FINGERPRINT_BYTES = 256
MAGIC: Final = b"\x1f\x8b"
_GZIP_ONLY: Final = 16 + zlib.MAX_WBITS
_CHECKS: Final = {"incorrect data check": 4, "incorrect length check": 0}
"""zlib's error text for a wrong check at the end of a member. The value is the number of the member's bytes after
the failed check."""
_MIN_HEAD: Final = 4096
"""Minimum number of bytes to decompress from a file's first bytes. A tar archive is recognised by its bytes 257-261."""
_EXPECTED: Final = "a gzip file that was written to its end"


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


class GzipTail:
    """Reads a file like ``FileTail`` and decompresses it, member by member.

    It does so if the file begins with gzip's magic number.

    One ``read`` returns at most ``chunk_bytes``, whatever the compression ratio. Data is decompressed up to the first
    invalid byte. The rest is counted as ``bytes_dropped:gzip`` and reported once. A wrong checksum is reported, and the
    next member is read.

    Args:
        path: the file.
        follow: wait for more data at the end.
        chunk_bytes: maximum number of bytes that one ``read`` returns.
        counters: as for ``FileTail``; ``bytes_read`` counts compressed bytes.
    """

    def __init__(
        self, path: str | Path, *, follow: bool, chunk_bytes: int = CHUNK_BYTES, counters: Counter[str]
    ) -> None:
        self._tail = FileTail(path, follow=follow, chunk_bytes=chunk_bytes, counters=counters)
        self.path = self._tail.path
        self._counters = counters
        self._chunk_bytes = chunk_bytes
        self._is_gzip: bool | None
        self._packed: bytes
        self._full: bool
        """The last output reached the limit, so more may follow."""
        self._half: bool
        """The file ends within a member."""
        self._begin()

    @property
    def ended(self) -> bool:
        """True once no more data can follow."""
        return self._tail.ended and not (self._packed or self._full or self._half)

    @property
    def modified_ns(self) -> int | None:
        """Time of the file's last change, int64 ns since the Unix epoch; None without a file."""
        return self._tail.modified_ns

    @property
    def inode(self) -> tuple[int, int]:
        """Device and inode of the open file; zeros if none is open."""
        return self._tail.inode

    def read(self) -> bytes | Restart:
        """Return the next bytes, b"" when there are none now, or a ``Restart``.

        Raises:
                InputError: the file cannot be read or decompressed.
        """
        if self._packed or self._full:
            return self._inflate(b"")
        data = self._tail.read()
        if isinstance(data, Restart):
            self._begin()
            return data
        if self._is_gzip is None and data:
            self._is_gzip = data.startswith(MAGIC[: len(data)])
        if data and self._is_gzip:
            return self._inflate(data)
        if self._tail.ended and self._half:
            self._half = False
            raise InputError(str(self.path), None, "its gzip data are incomplete", _EXPECTED)
        return data

    def stop(self) -> None:
        """Stop following: the tail ends once the present content is read."""
        self._tail.stop()

    def close(self) -> None:
        """Close the descriptor; nothing more is read."""
        self._packed, self._full, self._half = b"", False, False
        self._tail.close()

    def _begin(self) -> None:
        self._is_gzip = None
        self._packed = b""
        self._full = False
        self._half = False
        self._broken = False
        self._skipped = 0
        self._inflater = zlib.decompressobj(_GZIP_ONLY)

    def _inflate(self, data: bytes) -> bytes:
        packed = self._packed + data
        if self._skipped:
            gone = min(self._skipped, len(packed))
            packed, self._skipped = packed[gone:], self._skipped - gone
        if not self._half:
            packed = packed.lstrip(b"\0")  # padding between members and after the last
        if self._broken or not (packed or self._full):
            if self._broken:
                self._counters["bytes_dropped:gzip"] += len(packed)
            self._packed = b""
            return b""
        try:
            self._inflater, made, rest = _inflated(self._inflater, packed, self._chunk_bytes)
        except zlib.error as error:
            raise self._damaged(packed, str(error)) from None
        self._full = len(made) == self._chunk_bytes
        self._half = not self._inflater.eof
        if self._half:
            self._packed = self._inflater.unconsumed_tail + rest
        else:
            self._packed, self._full = self._inflater.unused_data + rest, False
            self._inflater = zlib.decompressobj(_GZIP_ONLY)
        return made

    def _damaged(self, packed: bytes, error: str) -> InputError:
        """Continues with the next member if only this one's final check is wrong. Returns the error to report."""
        self._full, self._half = False, False
        wrong = next((left for check, left in _CHECKS.items() if check in error), None)
        if wrong is None:
            self._broken, self._packed = True, b""
            self._counters["bytes_dropped:gzip"] += len(packed)
            return InputError(str(self.path), None, f"cannot be unpacked ({error})", _EXPECTED)
        self._packed, self._skipped = packed[1:], wrong
        self._inflater = zlib.decompressobj(_GZIP_ONLY)
        problem = f"its gzip data do not match their check ({error}); they were read, and may be wrong"
        return InputError(str(self.path), None, problem, "an undamaged copy")


def inflated_head(head: bytes) -> bytes:
    """Return the first bytes of a file as parsers see them. They are decompressed as far as possible.

    >>> inflated_head(b"plain")
    b'plain'
    """
    if not head.startswith(MAGIC):
        return head
    inflater, made, rest = zlib.decompressobj(_GZIP_ONLY), b"", head
    most = max(len(head), _MIN_HEAD)
    try:
        while rest and not inflater.eof and len(made) < most:
            inflater, more, rest = _inflated(inflater, rest, most)
            made += more
            rest = inflater.unconsumed_tail + rest
    except zlib.error:
        pass
    return made


def _inflated(inflater: Any, packed: bytes, most: int) -> tuple[Any, bytes, bytes]:
    """Decompresses up to the first invalid byte.

    Returns:
        The decompressor for the next bytes, the decompressed bytes, and the bytes that were not examined.

    Raises:
        zlib.error: the first byte is invalid.
    """
    size = len(packed)
    while True:
        before = inflater.copy()
        try:
            return inflater, inflater.decompress(packed[:size], most), packed[size:]
        except zlib.error:
            if size <= 1:
                raise
            inflater, size = before, size // 2
