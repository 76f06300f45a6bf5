"""Sums by key with a fixed budget of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ...common.grouping import Grouping
from ...common.state import Ints, Rows, State

MAX_PLAUSIBLE: Final = 2**46
"""Maximum plausible duration (ns; 19 hours) and volume (bytes) of a call."""
_CEILING: Final = 2**62  # value at which sums saturate
_INITIAL_ROWS: Final = 8  # initial number of rows


class BoundedSums(State):
    """Rows of ``width`` int64 sums by key; keys beyond the budget add to their fallback.

    Sums are exact below 2**62 and saturate there.

    Attributes:
        dropped: amount added under fallback keys, in units of the first column.
    """

    def __init__(self, budget: int, width: int) -> None:
        self.dropped = 0
        self._budget = budget
        self._width = width
        self._rows: dict[int, int] = {}
        self._spare: set[int] = set()
        self._sums = np.zeros((_INITIAL_ROWS, width), np.int64)

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, key: Ints, columns: Sequence[npt.NDArray[np.int64]], fallback: Ints | None = None) -> None:
        """Add at most 2**16 values, each at most ``MAX_PLAUSIBLE``.

        Args:
            key: int64[n].
            columns: ``width`` arrays int64[n].
            fallback: keys used when the budget is exhausted, with few distinct values; 0 by default.
        """
        if not len(key):
            return
        alike = Grouping([key])
        found, group = key.take(alike.first), alike.number
        values = alike.sums(columns)
        rows = self._rows
        table = [rows.get(each, -1) for each in found.tolist()]
        if -1 in table:
            table = self._admit(found, group, table, values[:, 0], fallback)
        target = np.array(table, np.intp)
        sums = self._sums
        if len(set(table)) == len(table):
            sums[target] += values
        else:
            np.add.at(sums, target, values)
        if int(sums[target].max()) > _CEILING:
            sums[target] = np.minimum(sums[target], _CEILING)

    def rows(self) -> tuple[Ints, npt.NDArray[np.int64]]:
        """Return keys int64[k], ascending, and sums int64[k, width]."""
        keys = np.fromiter(self._rows.keys(), np.int64, len(self._rows))
        order = np.argsort(keys)
        at = np.fromiter(self._rows.values(), np.intp, len(self._rows))
        return keys[order], self._sums[at[order]]

    def merge(self, other: BoundedSums, renamed: Ints, fallback: Ints | None = None) -> None:
        """Add the sums of another table; ``renamed`` are the keys here of its ``rows()``."""
        _, sums = other.rows()
        for begin in range(0, len(sums), _PIECE):
            part = slice(begin, begin + _PIECE)
            self.add(renamed[part], list(sums[part].T), None if fallback is None else fallback[part])
        self.dropped += other.dropped

    def _admit(self, found: Ints, group: Rows, table: list[int], weight: Ints, fallback: Ints | None) -> list[int]:
        others = np.zeros(len(found), np.int64)
        if fallback is not None:
            others[group] = fallback
        for at in [at for at, row in enumerate(table) if row < 0]:
            key, other = int(found[at]), int(others[at])
            if key not in self._rows and len(self._rows) - len(self._spare) >= self._budget and key != other:
                self.dropped += int(weight[at])
                if other not in self._rows:
                    self._spare.add(other)
                key = other
            table[at] = self._row(key)
        return table

    def _row(self, key: int) -> int:
        row = self._rows.get(key)
        if row is None:
            row = len(self._rows)
            if row == len(self._sums):
                self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
            self._rows[key] = row
        return row


_PIECE: Final = 2**16  # rows merged at once, the limit of ``BoundedSums.add``
