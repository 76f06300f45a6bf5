"""File format of a journal: a header, then records. Each record has a marker, a checksum, its length and its number.

A truncated or changed record is detected; the next one is found by its marker. Numbers continue over files, so that the
number of missing records is known.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ...events.network.wire import Frame
from ..jobs.lifecycle.recorded_steps import Kind
from .contract import Gap, JournalError, Moment, Position, Record, Replayed

SUFFIX: Final = ".journal"
VERSION: Final = 1
_MAGIC: Final = b"iotide journal\n\0"
_HEADER: Final = struct.Struct("<16sIQQ")
"""Magic, version, epoch, number of the first record; followed by their checksum."""
_SUM: Final = struct.Struct("<I")
HEADER_BYTES: Final = _HEADER.size + _SUM.size
_MARK: Final = b"\xf1\x9eJr"
_START: Final = struct.Struct("<4sI")
"""Marker, and checksum of everything after it."""
_BODY: Final = struct.Struct("<IQBdddHH")
"""Bytes after this header, number, kind, three clocks, bytes of the sender, number of frames. Followed by the frame
lengths, sender and frames."""
_KINDS: Final = frozenset(Kind)
_MIN_RECORD_BYTES: Final = _START.size + _BODY.size


class Segment(NamedTuple):
    """One file of a journal."""

    path: Path
    epoch: int
    first: int
    """Number of its first record."""


def header(epoch: int, first: int) -> bytes:
    """Return the header of a file."""
    fields = _HEADER.pack(_MAGIC, VERSION, epoch, first)
    return fields + _SUM.pack(zlib.crc32(fields))


def name_of(epoch: int, first: int) -> str:
    """Return the name of a file; names sort like positions."""
    return f"{epoch:08x}-{first:016x}{SUFFIX}"


def encode(number: int, kind: Kind, sender: bytes, moment: Moment, frames: Sequence[Frame]) -> list[Frame]:
    """Return a record as pieces to write in order; frames are not copied."""
    lengths = [len(frame) for frame in frames]
    size = len(sender) + 4 * len(lengths) + sum(lengths)
    body = b"".join(
        (
            _BODY.pack(size, number, kind, *moment, len(sender), len(lengths)),
            struct.pack(f"<{len(lengths)}I", *lengths),
            sender,
        )
    )
    check = zlib.crc32(body)
    for frame in frames:
        check = zlib.crc32(frame, check)
    return [_START.pack(_MARK, check) + body, *frames]


def read_header(path: Path) -> Segment:
    """Return the header data of a file.

    Raises:
        JournalError: it is not a journal file, damaged, or of another version.
    """
    with path.open("rb") as file:
        content = file.read(HEADER_BYTES)
    if len(content) < HEADER_BYTES or not content.startswith(_MAGIC):
        raise JournalError(f"{path}: not a journal file")
    _, version, epoch, first = _HEADER.unpack_from(content)
    if version != VERSION:
        raise JournalError(f"{path}: version {version} of the journal; this iotide reads version {VERSION}")
    if zlib.crc32(content[: _HEADER.size]) != _SUM.unpack_from(content, _HEADER.size)[0]:
        raise JournalError(f"{path}: its header is damaged")
    return Segment(path, epoch, first)


def records(segment: Segment, expected: int) -> Iterator[Replayed]:
    """Yield the records of a file. For unreadable ones a gap, followed by the next readable ones.

    Args:
        segment: the file.
        expected: number of the next record.

    Raises:
        OSError: the file cannot be read.
    """
    content = segment.path.read_bytes()
    yield from records_in(content, HEADER_BYTES, segment.epoch, expected, str(segment.path))


def records_in(content: bytes, at: int, epoch: int, expected: int, where: str) -> Iterator[Replayed]:
    """Yield the records in bytes from ``at`` on, with gaps. ``where`` is the place in reports of gaps."""
    damaged_at = at
    while at < len(content):
        found = _record_at(content, at, epoch)
        if found is None or found[0].position.record < expected:
            at = _next_mark(content, at + 1)
            continue
        record, end = found
        if record.position.record > expected:
            missing = record.position.record - expected
            yield Gap(expected, missing, f"{where}, byte {damaged_at}")
        yield record
        expected = record.position.record + 1
        at = damaged_at = end


def readable_end(segment: Segment) -> tuple[int, int]:
    """Return the end of the last readable record, and the number after it."""
    content = segment.path.read_bytes()
    at, end, number = HEADER_BYTES, HEADER_BYTES, segment.first
    while at < len(content):
        found = _record_at(content, at, segment.epoch)
        if found is None:
            at = _next_mark(content, at + 1)
        else:
            at = end = found[1]
            number = found[0].position.record + 1
    return end, number


def _next_mark(content: bytes, at: int) -> int:
    found = content.find(_MARK, at)
    return found if found >= 0 else len(content)


def _record_at(content: bytes, at: int, epoch: int) -> tuple[Record, int] | None:
    """Return the record at an offset, and its end; None if there is none."""
    if len(content) - at < _MIN_RECORD_BYTES or not content.startswith(_MARK, at):
        return None
    check = _START.unpack_from(content, at)[1]
    body = at + _START.size
    size, number, kind, clock_s, steady_s, now_s, sender_bytes, count = _BODY.unpack_from(content, body)
    data = body + _BODY.size
    end = data + size
    if end > len(content) or zlib.crc32(memoryview(content)[body:end]) != check:
        return None
    if kind not in _KINDS or 4 * count + sender_bytes > size:
        return None
    lengths = struct.unpack_from(f"<{count}I", content, data)
    if 4 * count + sender_bytes + sum(lengths) != size:
        return None
    data += 4 * count
    sender = content[data : data + sender_bytes]
    data += sender_bytes
    frames = []
    for length in lengths:
        frames.append(content[data : data + length])
        data += length
    return Record(Position(epoch, number), Kind(kind), sender, Moment(clock_s, steady_s, now_s), frames), end


def save_folder(folder: Path) -> None:
    """Sync the names of a folder's files."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
