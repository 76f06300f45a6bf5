"""Sums by activity, and edges with a fixed budget of entries: lossy counting with eviction when full.

A threshold on frequency loses half of the edges of a graph with many rare ones; a budget keeps nearly all of the mass.
Dropped occurrences are counted, so that the graph reports what it lacks.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ...common.activity_sort import Groups
from ...common.state import Floats, Ints, Rows, State, widened

_NEVER = 2**62
_NONE: Final = -1  # pair without an edge
_KEPT: Final = 0.75  # share of the budget kept after an eviction


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


class Edges(State):
    """Counts and gaps of pairs of activities, at most ``budget`` of them.

    Attributes:
        dropped: dropped occurrences.
    """

    def __init__(self, budget: int, width: int) -> None:
        self.dropped = 0
        self._budget = budget
        self._width = width
        self._number = np.full(width * width, _NONE, np.int16)
        self._pair = np.zeros(0, np.int64)
        self._count = np.zeros(0, np.int64)
        self._gap = np.zeros(0, np.float64)

    def grow(self, width: int) -> None:
        """Extend the tables to activities below ``width``."""
        source, target = np.divmod(self._pair, self._width)
        self._pair = source * width + target
        self._width = width
        self._renumber()

    def add(self, source: Rows, target: Rows, gap: Ints) -> None:
        """Count occurrences, given the activity rows of both ends and the time between them, ns."""
        self._add(source * self._width + target, None, gap)

    def merge(self, other: Edges, rows: Rows) -> None:
        """Add the edges of another table; its activity ``a`` is ``rows[a]`` here."""
        source, target = np.divmod(other._pair, other._width)
        self._add(rows[source] * self._width + rows[target], other._count, other._gap)
        self.dropped += other.dropped

    def rows(self) -> tuple[Rows, Rows, Ints, Floats]:
        """Return source, target, count and summed gap in ns, the most frequent first."""
        order = np.lexsort((self._pair, -self._count))
        source, target = np.divmod(self._pair[order], self._width)
        return source, target, self._count[order], self._gap[order]

    def tables(self) -> tuple[npt.NDArray[np.int16], int, Ints, Floats]:
        """Return the tables of edges, which the caller may add to.

        Returns:
            The edge number of each pair of rows (below 0 if none); rows per side; counts by number; gaps, ns.
        """
        return self._number, self._width, self._count, self._gap

    def _add(self, pair: Rows, count: Ints | None, gap: Ints | Floats) -> None:
        number = self._numbers(pair)
        if len(number) and number.min() < 0:
            new = number < 0
            self._admit(pair[new], None if count is None else count[new])
            number = self._numbers(pair)
            if number.min() < 0:
                kept = number >= 0
                lost = ~kept
                self.dropped += int(np.count_nonzero(lost) if count is None else count[lost].sum())
                number, gap, count = number[kept], gap[kept], None if count is None else count[kept]
        used = len(self._pair)
        if count is None:
            self._count += np.bincount(number, minlength=used)
        else:
            np.add.at(self._count, number, count)
        self._gap += np.bincount(number, weights=gap, minlength=used)

    def _numbers(self, pair: Rows) -> Rows:
        return self._number.take(pair).astype(np.intp)  # intp is counted twice as fast as int16

    def _admit(self, pair: Rows, count: Ints | None) -> None:
        """Add new pairs. If the budget is exceeded, the rarest of old and new ones are dropped."""
        found, inverse = np.unique(pair, return_inverse=True)
        occurs = np.zeros(len(found), np.int64)
        np.add.at(occurs, inverse, 1 if count is None else count)
        used = len(self._pair)
        pairs = np.concatenate([self._pair, found])
        if len(pairs) > self._budget:
            often = np.argsort(-np.concatenate([self._count, occurs]), kind="stable")
            keep = np.sort(often[: max(1, int(_KEPT * self._budget))])
            old = keep[keep < used]
            self.dropped += int(self._count.sum() - self._count[old].sum())
            self._count, self._gap, pairs = self._count[old], self._gap[old], pairs[keep]
        self._pair = pairs
        self._count = widened(self._count, len(pairs))
        self._gap = widened(self._gap, len(pairs))
        self._renumber()

    def _renumber(self) -> None:
        self._number = np.full(self._width * self._width, _NONE, np.int16)
        self._number[self._pair] = np.arange(len(self._pair))
