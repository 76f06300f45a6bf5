"""Quantiles of durations by activity: a histogram with buckets of equal relative width.

A bucket is the exponent of a duration and the first bits of its fraction, so that an event costs a shift and no
logarithm. Two histograms are merged by adding them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .state import Ints, Rows, State, widened

_BITS: Final = 5  # 32 buckets from each power of two to the next: the middle of one is at most 1.6 % off
_ONE: Final = 1023 << _BITS
_SLACK: Final = 8  # buckets that a row has more than it needs
_FAR: Final = 1 << 20


class Durations(State):
    """Counts by activity and bucket. Each activity has a row of the buckets between its shortest and its longest."""

    def __init__(self, width: int) -> None:
        self._low = np.zeros(width, np.int64)
        self._room = np.zeros(width, np.int64)
        self._first = np.zeros(width, np.int64)
        self._counts = np.zeros(0, np.int64)

    def grow(self, width: int) -> None:
        """Makes room for activities below ``width``."""
        self._low, self._room, self._first = (widened(old, width) for old in (self._low, self._room, self._first))

    def add(self, activity: Rows, duration: Ints) -> None:
        """Counts events.

        Args:
            activity: row of each event's activity.
            duration: ns, >= 0.
        """
        bucket = (np.maximum(duration, 1).astype(np.float64).view(np.int64) >> (52 - _BITS)) - _ONE
        cells = self._cells(activity, bucket)
        self._counts += np.bincount(cells, minlength=len(self._counts))

    def merge(self, other: Durations, rows: Rows) -> None:
        """Adds the counts of another; its activity ``a`` is our ``rows[a]``."""
        activity = np.repeat(rows, other._room)
        bucket = np.arange(len(other._counts)) - np.repeat(other._first - other._low, other._room)
        some = other._counts > 0
        cells = self._cells(activity[some], bucket[some])
        np.add.at(self._counts, cells, other._counts[some])

    def quantile(self, activity: int, share: float) -> float:
        """Returns the duration in ns that a share of an activity's events does not exceed; 0 without events."""
        first = int(self._first[activity])
        running = np.cumsum(self._counts[first : first + int(self._room[activity])])
        if not len(running) or not running[-1]:
            return 0.0
        bucket = int(np.searchsorted(running, share * running[-1])) + int(self._low[activity])
        borders = (np.array([bucket, bucket + 1], np.int64) + _ONE << (52 - _BITS)).view(np.float64)
        return float(borders.mean())

    def _cells(self, activity: Rows, bucket: Ints) -> Ints:
        offset = bucket - self._low.take(activity)
        outside = offset.view(np.uint64) >= self._room.view(np.uint64).take(activity)
        if outside.any():
            self._widen(activity[outside], bucket[outside])
            offset = bucket - self._low[activity]
        offset += self._first.take(activity)
        return offset

    def _widen(self, activity: Rows, bucket: Ints) -> None:
        """Gives rows of activities the buckets that they lack."""
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
