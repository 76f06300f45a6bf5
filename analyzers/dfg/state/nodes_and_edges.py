"""Sums and quantiles of durations by activity, and edges with a fixed budget of entries: lossy counting when full.

A threshold on frequency loses half of the edges of a graph with many rare ones; a budget keeps nearly all of the mass.
Dropped occurrences are counted, so that the graph reports what it lacks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ...common.sorting import Groups
from ...common.state import Floats, Ints, Rows, State, widened

_BITS: Final = 5  # 32 buckets per power of two: the middle of one is at most 1.6 % off
_SHIFT: Final = 52 - _BITS
_ONE: Final = 1023 << _BITS
_SLACK: Final = 8  # spare buckets per row
_FAR: Final = 1 << 20


class Durations(State):
    """Counts by activity and bucket. Each activity has a row of buckets between its shortest and longest duration.

    A bucket is the exponent of a duration and the first bits of its fraction, so an event costs a shift instead of a
    logarithm. Histograms are merged by addition.
    """

    def __init__(self, width: int) -> None:
        self._low = np.zeros(width, np.int64)
        self._room = np.zeros(width, np.int64)
        self._first = np.zeros(width, np.int64)
        self._counts = np.zeros(0, np.int64)

    def grow(self, width: int) -> None:
        """Extend the tables to activities below ``width``."""
        self._low, self._room, self._first = (widened(old, width) for old in (self._low, self._room, self._first))

    def add(self, events: Groups) -> None:
        """Count events."""
        bucket = _bucket(events.duration)
        rows = events.rows
        low, high = np.minimum.reduceat(bucket, events.heads), np.maximum.reduceat(bucket, events.heads)
        if ((low < self._low[rows]) | (high >= self._low[rows] + self._room[rows])).any():
            self._widen(np.concatenate([rows, rows]), np.concatenate([low, high]))
        bucket += events.spread(self._first[rows] - self._low[rows])
        self._counts += np.bincount(bucket, minlength=len(self._counts))

    def room_for(self, rows: Rows, shortest: Ints, longest: Ints) -> tuple[Ints, int, Ints]:
        """Extend rows to the given durations.

        Args:
            rows: activity rows, distinct.
            shortest: shortest duration of each row, ns.
            longest: longest duration of each row, ns.

        Returns:
            Per activity row, the offset of its bucket 0 in the counts; the shift from the bits of a duration (float64,
            at least 1 ns) to its bucket; and the counts, which the caller may add to.
        """
        low, high = _bucket(shortest), _bucket(longest)
        if ((low < self._low[rows]) | (high >= self._low[rows] + self._room[rows])).any():
            self._widen(np.concatenate([rows, rows]), np.concatenate([low, high]))
        return self._first - self._low - _ONE, _SHIFT, self._counts

    def merge(self, other: Durations, rows: Rows) -> None:
        """Add the counts of another table; its activity ``a`` is ``rows[a]`` here."""
        activity = np.repeat(rows, other._room)
        bucket = np.arange(len(other._counts)) - np.repeat(other._first - other._low, other._room)
        some = other._counts > 0
        activity, bucket = activity[some], bucket[some]
        if len(activity):
            self._widen(activity, bucket)
        np.add.at(self._counts, bucket + (self._first - self._low)[activity], other._counts[some])

    def quantiles(self, activity: int, shares: Sequence[float]) -> list[float]:
        """Return a quantile of an activity's durations for each share, ns; zeros without events."""
        first = int(self._first[activity])
        running = self._counts[first : first + int(self._room[activity])].cumsum()
        total = int(running[-1]) if len(running) else 0
        if not total:
            return [0.0] * len(shares)
        low = int(self._low[activity])
        buckets = [low + int(running.searchsorted(share * total)) for share in shares]
        return [(_border(bucket) + _border(bucket + 1)) / 2 for bucket in buckets]

    def _widen(self, activity: Rows, bucket: Ints) -> None:
        """Add the missing buckets to rows of activities."""
        low = np.where(self._room > 0, self._low, _FAR)
        high = np.where(self._room > 0, self._low + self._room, -_FAR)
        np.minimum.at(low, activity, bucket - _SLACK)
        np.maximum.at(high, activity, bucket + 1 + _SLACK)
        room = np.maximum(high - low, 0)
        low[room == 0] = 0
        first = np.cumsum(room) - room
        counts = np.zeros(int(room.sum()), np.int64)
        for row in np.flatnonzero(self._room).tolist():
            at, old = int(first[row] + self._low[row] - low[row]), int(self._first[row])
            length = int(self._room[row])
            counts[at : at + length] = self._counts[old : old + length]
        self._low, self._room, self._first, self._counts = low, room, first, counts


def _bucket(duration: Ints) -> Ints:
    """Return the bucket of each duration in ns."""
    bucket: Ints = (np.maximum(duration, 1).astype(np.float64).view(np.int64) >> _SHIFT) - _ONE
    return bucket


def _border(bucket: int) -> float:
    """Return the lower bound of a bucket, ns."""
    power, part = divmod(bucket, 1 << _BITS)
    return math.ldexp(1 + part / (1 << _BITS), power)


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
