"""Maximum number of concurrent events per activity (max-concurrency of [DFG]).

Intervals are half open. The sweep sorts starts and ends by activity and time, with ends before starts at equal times,
and takes the maximum running sum. (Comparing the first end of a run with the last start, as the original implementation
does, counts too many if an early event ends in between.)

Online, later events of an activity only depend on the events that still run at its latest start. So a batch of events
is swept together with these. The result equals one sweep over all events if each batch starts no earlier than the one
before ended. An event that starts earlier is counted from that time on, and the activity's value is then a lower bound.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ...common.sorting import Groups, sorted_distinct
from ...common.state import LONG_AGO, Ints, Rows, State, widened

_MAX_RUNNING: Final = 65_536  # maximum number of stored running events
_KEY_BITS: Final = 63  # bits of a sort key without the sign
_LONG_RUN: Final = 16  # minimum mean run length for a merge sort
_FEW: Final = 32  # maximum activities per batch for the fast path


class Concurrency(State):
    """Maximum concurrency by activity.

    Attributes:
        most: maximum concurrency by activity row, int64.
        exact: False if an event came too late for its position.
    """

    def __init__(self, width: int) -> None:
        self.most = np.zeros(width, np.int64)
        self.exact = np.ones(width, np.bool_)
        self._latest = np.full(width, LONG_AGO, np.int64)
        self._activity = np.zeros(0, np.intp)
        self._end = np.zeros(0, np.int64)

    def grow(self, width: int) -> None:
        """Extend the tables to activities below ``width``."""
        self.most = widened(self.most, width)
        self.exact = widened(self.exact, width, fill=1)
        self._latest = widened(self._latest, width, fill=LONG_AGO)

    def add(self, events: Groups) -> None:
        """Add events in any order; an event without duration counts as one nanosecond."""
        rows, start = events.rows, events.start
        length = np.maximum(events.duration, 1)
        if self._in_order(events):
            self._add_in_order(events, length)
            return
        end = start + length
        activity = events.spread(rows)
        known = self._latest[rows]
        if (np.minimum.reduceat(start, events.heads) < known).any():
            latest = events.spread(known)
            self.exact[activity[start < latest]] = False
            start = np.maximum(start, latest)
            runs = end > start
            activity, start, end = activity[runs], start[runs], end[runs]
        if len(self._activity):  # for events already running, only the part from the latest start on counts
            start = np.concatenate([self._latest[self._activity], start])
            activity = np.concatenate([self._activity, activity])
            end = np.concatenate([self._end, end])
        self._latest[rows] = np.maximum(known, np.maximum.reduceat(events.start, events.heads))
        if len(start):
            _raise(self.most, activity, start, end)
        self._keep(activity, end)

    def _in_order(self, events: Groups) -> bool:
        """Return whether the events belong to few activities and are in order.

        The order is that of their starts within each activity.
        """
        start, heads = events.start, events.heads
        if len(heads) > _FEW or (start[heads] < self._latest[events.rows]).any():
            return False
        back = np.count_nonzero(start[1:] < start[:-1])
        return bool(back == np.count_nonzero(start[heads[1:]] < start[heads[1:] - 1]))

    def _add_in_order(self, events: Groups, length: Ints) -> None:
        """Add ordered events; most need no sorting to show that they raise no maximum.

        If the n-th event after each starts no sooner than the longest duration, at most n are concurrent.
        """
        is_other = np.ones(len(self.most), np.bool_)
        is_other[events.rows] = False
        others = is_other.take(self._activity)
        kept, swept = [(self._activity[others], self._end[others])], []
        longest = np.maximum.reduceat(length, events.heads).tolist()
        stretches = zip(events.rows.tolist(), events.heads.tolist(), events.lengths.tolist(), longest, strict=True)
        for row, head, count, takes in stretches:
            latest, at_once, run = int(self._latest[row]), int(self.most[row]), slice(head, head + count)
            running = self._end[self._activity == row]  # for events already running, only the rest counts
            begun = np.concatenate([np.full(len(running), latest), events.start[run]])
            takes = max(takes, int(running.max(initial=latest)) - latest)
            last = int(begun[-1])
            tail = slice(head + int(events.start[run].searchsorted(last - takes)), head + count)
            ends = np.concatenate([running, events.start[tail] + length[tail]])
            kept.append((np.full(len(ends), row, np.intp), ends))
            self._latest[row] = last
            if not at_once or (begun[at_once:] - begun[:-at_once] < takes).any():
                ends = np.concatenate([running, events.start[run] + length[run]])
                swept.append((np.full(len(ends), row, np.intp), begun, ends))
        if swept:
            activity, start, end = map(np.concatenate, zip(*swept, strict=True))
            _raise(self.most, activity, start, end)
        activity, end = map(np.concatenate, zip(*kept, strict=True))
        self._keep(activity, end)

    @property
    def latest(self) -> Ints:
        """Latest start by activity row, ns; ``LONG_AGO`` before the first."""
        return self._latest

    @property
    def kept(self) -> int:
        """Number of events running at the latest start of their activity."""
        return len(self._end)

    def running(self, more: int) -> tuple[Rows, Ints]:
        """Return activity and end of each of these, with free space for more after them."""
        activity, end = np.empty(self.kept + more, np.intp), np.empty(self.kept + more, np.int64)
        activity[: self.kept], end[: self.kept] = self._activity, self._end
        return activity, end

    def keep(self, activities: Rows, ends: Ints) -> None:
        """Set the running events, restricted to those that still run and to the bound."""
        self._keep(activities, ends)

    def merge(self, other: Concurrency, rows: Rows, disjoint: npt.NDArray[np.bool_]) -> None:
        """Add the values of another table; its activity ``a`` is ``rows[a]`` here.

        The larger value is exact if the events of both do not overlap in time, otherwise a lower bound.

        Args:
            other: table of other events.
            rows: intp, distinct for activities with events, except for row 0.
            disjoint: by row here, whether all events of one precede those of the other.
        """
        np.maximum.at(self.most, rows, other.most)
        exact = np.ones(len(self.exact), np.bool_)
        np.logical_and.at(exact, rows, other.exact)
        self.exact &= exact & disjoint
        np.maximum.at(self._latest, rows, other._latest)
        activities = np.concatenate([self._activity, rows[other._activity]])
        self._keep(activities, np.concatenate([self._end, other._end]))

    def last_ns(self) -> Ints:
        """Return the latest known end by activity row, int64 ns; ``LONG_AGO`` without events."""
        last = self._latest.copy()
        np.maximum.at(last, self._activity, self._end)
        return last

    def _keep(self, activities: Rows, ends: Ints) -> None:
        """Store the events running at their activity's latest start, longest running first."""
        running = np.flatnonzero(ends > self._latest.take(activities))
        if len(running) > _MAX_RUNNING:
            order = np.argsort(-ends[running], kind="stable")
            self.exact[activities[running[order[_MAX_RUNNING:]]]] = False
            running = running[order[:_MAX_RUNNING]]
        self._activity, self._end = activities[running], ends[running]


