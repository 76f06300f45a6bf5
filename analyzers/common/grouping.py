"""Numbering of rows that are equal in some columns, and sums over these groups. First step of most analyzers."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from secrets import randbits
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...events.batch import is_constant, representatives
from ...events.compiled import load
from . import grouping_fallback as fallback

Ints = npt.NDArray[np.int64]

PATH: Final = __file__.rpartition("/")[0] + "/native/libiotide_grouping.so"
"""Path of the compiled helper of the analyzers."""
_WORD: Final = 8  # bytes per word of a packed row
_SEED: Final = randbits(64)
"""Random seed, so that an input cannot be crafted to collide in the hash table. Results do not depend on it."""
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_POINTER, _U64, _I64 = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int64
_REDUCTION: Final = (None, [_POINTER, _U64, _POINTER, _I64, _POINTER])
_FUNCTIONS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "grouping_number": (_I64, [_POINTER, _U64, _U64, _U64, _U64, _POINTER, _POINTER, _POINTER]),
    "grouping_least": _REDUCTION,
    "grouping_most": _REDUCTION,
    "grouping_sum": (None, [_POINTER, _U64, _POINTER, _POINTER, _U64, _POINTER]),
    "grouping_count": (None, [_POINTER, _U64, _POINTER]),
    "grouping_steps": (
        _I64,
        [_POINTER, _U64, _U64, _POINTER, _POINTER, _POINTER, _I64, _I64, _POINTER],
    ),
    "bins_range": (None, [_POINTER, _POINTER, _U64, _I64, _POINTER, _POINTER]),
    "bins_sum": (_U64, [_POINTER, _POINTER, _POINTER, _I64, _U64, _I64, _POINTER, _POINTER]),
    "graph_tally": (None, [_POINTER, _POINTER, _POINTER, _POINTER, _U64, _POINTER]),
    "graph_buckets": (None, [_POINTER, _POINTER, _U64, _POINTER, _I64, _POINTER]),
    "graph_sweep": (
        _I64,
        [_POINTER, _POINTER, _POINTER, _U64, _POINTER, _POINTER, _U64, _U64, _POINTER, _POINTER],
    ),
    "phases_sum": (_U64, [_POINTER, _U64, _U64, _POINTER, _POINTER, _U64, _POINTER]),
    "graph_follow": (_I64, [_POINTER, _POINTER, _I64, _POINTER, _POINTER, _POINTER, _U64]),
}


@lru_cache(maxsize=1)
def native() -> ctypes.CDLL | None:
    """Return the compiled helper, or None if it was not built. The fallback is then used."""
    return load(PATH, _FUNCTIONS)


class Grouping:
    """Numbers rows from 0, in order of first occurrence of each distinct row.

    Args:
        columns: integers or booleans, each of shape (n,), n >= 1; columns of stride 0 cost nothing.

    Attributes:
        number: group number of each row, int64[n].
        first: first row of each group, int64[groups].
        last: last row of each group, int64[groups].
    """

    def __init__(self, columns: Sequence[npt.NDArray[Any]]) -> None:
        length = len(columns[0])
        varying = [column for column in columns if column.strides != (0,)]
        self._native = native()
        if not varying:
            self.number, self.first, self.last = fallback.one_group(length)
        elif self._native is None:
            self.number, self.first, self.last = fallback.number(varying)
        else:
            self._number(self._native, varying, length)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.first)

    def counts(self) -> Ints:
        """Return the number of rows of each group, int64[groups]."""
        if len(self) == 1:
            return np.array([len(self.number)], np.int64)
        if self._native is None:
            return fallback.counts(self.number, len(self))
        made = np.zeros(len(self), np.int64)
        self._native.grouping_count(self.number.ctypes.data, len(self.number), made.ctypes.data)
        return made

    def sum(self, column: npt.NDArray[Any]) -> Ints:
        """Return the sum of each group's values, int64[groups]; the sums must fit."""
        if len(self) == 1:
            return np.array([_total(column)])
        if column.strides == (0,):
            return self.counts() * int(column[0])
        return self.sums([column])[:, 0]

    def sums(self, columns: Sequence[npt.NDArray[Any]]) -> Ints:
        """Return the sums of several columns, int64[groups, columns]."""
        wide = [column if column.dtype == np.int64 else column.astype(np.int64) for column in columns]
        made = np.zeros((len(self), len(wide)), np.int64)
        if len(self) == 1:
            made[0] = [_total(column) for column in wide]
        elif self._native is None:
            for at, column in enumerate(wide):
                made[:, at] = fallback.reduced("sum", self.number, len(self), column)
        else:
            addresses = np.array(
                [[column.ctypes.data for column in wide], [column.strides[0] for column in wide]], np.int64
            )
            self._native.grouping_sum(
                self.number.ctypes.data, len(self.number),
                addresses[0].ctypes.data, addresses[1].ctypes.data, len(wide),
                made.ctypes.data,
            )  # fmt: skip
        return made

    def least(self, column: npt.NDArray[Any]) -> Ints:
        """Return the minimum of each group's values."""
        return (
            np.array([representatives(column).min()], np.int64)
            if len(self) == 1
            else self._reduced("least", column, _HIGHEST)
        )

    def first_of_least(self, column: npt.NDArray[Any]) -> Ints:
        """Return the first row with the minimum of its group's values, int64[groups]."""
        if len(self) == 1:
            return np.array([representatives(column).argmin()], np.int64)
        rows = np.flatnonzero(column == self.least(column).take(self.number))[::-1]
        made = np.empty(len(self), np.int64)
        made[self.number.take(rows)] = rows  # the last assignment wins, which is the first row
        return made

    def steps(
        self, start: npt.NDArray[Any], duration: npt.NDArray[Any], size: npt.NDArray[Any], step_ns: int
    ) -> tuple[npt.NDArray[np.intp], list[Ints]] | None:
        """Sum events by group and by the time step in which they start. A step may have several parts.

        Args:
            start: start times, ns, int64 like the others.
            duration: durations, ns.
            size: sizes, bytes.
            step_ns: length of a step.

        Returns:
            The group number of each part; and per part the minimum start, maximum end, number of events, and sums of
            durations and sizes. None without the helper, or if it cannot read the columns.
        """
        is_read = all(column.dtype == np.int64 for column in (start, duration, size))
        if self._native is None or not (is_read and start.flags.c_contiguous and duration.flags.c_contiguous):
            return None
        made = [np.empty(len(start), np.int64) for _ in range(6)]
        addresses = np.array([column.ctypes.data for column in made], np.int64)
        number = np.ascontiguousarray(self.number)
        count = self._native.grouping_steps(
            number.ctypes.data, len(self), len(start), start.ctypes.data, duration.ctypes.data, size.ctypes.data,
            size.strides[0], step_ns, addresses.ctypes.data,
        )  # fmt: skip
        if count < 0:
            raise MemoryError
        group, *columns = (column[:count].copy() for column in made)
        return group, columns

    def most(self, column: npt.NDArray[Any]) -> Ints:
        """Return the maximum of each group's values."""
        return (
            np.array([representatives(column).max()], np.int64)
            if len(self) == 1
            else self._reduced("most", column, _LOWEST)
        )

    def _reduced(self, name: str, column: npt.NDArray[Any], begin: int) -> Ints:
        values = column if column.dtype == np.int64 else column.astype(np.int64)
        if self._native is None:
            return fallback.reduced(name, self.number, len(self), values)
        made = np.full(len(self), begin, np.int64)
        reduce = getattr(self._native, f"grouping_{name}")
        reduce(self.number.ctypes.data, len(values), values.ctypes.data, values.strides[0], made.ctypes.data)
        return made

    def _number(self, library: ctypes.CDLL, columns: Sequence[npt.NDArray[Any]], length: int) -> None:
        places, place = [], 0
        # by size, so that no value crosses a word boundary
        for column in sorted(columns, key=lambda each: -each.itemsize):
            places += [column.ctypes.data, column.strides[0], column.itemsize, place]
            place += column.itemsize
        addresses = np.array(places, np.int64)
        number, first, last = (np.empty(length, np.int64) for _ in range(3))
        words = -(-place // _WORD)
        found = library.grouping_number(
            addresses.ctypes.data, len(columns), words, length, _SEED,
            number.ctypes.data, first.ctypes.data, last.ctypes.data,
        )  # fmt: skip
        if found < 0:
            raise MemoryError
        self.number, self.first, self.last = number, first[:found], last[:found]


def _total(column: npt.NDArray[Any]) -> np.int64:
    """Return the sum of all values, modulo 2^64; a constant column is read once."""
    if is_constant(column):
        return np.int64((column[:1].astype(np.int64) * len(column))[0])
    return np.int64(column.sum(dtype=np.int64))
