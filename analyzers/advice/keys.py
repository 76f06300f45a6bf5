"""Integer keys for sums of calls. A key combines thread, file, layer, kind, file group and manner of call."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events.batch import IntArray
from ..common.state import Ints

DEEP: Final = 1
"""Bit for calls made by another traced call."""
BETWEEN: Final = 1
"""The same bit in the table of call orders, for the time between calls."""
TOGETHER: Final = 2
"""Bit for collective calls."""
THROUGH: Final = 4
"""Bit for C library calls that made system calls."""
CONTROL: Final = 10
"""Kind in a key for calls that lock or control an open file. Events have no such kind; it must be below 16."""
RENAME: Final = 11
"""Kind in a key for renamed files. Events have no such kind; it must be below 16."""
NAME: Final = 12
"""Kind in a key for made folders and links. Events have no such kind; it must be below 16."""
KIND_OF_CALL: Final = {
    **dict.fromkeys(("fcntl", "fcntl64", "flock", "lockf", "lockf64", "ioctl"), CONTROL),
    **dict.fromkeys(("rename", "renameat", "renameat2"), RENAME),
    **dict.fromkeys(("mkdir", "mkdirat", "link", "linkat", "symlink", "symlinkat", "mknod", "mknodat"), NAME),
}
"""Kinds in a key that depend on the name of the call."""
_FILE_BITS: Final = 24  # bits of the file number in a key
_BITS: Final = 3  # bits of the manner
_TAIL_BITS: Final = 3 + 4 + 2 + _BITS  # bits of layer, kind, file group and manner


class Keys(NamedTuple):
    """Components of keys; each column has shape (n,)."""

    thread: Ints
    file: Ints
    layer: Ints
    kind: Ints
    group: Ints
    deep: npt.NDArray[np.bool_]
    together: npt.NDArray[np.bool_]
    through: npt.NDArray[np.bool_]


def cell_key(
    thread: Ints,
    file: Ints,
    layer: IntArray,
    kind: IntArray,
    group: Ints,
    bits: Ints,
) -> Ints:
    """Return the key of each call, int64[n]."""
    tail = ((layer.astype(np.int64) << 4 | kind) << 2 | group) << _BITS | bits
    key: Ints = (thread << _FILE_BITS | file) << _TAIL_BITS | tail
    return key


def place_key(thread: Ints, file: Ints, kind: IntArray, layer: IntArray) -> Ints:
    """Return the key of each read or write, int64[n]."""
    zero = np.zeros_like(thread)
    return cell_key(thread, file, layer, kind, zero, zero)


def split(key: Ints) -> Keys:
    """Split keys into their components."""
    bits, tail = key & (1 << _BITS) - 1, key >> _BITS
    head = key >> _TAIL_BITS
    return Keys(
        thread=head >> _FILE_BITS,
        file=head & ((1 << _FILE_BITS) - 1),
        layer=tail >> 6 & 7,
        kind=tail >> 2 & 15,
        group=tail & 3,
        deep=(bits & DEEP) > 0,
        together=(bits & TOGETHER) > 0,
        through=(bits & THROUGH) > 0,
    )
