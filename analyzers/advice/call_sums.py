"""Sums of calls by thread, file and kind of call, and their integer keys. Each sum has a first start and a last end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events.batch import IntArray
from ..common.grouping import Grouping
from ..common.state import Ints, State, widened

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


Indices = npt.NDArray[np.intp]
_CEILING: Final = 2**62  # value at which sums saturate
_INITIAL_ROWS: Final = 16  # initial number of rows
_AT_ONCE: Final = 8192  # number of buffered rows that triggers a merge
LOWEST: Final = -_CEILING


class Rows(NamedTuple):
    """Table columns in ascending key order: sums int64[k, width], minima and maxima int64[k]."""

    key: Ints
    sums: npt.NDArray[np.int64]
    least: Ints
    most: Ints


class Table(State):
    """Stores ``width`` sums, a minimum and a maximum per key. Keys beyond the budget add to their fallback."""

    def __init__(self, budget: int, width: int) -> None:
        self._dropped = 0
        self._budget = budget
        self._waiting: list[npt.NDArray[np.int64]] = []
        self._length = 0
        self._keys = np.zeros(0, np.int64)  # ascending
        self._at = np.zeros(0, np.intp)  # row of each key
        self._sums = np.zeros((_INITIAL_ROWS, width), np.int64)
        self._least = np.full(_INITIAL_ROWS, _CEILING, np.int64)
        self._most = np.full(_INITIAL_ROWS, LOWEST, np.int64)

    def add(self, key: Ints, columns: Sequence[Ints], least: Ints, most: Ints, fallback: Ints) -> None:
        """Add rows.

        Args:
            key: int64[n]; may repeat.
            columns: ``width`` arrays int64[n] to sum.
            least: values of the minimum, int64[n].
            most: values of the maximum, int64[n].
            fallback: keys used when there is no room, int64[n]; few distinct values.
        """
        self._waiting.append(np.stack([key, fallback, least, most, *columns]))
        self._length += len(key)
        if self._length >= _AT_ONCE:
            self._merge()

    @property
    def dropped(self) -> int:
        """Amount added under fallback keys, in units of the first column."""
        self._merge()
        return self._dropped

    def _merge(self) -> None:
        """Merge buffered rows. Buffering pays off, since looking keys up is expensive."""
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
            again = Grouping([key])  # several keys may share one fallback
            sums, least, most = again.sums([*sums.T]), again.least(least), again.most(most)
            target, _ = self._find(key[again.first])
        values = sums
        self._sums[target] = np.minimum(self._sums[target] + values, _CEILING)
        self._least[target] = np.minimum(self._least[target], least)
        self._most[target] = np.maximum(self._most[target], most)

    def _find(self, key: Ints) -> tuple[Indices, npt.NDArray[np.bool_]]:
        """Return the row of each key, and whether the key is known."""
        if not len(self._keys):
            return np.zeros(len(key), np.intp), np.zeros(len(key), np.bool_)
        place = np.searchsorted(self._keys, key)
        place[place == len(self._keys)] = 0
        return self._at.take(place), self._keys.take(place) == key

    def _admitted(self, key: Ints, fresh: Indices, count: Ints, fallback: Ints) -> Ints:
        """Admit new keys while there is room. Returns the keys to use: fallbacks replace keys without room."""
        new, first = np.unique(key[fresh], return_index=True)
        order = np.argsort(first)  # first come, first served
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
        """Return a copy of all rows."""
        self._merge()
        at = self._at
        return Rows(self._keys, self._sums[at], self._least[at], self._most[at])
