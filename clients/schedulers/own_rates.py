"""Highest rate of a single job, learnt while others run.

Bandwidth that a full file system grants is no limit of the job.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

_MAX_RATES: Final = 32
_MIN_INTERVAL_S: Final = 0.02
"""Least length of an interval, s; shorter ones may only measure a cache."""
_FULL: Final = 0.7
"""Share of the capacity above which overlapping jobs take bandwidth from one another."""
_OVERLAP: Final = 0.02
_UPPER: Final = 0.9
"""Quantile of the measured rates: a job may be slower for reasons of its own."""


class Interval(NamedTuple):
    """Bytes of a job in an interval, Unix time."""

    start_s: float
    end_s: float
    moved: int

    def overlap(self, other: Interval) -> tuple[float, float]:
        """Return the overlap with another interval, s. It also returns the bytes that it moves in the overlap."""
        beside_s = min(self.end_s, other.end_s) - max(self.start_s, other.start_s)
        if beside_s <= 0:
            return 0.0, 0.0
        return beside_s, other.moved * beside_s / (other.end_s - other.start_s)


class OwnRates:
    """Measured rates of one job.

    An interval with other jobs on a full file system only gives a lower bound of the rate. Without any other interval
    the job is assumed to be able to use the whole capacity, which is tested as soon as others are limited for it.
    """

    def __init__(self) -> None:
        self._alone_rates: deque[float] = deque(maxlen=_MAX_RATES)
        self._lower_bounds: deque[float] = deque(maxlen=_MAX_RATES)

    def add(self, stretch: Interval, others: Iterable[Interval], capacity: float) -> None:
        """Add an interval of the job, with those of all others that may overlap it. Capacity in bytes/s."""
        lasting_s = stretch.end_s - stretch.start_s
        if lasting_s < _MIN_INTERVAL_S or stretch.moved <= 0:
            return
        beside = [stretch.overlap(other) for other in others]
        overlap_s = max((each for each, _ in beside), default=0.0)
        together = (stretch.moved + sum(moved for _, moved in beside)) / lasting_s
        is_shared = overlap_s > _OVERLAP * lasting_s and together >= _FULL * capacity
        (self._lower_bounds if is_shared else self._alone_rates).append(stretch.moved / lasting_s)

    def limit(self, capacity: float) -> float:
        """Return the highest rate of the job, at most the capacity, bytes/s."""
        if not self._alone_rates:
            return capacity
        own = sorted(self._alone_rates)[int(_UPPER * (len(self._alone_rates) - 1) + 0.5)]
        return min(capacity, max(own, *self._lower_bounds, 1.0) if self._lower_bounds else max(own, 1.0))
