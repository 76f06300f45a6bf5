"""Sums of calls by thread, file and kind of call, and their integer keys. Each sum has a first start and a last end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events.batch import IntArray
from ..common.grouping import Grouping
from ..common.sorting import is_among
from ..common.state import Ints, Packed, narrowest

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
_AT_ONCE: Final = 2048  # number of buffered rows that triggers a merge


class Rows(NamedTuple):
    """Table columns in ascending key order: sums int64[k, width], minima and maxima int64[k]."""

    key: Ints
    sums: npt.NDArray[np.int64]
    least: Ints
    most: Ints


class Table(Packed):
    """Stores ``width`` sums, a minimum and a maximum per key. Keys beyond the budget add to their fallback.

    Columns are in the narrowest integer types that hold them, as most sums of a job's thousands of rows are small.
    """

    def __init__(self, budget: int, width: int) -> None:
        self._dropped = 0
        self._budget = budget
        self._waiting: list[npt.NDArray[np.int64]] = []
        self._length = 0
        self._keys = np.zeros(0, np.int64)  # ascending
        # of each key: sums, least value, and the difference to the greatest
        self._columns: list[npt.NDArray[Any]] = [np.zeros(0, np.int8)] * (width + 2)

    def __getstate__(self) -> dict[str, object]:
        """Return the state in wide columns, as saved states have it."""
        keys, sums, least, most = self._rows()
        return {
            "_dropped": self._dropped, "_budget": self._budget, "_waiting": self._waiting, "_length": self._length,
            "_keys": keys, "_at": np.arange(len(keys)), "_sums": sums, "_least": least, "_most": most,
        }  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._dropped, self._budget = state["_dropped"], state["_budget"]
        self._waiting, self._length = state["_waiting"], state["_length"]
        self._keys, at = state["_keys"], state["_at"]
        least, most = state["_least"][at], state["_most"][at]
        self._columns = [narrowest(column) for column in (*state["_sums"][at].T, least, most - least)]

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
            self.merge()

    @property
    def dropped(self) -> int:
        """Amount added under fallback keys, in units of the first column."""
        if len(self._keys) + self._length > self._budget:  # else there is room for all buffered rows
            self.merge()
        return self._dropped

    def rows(self) -> Rows:
        """Return a copy of all rows."""
        self.merge()
        return self._rows()

    def merge(self) -> None:
        """Merge buffered rows. Buffering pays off, since looking keys up is expensive."""
        if not self._waiting:
            return
        key, fallback, least, most, *columns = np.concatenate(self._waiting, axis=1)
        self._waiting, self._length = [], 0
        alike = Grouping([key])
        sums = alike.sums([*columns])
        least, most = np.minimum(alike.least(least), _CEILING), np.maximum(alike.most(most), -_CEILING)
        key, fallback = key[alike.first], fallback[alike.first]
        at, is_known = self._find(key)
        if not is_known.all():
            key = self._replaced(key, np.flatnonzero(~is_known), sums[:, 0], fallback)
            again = Grouping([key])  # several keys may share one fallback
            sums, least, most = again.sums([*sums.T]), again.least(least), again.most(most)
            key = key[again.first]
            _, is_known = self._find(key)
            self._insert(np.sort(key[~is_known]))
            at, _ = self._find(key)
        *before, before_least, before_span = (column[at].astype(np.int64) for column in self._columns)
        lowest = np.where(is_known, np.minimum(before_least, least), least)
        highest = np.where(is_known, np.maximum(before_least + before_span, most), most)
        after = [np.minimum(old + new, _CEILING) for old, new in zip(before, sums.T, strict=True)]
        self._columns = [
            _written(column, at, values)
            for column, values in zip(self._columns, (*after, lowest, highest - lowest), strict=True)
        ]

    def _rows(self) -> Rows:
        *sums, least, span = (column.astype(np.int64) for column in self._columns)
        return Rows(self._keys, np.stack(sums, axis=1), least, least + span)

    def _find(self, key: Ints) -> tuple[Indices, npt.NDArray[np.bool_]]:
        """Return the row of each key, and whether the key is known."""
        if not len(self._keys):
            return np.zeros(len(key), np.intp), np.zeros(len(key), np.bool_)
        place = np.searchsorted(self._keys, key)
        place[place == len(self._keys)] = 0
        return place, self._keys.take(place) == key

    def _replaced(self, key: Ints, fresh: Indices, count: Ints, fallback: Ints) -> Ints:
        """Return the keys to use: fallbacks replace new keys without room. ``fresh`` are the new keys' places."""
        new, first = np.unique(key[fresh], return_index=True)
        room = max(self._budget - len(self._keys), 0)
        if len(new) <= room:
            return key
        admitted = new[np.argsort(first)[:room]]  # first come, first served
        without = fresh[~is_among(key[fresh], admitted)]
        self._dropped += int(count[without].sum())
        key = key.copy()
        key[without] = fallback[without]
        return key

    def _insert(self, new: Ints) -> None:
        """Insert rows of zeros for new keys, ascending."""
        if not len(new):
            return
        keys = np.concatenate([self._keys, new])
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        self._columns = [np.concatenate([column, np.zeros(len(new), column.dtype)])[order] for column in self._columns]


def _written(column: npt.NDArray[Any], at: Indices, values: Ints) -> npt.NDArray[Any]:
    """Write values into rows of a column, or of a copy in a wider type if they do not fit."""
    values = narrowest(values)
    if values.itemsize > column.itemsize:
        column = column.astype(values.dtype)
    column[at] = values
    return column
