"""How many events of an activity ran at once, at most (max-concurrency of seed 000).

Intervals are half open. The sweep sorts starts and ends by activity and time, ends before starts at equal times, and
takes the largest running sum. (Comparing the first end of a run with the last start, as the seed does, counts too
many where an early event ends in between.)

Online, what an activity's later events need is only what still runs at its latest start; so a piece of the events is
swept together with these, and the result is that of one sweep over all as long as each piece starts no earlier than
the one before ended. An event that starts earlier is counted from that moment on, and the activity's figure is then a
lower bound.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from .state import LONG_AGO, Ints, Rows, State, widened

_MOST_RUNNING: Final = 65_536
_KEY_BITS: Final = 63
_SHORT: Final = 1 << 16


class Concurrency(State):
    """Largest number of events at once, by activity.

    Attributes:
        most: by activity row, int64.
        exact: False where an event came too late for its place.
    """

    def __init__(self, width: int) -> None:
        self.most = np.zeros(width, np.int64)
        self.exact = np.ones(width, np.bool_)
        self._latest = np.full(width, LONG_AGO, np.int64)
        self._activity = np.zeros(0, np.intp)
        self._end = np.zeros(0, np.int64)

    def grow(self, width: int) -> None:
        """Makes room for activities below ``width``."""
        self.most = widened(self.most, width)
        self.exact = widened(self.exact, width, fill=1)
        self._latest = widened(self._latest, width, fill=LONG_AGO)

    def add(self, activity: Rows, start: Ints, end: Ints) -> None:
        """Takes in events, in any order among themselves.

        Args:
            activity: rows, intp.
            start: ns.
            end: ns; an event without length counts as one nanosecond.
        """
        end = np.maximum(end, start + 1)
        if start.min() < self._latest.max():
            latest = self._latest[activity]
            late = start < latest
            if late.any():
                self.exact[activity[late]] = False
                start = np.maximum(start, latest)
                runs = end > start
                activity, start, end = activity[runs], start[runs], end[runs]
        # of what ran already only the rest counts, from the latest start on
        starts = np.concatenate([self._latest[self._activity], start])
        activities = np.concatenate([self._activity, activity])
        ends = np.concatenate([self._end, end])
        np.maximum.at(self._latest, activity, start)
        if len(starts):
            _raise(self.most, activities, starts, ends)
        self._keep(activities, ends)

    def merge(self, other: Concurrency, rows: Rows, disjoint: npt.NDArray[np.bool_]) -> None:
        """Takes in the figures of another; its activity ``a`` is our ``rows[a]``.

        The larger figure is that of both where their events lie apart in time, else a lower bound.

        Args:
            other: of other events.
            rows: intp, distinct for activities with events, but for row 0.
            disjoint: by our row: all events of one lie before those of the other.
        """
        np.maximum.at(self.most, rows, other.most)
        exact = np.ones(len(self.exact), np.bool_)
        np.logical_and.at(exact, rows, other.exact)
        self.exact &= exact & disjoint
        np.maximum.at(self._latest, rows, other._latest)
        activities = np.concatenate([self._activity, rows[other._activity]])
        self._keep(activities, np.concatenate([self._end, other._end]))

    def last_ns(self) -> Ints:
        """Returns the latest end known by activity row, int64 ns; ``LONG_AGO`` without events."""
        last = self._latest.copy()
        np.maximum.at(last, self._activity, self._end)
        return last

    def _keep(self, activities: Rows, ends: Ints) -> None:
        """Remembers what runs at its activity's latest start, the longest running first."""
        running = np.flatnonzero(ends > self._latest.take(activities))
        if len(running) > _MOST_RUNNING:
            order = np.argsort(-ends[running], kind="stable")
            self.exact[activities[running[order[_MOST_RUNNING:]]]] = False
            running = running[order[:_MOST_RUNNING]]
        self._activity, self._end = activities[running], ends[running]


def _raise(most: Ints, activity: Rows, start: Ints, end: Ints) -> None:
    """Raises the largest numbers at once, by activity, to those of some intervals; shapes (n,), n >= 1.

    With starts and ends each sorted within an activity, c + 1 intervals are there at the i-th start exactly where the
    (i - c)-th end comes after it. So one comparison tells whether a figure is to be raised, and few ever are.
    """
    count = len(start)
    begin, stop = int(start.min()), int(end.max())
    bits = (stop - begin).bit_length()
    if bits + len(most).bit_length() > _KEY_BITS:  # times that far apart do not fit into a key; their order does
        ranks = np.unique(np.concatenate([start, end]), return_inverse=True)[1].astype(np.int64)
        start, end, begin, bits = ranks[:count], ranks[count:], 0, len(ranks).bit_length()
    base = (activity.astype(np.int64) << bits) - begin
    starts, ends = base + start, base
    ends += end
    if (start[1:] >= start[:-1]).all() and len(most) <= _SHORT:  # then a radix sort by activity alone is enough
        starts = starts.take(np.argsort(activity.astype(np.uint16), kind="stable"))
    else:
        starts.sort()
    ends.sort()
    owner = starts >> bits
    earlier = np.arange(count) - most.take(owner)
    np.maximum(earlier, 0, out=earlier)
    # an end of an activity before it in the order lies below all its starts
    higher = ends.take(earlier) > starts
    for row in np.unique(owner[higher]).tolist():
        first, last = np.searchsorted(starts, [row << bits, (row + 1) << bits])
        passed = np.searchsorted(ends[first:last], starts[first:last], "right")
        most[row] = max(int(most[row]), int((np.arange(1, last - first + 1) - passed).max()))
