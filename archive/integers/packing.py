"""Arrays of integers in messages: their length and packed bytes."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from ...events.errors import InputError
from . import integers
from .varints import decode_varints, encode_varints

FEW: Final = 1 << 14
"""Number of integers up to which an array is not deflated alone, but with the rest of its block."""


class Packed(msgspec.Struct, array_like=True, frozen=True):
    """Up to ``FEW`` integers as ``varints`` of their differences, more as by ``integers.pack``."""

    count: int
    data: bytes


_NOTHING: Final = Packed(0, b"")


def pack(array: npt.NDArray[Any]) -> Packed:
    """Pack an array of integers in row-major order."""
    flat = np.ascontiguousarray(array, np.int64).reshape(-1)
    if len(flat) > FEW:
        return Packed(len(flat), integers.pack(flat))
    return Packed(len(flat), encode_varints(flat, grown=True)) if len(flat) else _NOTHING


def unpack(array: Packed, most: int, where: str) -> npt.NDArray[np.int64]:
    """Unpack the result of ``pack``.

    Raises:
        InputError: it is not an array of at most ``most`` integers.
    """
    if not 0 <= array.count <= most:
        raise InputError(where, None, f"an array of {array.count} integers", f"at most {most}")
    if array.count > FEW:
        return integers.unpack(array.data, array.count, where)
    return np.cumsum(decode_varints(array.data, array.count, where), dtype=np.int64)
