"""A tail that unpacks what gzip has packed, so that no parser needs to know."""

from __future__ import annotations

import zlib
from collections import Counter
from pathlib import Path
from typing import Final

from ..events import InputError
from .tail import CHUNK_BYTES, FileTail, Restart

MAGIC: Final = b"\x1f\x8b"
_GZIP_ONLY: Final = 16 + zlib.MAX_WBITS
_EXPECTED: Final = "a gzip file that was written to its end"


class InflatingTail:
    """Reads a file as ``FileTail`` does; one that begins with gzip's magic number is unpacked, member after member.

    However well a file is packed, one ``read`` returns at most ``chunk_bytes``. What cannot be unpacked is counted as
    ``bytes_dropped:gzip`` and reported once.

    Args:
        path: the file.
        follow: wait for more at the end.
        chunk_bytes: most bytes that one ``read`` returns.
        counters: as for ``FileTail``; ``bytes_read`` counts bytes of the file.
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
        """As much came out as was allowed: there may be more."""
        self._half: bool
        """It ends within a member."""
        self._begin()

    @property
    def ended(self) -> bool:
        """True once nothing can follow."""
        return self._tail.ended and not (self._packed or self._full or self._half)

    @property
    def modified_ns(self) -> int | None:
        """Time of the file's last change, int64 ns since the Unix epoch; None while there is no file."""
        return self._tail.modified_ns

    def read(self) -> bytes | Restart:
        """Returns the next bytes, b"" when there are none now, or a ``Restart``.

        Raises:
            InputError: the file cannot be read, or what it holds cannot be unpacked.
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
            raise InputError(str(self.path), None, "it ends within what gzip has packed", _EXPECTED)
        return data

    def stop(self) -> None:
        """Ends the following: what is there now is still read, then the tail has ended."""
        self._tail.stop()

    def close(self) -> None:
        """Releases the descriptor; nothing more is read."""
        self._packed, self._full, self._half = b"", False, False
        self._tail.close()

    def _begin(self) -> None:
        self._is_gzip = None
        self._packed = b""
        self._full = False
        self._half = False
        self._broken = False
        self._inflater = zlib.decompressobj(_GZIP_ONLY)

    def _inflate(self, data: bytes) -> bytes:
        packed = self._packed + data
        if not self._half:
            packed = packed.lstrip(b"\0")  # padding between members and after the last
        if self._broken or not (packed or self._full):
            if self._broken:
                self._counters["bytes_dropped:gzip"] += len(packed)
            self._packed = b""
            return b""
        try:
            made = self._inflater.decompress(packed, self._chunk_bytes)
        except zlib.error as error:
            self._broken, self._full, self._half, self._packed = True, False, False, b""
            self._counters["bytes_dropped:gzip"] += len(packed)
            raise InputError(str(self.path), None, f"cannot be unpacked ({error})", _EXPECTED) from None
        self._full = len(made) == self._chunk_bytes
        self._half = not self._inflater.eof
        if self._half:
            self._packed = self._inflater.unconsumed_tail
        else:
            self._packed, self._full = self._inflater.unused_data, False
            self._inflater = zlib.decompressobj(_GZIP_ONLY)
        return made


def inflated_head(head: bytes) -> bytes:
    """Returns the first bytes of a file as parsers will see them, as far as they can be unpacked.

    >>> inflated_head(b"plain")
    b'plain'
    """
    if not head.startswith(MAGIC):
        return head
    try:
        return zlib.decompressobj(_GZIP_ONLY).decompress(head, len(head))
    except zlib.error:
        return b""
