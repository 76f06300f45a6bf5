"""Pack integers as bytes: differences between neighbours, split by byte significance, deflated.

Few integers are variable-length ones: seven bits per byte, lowest first; integers near 0 take one byte.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from ...events.errors import InputError
from ..native_library import native

_LEVEL: Final = 6
_MANY: Final = 4096
"""Number of integers from which the deflate method is chosen by a sample."""
_FEW: Final = 128
"""Number of integers up to which small tables of zlib suffice. Clearing its usual ones, 0.25 MB, takes longer than
deflating the times of a short process."""
_FEW_WINDOW: Final = 12
_FEW_MEMORY: Final = 4
"""zlib's ``windowBits`` and ``memLevel`` for them: a window of 4 KiB, and blocks of 1,024 symbols."""
_BLOCK: Final = 1 << 16
"""Number of bytes that are deflated with one method."""
_SAMPLE: Final = 2048
_LIKE: Final = 1.1
"""Maximum size ratio of a sample for which a much faster method is preferred."""
_BLOCK_HEAD: Final = 512
_WORTH: Final = 1.2
"""Minimum size ratio of a sample for which a method that takes several times as long is preferred."""
_HEAD: Final = b"\x78\x9c"
_END: Final = b"\x03\x00"
_STORED: Final = b"\x00\x01\x00\xfe\xff"
"""An empty last block, and the head of a stored block of one byte: RFC 1951."""
_ADLER: Final = 65521
_MAX_BYTES: Final = 10
"""Maximum size of a 64-bit integer."""
_MORE: Final = 0x80
_STEPS: Final = np.array([1 << 7 * place for place in range(1, _MAX_BYTES)], np.uint64)
"""Values from which one more byte is needed."""
_MAX_VARINTS: Final = 1 << 14
"""Number of integers up to which an array is not deflated alone, but with the rest of its block."""


def pack(values: npt.NDArray[np.int64]) -> bytes:
    """Pack int64 values with small differences. Source: [Recorder] (timestamps as deltas, deflated).

    Bytes of equal significance are adjacent, because the upper ones are mostly zero.
    """
    if not len(values):
        return b""
    if len(values) < _MANY:
        zigzag = _zigzag(differences(values))
        data = zigzag.astype("<u8").view(np.uint8).reshape(len(values), 8).T.tobytes()
        if len(values) > _FEW:
            return zlib.compress(data, _LEVEL)
        deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, _FEW_WINDOW, _FEW_MEMORY)
        return deflate.compress(data) + deflate.flush()
    planes = _planes(np.ascontiguousarray(values))
    pieces, checksum = [_HEAD], 1
    for plane in planes:
        pieces += [_deflate(plane[at : at + _BLOCK]) for at in range(0, len(plane), _BLOCK)]
        checksum = zlib.adler32(plane, checksum)
    first = int(_zigzag(values[:1])[0])  # the difference from 0, which may have more bytes than the rest
    for byte in first.to_bytes(8, "little")[len(planes) :]:
        pieces += [_STORED, bytes((byte,)), _zeros(len(values) - 1)]
        checksum = _with_zeros(zlib.adler32(bytes((byte,)), checksum), len(values) - 1)
    return b"".join([*pieces, _END, checksum.to_bytes(4, "big")])