def _raise(most: Ints, activity: Rows, start: Ints, end: Ints) -> None:
    """Raise the maxima by activity to those of the given intervals. Shapes (n,), n >= 1.

    With starts and ends each sorted within an activity, c + 1 intervals exist at the i-th start exactly if the (i -
    c)-th end comes after it. So one comparison decides whether a maximum must be raised, which is rare.
    """
    count = len(start)
    begin, stop = int(start.min()), int(end.max())
    bits = (stop - begin).bit_length()
    if bits + len(most).bit_length() > _KEY_BITS:  # such distant times do not fit into a key, but their ranks do
        ranks = np.unique(np.concatenate([start, end]), return_inverse=True)[1].astype(np.int64)
        start, end, begin, bits = ranks[:count], ranks[count:], 0, len(ranks).bit_length()
    base = (activity.astype(np.int64, copy=False) << bits) - begin
    starts, ends = base + start, base
    ends += end
    _sort(starts)
    _sort(ends)
    owner = starts >> bits
    earlier = most.take(owner)
    np.subtract(np.arange(count), earlier, out=earlier)
    np.maximum(earlier, 0, out=earlier)
    # an end of an activity earlier in the order is below all starts of this one
    higher = ends.take(earlier) > starts
    if not higher.any():
        return
    for row in sorted_distinct(owner[higher]).tolist():
        first, last = np.searchsorted(starts, [row << bits, (row + 1) << bits])
        passed = np.searchsorted(ends[first:last], starts[first:last], "right")
        most[row] = max(int(most[row]), int((np.arange(1, last - first + 1) - passed).max()))


def _sort(keys: Ints) -> None:
    """Sort in place; merge runs if there are few, as in nearly ordered events."""
    falls = int(np.count_nonzero(keys[1:] < keys[:-1]))
    if falls:
        keys.sort(kind="stable" if falls * _LONG_RUN < len(keys) else None)
