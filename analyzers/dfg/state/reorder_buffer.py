"""Bounded buffer of events that wait until no earlier event can arrive."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ....events.batch import IntArray
from ...common.state import LONG_AGO, Ints, State

_SMALLEST: Final = 64  # minimum capacity, events


class Events(NamedTuple):
    """Columns of equal length, int64 except ``activity``; times in ns, size -1 if unknown."""

    case: Ints
    activity: npt.NDArray[np.int32]
    start: Ints
    duration: Ints
    size: Ints

    def pick(self, rows: npt.NDArray[np.intp] | slice) -> Events:
        """Return the selected rows of each column."""
        return Events(self.case[rows], self.activity[rows], self.start[rows], self.duration[rows], self.size[rows])

    def place(self, at: slice, events: Events) -> None:
        """Write events to the selected rows."""
        self.case[at], self.activity[at], self.start[at] = events.case, events.activity, events.start
        self.duration[at], self.size[at] = events.duration, events.size


class ReorderBuffer(State):
    """Events in approximate order of arrival; the order is exact for events of equal start.

    Events are first ``put`` unchanged. After inspection some of them are ``accept``-ed, and these wait.

    Attributes:
        newest: latest end of any event accepted so far, ns.
    """

    def __init__(self) -> None:
        self.newest = LONG_AGO
        self._first = 0
        self._stop = 0
        self._end = 0
        self._columns = _empty_columns(0)

    def __len__(self) -> int:
        return self._stop - self._first

    @property
    def held(self) -> int:
        """Number of events put and not taken, accepted or not."""
        return self._end - self._first

    @property
    def events(self) -> Events:
        """Views of the waiting events."""
        return self._columns.pick(slice(self._first, self._stop))

    @property
    def new(self) -> Events:
        """Views of the events put and not yet accepted."""
        return self._columns.pick(slice(self._stop, self._end))

    def put(self, case: npt.ArrayLike, activity: IntArray, start: IntArray, duration: IntArray, size: IntArray) -> int:
        """Add events, whose ``case`` may be a single number; return the number of buffered events."""
        begin, count = self._end, len(activity)
        cases, activities, starts, durations, sizes = self._columns
        if begin + count > len(starts):
            self._reserve(count)
            begin = self._end
            cases, activities, starts, durations, sizes = self._columns
        rows = slice(begin, begin + count)
        cases[rows] = case
        if count == 1:  # scalars are copied faster than arrays of length one
            activities[begin], starts[begin] = activity[0], start[0]
            durations[begin], sizes[begin] = duration[0], size[0]
        else:
            activities[rows], starts[rows], durations[rows], sizes[rows] = activity, start, duration, size
        self._end = begin + count
        return self._end - self._first

    def accept(self, rows: npt.NDArray[np.intp] | None) -> None:
        """Accept the given rows of ``new``, all by default; the others are dropped."""
        if rows is not None:
            self.new.place(slice(0, len(rows)), self.new.pick(rows))
            self._end = self._stop + len(rows)
        if self._end > self._stop:
            events = self.new
            self.newest = max(self.newest, int((events.start + events.duration).max()))
        self._stop = self._end

    def take(self, until_ns: int, at_most: int) -> Events:
        """Remove the events that start no later than a time. It removes further ones until few are left.

        Args:
            until_ns: that time.
            at_most: approximate maximum number of events left; up to half as many more may be left.

        Returns:
            Columns in order of arrival; valid until the next method call.
        """
        events = self.events
        ripe = events.start <= until_ns
        taken = int(np.count_nonzero(ripe))
        total = len(ripe)
        if total - taken > at_most:
            # an estimate, accurate if events are nearly in order
            ripe = events.start <= max(until_ns, int(events.start[total - at_most - 1]))
            if not at_most <= total - int(np.count_nonzero(ripe)) <= at_most + at_most // 2:
                ripe = events.start <= np.partition(events.start, total - at_most - 1)[total - at_most - 1]
            taken = int(np.count_nonzero(ripe))
        if taken < total:
            # all before `low` are removed, all from `high` on stay; only the rows between are partitioned in place
            low, high = int(ripe.argmin()), total - int(ripe[::-1].argmax()) if taken else 0
            if low < high:
                between = ripe[low:high]
                mixed = events.pick(slice(low, high))
                out, stay = mixed.pick(np.flatnonzero(between)), mixed.pick(np.flatnonzero(~between))
                events.place(slice(low, taken), out)
                events.place(slice(taken, high), stay)
        self._first += taken
        return events.pick(slice(0, taken))

    def rename(self, case: int, name: int) -> bool:
        """Change the case of a case's events; return whether there are any."""
        rows = np.flatnonzero(self.events.case == case)
        self.events.case[rows] = name
        return len(rows) > 0

    def fit(self) -> None:
        """Free unused memory."""
        self._move(_empty_columns(self._end - self._first))

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of the state as plain data."""
        columns = [column.copy() for column in self.events]
        return {"newest": self.newest, "_first": 0, "_stop": len(self), "_end": len(self), "_columns": columns}

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Create an object from a snapshot."""
        return super().restore(data | {"_columns": Events(*(column.copy() for column in data["_columns"]))})

    def _reserve(self, count: int) -> None:
        held = self._end - self._first
        if held + count <= len(self._columns.start) and held <= self._first:
            self._move(self._columns)
        else:
            self._move(_empty_columns(max(held + count, 2 * held, _SMALLEST)))

    def _move(self, columns: Events) -> None:
        held = self._end - self._first
        columns.place(slice(0, held), self._columns.pick(slice(self._first, self._end)))
        self._stop -= self._first
        self._columns, self._first, self._end = columns, 0, held


def _empty_columns(length: int) -> Events:
    return Events(
        np.empty(length, np.int64),
        np.empty(length, np.int32),
        np.empty(length, np.int64),
        np.empty(length, np.int64),
        np.empty(length, np.int64),
    )
