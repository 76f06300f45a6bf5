"""Bounded table of sums by key. Keys are threads, pairs of threads, and pairs of thread and file.

When the budget is used up, the entries with the lowest counts are evicted, and their counts are added to the dropped
ones. Lossy counting with few entries keeps nearly all of the mass.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ..common.state import Ints, Rows, State, distinct

NEVER: Final = 2**62  # after every time, ns
_KEPT: Final = 0.75  # share of the budget kept after an eviction


class BoundedTable(State):
    """Sums, minima and maxima of int64 columns by int64 key. The first column decides which entries are kept.

    Args:
        budget: maximum number of entries.
        sums: names of the columns that are summed.
        lows: names of the columns with minima, initially ``NEVER``.
        highs: names of the columns with maxima, initially ``-NEVER``.
        marks: names of the columns with the last non-negative value, initially -1.

    Attributes:
        dropped: total of the first column over evicted and rejected entries.
    """

    def __init__(
        self,
        budget: int,
        sums: tuple[str, ...],
        lows: tuple[str, ...] = (),
        highs: tuple[str, ...] = (),
        marks: tuple[str, ...] = (),
    ) -> None:
        self.dropped = 0
        self._budget = budget
        self._sums, self._lows, self._highs, self._marks = sums, lows, highs, marks
        self._names = sums + lows + highs + marks
        self._initial = np.array(
            [0] * len(sums) + [NEVER] * len(lows) + [-NEVER] * len(highs) + [-1] * len(marks), np.int64
        )
        self._keys = np.zeros(0, np.int64)
        self._table = np.zeros((len(self._names), 0), np.int64)
        self._sorted = np.zeros(0, np.int64)
        self._rows = np.zeros(0, np.intp)
        self._moves: Rows | None = None

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def keys(self) -> Ints:
        """Key of each row, int64."""
        return self._keys

    def column(self, name: str) -> Ints:
        """Return one column by row, int64."""
        column: Ints = self._table[self._names.index(name)]
        return column

    def add(self, keys: Ints, **values: npt.ArrayLike) -> Rows:
        """Add occurrences; return the row of each, -1 if there was no room.

        Args:
            keys: int64[n].
            values: column -> one number for all, or n numbers; other columns are unchanged.
        """
        if not len(keys):
            return np.zeros(0, np.intp)
        found, inverse = distinct(keys)
        first = values[self._names[0]]
        weights = self._summed(inverse, len(found), first)
        rows = self._admit(found, weights)
        kept = rows >= 0
        at = rows[kept]
        for name, value in values.items():
            row = self._table[self._names.index(name)]
            if name in self._sums:
                row[at] += (weights if name == self._names[0] else self._summed(inverse, len(found), value))[kept]
                continue
            column = np.broadcast_to(np.asarray(value, np.int64), (len(keys),))
            start = int(self._initial[self._names.index(name)])
            reduced = np.full(len(found), start, np.int64)
            if name in self._lows:
                np.minimum.at(reduced, inverse, column)
                row[at] = np.minimum(row[at], reduced[kept])
            elif name in self._highs:
                np.maximum.at(reduced, inverse, column)
                row[at] = np.maximum(row[at], reduced[kept])
            else:
                known = column >= 0
                reduced[inverse[known]] = column[known]  # the last one wins
                fresh = reduced[kept]
                row[at] = np.where(fresh >= 0, fresh, row[at])
        return rows[inverse]

    def takes(self, count: int) -> bool:
        """Return whether that many more keys fit without an eviction."""
        return len(self._keys) + count <= self._budget

    def find(self, keys: Ints) -> Rows:
        """Return the row of each key, -1 if it has none."""
        return self._find(keys)

    def meet(self, keys: Ints) -> None:
        """Add rows for keys in order of first occurrence. Check with ``takes`` that there is room."""
        found, first = np.unique(keys, return_index=True)
        if len(found):
            order = np.argsort(first)
            self._admit(found[order], np.zeros(len(found), np.int64))

    def take_moves(self) -> Rows | None:
        """Return the new row of each old one since the last call, -1 if evicted. Returns None if no row moved."""
        moves, self._moves = self._moves, None
        return moves

    def select(self, kept: Rows, keys: Ints) -> None:
        """Keep some rows under new keys; entries with the same new key are merged."""
        table = self._table[:, kept]
        self._keys, self._table = np.zeros(0, np.int64), np.zeros((len(self._names), 0), np.int64)
        self._index()
        self.add(keys, **dict(zip(self._names, table, strict=True)))

    def merge(self, other: BoundedTable, keys: Ints, rows: Rows | None = None) -> Rows:
        """Add the entries of another table, under keys that have the same meaning here."""
        chosen = slice(None) if rows is None else rows
        return self.add(keys, **{name: other._table[at][chosen] for at, name in enumerate(self._names)})

    def _summed(self, inverse: Rows, length: int, value: npt.ArrayLike) -> Ints:
        if np.ndim(value) == 0:
            return np.bincount(inverse, minlength=length).astype(np.int64) * int(np.asarray(value))
        values = np.asarray(value, np.int64)
        if values.max(initial=0) < 2**36:  # small enough for an exact sum in double precision
            return np.bincount(inverse, weights=values, minlength=length).astype(np.int64)
        total = np.zeros(length, np.int64)
        np.add.at(total, inverse, values)
        return total

    def _admit(self, found: Ints, weights: Ints) -> Rows:
        rows = self._find(found)
        new = np.flatnonzero(rows < 0)
        if not len(new):
            return rows
        if len(self._keys) + len(new) > self._budget:
            self._evict(min(self._budget, int(_KEPT * self._budget)))
            rows = self._find(found)
            new = np.flatnonzero(rows < 0)
            room = self._budget - len(self._keys)
            if len(new) > room:
                often = new[np.argsort(-weights[new], kind="stable")]
                self.dropped += int(weights[often[room:]].sum())
                new = np.sort(often[:room])
        rows[new] = np.arange(len(self._keys), len(self._keys) + len(new))
        self._keys = np.concatenate((self._keys, found[new]))
        fresh = np.repeat(self._initial[:, None], len(new), axis=1)
        self._table = np.concatenate((self._table, fresh), axis=1)
        self._index()
        return rows

    def _find(self, found: Ints) -> Rows:
        if not len(self._sorted):
            return np.full(len(found), -1, np.intp)
        at = np.minimum(np.searchsorted(self._sorted, found), len(self._sorted) - 1)
        return np.where(self._sorted[at] == found, self._rows[at], -1)

    def _evict(self, room_for: int) -> None:
        keep = np.sort(np.argsort(-self._table[0], kind="stable")[:room_for])
        if len(keep) == len(self._keys):
            return
        moves = np.full(len(self._keys), -1, np.intp)
        moves[keep] = np.arange(len(keep))
        earlier = self._moves
        self._moves = moves if earlier is None else np.where(earlier >= 0, moves[np.maximum(earlier, 0)], -1)
        self.dropped += int(self._table[0].sum() - self._table[0, keep].sum())
        self._keys, self._table = self._keys[keep], self._table[:, keep]
        self._index()

    def _index(self) -> None:
        order = np.argsort(self._keys, kind="stable")
        self._sorted, self._rows = self._keys[order], order
