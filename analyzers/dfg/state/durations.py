"""Quantiles of durations by activity: histograms with buckets of equal relative width.

A bucket is the exponent of a duration and the first bits of its fraction, so an event costs a shift instead of a
logarithm. Histograms are merged by addition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ...common.activity_sort import Groups
from ...common.state import Ints, Rows, State, widened

_BITS: Final = 5  # 32 buckets per power of two: the middle of one is at most 1.6 % off
_SHIFT: Final = 52 - _BITS
_ONE: Final = 1023 << _BITS
_SLACK: Final = 8  # spare buckets per row
_FAR: Final = 1 << 20


class Durations(State):
    """Counts by activity and bucket. Each activity has a row of buckets between its shortest and longest duration."""

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
