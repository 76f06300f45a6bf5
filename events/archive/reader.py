"""Reads an archive: what is in it, and the calls of a stream in order, without unpacking the rest."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

import msgspec

from ..batch import EventBatch
from ..definitions import Definitions, FileInfo, HandleInfo, Interner
from ..errors import InputError
from ..stream import StreamInfo
from .blocks import BLOCK_HEAD_BYTES, MOST_NAMES, BlockKind, read_blocks
from .encoding import decode_section
from .stream import Section, calls_of

_job_decoder = msgspec.msgpack.Decoder(dict[str, Any])
_stream_decoder = msgspec.msgpack.Decoder(tuple[str, StreamInfo])
_names_decoder = msgspec.msgpack.Decoder(Definitions)
_losses_decoder = msgspec.msgpack.Decoder(dict[str, int])
_MOST_NUMBER: Final = 1_000_000
"""Of a file: as many as a stream may define."""
_UNUSABLE: Final = (
    msgspec.MsgspecError,
    UnicodeDecodeError,
    RecursionError,
    struct.error,
    zlib.error,
    KeyError,
    ValueError,
)


@dataclass(slots=True)
class ArchivedStream:
    """One stream of an archive."""

    name: str
    info: StreamInfo
    files: dict[int, FileInfo] = field(default_factory=dict)
    handles: dict[int, HandleInfo] = field(default_factory=dict)
    losses: dict[str, int] = field(default_factory=dict)
    closed: bool = False
    """False: the archive ends before the stream does."""
    sections: list[tuple[int, int, int]] = field(default_factory=list)
    """Shape, and place and length in the file."""


class ArchiveReader:
    """An archive, opened for reading.

    Opening reads the file once, checks every checksum and keeps where what stands; calls are unpacked as they are asked
    for. What is damaged is in ``problems``, and the rest can be read.

    Raises:
        InputError: the file is no archive.
    """

    def __init__(self, file: BinaryIO, where: str) -> None:
        self.where = where
        self.job: dict[str, Any] = {}
        self.streams: dict[int, ArchivedStream] = {}
        self.problems: list[InputError] = []
        self.complete = False
        """False: the writer did not come to the end of the file."""
        self.bytes: dict[str, int] = {}
        """Of the file, by kind of block."""
        self._file = file
        self._shapes: dict[int, tuple[int, int]] = {}
        for block in read_blocks(file, where, self.problems):
            name = BlockKind(block.kind).name.lower() if block.kind in list(BlockKind) else "other"
            self.bytes[name] = self.bytes.get(name, 0) + len(block.payload)
            try:
                self._take(block.kind, block.stream, block.payload, block.at)
            except _UNUSABLE as error:
                problem = f"the {name} block at byte {block.at} cannot be used: {error!r}"
                self.problems.append(InputError(where, None, problem, "what this version writes"))

    def calls(self, stream: int, from_ns: int | None = None, to_ns: int | None = None) -> Iterator[Calls]:
        """Yields a stream's calls in order.

        Args:
            stream: number of the stream, a key of ``streams``.
            from_ns: leave out sections that ended before; of those that did not all calls come.
            to_ns: leave out sections that began later.

        Raises:
            InputError: a section is broken.
        """
        interner, known = Interner(), dict[str, int]()
        for section in self.sections(stream):
            if (from_ns is not None and section.last_ns < from_ns) or (to_ns is not None and section.first_ns > to_ns):
                continue
            for batch in calls_of(section, interner, self.where, known):
                yield Calls(batch, interner.take_fresh())

    def sections(self, stream: int) -> Iterator[Section]:
        """Yields a stream's sections in order.

        Raises:
            InputError: a section is broken.
        """
        for shape, at, length in self.streams[stream].sections:
            if shape not in self._shapes:
                raise InputError(self.where, None, f"shape {shape} is missing", "a shape ahead of its sections")
            yield decode_section(self._read(*self._shapes[shape]), self._read(at, length), self.where)

    def _read(self, at: int, length: int) -> bytes:
        self._file.seek(at)
        return self._file.read(length)

    def _take(self, kind: int, stream: int, payload: bytes, at: int) -> None:
        inside = at + BLOCK_HEAD_BYTES
        if kind == BlockKind.JOB:
            self.job = {name: _plain(value) for name, value in _job_decoder.decode(payload).items()}
        elif kind == BlockKind.STREAM:
            name, info = _stream_decoder.decode(payload)
            if stream in self.streams:
                self.streams[stream].info = info
            else:
                self.streams[stream] = ArchivedStream(name, info)
        elif kind == BlockKind.NAMES:
            (length,) = struct.unpack_from("<I", payload)
            if not 0 < length <= MOST_NAMES:
                raise ValueError(f"names of {length} bytes")
            names = _names_decoder.decode(zlib.decompressobj().decompress(payload[4:], length))
            if any(not 0 < file <= _MOST_NUMBER for file, _ in names.files):
                raise ValueError("the number of a file is out of range")
            self.streams[stream].files.update(names.files)
            self.streams[stream].handles.update(names.handles)
        elif kind == BlockKind.SHAPE:
            (number,) = struct.unpack_from("<I", payload)
            self._shapes[number] = inside + 4, len(payload) - 4
        elif kind == BlockKind.SECTION:
            (shape,) = struct.unpack_from("<I", payload)
            self.streams[stream].sections.append((shape, inside + 4, len(payload) - 4))
        elif kind == BlockKind.CLOSED:
            self.streams[stream].losses = _losses_decoder.decode(payload)
            self.streams[stream].closed = True
        elif kind == BlockKind.END:
            self.complete = True


def _plain(value: Any) -> Any:
    """What JSON can say; of other things their text."""
    return value if _is_plain(value) else repr(value)


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(each) for key, each in value.items())
    if isinstance(value, list):
        return all(_is_plain(each) for each in value)
    return value is None or isinstance(value, str | int | float | bool)


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of a stream, and the names and signatures among them that are new; files and handles are the stream's."""

    batch: EventBatch
    definitions: Definitions
