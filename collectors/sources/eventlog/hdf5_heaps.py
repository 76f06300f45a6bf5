"""Disable damaged global heaps of an HDF5 file, on which the HDF5 library would not return.

Strings of variable length are in global heaps. To read one, the library walks over all objects of its heap by their
sizes. It does not check them, and never ends at free space of size 0 (HDF5 2.0.0). Layout: HDF5 File Format
Specification 3.0, III.E.
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_FILE: Final = b"\x89HDF\r\n\x1a\n"
_HEAP: Final = re.compile(rb"GCOL\x01")
_LENGTH_SIZE_AT: Final = {0: 14, 1: 14, 2: 10, 3: 10}
"""Version of the superblock -> offset of the size of lengths."""
_READABLE_SIZES: Final = (2, 4, 8)
_ALIGNMENT: Final = 8

Ints = npt.NDArray[np.int64]


def disable_damaged_heaps(document: memoryview) -> int:
    """Overwrite the signatures of heaps whose objects do not fill them exactly; the library then refuses them.

    Args:
        document: the file; changed in place.

    Returns:
        Number of disabled heaps.
    """
    width = _length_size(document)
    if width not in _READABLE_SIZES:
        return 0
    header = _aligned(8 + width)  # of a heap, and also of an object
    starts = np.array([found.start() for found in _HEAP.finditer(document)], np.int64)
    starts = starts[starts + header <= len(document)]
    data = np.frombuffer(document, np.uint8)
    sizes = _lengths(data, starts + 8, width)
    damaged = (sizes < header) | (sizes > len(data) - starts)
    at, end = starts + header, starts + sizes
    active = np.flatnonzero(~damaged)
    while len(active := active[at[active] + header <= end[active]]):  # one object of every heap at a time
        here = at[active]
        left, length = end[active] - here, _lengths(data, here + 8, width)
        is_free = (data[here] == 0) & (data[here + 1] == 0)
        taken = np.where(is_free, length, header + _aligned(np.minimum(length, left)))
        wrong = (length > left) | (taken > left) | (taken == 0)
        damaged[active[wrong]] = True
        active = active[~wrong]
        at[active] += taken[~wrong]
    data[starts[damaged]] = 0
    return int(np.count_nonzero(damaged))


def _length_size(document: memoryview) -> int:
    """Return the size of lengths in the file, bytes; 0 if it is no HDF5 file."""
    at = 0
    while at + 16 <= len(document):  # the superblock is at the beginning, at 512 or at twice the last place
        if document[at : at + len(_FILE)].tobytes() == _FILE:
            return int(document[at + _LENGTH_SIZE_AT.get(document[at + len(_FILE)], 14)])
        at = 2 * at or 512
    return 0


def _lengths(data: npt.NDArray[np.uint8], at: Ints, width: int) -> Ints:
    """Return the little-endian numbers at positions; those beyond int64 become its largest number."""
    numbers = data[at[:, None] + np.arange(width)].view(f"<u{width}").ravel()
    bounded: Ints = np.minimum(numbers, np.uint64(2**63 - 1)).astype(np.int64)
    return bounded


def _aligned(size: Any) -> Any:
    return (size + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
