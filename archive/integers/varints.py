"""Variable-length integers: seven bits per byte, lowest first; integers near 0 take one byte."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ...events.errors import InputError
from ..native_library import native

_MAX_BYTES: Final = 10
"""Maximum size of a 64-bit integer."""
_MORE: Final = 0x80
_STEPS: Final = np.array([1 << 7 * place for place in range(1, _MAX_BYTES)], np.uint64)
"""Values from which one more byte is needed."""


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