def _zigzag(grown: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Return zigzag-coded numbers, with the sign in the lowest bit. Small magnitudes give small numbers."""
    return ((grown << 1) ^ (grown >> 63)).view(np.uint64)


def _planes(values: npt.NDArray[np.int64]) -> list[bytes]:
    """Return all differences byte by byte, lowest byte first.

    The last plane is the highest byte that differences after the first use.
    """
    compiled = native()
    if compiled is None:
        zigzag = _zigzag(differences(values))
        count = (int(zigzag[1:].max()).bit_length() + 7) // 8
        return [(zigzag >> np.uint64(8 * place)).astype(np.uint8).tobytes() for place in range(count)]
    count = (int(compiled.integers_bits(values.ctypes.data, len(values))).bit_length() + 7) // 8
    planes = np.empty((count, len(values)), np.uint8)
    compiled.integers_planes(values.ctypes.data, len(values), count, planes.ctypes.data)
    return [plane.tobytes() for plane in planes]


def estimate(values: npt.NDArray[np.int64]) -> float:
    """Return the approximate number of bits per value of ``pack`` for a sample.

    It is the entropy of its bytes by significance.
    """
    zigzag = _zigzag(np.diff(values))
    bits = 0.0
    for place in range((int(zigzag.max(initial=0)).bit_length() + 7) // 8):
        counts = np.bincount((zigzag >> np.uint64(8 * place)).astype(np.uint8))
        share = counts[counts > 0] / len(zigzag)
        bits -= float((share * np.log2(share)).sum())
    return bits


def _deflate(block: bytes) -> bytes:
    """Deflate bytes up to a byte boundary, with a method chosen by a sample."""
    sample = block[:_SAMPLE] + block[-_SAMPLE:]
    gain = len(sample) / len(zlib.compress(sample, 1))
    if gain < 1.05:
        deflate = _way(0)
    elif gain < 2 or (
        gain < 4 and _length(_way(1, zlib.Z_HUFFMAN_ONLY), sample) < _LIKE * _length(_way(1, zlib.Z_RLE), sample)
    ):
        # searching for repetitions gains little, and takes most of the time
        return _coded(block)
    elif gain < 4 or _length(_way(1, zlib.Z_RLE), sample) < _WORTH * _length(_way(_LEVEL), sample):
        deflate = _way(1, zlib.Z_RLE)
    else:
        deflate = _way(_LEVEL)
    return deflate.compress(block) + deflate.flush(zlib.Z_SYNC_FLUSH)


def _coded(block: bytes) -> bytes:
    """Deflate bytes individually by a Huffman code."""
    compiled = native()
    if compiled is None:
        deflate = _way(1, zlib.Z_HUFFMAN_ONLY)
        return deflate.compress(block) + deflate.flush(zlib.Z_SYNC_FLUSH)
    room = np.empty(2 * len(block) + _BLOCK_HEAD, np.uint8)
    length = compiled.huffman_block(block, len(block), room.ctypes.data)
    return room[:length].tobytes()


def _way(level: int, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> zlib._Compress:
    return zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, strategy)


def _length(deflate: zlib._Compress, data: bytes) -> int:
    return len(deflate.compress(data)) + len(deflate.flush())


@lru_cache(maxsize=64)
def _zeros(count: int) -> bytes:
    return _deflate(bytes(count))


def _with_zeros(checksum: int, count: int) -> int:
    """Return the Adler-32 of data with this checksum after appending ``count`` zeros."""
    low, high = checksum & 0xFFFF, checksum >> 16
    return (high + count * low) % _ADLER << 16 | low


def unpack(packed: bytes, count: int, where: str) -> npt.NDArray[np.int64]:
    """Unpack ``count`` values.

    Raises:
        InputError: the bytes do not contain that many values; no more memory is used than they need.
    """
    if not count:
        if packed:
            raise InputError(where, None, f"{len(packed)} bytes for no integers", "none")
        return np.zeros(0, np.int64)
    reader = zlib.decompressobj()
    try:
        raw = reader.decompress(packed, 8 * count + 1)
    except zlib.error as error:
        raise InputError(where, None, f"integers cannot be inflated: {error}", "what pack made") from None
    if len(raw) != 8 * count or not reader.eof:
        raise InputError(where, None, f"integers take {len(raw)} bytes or are cut", f"{8 * count} for {count}")
    zigzag = np.frombuffer(raw, np.uint8).reshape(8, count).T.copy().view("<i8").reshape(count)
    grown = (zigzag.view(np.uint64) >> np.uint64(1)).view(np.int64) ^ -(zigzag & 1)
    return np.cumsum(grown, dtype=np.int64)


def encode_varints(values: npt.NDArray[np.int64], *, grown: bool = False) -> bytes:
    """Encode int64 values, or with ``grown`` their differences, modulo 2^64.

    They are zigzag-coded, then written as seven bits per byte; the eighth bit means that more bytes follow.

    >>> encode_varints(np.array([0, -1, 64, 300])).hex(" ")
    '00 01 80 01 d8 04'
    >>> encode_varints(np.array([7, 8, 10]), grown=True).hex(" ")
    '0e 02 04'
    """
    if not len(values):
        return b""
    compiled = native()
    if compiled is None:
        return _encode(differences(values) if grown else values)
    if not values.flags.c_contiguous:
        values = values.copy()
    room = np.empty(_MAX_BYTES * len(values), np.uint8)
    length = compiled.varints_encode(values.ctypes.data, len(values), grown, room.ctypes.data)
    return room[:length].tobytes()


def differences(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the first value and the differences between neighbours, int64[n], modulo 2^64."""
    grown = values.copy()
    grown[1:] -= values[:-1]
    return grown


def _encode(values: npt.NDArray[np.int64]) -> bytes:
    zigzag = ((values << 1) ^ (values >> 63)).view(np.uint64)
    if zigzag.max() < _MORE:
        return zigzag.astype(np.uint8).tobytes()
    lengths = np.searchsorted(_STEPS, zigzag, "right") + 1
    ends = np.cumsum(lengths)
    out = np.empty(int(ends[-1]), np.uint8)
    for place in range(int(lengths.max())):
        here = np.flatnonzero(lengths > place)
        bits = (zigzag[here] >> np.uint64(7 * place)).astype(np.uint8) & 0x7F
        out[ends[here] - lengths[here] + place] = bits | np.where(lengths[here] > place + 1, _MORE, 0).astype(np.uint8)
    return out.tobytes()


def decode_varints(data: bytes, count: int, where: str) -> npt.NDArray[np.int64]:
    """Decode ``count`` values.

    Raises:
        InputError: the bytes do not contain that many values; no more memory is used than they need.
    """
    read = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(read < _MORE) + 1
    if len(ends) != count or (count and int(ends[-1]) != len(read)) or (not count and len(read)):
        raise InputError(where, None, f"{len(data)} bytes of {len(ends)} integers, or cut", f"{count} integers")
    if count and len(read) == count:
        return (read >> 1).astype(np.int64) ^ -(read & 1).astype(np.int64)
    begins = np.concatenate([np.zeros(1, np.int64), ends])[:-1]
    lengths = ends - begins
    if count and int(lengths.max()) > _MAX_BYTES:
        raise InputError(where, None, f"an integer of {int(lengths.max())} bytes", f"at most {_MAX_BYTES}")
    zigzag = np.zeros(count, np.uint64)
    for place in range(int(lengths.max(initial=0))):
        here = np.flatnonzero(lengths > place)
        zigzag[here] |= (read[begins[here] + place] & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * place)
    return (zigzag >> np.uint64(1)).view(np.int64) ^ -(zigzag & np.uint64(1)).view(np.int64)


class Packed(msgspec.Struct, array_like=True, frozen=True):
    """Up to 2^14 integers as varints of their differences, more as packed by ``pack``."""

    count: int
    data: bytes


_NOTHING: Final = Packed(0, b"")


def pack_array(array: npt.NDArray[Any]) -> Packed:
    """Pack an array of integers in row-major order."""
    flat = np.ascontiguousarray(array, np.int64).reshape(-1)
    if len(flat) > _MAX_VARINTS:
        return Packed(len(flat), pack(flat))
    return Packed(len(flat), encode_varints(flat, grown=True)) if len(flat) else _NOTHING


def unpack_array(array: Packed, most: int, where: str) -> npt.NDArray[np.int64]:
    """Unpack the result of ``pack_array``.

    Raises:
        InputError: it is not an array of at most ``most`` integers.
    """
    if not 0 <= array.count <= most:
        raise InputError(where, None, f"an array of {array.count} integers", f"at most {most}")
    if array.count > _MAX_VARINTS:
        return unpack(array.data, array.count, where)
    return np.cumsum(decode_varints(array.data, array.count, where), dtype=np.int64)
