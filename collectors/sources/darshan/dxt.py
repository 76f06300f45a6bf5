"""Read DXT segments with thread ids, which older versions of Darshan's library do not support."""

from __future__ import annotations

import bz2
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Literal

import numpy as np

from .events import SEGMENT, THREADED_SEGMENT

MAX_SEGMENTS: Final = 1 << 26
"""Maximum number of segments of one file and rank."""
SEGMENTS_AT_ONCE: Final = 1 << 20
"""Maximum number of segments of one message of the subprocess."""
WIDEST: Final = THREADED_SEGMENT.itemsize
Order = Literal["<", ">"]
_ORDERS: Final[tuple[Order, ...]] = ("<", ">")
_MAGIC: Final = 6567223  # second word of a log, which shows its byte order
_MODULES: Final = 64  # entries of each table
_PLACES: Final = {"DXT_POSIX": 10, "DXT_MPIIO": 11}
"""Module -> its index in the tables of the log's header."""
_THREADED: Final = {"DXT_POSIX": 2, "DXT_MPIIO": 3}
"""Module -> first version in which segments contain thread ids."""
_MAPS: Final = 32  # offset of the table of (offset, length), uint64; the first entry is of no module
_VERSIONS: Final = _MAPS + 16 + 16 * _MODULES
_RECORD_BYTES: Final = 104  # head of a record
_PIECE: Final = 1 << 20  # bytes that are read at once


@dataclass(frozen=True, slots=True)
class Record:
    """DXT data of one file and rank: segments of ``width`` bytes, writes first."""

    file: int
    rank: int
    host: str
    writes: int
    width: int
    segments: bytes


def records_of(path: Path, module: str) -> Iterator[Record]:
    """Yield the records of a module of a log of format 3.41. Darshan 3.4 and later write this format.

    Raises:
        ValueError: the log has another format or is damaged.
    """
    with path.open("rb") as file:
        head = file.read(_VERSIONS + 4 * _MODULES)
        order: Order | None = next(
            (each for each in _ORDERS if struct.unpack_from(f"{each}q", head.ljust(16), 8)[0] == _MAGIC), None
        )
        if order is None or len(head) < _VERSIONS + 4 * _MODULES or head[:8].rstrip(b"\0") < b"3.41":
            raise ValueError(f"{module} of this version is not supported in a log of a format before 3.41")
        at = _PLACES[module]
        offset, length = struct.unpack_from(f"{order}QQ", head, _MAPS + 16 + 16 * at)
        (version,) = struct.unpack_from(f"{order}I", head, _VERSIONS + 4 * at)
        if version > _THREADED[module]:
            raise ValueError(f"version {version} of {module} is not supported, at most {_THREADED[module]}")
        layout = (THREADED_SEGMENT if version == _THREADED[module] else SEGMENT).newbyteorder(order)
        file.seek(offset)
        yield from _records(_Decompressed(file, length, head[16]), module, layout, order)


def _records(data: _Decompressed, module: str, layout: np.dtype[np.void], order: Order) -> Iterator[Record]:
    while head := data.read(_RECORD_BYTES):
        if len(head) < _RECORD_BYTES:
            raise ValueError(f"the records of {module} are truncated")
        file, rank, _, host, writes, reads = struct.unpack(f"{order}Qqq64sqq", head)
        if not (writes >= 0 and reads >= 0 and writes + reads <= MAX_SEGMENTS):
            raise ValueError(f"a record of {module} has {writes} writes and {reads} reads")
        raw = data.read((writes + reads) * layout.itemsize)
        whole = len(raw) // layout.itemsize
        segments = np.frombuffer(raw, layout, whole).astype(layout.newbyteorder("<"))
        name = host.partition(b"\0")[0].decode(errors="replace")
        yield Record(file, rank, name, min(writes, whole), layout.itemsize, segments.tobytes())
        if whole < writes + reads:
            raise ValueError(f"the records of {module} are truncated")


class _Decompressed:
    """Decompressed content of a part of a file, which several ranks may have compressed separately.

    Args:
        file: file, positioned at the part's first byte.
        length: compressed length of the part, bytes.
        compression: 0 for zlib, 1 for bzip2, 2 for no compression.
    """

    def __init__(self, file: IO[bytes], length: int, compression: int) -> None:
        if compression > 2:
            raise ValueError(f"compression {compression} is not supported")
        self._file, self._left, self._compression = file, length, compression
        self._decompressor: zlib._Decompress | bz2.BZ2Decompressor | None = None
        self._decompressed = bytearray()

    def read(self, count: int) -> bytes:
        """Return the next bytes, fewer only at the end.

        Raises:
            ValueError: the bytes cannot be decompressed.
        """
        while len(self._decompressed) < count and self._more():
            pass
        taken = bytes(self._decompressed[:count])
        del self._decompressed[:count]
        return taken

    def _more(self) -> bool:
        packed = self._file.read(min(self._left, _PIECE))
        self._left -= len(packed)
        if not packed:
            return False
        try:
            while packed:
                packed = self._decompress(packed)
        except (zlib.error, OSError) as error:
            self._left = 0
            if not self._decompressed:
                raise ValueError(f"cannot be decompressed ({error})") from None
        return True

    def _decompress(self, packed: bytes) -> bytes:
        if self._compression == 2:
            self._decompressed += packed
            return b""
        if self._decompressor is None:
            self._decompressor = zlib.decompressobj() if self._compression == 0 else bz2.BZ2Decompressor()
        self._decompressed += self._decompressor.decompress(packed)
        if not self._decompressor.eof:
            return b""
        rest = self._decompressor.unused_data
        self._decompressor = None
        return rest
