"""Read an archive: its streams with their facts, and the calls of a stream in order. The rest is not unpacked."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

import msgspec

from ...events.batch import EventBatch
from ...events.definitions import Definitions, FileInfo, HandleInfo, Interner
from ...events.errors import InputError
from ...events.stream import StreamInfo
from ..blocks import BLOCK_HEAD_BYTES, Block, BlockKind, read_blocks
from ..codec.encoding import PartKind, section_of, text_of
from ..codec.stream import Section, calls_of
from ..codec.times import Times, TimesIndex, decode_times
from .merged_index import MergedIndex

_stream_decoder = msgspec.json.Decoder(tuple[str, StreamInfo])
_names_decoder = msgspec.json.Decoder(Definitions)
_losses_decoder = msgspec.json.Decoder(dict[str, int])
_MAX_NUMBER: Final = 1_000_000
"""Maximum number of files, as a stream may define."""
_MAX_PROBLEMS: Final = 1000
_UNREADABLE: Final = (InputError, msgspec.MsgspecError, RecursionError, ValueError)


@dataclass(slots=True)
class ArchivedStream:
    """One stream of an archive."""

    name: str
    info: StreamInfo
    member: tuple[int, int]
    """Lane and rank, which identify the stream in the archive."""
    files: dict[int, FileInfo] = field(default_factory=dict)
    handles: dict[int, HandleInfo] = field(default_factory=dict)
    losses: dict[str, int] = field(default_factory=dict)
    """Losses by reason: all of a closed stream, otherwise those up to the last checkpoint."""
    closed: bool = False
    """False: the archive ends before the stream does."""


class ArchivedStreams(Mapping[int, ArchivedStream]):
    """The streams by number, from 1; unusable parts are added to ``problems``."""

    def __init__(self, parts: MergedIndex, problems: list[InputError]) -> None:
        self._parts = parts
        self._problems = problems
        self._lanes, self._ranks = parts.members()
        self._reported: set[tuple[int, int, int]] = set()
        self._last: tuple[int, ArchivedStream] | None = None

    def __len__(self) -> int:
        return len(self._ranks)

    def __iter__(self) -> Iterator[int]:
        return iter(range(1, len(self) + 1))

    def __getitem__(self, number: int) -> ArchivedStream:
        if self._last is None or self._last[0] != number:
            if not 1 <= number <= len(self):
                raise KeyError(number)
            self._last = number, self._read_stream(number)
        return self._last[1]

    def _read_stream(self, number: int) -> ArchivedStream:
        member = int(self._lanes[number - 1]), int(self._ranks[number - 1])
        stream = ArchivedStream(f"stream {number}", StreamInfo(job="", source="archive"), member)
        for kind in (PartKind.STREAM, PartKind.NAMES, PartKind.LOSSES, PartKind.CLOSED):
            for block in self._parts.of(kind, *member):
                try:
                    self._take(stream, kind, text_of(self._parts.part(block, member[1])))
                except _UNREADABLE as error:
                    self._report(number, kind, block.at, error)
        return stream

    def _take(self, stream: ArchivedStream, kind: PartKind, text: bytes) -> None:
        if kind is PartKind.STREAM:
            stream.name, stream.info = _stream_decoder.decode(text)
        elif kind is PartKind.NAMES:
            names = _names_decoder.decode(text)
            if any(not 0 < file <= _MAX_NUMBER for file, _ in names.files):
                raise ValueError("the number of a file is out of range")
            stream.files.update(names.files)
            stream.handles.update(names.handles)
        elif kind is PartKind.LOSSES:
            stream.losses = _losses_decoder.decode(text)
        else:
            stream.losses, stream.closed = _losses_decoder.decode(text), True

    def _report(self, number: int, kind: PartKind, at: int, error: Exception) -> None:
        known = number, int(kind), at
        if known not in self._reported and len(self._problems) < _MAX_PROBLEMS:
            self._reported.add(known)
            what = error.problem if isinstance(error, InputError) else str(error)
            problem = f"what stream {number} says ({kind.name.lower()}) cannot be used: {what}"
            self._problems.append(InputError(self._parts.where, None, problem, "what this version writes"))


_job_decoder = msgspec.msgpack.Decoder(dict[str, Any])
_UNUSABLE = (InputError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError, struct.error, zlib.error, ValueError)
_MAX_REPORTED = 1000


class ArchiveReader:
    """An archive, opened for reading.

    Opening reads the file once, checks every checksum and records the locations of all parts. Streams and calls are
    unpacked on demand. Damage is listed in ``problems``, and the rest can be read.

    Raises:
        InputError: the file is not an archive.
    """

    def __init__(self, file: BinaryIO, where: str) -> None:
        self.where = where
        self.job: dict[str, Any] = {}
        self.problems: list[InputError] = []
        """Problems found so far; reading streams and calls may add more."""
        self.complete = False
        """False: the writer did not reach the end of the file."""
        self.bytes: dict[str, int] = {}
        """Bytes of the file by content: ``job``, ``piece``, ``merged``, ``times``, ``end`` and ``other``."""
        self._file = file
        self._parts = MergedIndex(self._read, where)
        self._times = TimesIndex()
        self._reported: set[int] = set()
        for block in read_blocks(file, where, self.problems):
            name = BlockKind(block.kind).name.lower() if block.kind in list(BlockKind) else "other"
            try:
                self._take(block)
            except _UNUSABLE as error:
                what = error.problem if isinstance(error, InputError) else str(error)
                problem = f"the {name} block at byte {block.at} cannot be used: {what}"
                self.problems.append(InputError(where, None, problem, "what this version writes"))
            self.bytes[name] = self.bytes.get(name, 0) + BLOCK_HEAD_BYTES + len(block.payload)
        self.streams: Mapping[int, ArchivedStream] = ArchivedStreams(self._parts, self.problems)
        """Streams by number, in the order of ranks; created on demand."""

    @property
    def has_times(self) -> bool:
        """False if it was written without times. All calls then start at 0 and have no duration."""
        return self.job.get("times") is not False

    @property
    def last_ns(self) -> int | None:
        """Unix time of the last call, ns; None if the archive has no times of day."""
        if not self.has_times or not any(each.info.clock_offset_ns is not None for each in self.streams.values()):
            return None
        return self._times.last_ns

    @property
    def merged(self) -> MergedIndex:
        """The merged parts of streams."""
        return self._parts

    def calls(
        self, stream: int, from_ns: int | None = None, to_ns: int | None = None, *, signatures: bool = True
    ) -> Iterator[Calls]:
        """Yield a stream's calls in order.

        Args:
            stream: number of the stream, a key of ``streams``.
            from_ns: skip sections that ended before; the others are returned whole.
            to_ns: skip sections that began later.
            signatures: decode the signatures of the calls.

        Raises:
            InputError: a section is corrupt.
        """
        interner, known = Interner(), dict[str, int]()
        for section in self.sections(stream, from_ns, to_ns):
            for batch in calls_of(section, interner, self.where, known, signatures=signatures):
                yield Calls(batch, interner.take_fresh())

    def sections(self, stream: int, from_ns: int | None = None, to_ns: int | None = None) -> Iterator[Section]:
        """Yield a stream's sections in order; arguments and errors as for ``calls``."""
        lane, rank = self.streams[stream].member
        places, blocks = self._times.of(lane, rank), self._parts.of(PartKind.SECTION, lane, rank)
        self._report_missing(stream, {block.key.ordinal for block in blocks}, set(places))
        for block in blocks:
            place = places.get(block.key.ordinal)
            times: Times | None = None
            if place is not None:
                if (from_ns is not None and place.last_ns < from_ns) or (to_ns is not None and place.first_ns > to_ns):
                    continue
                times = decode_times(self._read(place.at, place.length), self.where)[1]
            elif self.has_times:
                problem = f"the times of section {block.key.ordinal} of stream {stream} are missing"
                raise InputError(self.where, None, problem, "times for each section")
            yield section_of(self._parts.part(block, rank), times, self.where)

    def _report_missing(self, stream: int, known: set[int], timed: set[int]) -> None:
        """Report sections that were lost with a damaged block. After a crash the last times have no section."""
        missing = max(known | timed if self.complete else known, default=-1) + 1 - len(known)
        if missing and stream not in self._reported and len(self._reported) < _MAX_REPORTED:
            self._reported.add(stream)
            problem = f"{missing} sections of stream {stream} are missing"
            self.problems.append(InputError(self.where, None, problem, "the sections of all that was written"))

    def _read(self, at: int, length: int) -> bytes:
        self._file.seek(at)
        return self._file.read(length)

    def _take(self, block: Block) -> None:
        inside = block.at + BLOCK_HEAD_BYTES
        if block.kind == BlockKind.JOB:
            self.job = {name: _plain(value) for name, value in _job_decoder.decode(block.payload).items()}
        elif block.kind == BlockKind.PIECE:
            self._parts.add_pieces(block.payload, inside)
        elif block.kind == BlockKind.MERGED:
            self._parts.add(block.payload, inside)
        elif block.kind == BlockKind.TIMES:
            member, times = decode_times(block.payload, self.where)
            self._times.add(member, times, inside, len(block.payload))
        elif block.kind == BlockKind.END:
            self.complete = True


def _plain(value: Any) -> Any:
    """Return a value that JSON can represent; otherwise its text."""
    return value if _is_plain(value) else repr(value)


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(each) for key, each in value.items())
    if isinstance(value, list):
        return all(_is_plain(each) for each in value)
    return value is None or isinstance(value, str | int | float | bool)


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of a stream, with new names and signatures. Files and handles are those of the stream."""

    batch: EventBatch
    definitions: Definitions
