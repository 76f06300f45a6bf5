"""Pack lines of rings. A line is encoded as its difference from the last similar line.

Calls of a loop differ in their times and one more number, so about nine bytes replace the 64 bytes of a line. The
process that empties rings writes, and the analysing process reads, a seventh of the data.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .....events.compiled import load
from .lines import Lines
from .ring_layout import LINE_WORDS, MARK_WORDS

MIN_LINES: Final = 256
"""Minimum number of lines for which packing is faster."""

_PATH: Final = __file__.rpartition("/")[0] + "/native/libiotide_records.so"
_POINTER, _U64 = ctypes.c_void_p, ctypes.c_uint64
_FUNCTIONS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "lines_pack": (_U64, [_POINTER, _U64, _POINTER]),
    "lines_unpack": (_U64, [_POINTER, _U64, _POINTER, _U64]),
}
_HEAD: Final = 3
_MAX_PACKED_LINE: Final = _HEAD + LINE_WORDS * 8
"""Maximum size of a packed line, and number of zero bytes after the last one."""
_PLACES: Final = 16
_IS_WORDS: Final = 0x80
_ALL: Final = 2**64 - 1
_MULTIPLIER: Final = 0x9E3779B97F4A7C15
_SIZES: Final = (0, 2, 4, 8)


@lru_cache(maxsize=1)
def native() -> ctypes.CDLL | None:
    """Return the compiled helper, or None if it was not built. Lines are then not packed."""
    return load(_PATH, _FUNCTIONS)


class Packer:
    """Packs lines; the result is valid until the next call."""

    def __init__(self) -> None:
        self._to = np.empty(0, np.uint8)

    def packed(self, lines: Lines) -> memoryview | None:
        """Return packed lines; None if packing does not pay or the helper is missing."""
        if len(lines) < MIN_LINES or (library := native()) is None:
            return None
        if len(self._to) < (room := (len(lines) + 1) * _MAX_PACKED_LINE):
            self._to = np.empty(room, np.uint8)
        size = library.lines_pack(lines.ctypes.data, len(lines), self._to.ctypes.data)
        return self._to[:size].data if size < lines.nbytes else None


def unpacked(data: npt.NDArray[np.uint8], count: int) -> Lines:
    """Return the lines that were packed.

    Args:
        data: contiguous packed data.
        count: number of lines.

    Raises:
        EOFError: the data is incomplete.
    """
    lines = np.empty((count, LINE_WORDS), np.uint64)
    if (library := native()) is not None:
        made = library.lines_unpack(data.ctypes.data, len(data), lines.ctypes.data, count)
    else:
        made = unpack(data.tobytes(), lines)
    if made != count:
        raise EOFError(f"{count} lines were announced, and {made} are there")
    return lines


def pack(lines: Lines) -> bytes:
    """Fallback of ``lines_pack``."""
    places, start, out = _places(), [0], bytearray()
    for line in lines.tolist():
        place, is_words = (line[-1] * _MULTIPLIER & _ALL) >> 60, line[-1] >> 56 == MARK_WORDS
        classes, differences = 0, b""
        for word, value in enumerate(line):
            row, column = (start, 0) if not word and not is_words else (places[place], word)
            difference = (value - row[column] + 2**63 & _ALL) - 2**63
            row[column] = value
            if difference:
                kind = next(
                    kind for kind in (1, 2, 3) if -(1 << 8 * _SIZES[kind] - 1) <= difference < 1 << 8 * _SIZES[kind] - 1
                )
                classes |= kind << 2 * word
                differences += difference.to_bytes(_SIZES[kind], "little", signed=True)
        out += bytes([place | (_IS_WORDS if is_words else 0)]) + classes.to_bytes(2, "little") + differences
    return bytes(out) + bytes(_MAX_PACKED_LINE)


def unpack(data: bytes, lines: Lines) -> int:
    """Fallback of ``lines_unpack``."""
    places, start, at = _places(), [0], 0
    for row in range(len(lines)):
        if len(data) - at < _HEAD + _MAX_PACKED_LINE:
            return row
        head, classes = data[at], int.from_bytes(data[at + 1 : at + _HEAD], "little")
        like = places[head % _PLACES]
        at += _HEAD
        for word in range(LINE_WORDS):
            values, column = (start, 0) if not word and not head & _IS_WORDS else (like, word)
            size = _SIZES[classes >> 2 * word & 3]
            values[column] = values[column] + int.from_bytes(data[at : at + size], "little", signed=True) & _ALL
            at += size
            lines[row, word] = values[column]
    return len(lines)


def _places() -> list[list[int]]:
    return [[0] * LINE_WORDS for _ in range(_PLACES)]
