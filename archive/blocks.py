"""The file format: a head and blocks, each with its checksum. They are written in sequence and never changed.

A block of many similar texts is a bundle: the texts are deflated together.

Data written before a crash can be read. A block that is cut short or has a wrong checksum ends the file, or is skipped
if a whole block follows.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import accumulate
from typing import Annotated, BinaryIO, Final

import msgspec
from msgspec import Struct

from ..events.errors import InputError

MAGIC: Final = b"IOTIDEAR"
VERSION: Final = 3
_HEAD: Final = struct.Struct("<8sHHI")
"""magic, version, reserved, CRC-32 of the preceding 12 bytes."""
_BLOCK: Final = struct.Struct("<4sBxxxII")
"""mark, kind, length of the payload, CRC-32 from mark to length and of the payload."""
BLOCK_HEAD_BYTES: Final = _BLOCK.size
_MARK: Final = b"\xf1oT\n"
_MAX_PAYLOAD: Final = 1 << 28
_SEARCH: Final = 1 << 20
MAX_PIECE: Final = 1 << 26
"""Maximum size of a piece before deflation, bytes."""
_MAX_BROKEN: Final = 1000
_MAX_WASTED: Final = 1 << 31
"""Bytes of blocks with wrong checksums after which a file counts as damaged to its end."""
MAX_BUNDLE: Final = 1 << 18
"""Maximum size of a bundle of several texts, bytes. Deflate's window is an eighth of it."""
_LEVEL: Final = 7
"""Takes a third of the time of the highest level, for a thirtieth more bytes."""
_Count = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]
_MAX_FOR_NOTHING: Final = 64
_MIN_BYTES: Final = 8
"""Minimum bytes of a block per text beyond the first 64. A small file then cannot claim very many texts."""
_encoder = msgspec.msgpack.Encoder()


class BlockKind(IntEnum):
    """Content of a block; readers skip unknown kinds."""

    JOB = 1
    """Facts about the job: a MessagePack map."""
    PIECE = 2
    """Data that parts of streams share, or that follows no pattern: a bundle of numbers and pieces."""
    MERGED = 3
    """Parts of streams with the same pieces: a bundle of MessagePack arrays."""
    TIMES = 4
    """Times of the calls of one section of one stream: MessagePack."""
    END = 5
    """The file is complete: number of preceding blocks (u64)."""


class Block(Struct, frozen=True):
    """One block of a file."""

    kind: int
    payload: bytes
    at: int
    """Offset of the block in the file."""


def head() -> bytes:
    """Return the beginning of a file."""
    start = _HEAD.pack(MAGIC, VERSION, 0, 0)[:12]
    return start + struct.pack("<I", zlib.crc32(start))


def encode_block(kind: BlockKind, payload: bytes) -> bytes:
    """Return a block as bytes.

    Raises:
        ValueError: the payload is too long for a block.
    """
    if len(payload) > _MAX_PAYLOAD:
        raise ValueError(f"a block holds at most {_MAX_PAYLOAD} bytes, not {len(payload)}")
    start = _BLOCK.pack(_MARK, kind, len(payload), 0)[:-4]
    return start + struct.pack("<I", zlib.crc32(payload, zlib.crc32(start))) + payload


def read_blocks(file: BinaryIO, where: str, broken: list[InputError]) -> Iterator[Block]:
    """Yield the blocks of a file.

    Args:
        file: the file, positioned at its start.
        where: name of the file, for errors.
        broken: receives an error for each damaged place; reading continues at the next whole block.

    Raises:
        InputError: the file is not an archive, or has a later version.
    """
    start = file.read(_HEAD.size)
    if len(start) < _HEAD.size or not start.startswith(MAGIC):
        raise InputError(where, None, "no archive", f"a file that begins with {MAGIC.decode()}")
    _, version, _, checksum = _HEAD.unpack(start)
    if zlib.crc32(start[:12]) != checksum:
        raise InputError(where, None, "the head is damaged", "16 bytes with their checksum")
    if version != VERSION:
        other = "an earlier" if version < VERSION else "a later"
        raise InputError(where, None, f"an archive of version {version}", f"version {VERSION}; use {other} iotide")
    at, wasted = _HEAD.size, 0
    while True:
        file.seek(at)
        fixed = file.read(_BLOCK.size)
        if not fixed:
            return
        block = _whole(file, fixed, at)
        if block is not None:
            yield block
            at += _BLOCK.size + len(block.payload)
            continue
        wasted += file.tell() - at
        hopeless = wasted > _MAX_WASTED or len(broken) >= _MAX_BROKEN
        following = None if hopeless else _next_mark(file, at + 1)
        length = f"{following - at} bytes are" if following is not None else "the rest is"
        broken.append(InputError(where, None, f"damaged or cut short at byte {at}: {length} skipped", "a whole block"))
        if following is None:
            return
        at = following


