"""The state file of an aggregator. It has one document per job, one for the rest, and an index at the end.

Each document is compressed and has a checksum, so that damage affects only that document; documents are read on demand.
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
from ...events.network.malformed import MALFORMED
from ..jobs.job_table import Card

MAGIC: Final = b"iotide state 2\n"
_END: Final = struct.Struct("<QQI12s")
"""Offset of the index, its size and checksum, then the end mark of a complete file."""
_END_MARK: Final = b"iotide end\n\0"
_COMPRESSION_LEVEL: Final = 1


class Section(Struct, frozen=True, array_like=True):
    """Place of a compressed document."""

    at: int
    size: int
    checksum: int


class StoredJob(Struct, frozen=True, array_like=True):
    """A job in the file."""

    section: Section
    card: Card


class _Index(Struct, array_like=True):
    rest: Section
    jobs: dict[str, StoredJob]


class StateWriter:
    """Writer of a file; ``finish`` makes it valid.

    Args:
        file: empty, for writing.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._at = len(MAGIC)
        self._jobs: dict[str, StoredJob] = {}
        file.write(MAGIC)

    def add_job(self, name: str, document: bytes, card: Card) -> None:
        """Add the document of a job."""
        self._jobs[name] = StoredJob(self._packed(document), card)

    def copy_job(self, name: str, source: StateFile, card: Card | None = None) -> None:
        """Copy a job from another file; raise OSError if that cannot be read."""
        kept = source.jobs[name]
        section = self._add(source.raw(kept.section), kept.section.checksum)
        self._jobs[name] = StoredJob(section, card or kept.card)

    def finish(self, rest: bytes) -> None:
        """Add the document of everything outside of jobs, and the index."""
        index = msgspec.msgpack.encode(_Index(self._packed(rest), self._jobs))
        packed = zlib.compress(index, _COMPRESSION_LEVEL)
        self._file.write(packed + _END.pack(self._at, len(packed), zlib.crc32(packed), _END_MARK))

    def _packed(self, document: bytes) -> Section:
        packed = zlib.compress(document, _COMPRESSION_LEVEL)
        return self._add(packed, zlib.crc32(packed))

    def _add(self, packed: bytes, checksum: int) -> Section:
        self._file.write(packed)
        section = Section(self._at, len(packed), checksum)
        self._at += len(packed)
        return section


class StateFile:
    """A written file; it stays open, even if another file replaces it.

    Args:
        path: the file.

    Attributes:
        jobs: entries of the jobs.

    Raises:
        OSError: it cannot be read.
        SnapshotError: it is not such a file, or its index is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._index = self._read_index()
        except BaseException:
            self.close()
            raise
        self.jobs: Mapping[str, StoredJob] = self._index.jobs

    def rest(self) -> bytes:
        """Return the document of everything outside of jobs; raise SnapshotError if it is damaged."""
        return self._document(self._index.rest)

    def job(self, name: str) -> bytes:
        """Return the document of a job; raise SnapshotError if it is damaged."""
        return self._document(self.jobs[name].section)

    def damaged(self) -> Iterator[str]:
        """Yield the jobs whose documents are damaged."""
        for name, kept in self.jobs.items():
            if zlib.crc32(self.raw(kept.section)) != kept.section.checksum:
                yield name

    def raw(self, section: Section) -> bytes:
        """Return a compressed document, without verifying its checksum."""
        return os.pread(self.descriptor, section.size, section.at)

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)

    def _read_index(self) -> _Index:
        size = os.fstat(self.descriptor).st_size
        if os.pread(self.descriptor, len(MAGIC), 0) != MAGIC:
            raise SnapshotError("not a state file of an aggregator")
        end = os.pread(self.descriptor, _END.size, max(size - _END.size, 0))
        if len(end) < _END.size or not end.endswith(_END_MARK):
            raise SnapshotError("it is damaged: its end is missing")
        at, length, checksum, _ = _END.unpack(end)
        if at + length + _END.size != size:
            raise SnapshotError("it is damaged: its length differs from the length at its end")
        index = os.pread(self.descriptor, length, at)
        if zlib.crc32(index) != checksum:
            raise SnapshotError("it is damaged: the checksum of its index differs")
        try:
            found = msgspec.msgpack.decode(zlib.decompress(index), type=_Index)
        except (zlib.error, *MALFORMED) as error:
            raise SnapshotError(f"its index cannot be read: {error}") from None
        for each in (found.rest, *(kept.section for kept in found.jobs.values())):
            if not (len(MAGIC) <= each.at <= at and 0 <= each.size <= at - each.at):
                raise SnapshotError("its index refers to data beyond the file")
        return found

    def _document(self, section: Section) -> bytes:
        packed = self.raw(section)
        if zlib.crc32(packed) != section.checksum:
            raise SnapshotError("it is damaged: the checksum differs")
        return zlib.decompress(packed)


def is_state_file(path: Path) -> bool:
    """Return whether a file has this format; raise OSError if it cannot be read."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC
