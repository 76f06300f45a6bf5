"""Sums by activity that are independent of the order of events."""

from __future__ import annotations

import numpy as np

from ...common.activity_sort import Groups
from ...common.state import Rows, State, widened

_NEVER = 2**62


class Nodes(State):
    """Columns by activity row; row 0 is for activities without a separate row.

    Attributes:
        events: number of events, int64.
        ns: sum of durations, float64: exact up to 2**53 ns, without overflow.
        bytes: sum of sizes, int64.
        timed: events with a size and a duration, int64.
        rates: sum of size / duration over these, bytes/ns.
        longest: largest duration, ns.
        first: earliest start, ns.
        cases: number of cases with the activity.
        starts: number of cases that begin with it.
        ends: number of closed cases that end with it.
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
        """Extend the columns to activities below ``width``."""
        for name, column in vars(self).items():
            setattr(self, name, widened(column, width, fill=_NEVER if name == "first" else 0))

    def add(self, events: Groups) -> None:
        """Add events."""
        rows, heads, occurs = events.rows, events.heads, events.lengths
        duration, size = events.duration, events.size
        length = duration.astype(np.float64)
        self.first[rows] = np.minimum(self.first[rows], np.minimum.reduceat(events.start, heads))
        self.longest[rows] = np.maximum(self.longest[rows], np.maximum.reduceat(duration, heads))
        self.events[rows] += occurs
        self.ns[rows] += np.add.reduceat(length, heads)
        timed = (size >= 0) & (duration > 0)
        if not timed.all():
            occurs = np.add.reduceat(timed, heads, dtype=np.intp)
            size = np.maximum(size, 0)
            length[duration <= 0] = np.inf
        self.bytes[rows] += np.add.reduceat(size, heads)
        self.timed[rows] += occurs
        self.rates[rows] += np.add.reduceat(size / length, heads)

    def add_sums(self, sums: Nodes) -> None:
        """Add sums of further events, in the same rows."""
        for name in ("events", "ns", "bytes", "timed", "rates"):
            getattr(self, name).__iadd__(getattr(sums, name))
        np.maximum(self.longest, sums.longest, out=self.longest)
        np.minimum(self.first, sums.first, out=self.first)

    def merge(self, other: Nodes, rows: Rows) -> None:
        """Add the sums of another table; its activity ``a`` is ``rows[a]`` here."""
        for name, column in vars(self).items():
            theirs = getattr(other, name)
            if name == "longest":
                np.maximum.at(column, rows, theirs)
            elif name == "first":
                np.minimum.at(column, rows, theirs)
            else:
                np.add.at(column, rows, theirs)
