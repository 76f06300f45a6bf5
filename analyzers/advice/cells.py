"""Sums of calls by thread, file and kind of call, with the time from the first to the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..common.grouping import Grouping
from ..common.state import Ints, State, widened

Indices = npt.NDArray[np.intp]
_CEILING: Final = 2**62
_FEWEST: Final = 16
_AT_ONCE: Final = 8192
LOWEST: Final = -_CEILING


class Rows(NamedTuple):
    """A table as columns, by ascending key: sums int64[k, width], least and most int64[k]."""

    key: Ints
    sums: npt.NDArray[np.int64]
    least: Ints
    most: Ints


class Table(State):
    """``width`` sums, a least and a most by key; a key without room adds to its fallback."""

    def __init__(self, budget: int, width: int) -> None:
        self._dropped = 0
        self._budget = budget
        self._waiting: list[npt.NDArray[np.int64]] = []
        self._length = 0
        self._keys = np.zeros(0, np.int64)  # ascending
        self._at = np.zeros(0, np.intp)  # the row of each
        self._sums = np.zeros((_FEWEST, width), np.int64)
        self._least = np.full(_FEWEST, _CEILING, np.int64)
        self._most = np.full(_FEWEST, LOWEST, np.int64)

    def add(self, key: Ints, columns: Sequence[Ints], least: Ints, most: Ints, fallback: Ints) -> None:
        """Adds rows.

        Args:
            key: int64[n]; may repeat.
            columns: ``width`` of int64[n].
            least: what the least is of.
            most: what the most is of.
            fallback: keys for those without room; few different ones.
        """
        self._waiting.append(np.stack([key, fallback, least, most, *columns]))
        self._length += len(key)
        if self._length >= _AT_ONCE:
            self._merge()

    @property
    def dropped(self) -> int:
        """What was added under fallbacks, in units of the first column."""
        self._merge()
        return self._dropped

    def _merge(self) -> None:
        """Adds what waits: looking keys up takes longer than keeping them a while."""
        if not self._waiting:
            return
        key, fallback, least, most, *columns = np.concatenate(self._waiting, axis=1)
        self._waiting, self._length = [], 0
        alike = Grouping([key])
        sums = alike.sums([*columns])
        least, most = alike.least(least), alike.most(most)
        key, fallback = key[alike.first], fallback[alike.first]
        target, known = self._find(key)
        if not known.all():
            key = self._admitted(key, np.flatnonzero(~known), sums[:, 0], fallback)
            again = Grouping([key])  # several may have one fallback
            sums, least, most = again.sums([*sums.T]), again.least(least), again.most(most)
            target, _ = self._find(key[again.first])
        values = sums
        self._sums[target] = np.minimum(self._sums[target] + values, _CEILING)
        self._least[target] = np.minimum(self._least[target], least)
        self._most[target] = np.maximum(self._most[target], most)

    def _find(self, key: Ints) -> tuple[Indices, npt.NDArray[np.bool_]]:
        """Returns the row of each key, and whether it is known."""
        if not len(self._keys):
            return np.zeros(len(key), np.intp), np.zeros(len(key), np.bool_)
        place = np.searchsorted(self._keys, key)
        place[place == len(self._keys)] = 0
        return self._at.take(place), self._keys.take(place) == key

    def _admitted(self, key: Ints, fresh: Indices, count: Ints, fallback: Ints) -> Ints:
        """Makes room for keys, and returns which ones to use: the fallback of those without room."""
        new, first = np.unique(key[fresh], return_index=True)
        order = np.argsort(first)  # the first to come are the first to have room
        room = max(self._budget - len(self._keys), 0)
        if len(new) > room:
            kept = np.isin(key[fresh], new[order[:room]])
            without = fresh[~kept]
            self._dropped += int(count[without].sum())
            key = key.copy()
            key[without] = fallback[without]
            new = np.unique(np.concatenate([new[order[:room]], np.setdiff1d(fallback[without], self._keys)]))
        else:
            new = new[order]
        rows = len(self._keys) + np.arange(len(new))
        keys, at = np.concatenate([self._keys, new]), np.concatenate([self._at, rows])
        ascending = np.argsort(keys, kind="stable")
        self._keys, self._at = keys[ascending], at[ascending]
        if len(keys) > len(self._least):
            length = max(len(keys), 2 * len(self._least))
            wider = np.zeros((length, self._sums.shape[1]), np.int64)
            wider[: len(self._sums)] = self._sums
            self._sums = wider
            self._least, self._most = widened(self._least, length, _CEILING), widened(self._most, length, LOWEST)
        return key

    def rows(self) -> Rows:
        """Returns copies of all rows."""
        self._merge()
        at = self._at
        return Rows(self._keys, self._sums[at], self._least[at], self._most[at])