def _whole(file: BinaryIO, fixed: bytes, at: int) -> Block | None:
    if len(fixed) < _BLOCK.size or not fixed.startswith(_MARK):
        return None
    _, kind, length, checksum = _BLOCK.unpack(fixed)
    if length > _MAX_PAYLOAD:
        return None
    payload = file.read(length)
    if len(payload) < length or zlib.crc32(payload, zlib.crc32(fixed[:-4])) != checksum:
        return None
    return Block(kind, payload, at)


def _next_mark(file: BinaryIO, at: int) -> int | None:
    """Return the offset of the next block mark, at or after an offset."""
    held = b""
    file.seek(at)
    while piece := file.read(_SEARCH):
        held += piece
        found = held.find(_MARK)
        if found >= 0:
            return at + found
        at += max(len(held) - len(_MARK) + 1, 0)
        held = held[-len(_MARK) + 1 :]
    return None


class _Payload(msgspec.Struct, array_like=True, frozen=True):
    numbers: list[_Count]
    lengths: list[_Count]
    data: bytes


_decoder = msgspec.msgpack.Decoder(_Payload)


def encode_bundle(texts: Sequence[bytes], numbers: Sequence[int] = ()) -> bytes:
    """Encode texts, each optionally with a number, as the payload of a block."""
    whole, lengths = b"".join(texts), [len(text) for text in texts]
    payload = _encoder.encode(_Payload(list(numbers), lengths, zlib.compress(whole, _LEVEL)))
    if len(texts) > _max_texts(payload):
        payload = _encoder.encode(_Payload(list(numbers), lengths, zlib.compress(whole, 0)))
    return payload


def numbers_of(payload: bytes) -> list[int]:
    """Return the numbers of a bundle's texts without decompressing the texts.

    Raises:
        ValueError: there is not one number per text, or there are too many texts.
        msgspec.MsgspecError: the payload is malformed.
    """
    found = _decode_payload(payload)
    if len(found.numbers) != len(found.lengths):
        raise ValueError(f"{len(found.numbers)} numbers of {len(found.lengths)} pieces")
    return found.numbers


def decode_bundle(payload: bytes) -> list[bytes]:
    """Return the texts of a bundle.

    Raises:
        ValueError: the texts are longer than declared or allowed; no more memory is used.
        msgspec.MsgspecError, zlib.error: the payload is malformed.
    """
    found = _decode_payload(payload)
    length = sum(found.lengths)
    if length > (MAX_BUNDLE if len(found.lengths) > 1 else MAX_PIECE):
        raise ValueError(f"a bundle of {length} bytes")
    reader = zlib.decompressobj()
    whole = reader.decompress(found.data, length + 1)
    if len(whole) != length or not reader.eof:
        raise ValueError(f"a bundle that does not have its {length} bytes")
    if len(found.lengths) == 1:
        return [whole]
    ends = list(accumulate(found.lengths))
    return [whole[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def _decode_payload(payload: bytes) -> _Payload:
    found = _decoder.decode(payload)
    if len(found.lengths) > _max_texts(payload):
        raise ValueError(f"{len(found.lengths)} texts in {len(payload)} bytes")
    return found


def _max_texts(payload: bytes) -> int:
    return _MAX_FOR_NOTHING + len(payload) // _MIN_BYTES
