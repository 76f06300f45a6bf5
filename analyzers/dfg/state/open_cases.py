"""Open cases: last event of each, and the activities that occurred in it."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ...common.sorting import sorted_distinct
from ...common.state import LONG_AGO, Ints, Rows, State, widened

NOTHING: Final = -1
"""Last activity of a case without events."""
_INITIAL_SLOTS: Final = 4  # initial number of slots
_SHIFT: Final = 3
_BITS: Final = 1 << _SHIFT  # a case has one bit for each activity that occurred in it
_BIT: Final = np.uint8(1) << np.arange(_BITS, dtype=np.uint8)
_EVICTED: Final = 8  # divisor of the bound: this many cases are evicted at once, so that evictions are rare


class OpenCases(State):
    """Table with one slot per case, which is reused after the case is closed.

    Attributes:
        opened: number of cases opened so far.
        evicted: number of cases closed because of the bound.
        last: activity row of each slot's last event, intp.
        last_start: start of that event, ns.
        last_end: end of that event, ns.
    """

    def __init__(self, bound: int, width: int) -> None:
        self.opened = 0
        self.evicted = 0
        self.last = np.zeros(0, np.intp)
        self.last_start = np.zeros(0, np.int64)
        self.last_end = np.zeros(0, np.int64)
        self._bound = bound
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        self._seen = np.zeros((0, -(-width // _BITS)), np.uint8)

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, case: int) -> bool:
        return case in self._slots

    def grow(self, width: int) -> None:
        """Extend the tables to activities below ``width``."""
        seen = np.zeros((len(self._seen), -(-width // _BITS)), np.uint8)
        seen[:, : self._seen.shape[1]] = self._seen
        self._seen = seen

    def slots(self, cases: Ints) -> Rows:
        """Return the slots of distinct cases; open new cases."""
        table = self._slots
        return np.array([table[case] if case in table else self._open(case) for case in cases.tolist()], np.intp)

    def note(self, slot: Rows, activity: Rows) -> Rows:
        """Record which activities occur in which slots.

        Returns:
            The activity of each new pair.
        """
        width = self._seen.shape[1]
        flat = self._seen.reshape(-1)
        place = slot * width
        place += activity >> _SHIFT
        seen = flat.take(place)
        seen &= _BIT.take(activity & (_BITS - 1))
        new = np.flatnonzero(seen == 0)
        if not len(new):
            return new
        pairs = sorted_distinct(place[new] * _BITS + (activity[new] & (_BITS - 1)))
        place, bit = pairs >> _SHIFT, pairs & (_BITS - 1)
        np.bitwise_or.at(flat, place, _BIT[bit])
        activities: Rows = place % width * _BITS + bit
        return activities

    def activities(self) -> npt.NDArray[np.uint8]:
        """Return the activities of each slot as bits, uint8[slots, bytes]. The caller may add to them."""
        return self._seen

    def rename(self, case: int, name: int) -> None:
        """Rename an open case to an unused id."""
        if (slot := self._slots.pop(case, None)) is not None:
            self._slots[name] = slot

    def close(self, case: int) -> int:
        """Close a case; return its last activity, or ``NOTHING`` if it was not open."""
        slot = self._slots.pop(case, None)
        if slot is None:
            return NOTHING
        last = int(self.last[slot])
        self.last[slot] = NOTHING
        self._free.append(slot)
        return last

    def evict(self) -> Rows:
        """Close the longest idle cases beyond the bound; return their last activities."""
        excess = len(self._slots) - self._bound
        if excess <= 0:
            return np.zeros(0, np.intp)
        cases = np.fromiter(self._slots.keys(), np.int64, len(self._slots))
        slots = np.fromiter(self._slots.values(), np.intp, len(self._slots))
        order = np.lexsort((cases, self.last_start[slots]))[: excess + self._bound // _EVICTED]
        self.evicted += len(order)
        return np.array([self.close(case) for case in cases[order].tolist()], np.intp)

    def last_activities(self) -> Rows:
        """Return the last activity of each open case."""
        return np.asarray(self.last[self.last != NOTHING], np.intp)

    def _open(self, case: int) -> int:
        if not self._free:
            used = len(self.last)
            room = max(_INITIAL_SLOTS, 2 * used)
            self._free = list(range(room - 1, used - 1, -1))
            self.last = widened(self.last, room, fill=NOTHING)
            self.last_start = widened(self.last_start, room)
            self.last_end = widened(self.last_end, room)
            seen = np.zeros((room, self._seen.shape[1]), np.uint8)
            seen[:used] = self._seen
            self._seen = seen
        slot = self._free.pop()
        self._slots[case] = slot
        self.last[slot] = NOTHING
        self.last_start[slot] = self.last_end[slot] = LONG_AGO
        self._seen[slot] = 0
        self.opened += 1
        return slot
