"""The file of an aggregator's state: a document a job, one of all the rest, and an index of them at the end.

Each is packed and has a check sum, so that one that is damaged costs itself, and is read when it is needed.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from msgspec import Struct

from ...analyzers.pipeline.snapshots import SnapshotError
from ..jobs.job_table import Card

MAGIC: Final = b"iotide state 2\n"
_END: Final = struct.Struct("<QQI12s")
"""Where the index is, its bytes and their check sum, then what a whole file ends with."""
_LAST: Final = b"iotide end\n\0"
_FAST: Final = 1


class Section(Struct, frozen=True, array_like=True):
    """Where a packed document is."""

    at: int
    size: int
    check: int


class Kept(Struct, frozen=True, array_like=True):
    """A job in the file."""

    section: Section
    card: Card


class _Index(Struct, array_like=True):
    rest: Section
    jobs: dict[str, Kept]


class StateWriter:
    """Writes a file; ``finish`` ends it, without which it is none.

    Args:
        file: empty, for writing.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._at = len(MAGIC)
        self._jobs: dict[str, Kept] = {}
        file.write(MAGIC)

    def job(self, name: str, document: bytes, card: Card) -> None:
        """Adds the document of a job."""
        self._jobs[name] = Kept(self._packed(document), card)

    def copy(self, name: str, source: StateFile, card: Card | None = None) -> None:
        """Adds a job as it is in another file; raises OSError where that cannot be read."""
        kept = source.jobs[name]
        section = self._add(source.raw(kept.section), kept.section.check)
        self._jobs[name] = Kept(section, card or kept.card)

    def finish(self, rest: bytes) -> None:
        """Adds the document of all that is not of one job, and the index."""
        index = msgspec.msgpack.encode(_Index(self._packed(rest), self._jobs))
        packed = zlib.compress(index, _FAST)
        self._file.write(packed + _END.pack(self._at, len(packed), zlib.crc32(packed), _LAST))

    def _packed(self, document: bytes) -> Section:
        packed = zlib.compress(document, _FAST)
        return self._add(packed, zlib.crc32(packed))

    def _add(self, packed: bytes, check: int) -> Section:
        self._file.write(packed)
        section = Section(self._at, len(packed), check)
        self._at += len(packed)
        return section


class StateFile:
    """A file that was written; it stays open, also when another one takes its place.

    Args:
        path: the file.

    Attributes:
        jobs: what it holds of each job.

    Raises:
        OSError: it cannot be read.
        SnapshotError: it is no such file, or its index is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._index = self._read_index()
        except BaseException:
            self.close()
            raise
        self.jobs: Mapping[str, Kept] = self._index.jobs

    def rest(self) -> bytes:
        """Returns the document of all that is not of one job; raises SnapshotError where it is damaged."""
        return self._document(self._index.rest)

    def job(self, name: str) -> bytes:
        """Returns the document of a job; raises SnapshotError where it is damaged."""
        return self._document(self.jobs[name].section)

    def damaged(self) -> Iterator[str]:
        """Returns the jobs whose documents are damaged."""
        for name, kept in self.jobs.items():
            if zlib.crc32(self.raw(kept.section)) != kept.section.check:
                yield name

    def raw(self, section: Section) -> bytes:
        """Returns a document as it is packed, whether it is damaged or not."""
        return os.pread(self.descriptor, section.size, section.at)

    def close(self) -> None:
        """Lets go of the file."""
        os.close(self.descriptor)

    def _read_index(self) -> _Index:
        size = os.fstat(self.descriptor).st_size
        if os.pread(self.descriptor, len(MAGIC), 0) != MAGIC:
            raise SnapshotError("this is no state of an aggregator")
        end = os.pread(self.descriptor, _END.size, max(size - _END.size, 0))
        if len(end) < _END.size or not end.endswith(_LAST):
            raise SnapshotError("it is damaged: its end is missing")
        at, length, check, _ = _END.unpack(end)
        if at + length + _END.size != size:
            raise SnapshotError("it is damaged: its end says otherwise how long it is")
        index = os.pread(self.descriptor, length, at)
        if zlib.crc32(index) != check:
            raise SnapshotError("it is damaged: the check sum of its index differs")
        try:
            found = msgspec.msgpack.decode(zlib.decompress(index), type=_Index)
        except (msgspec.MsgspecError, UnicodeDecodeError, zlib.error) as error:
            raise SnapshotError(f"its index cannot be read: {error}") from None
        for each in (found.rest, *(kept.section for kept in found.jobs.values())):
            if not (len(MAGIC) <= each.at <= at and 0 <= each.size <= at - each.at):
                raise SnapshotError("its index names what is not in the file")
        return found

    def _document(self, section: Section) -> bytes:
        packed = self.raw(section)
        if zlib.crc32(packed) != section.check:
            raise SnapshotError("it is damaged: the check sum differs")
        return zlib.decompress(packed)


def is_state_file(path: Path) -> bool:
    """Tells whether a file begins as one of these does; raises OSError where it cannot be read."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC
