"""Last value before each row of its group, for columns of events and across batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class ForwardFill:
    """Stores values by group. Examples are the thread on a processor, the holder of a lock, the state of a thread.

    Args:
        width: number of values that a row sets together.
        limit: maximum number of groups stored between batches; above it, those set longest ago are evicted.

    Attributes:
        forgotten: number of evicted groups.
    """

    def __init__(self, width: int = 1, limit: int = 65_536) -> None:
        self.forgotten = 0
        self._limit = limit
        self._turn = 0
        self._groups = np.zeros(0, np.int64)
        self._values = np.zeros((width, 0), np.int64)
        self._set_at = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._groups)

    def before(
        self, groups: Ints, sets: npt.NDArray[np.bool_], *values: npt.ArrayLike, default: int = 0
    ) -> npt.NDArray[np.int64]:
        """Return for each row the values set by the latest earlier row of its group.

        Args:
            groups: int64[n], rows in order of occurrence.
            sets: mask of the rows that set values.
            values: values that they set, ``width`` columns of n.
            default: value of a group in which nothing was set.

        Returns:
            int64[width, n].
        """
        length = len(groups)
        width = len(self._values)
        if not length:
            return np.zeros((width, 0), np.int64)
        order = _order(groups)
        ordered = groups[order]
        begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        ends = np.append(begins[1:], length)
        lengths = ends - begins
        first_of = np.repeat(begins, lengths)
        latest = np.maximum.accumulate(np.where(sets[order], np.arange(length), -1))
        previous = np.concatenate(([-1], latest[:-1]))
        known = previous >= first_of
        table = np.stack([np.broadcast_to(np.asarray(value, np.int64), (length,))[order] for value in values])
        carried = self._carried(ordered[begins], default)
        found = np.where(known, table[:, previous], np.repeat(carried, lengths, axis=1))
        last = latest[ends - 1]
        fresh = last >= begins
        self._keep(ordered[begins[fresh]], table[:, last[fresh]])
        answer = np.empty_like(found)
        answer[:, order] = found
        return answer

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data."""
        return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}

    @classmethod
    def restore(cls, data: dict[str, Any]) -> ForwardFill:
        """Restore an instance from its snapshot."""
        made = cls.__new__(cls)
        vars(made).update(
            {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in data.items()}
        )
        return made

    def _carried(self, groups: Ints, default: int) -> npt.NDArray[np.int64]:
        carried = np.full((len(self._values), len(groups)), default, np.int64)
        if len(self._groups):
            at = np.minimum(np.searchsorted(self._groups, groups), len(self._groups) - 1)
            there = self._groups[at] == groups
            carried[:, there] = self._values[:, at[there]]
        return carried

    def _keep(self, groups: Ints, values: npt.NDArray[np.int64]) -> None:
        self._turn += 1
        if len(self._groups):
            at = np.minimum(np.searchsorted(self._groups, groups), len(self._groups) - 1)
            there = self._groups[at] == groups
            self._values[:, at[there]] = values[:, there]
            self._set_at[at[there]] = self._turn
            groups, values = groups[~there], values[:, ~there]
        if not len(groups):
            return
        joined = np.concatenate((self._groups, groups))
        all_values = np.concatenate((self._values, values), axis=1)
        set_at = np.concatenate((self._set_at, np.full(len(groups), self._turn)))
        if len(joined) > self._limit:
            keep = np.sort(np.argsort(-set_at, kind="stable")[: max(1, 3 * self._limit // 4)])
            self.forgotten += len(joined) - len(keep)
            joined, all_values, set_at = joined[keep], all_values[:, keep], set_at[keep]
        order = np.argsort(joined, kind="stable")
        self._groups, self._values, self._set_at = joined[order], all_values[:, order], set_at[order]


def _order(groups: Ints) -> npt.NDArray[np.intp]:
    """Sort by group, keeping the order within groups. 16 bits are sorted by radix sort, faster than 64."""
    low = int(groups.min())
    if int(groups.max()) - low < 65_536:
        return np.argsort((groups - low).astype(np.uint16), kind="stable")
    return np.argsort(groups, kind="stable")
