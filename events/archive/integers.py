"""Integers as bytes: what each differs from the one before, byte by byte, deflated."""

from __future__ import annotations

import zlib
from typing import Final

import numpy as np
import numpy.typing as npt

from ..errors import InputError

_LEVEL: Final = 6
_MANY: Final = 4096
"""Integers from which on it is worth asking how to deflate them."""


def pack(values: npt.NDArray[np.int64]) -> bytes:
    """Packs int64 values that grow a little from one to the next. Source: seed 004 (timestamps as deltas, deflated).

    The bytes of equal weight stand together, as the upper ones are mostly zero.
    """
    if not len(values):
        return b""
    grown = np.empty(len(values), np.int64)
    grown[0], grown[1:] = values[0], values[1:] - values[:-1]
    zigzag = (grown << 1) ^ (grown >> 63)
    planes = zigzag.astype("<i8").view(np.uint8).reshape(len(values), 8).T.tobytes()
    if len(values) >= _MANY and not _repeats(planes[:_MANY]):
        deflate = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)
        return deflate.compress(planes) + deflate.flush()
    return zlib.compress(planes, _LEVEL)


def _repeats(sample: bytes) -> bool:
    """Tells whether something is gained by looking for what came before, which takes most of the time."""
    return len(zlib.compress(sample, _LEVEL)) < len(sample) // 4


def unpack(packed: bytes, count: int, where: str) -> npt.NDArray[np.int64]:
    """Unpacks ``count`` values.

    Raises:
        InputError: the bytes do not hold so many values; no more memory is taken than they need.
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
