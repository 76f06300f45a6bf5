"""The file: a head and blocks, each with its checksum, written one after the other and never changed.

What was written before a crash can be read: a block that is cut short or does not hold what its checksum says ends the
file, or is skipped where a whole one follows.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import BinaryIO, Final

from ..events.errors import InputError

MAGIC: Final = b"IOTIDEAR"
VERSION: Final = 3
_HEAD: Final = struct.Struct("<8sHHI")
"""magic, version, reserved, CRC-32 of the 12 bytes before."""
_BLOCK: Final = struct.Struct("<4sBxxxII")
"""mark, kind, length of the payload, CRC-32 of mark to length and payload."""
BLOCK_HEAD_BYTES: Final = _BLOCK.size
_MARK: Final = b"\xf1oT\n"
_MOST_PAYLOAD: Final = 1 << 28
_SEARCH: Final = 1 << 20
MOST_PIECE: Final = 1 << 26
"""Bytes of a piece before deflation."""
_MOST_BROKEN: Final = 1000
_MOST_WASTED: Final = 1 << 31
"""Bytes of blocks whose checksum was wrong, after which a file counts as damaged to its end."""


class BlockKind(IntEnum):
    """What a block holds; a reader passes over kinds that it does not know."""

    JOB = 1
    """About the job: a MessagePack map."""
    PIECE = 2
    """What parts of streams have in common, or what follows no pattern: a bundle of numbers and pieces."""
    MERGED = 3
    """Parts of streams that have their pieces in common: a bundle of MessagePack arrays."""
    TIMES = 4
    """When the calls of one section of one stream were: MessagePack."""
    END = 5
    """The file is complete: how many blocks came before (u64)."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a file."""

    kind: int
    payload: bytes
    at: int
    """Where in the file it begins."""


def head() -> bytes:
    """Returns the beginning of a file."""
    start = _HEAD.pack(MAGIC, VERSION, 0, 0)[:12]
    return start + struct.pack("<I", zlib.crc32(start))


def encode_block(kind: BlockKind, payload: bytes) -> bytes:
    """Returns a block as bytes.

    Raises:
        ValueError: the payload is too long for one.
    """
    if len(payload) > _MOST_PAYLOAD:
        raise ValueError(f"a block holds at most {_MOST_PAYLOAD} bytes, not {len(payload)}")
    start = _BLOCK.pack(_MARK, kind, len(payload), 0)[:-4]
    return start + struct.pack("<I", zlib.crc32(payload, zlib.crc32(start))) + payload


def read_blocks(file: BinaryIO, where: str, broken: list[InputError]) -> Iterator[Block]:
    """Yields the blocks of a file.

    Args:
        file: read from its start.
        where: the file's name, for errors.
        broken: is given what is wrong with the file, for each place; reading goes on at the next whole block.

    Raises:
        InputError: the file is no archive, or of a later version.
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
        hopeless = wasted > _MOST_WASTED or len(broken) >= _MOST_BROKEN
        following = None if hopeless else _next_mark(file, at + 1)
        length = f"{following - at} bytes" if following is not None else "the rest of the file"
        broken.append(InputError(where, None, f"{length} at byte {at} are damaged or cut short", "a whole block"))
        if following is None:
            return
        at = following


def _whole(file: BinaryIO, fixed: bytes, at: int) -> Block | None:
    if len(fixed) < _BLOCK.size or not fixed.startswith(_MARK):
        return None
    _, kind, length, checksum = _BLOCK.unpack(fixed)
    if length > _MOST_PAYLOAD:
        return None
    payload = file.read(length)
    if len(payload) < length or zlib.crc32(payload, zlib.crc32(fixed[:-4])) != checksum:
        return None
    return Block(kind, payload, at)


def _next_mark(file: BinaryIO, at: int) -> int | None:
    """Returns where the next mark of a block stands, at or after a place."""
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
