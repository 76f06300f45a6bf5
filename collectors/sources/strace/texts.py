"""Assign numbers to many texts in a buffer, by the compiled helper or a dictionary."""

from __future__ import annotations

import ctypes
import secrets
import weakref
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from .native_library import native

Extents: TypeAlias = npt.NDArray[np.uint32]
"""Extents of each text in the data, shape (n, 2, 2). They are begin and end of its first and its second part."""
Row: TypeAlias = npt.NDArray[np.uint32]

MAX_BYTES: Final = 256 << 20
"""Maximum size of the texts that one table stores. The numbers of further texts are requested each time."""

_NEW: Final = 1 << 31


class Texts:
    """Numbers of the texts seen so far. A new text gets its number on first use.

    Args:
        number: function that assigns a new text, in two parts, its number below 2^31; 0 means that its table is full or
            the text is irrelevant: such a text is not stored.
    """

    def __init__(self, number: Callable[[bytes, bytes], int]) -> None:
        library = native()
        self._table: _Table | _Fallback = _Fallback() if library is None else _Table(library)
        self._number = number
        self._room = MAX_BYTES

    def of(self, data: bytes, extents: Extents) -> npt.NDArray[np.uint32]:
        """Return the number of each text, uint32; 0 for an empty one."""
        extents = np.ascontiguousarray(extents)
        numbers, rows = self._table.find(data, extents)
        if len(rows):
            new = np.array([self._number(*text) for text in _texts(data, extents[rows])], np.uint32)
            if (size := int(np.diff(extents[rows]).sum())) <= self._room:
                self._table.add(data, extents, rows, new)
                self._room -= size
            unknown = numbers >= _NEW
            numbers[unknown] = new[numbers[unknown] - _NEW]
        return numbers


class _Table:
    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._texts = library.texts_new(secrets.randbits(64))
        if not self._texts:
            raise MemoryError
        weakref.finalize(self, library.texts_free, self._texts)

    def find(self, data: bytes, extents: Extents) -> tuple[Row, Row]:
        """Look texts up.

        Returns:
            The number of each text, 0 for an empty one; for unknown texts, _NEW and an index among the unknown texts.
            The first row of each unknown text.
        """
        numbers, rows = np.empty((2, len(extents)), np.uint32)
        unknown = self._library.texts_find(
            self._texts, data, extents.ctypes.data, len(extents), numbers.ctypes.data, rows.ctypes.data
        )
        return numbers, rows[:unknown]

    def add(self, data: bytes, extents: Extents, rows: Row, numbers: Row) -> None:
        """Store the non-zero numbers of the texts in some rows."""
        self._library.texts_add(
            self._texts, data, extents.ctypes.data, rows.ctypes.data, len(rows), numbers.ctypes.data
        )


class _Fallback:
    def __init__(self) -> None:
        self._known = {(b"", b""): 0}

    def find(self, data: bytes, extents: Extents) -> tuple[Row, Row]:
        new: dict[tuple[bytes, bytes], int] = {}
        rows: list[int] = []
        numbers: list[int] = []
        for row, text in enumerate(_texts(data, extents)):
            number = self._known.get(text)
            if number is None:
                number = _NEW + new.setdefault(text, len(new))
                if len(new) > len(rows):
                    rows.append(row)
            numbers.append(number)
        return np.array(numbers, np.uint32), np.array(rows, np.uint32)

    def add(self, data: bytes, extents: Extents, rows: Row, numbers: Row) -> None:
        for text, number in zip(_texts(data, extents[rows]), numbers.tolist(), strict=True):
            if number:
                self._known[text] = number


def _texts(data: bytes, extents: Extents) -> Iterator[tuple[bytes, bytes]]:
    for (begin, end), (second, second_end) in extents.tolist():
        yield data[begin:end], data[second:second_end]
