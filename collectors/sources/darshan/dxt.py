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
WIDEST: Final = THREADED_SEGMENT.itemsize
Order = Literal["<", ">"]
_ORDERS: Final[tuple[Order, ...]] = ("<", ">")
_MAGIC: Final = 6567223
_MODULES: Final = 64
_PLACES: Final = {"DXT_POSIX": 10, "DXT_MPIIO": 11}
_THREADED: Final = {"DXT_POSIX": 2, "DXT_MPIIO": 3}
"""Module -> first version in which segments contain thread ids."""
_MAPS: Final = 32
_VERSIONS: Final = _MAPS + 16 + 16 * _MODULES
_RECORD_BYTES: Final = 104
_PIECE: Final = 1 << 20


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
            raise ValueError(f"{module} of this version is not known in a log of format before 3.41")
        at = _PLACES[module]
        offset, length = struct.unpack_from(f"{order}QQ", head, _MAPS + 16 + 16 * at)
        (version,) = struct.unpack_from(f"{order}I", head, _VERSIONS + 4 * at)
        if version > _THREADED[module]:
            raise ValueError(f"{module} of version {version} is not known; up to {_THREADED[module]} it is")
        layout = (THREADED_SEGMENT if version == _THREADED[module] else SEGMENT).newbyteorder(order)
        file.seek(offset)
        yield from _records(_Unpacked(file, length, head[16]), module, layout, order)


def _records(data: _Unpacked, module: str, layout: np.dtype[np.void], order: Order) -> Iterator[Record]:
    while head := data.read(_RECORD_BYTES):
        if len(head) < _RECORD_BYTES:
            raise ValueError(f"the records of {module} break off")
        file, rank, _, host, writes, reads = struct.unpack(f"{order}Qqq64sqq", head)
        if not (writes >= 0 and reads >= 0 and writes + reads <= MAX_SEGMENTS):
            raise ValueError(f"a record of {module} has {writes} writes and {reads} reads")
        raw = data.read((writes + reads) * layout.itemsize)
        whole = len(raw) // layout.itemsize
        segments = np.frombuffer(raw, layout, whole).astype(layout.newbyteorder("<"))
        name = host.partition(b"\0")[0].decode(errors="replace")
        yield Record(file, rank, name, min(writes, whole), layout.itemsize, segments.tobytes())
        if whole < writes + reads:
            raise ValueError(f"the records of {module} break off")


class _Unpacked:
    """Decompressed content of a part of a file, which several ranks may have compressed separately.

    Args:
        file: file, positioned at the part's first byte.
        length: compressed length of the part, bytes.
        how: 0 for zlib, 1 for bzip2, 2 for no compression.
    """

    def __init__(self, file: IO[bytes], length: int, how: int) -> None:
        if how > 2:
            raise ValueError(f"compression {how} is not known")
        self._file, self._left, self._how = file, length, how
        self._unpacker: zlib._Decompress | bz2.BZ2Decompressor | None = None
        self._held = bytearray()

    def read(self, count: int) -> bytes:
        """Return the next bytes, fewer only at the end.

        Raises:
            ValueError: the bytes cannot be decompressed.
        """
        while len(self._held) < count and self._more():
            pass
        taken = bytes(self._held[:count])
        del self._held[:count]
        return taken

    def _more(self) -> bool:
        packed = self._file.read(min(self._left, _PIECE))
        self._left -= len(packed)
        if not packed:
            return False
        try:
            while packed:
                packed = self._unpack(packed)
        except (zlib.error, OSError) as error:
            self._left = 0
            if not self._held:
                raise ValueError(f"cannot be unpacked ({error})") from None
        return True

    def _unpack(self, packed: bytes) -> bytes:
        if self._how == 2:
            self._held += packed
            return b""
        if self._unpacker is None:
            self._unpacker = zlib.decompressobj() if self._how == 0 else bz2.BZ2Decompressor()
        self._held += self._unpacker.decompress(packed)
        if not self._unpacker.eof:
            return b""
        rest = self._unpacker.unused_data
        self._unpacker = None
        return rest
