"""Store batches, serialized, in unnamed files, which vanish with the collector.

They are bounded in bytes, and freed as they are read.
"""

from __future__ import annotations

import contextlib
import logging
import os
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from ...events import Definitions, EventBatch, ProtocolError, StreamInfo
from ...events.network.wire import Frame, decode, encode_batch
from ..sent_definitions import readable

_log = logging.getLogger(__name__)
_MAX_FRAMES: Final = 64
_encoder: Final = msgspec.msgpack.Encoder()
_definitions: Final = msgspec.msgpack.Decoder(Definitions)
_info: Final = msgspec.msgpack.Decoder(StreamInfo)


def packed(batch: EventBatch) -> list[Frame]:
    """Return the events of a batch as pieces to be written one after the other. Columns are not copied."""
    frames = encode_batch("", 1, batch, Definitions())
    lengths = [len(frame) for frame in frames]
    return [struct.pack(f"<I{len(lengths)}I", len(lengths), *lengths), *frames]


def unpacked(data: bytes) -> EventBatch | None:
    """Return the events; None if the bytes are malformed."""
    try:
        (count,) = struct.unpack_from("<I", data)
        if count > _MAX_FRAMES:
            return None
        frames: list[Frame] = []
        at = 4 + 4 * count
        for length in struct.unpack_from(f"<{count}I", data, 4):
            frames.append(data[at : at + length])
            at += length
        return decode(frames)[1]
    except (ProtocolError, struct.error, ValueError):
        return None


def packed_definitions(definitions: Definitions) -> bytes:
    """Return definitions as bytes; no bytes if there are none."""
    if not definitions:
        return b""
    try:
        return _encoder.encode(definitions)
    except UnicodeEncodeError:
        return _encoder.encode(readable(definitions))


def unpacked_definitions(data: bytes) -> Definitions:
    """Return the definitions.

    Raises:
        msgspec.MsgspecError: the bytes are malformed.
    """
    return _definitions.decode(data) if data else Definitions()


def packed_info(info: StreamInfo) -> bytes:
    """Return a StreamInfo as bytes."""
    return _encoder.encode(info)


def unpacked_info(data: bytes) -> StreamInfo:
    """Return a StreamInfo.

    Raises:
        msgspec.MsgspecError: the bytes are malformed.
    """
    return _info.decode(data)


def size_of_pieces(pieces: Sequence[Frame]) -> int:
    """Return the total size of pieces, bytes."""
    return sum(len(piece) for piece in pieces)


_FILE_BYTES: Final = 16 << 20
"""File size above which a new file is begun."""


@dataclass(slots=True)
class _File:
    descriptor: int
    size: int = 0
    held: int = 0
    """Number of batches still in the file."""


@dataclass(frozen=True, slots=True)
class Place:
    """Location of a batch."""

    file: _File
    at: int
    size: int


class SpoolFiles:
    """Writes and reads batches.

    Args:
        most_bytes: bound on the size of all files.
        folder: folder of the files; by default the system's folder for temporary files.

    Attributes:
        bytes: size of all files.
        failures: number of batches that could not be written or read.
    """

    def __init__(self, most_bytes: int, folder: Path | None = None) -> None:
        self.bytes = 0
        self.failures = 0
        self._most_bytes = most_bytes
        self._folder = folder
        self._last: _File | None = None
        self._files: set[int] = set()

    def append(self, batch: EventBatch) -> Place | None:
        """Append a batch; None if there is no room or the disk rejects the write."""
        pieces = packed(batch)
        size = size_of_pieces(pieces)
        if self.bytes + size > self._most_bytes:
            return None
        try:
            file = self._file_for_more()
            _write(file.descriptor, pieces, file.size)
        except OSError as error:
            if not self.failures:
                _log.warning("calls that wait for the aggregator cannot be spooled to disk: %s", error)
            self.failures += 1
            return None
        place = Place(file, file.size, size)
        file.size += size
        file.held += 1
        self.bytes += size
        return place

    def read(self, place: Place) -> EventBatch | None:
        """Return a batch; None if it cannot be read or is corrupt."""
        data = b""
        with contextlib.suppress(OSError):
            data = os.pread(place.file.descriptor, place.size, place.at)
        batch = unpacked(data) if len(data) == place.size else None
        self.failures += batch is None
        return batch

    def release(self, place: Place) -> None:
        """Releases a batch; a file without batches is removed."""
        file = place.file
        file.held -= 1
        if file.held:
            return
        self.bytes -= file.size
        file.size = 0
        if file is self._last:
            os.ftruncate(file.descriptor, 0)
        else:
            self._close(file.descriptor)

    def close(self) -> None:
        """Remove all files."""
        for descriptor in list(self._files):
            self._close(descriptor)
        self._last = None

    def _file_for_more(self) -> _File:
        if self._last is None or self._last.size >= _FILE_BYTES:
            descriptor, name = tempfile.mkstemp(prefix="iotide-spool-", dir=self._folder)
            Path(name).unlink()
            self._files.add(descriptor)
            self._last = _File(descriptor)
        return self._last

    def _close(self, descriptor: int) -> None:
        self._files.discard(descriptor)
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _write(descriptor: int, pieces: list[Frame], at: int) -> None:
    for piece in pieces:
        rest = memoryview(piece).cast("B")
        while rest:
            written = os.pwrite(descriptor, rest, at)
            rest, at = rest[written:], at + written
