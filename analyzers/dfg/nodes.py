"""Sums by activity that do not depend on the order of events."""

from __future__ import annotations

import numpy as np

from .state import Ints, Rows, State, widened

_NEVER = 2**62


class Nodes(State):
    """Columns by activity row; row 0 is what has no row of its own.

    Attributes:
        events: number of events, int64.
        ns: sum of durations, float64: exact up to 2**53 ns, and it cannot overflow.
        bytes: sum of sizes, int64.
        timed: events that have a size and a duration, int64.
        rates: sum of size / duration over these, bytes/ns.
        longest: largest duration, ns.
        first: earliest start, ns.
        cases: cases that the activity occurred in.
        starts: cases that begin with it.
        ends: closed cases that end with it.
    """

    def __init__(self, width: int) -> None:
        self.events = np.zeros(width, np.int64)
        self.ns = np.zeros(width, np.float64)
        self.bytes = np.zeros(width, np.int64)
        self.timed = np.zeros(width, np.int64)
        self.rates = np.zeros(width, np.float64)
        self.longest = np.zeros(width, np.int64)
        self.first = np.full(width, _NEVER, np.int64)
        self.cases = np.zeros(width, np.int64)
        self.starts = np.zeros(width, np.int64)
        self.ends = np.zeros(width, np.int64)

    def grow(self, width: int) -> None:
        """Makes room for activities below ``width``."""
        for name, column in vars(self).items():
            setattr(self, name, widened(column, width, fill=_NEVER if name == "first" else 0))

    def add(self, activity: Rows, start: Ints, duration: Ints, size: Ints) -> None:
        """Adds events; ``size`` is -1 for those that have none. Shapes (n,), times in ns."""
        width = len(self.events)
        occurs = np.bincount(activity, minlength=width)
        length = duration.astype(np.float64)
        if (self.first[occurs > 0] > start.min()).any():  # which is rare once all activities were seen
            np.minimum.at(self.first, activity, start)
        self.events += occurs
        self.ns += np.bincount(activity, length, minlength=width)
        np.maximum.at(self.longest, activity, duration)
        timed = (size >= 0) & (duration > 0)
        if not timed.all():
            if not length.all():
                np.maximum(length, 1, out=length)
            occurs = np.bincount(activity, timed, minlength=width).astype(np.int64)
            size = np.maximum(size, 0)
        np.add.at(self.bytes, activity, size)
        self.timed += occurs
        rate = size / length
        rate *= timed
        self.rates += np.bincount(activity, rate, minlength=width)

    def merge(self, other: Nodes, rows: Rows) -> None:
        """Adds the sums of another; its activity ``a`` is our ``rows[a]``."""
        for name, column in vars(self).items():
            theirs = getattr(other, name)
            if name == "longest":
                np.maximum.at(column, rows, theirs)
            elif name == "first":
                np.minimum.at(column, rows, theirs)
            else:
                np.add.at(column, rows, theirs)
