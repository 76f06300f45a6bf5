"""Arrays of integers within messages: how many, and their bytes."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from ..errors import InputError
from . import integers


class Packed(msgspec.Struct, array_like=True, frozen=True):
    """Integers as ``integers.pack`` makes them."""

    count: int
    data: bytes


def pack(array: npt.NDArray[Any]) -> Packed:
    """Packs an array of integers, row after row."""
    flat = np.ascontiguousarray(array, np.int64).reshape(-1)
    return Packed(len(flat), integers.pack(flat))


def unpack(array: Packed, most: int, where: str) -> npt.NDArray[np.int64]:
    """Unpacks what ``pack`` made.

    Raises:
        InputError: it is no array of at most so many.
    """
    if not 0 <= array.count <= most:
        raise InputError(where, None, f"an array of {array.count} integers", f"at most {most}")
    return integers.unpack(array.data, array.count, where)
