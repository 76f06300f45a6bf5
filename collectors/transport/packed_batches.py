"""Serialize batches, definitions and StreamInfo to bytes for storage."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

import msgspec

from ...events import Definitions, EventBatch, ProtocolError, StreamInfo
from ...events.network.wire import Frame, decode, encode_batch
from ..sent_definitions import readable

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
