"""Number calls with their parameters: equal calls share a signature, whose text is formatted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from .call_text import CallTextWriter
from .lines import Records
from .specification import Specification

U64 = npt.NDArray[np.uint64]
U32 = npt.NDArray[np.uint32]

TEXTS_A_STREAM: Final = 65_536
"""Number of texts after which requested bytes are left out. After twice as many, calls have no signature."""
TEXTS_OF_ALL: Final = 1 << 18
"""Limit for all streams that share an allowance: about 50 MB."""

_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(32)
_UNSIZED: Final = np.uint64(0x5851F42D4C957F2D)
_ALL: Final = 2**64 - 1
_NO_ROOM: Final = np.uint32(2**32 - 1)
_GROWTH: Final = 64
_REMEMBERED: Final = 1024
"""Number of hashes with fast lookup."""


class Allowance(Struct):
    """Number of texts that may still be written, for all streams together."""

    left: int = TEXTS_OF_ALL


class Signatures:
    """Numbers the signatures of one process's calls.

    Rows are identified by a 64-bit hash of the call and of the values that its specification shows. A stream has at
    most 131,072 signatures, so two of them share a hash in one of 10^9 streams.

    Args:
        writer: formatter of a new signature's text.
        number: function that numbers a new text; 0 means that there is no room.
        counters: receives ``signatures_dropped`` (calls without a signature for lack of room) and
            ``signatures_malformed`` (parameters that do not match the call's specification).
        allowance: limit shared with other streams.
        most: number of texts after which requested bytes are left out.
    """

    def __init__(
        self,
        writer: CallTextWriter,
        number: Callable[[str], int],
        counters: Counter[str],
        allowance: Allowance,
        most: int = TEXTS_A_STREAM,
    ) -> None:
        self._writer = writer
        self._number = number
        self._counters = counters
        self._allowance = allowance
        self._most = most
        self._texts = 0
        self._known = _Table()
        self._specifications: list[Specification | None] = [None]
        self._salt = np.zeros(_GROWTH, np.uint64)
        # All bits set if a call's signature shows the value, otherwise zero.
        self._descriptor = np.zeros(_GROWTH, np.uint64)
        self._requested = np.zeros(_GROWTH, np.uint64)
        self._index = np.zeros(_GROWTH, np.uint32)  # index of the specification, by the process's number of the call
        self._index_of: dict[str, int] = {}
        self._of_text: dict[str, int] = {}
        self._remembered = np.zeros((0, 2), np.uint64)

    def learn(self, number: int, text: str, call: Specification) -> None:
        """Store the specification of a call by the process's number, at most 65,535."""
        if number >= len(self._index):
            self._index = _grown(self._index, number)
        index = self._index_of.get(text)
        if index is None:  # two threads may define a call under two numbers
            index = self._index_of[text] = len(self._specifications)
            self._specifications.append(call)
            if index >= len(self._salt):
                self._salt, self._descriptor, self._requested = (
                    _grown(each, index) for each in (self._salt, self._descriptor, self._requested)
                )
            self._salt[index] = _salted(index)
            self._descriptor[index] = _ALL if call.uses("d") else 0
            self._requested[index] = _ALL if call.uses("n") else 0
        self._index[number] = index

    def of(self, records: Records) -> U32:
        """Return the signature number of each record, uint32; 0 if there is none."""
        numbers = self._of(records)
        if dropped := int(np.count_nonzero(numbers == _NO_ROOM)):
            self._counters["signatures_dropped"] += dropped
            numbers[numbers == _NO_ROOM] = 0
        return numbers

    def of_equal_records(self, record: Records, count: int) -> int:
        """Return the signature number of ``count`` records that equal the given single record."""
        number = int(self._of(record)[0])
        if number == _NO_ROOM:
            self._counters["signatures_dropped"] += count
            return 0
        return number

    def tables(self) -> tuple[U32, U64, U64, U64, U64]:
        """Return the tables that identify the signatures of records without words.

        Returns:
            Specification indices by the process's number of the call, 0 beyond the end. By specification: the salt, and
            masks of the descriptor and of the requested bytes. A table for the numbers of hashes, uint64[n, 2] with n a
            power of two, which callers may fill.
        """
        if not len(self._remembered):
            self._remembered = np.zeros((_REMEMBERED, 2), np.uint64)
        return self._index, self._salt, self._descriptor, self._requested, self._remembered

    def _of(self, records: Records) -> U32:
        rows = records.rows
        if not len(rows):
            return np.zeros(0, np.uint32)
        call = rows["call"]
        known = call < len(self._index)
        index = self._index[call] if known.all() else self._index[np.where(known, call, 0)]
        hashes = self._hashes(records, index, sized=True)
        new = np.empty(len(rows), np.bool_)
        new[0] = True
        np.not_equal(hashes[1:], hashes[:-1], out=new[1:])
        first = new.nonzero()[0]
        return _repeated(self._numbers(records, index, hashes, first), first, len(rows))

    def close(self) -> None:
        """Return the texts to the allowance."""
        self._allowance.left += self._texts
        self._texts = 0

    def _numbers(self, records: Records, index: U32, hashes: U64, rows: npt.NDArray[np.intp]) -> U32:
        numbers, found = self._known.look_up(hashes[rows])
        if not found.all():
            missing = np.flatnonzero(~found & (index[rows] != 0))
            of_missing, left = self._new_texts(records, index, hashes[rows[missing]], rows[missing], sized=True)
            numbers[missing] = of_missing
            if len(left):
                numbers[missing[left]] = self._unsized(records, index, rows[missing[left]])
        return numbers

    def _unsized(self, records: Records, index: U32, rows: npt.NDArray[np.intp]) -> U32:
        hashes = self._hashes(_at(records, rows), index[rows], sized=False)
        numbers, found = self._known.look_up(hashes)
        if not found.all():
            missing = np.flatnonzero(~found)
            numbers[missing], left = self._new_texts(records, index, hashes[missing], rows[missing], sized=False)
            numbers[missing[left]] = _NO_ROOM
        return numbers

    def _new_texts(
        self, records: Records, index: U32, hashes: U64, rows: npt.NDArray[np.intp], *, sized: bool
    ) -> tuple[U32, npt.NDArray[np.intp]]:
        """Format the texts of unknown hashes.

        Returns:
            The number of each, and the indices of those without room.
        """
        room = min((1 if sized else 2) * self._most - self._texts, self._allowance.left)
        if room <= 0:
            return np.zeros(len(rows), np.uint32), np.arange(len(rows))
        wanted, first, which = np.unique(hashes, return_index=True, return_inverse=True)
        made = np.zeros(len(wanted), np.uint32)
        made[:room] = self._write(records, index, rows[first[:room]], sized=sized)
        self._known.add(wanted[:room], made[:room])
        return made[which], np.flatnonzero(which >= room)

    def _write(self, records: Records, index: U32, rows: npt.NDArray[np.intp], *, sized: bool) -> list[int]:
        """Format and number the texts of rows that are all different."""
        self._texts += len(rows)
        self._allowance.left -= len(rows)
        picked = records.rows[rows]
        numbers = []
        for place, descriptor, requested, at, count in zip(
            index[rows].tolist(),
            picked["descriptor"].tolist(),
            picked["requested"].tolist(),
            records.at[rows].tolist(),
            picked["words"].tolist(),
            strict=True,
        ):
            call = self._specifications[place]
            words = records.words[at : at + count].tolist() if count else ()
            text = None if call is None else self._writer.text(call, descriptor, requested, words, sized=sized)
            if text is None:
                self._counters["signatures_malformed"] += 1
                numbers.append(0)
                continue
            number = self._of_text.get(text)  # the process may have numbered one string or file twice
            if number is None:
                number = self._of_text[text] = self._number(text)
            numbers.append(number)
        return numbers

    def _hashes(self, records: Records, index: U32, *, sized: bool) -> U64:
        rows = records.rows
        count = rows["words"]
        hashes = self._salt[index]
        if not sized:
            hashes ^= _UNSIZED
        _mix(hashes, rows["descriptor"].astype(np.int64).view(np.uint64) & self._descriptor[index])
        if sized:
            _mix(hashes, rows["requested"].astype(np.int64).view(np.uint64) & self._requested[index])
        having = count.nonzero()[0]
        for place in range(int(count.max()) if len(having) else 0):
            having = having[count[having] > place] if place else having
            some = hashes[having]
            _mix(some, records.words[records.at[having] + place])
            hashes[having] = some
        return hashes


class _Table:
    """Numbers by hash: sorted hashes, so that thousands are looked up at once."""

    def __init__(self) -> None:
        self._hashes = np.array([_ALL], np.uint64)
        self._numbers = np.zeros(1, np.uint32)

    def look_up(self, hashes: U64) -> tuple[U32, npt.NDArray[np.bool_]]:
        """Return the numbers, 0 for unknown hashes, and whether each is known."""
        at = np.searchsorted(self._hashes, hashes)
        return np.where(found := self._hashes[at] == hashes, self._numbers[at], 0).astype(np.uint32), found

    def add(self, hashes: U64, numbers: U32) -> None:
        """Add unknown hashes, in ascending order."""
        if len(self._hashes) == 1:  # only the end, as in each new process
            self._hashes = np.append(hashes, self._hashes)
            self._numbers = np.append(numbers, self._numbers)
            return
        at = np.searchsorted(self._hashes, hashes)
        self._hashes = np.insert(self._hashes, at, hashes)
        self._numbers = np.insert(self._numbers, at, numbers)


def _mix(hashes: U64, values: U64) -> None:
    """Mixes one value into each hash; different values give different results for the same hash."""
    hashes ^= values
    hashes *= _MULTIPLIER
    hashes ^= hashes >> _SHIFT


def _repeated(values: U32, first: npt.NDArray[np.intp], length: int) -> U32:
    """Repeats each value from its index to the next, up to ``length`` in all."""
    if len(first) == length:
        return values
    if len(first) == 1:
        return np.full(length, values[0], np.uint32)
    lengths = np.empty_like(first)
    np.subtract(first[1:], first[:-1], out=lengths[:-1])
    lengths[-1] = length - first[-1]
    return np.repeat(values, lengths)


def _salted(index: int) -> int:
    """Spreads a small number over 64 bits (finalizer of SplitMix64). Small values then do not collide."""
    mixed = index * 0x9E3779B97F4A7C15 & _ALL
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _ALL
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _ALL
    return mixed ^ mixed >> 31


def _at(records: Records, rows: npt.NDArray[np.intp]) -> Records:
    return Records(records.rows[rows], records.words, records.at[rows], None)


def _grown(array: npt.NDArray[Any], index: int) -> npt.NDArray[Any]:
    grown = np.zeros(max(index + 1, 2 * len(array)), array.dtype)
    grown[: len(array)] = array
    return grown
