"""How fast a job can be by itself, learnt beside others: what a full file system gives it is no limit of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

_LATEST: Final = 32
_SHORTEST_S: Final = 0.02
"""Calls of a shorter stretch say little: a cache takes them."""
_FULL: Final = 0.7
"""Share of the capacity from which on jobs that overlap take it from one another."""
_OVERLAP: Final = 0.02
_UPPER: Final = 0.9
"""Quantile of what was measured: a job is slower now and then for reasons of its own."""


class Stretch(NamedTuple):
    """What a job moved between two times, Unix time."""

    start_s: float
    end_s: float
    moved: int

    def within(self, other: Stretch) -> tuple[float, float]:
        """Returns for how long another stretch goes on beside this one, s, and what it moves meanwhile."""
        beside_s = min(self.end_s, other.end_s) - max(self.start_s, other.start_s)
        if beside_s <= 0:
            return 0.0, 0.0
        return beside_s, other.moved * beside_s / (other.end_s - other.start_s)


class OwnRates:
    """Rates of one job.

    A stretch beside others on a full file system says only that the job can be as fast as that. Without any other
    stretch the job may be able to take all there is, which shows as soon as others are held back for it.
    """

    def __init__(self) -> None:
        self._own: deque[float] = deque(maxlen=_LATEST)
        self._at_least: deque[float] = deque(maxlen=_LATEST)

    def add(self, stretch: Stretch, others: Iterable[Stretch], capacity: float) -> None:
        """Takes in a stretch of the job with those of all others that may overlap it; capacity in bytes/s."""
        lasting_s = stretch.end_s - stretch.start_s
        if lasting_s < _SHORTEST_S or stretch.moved <= 0:
            return
        beside = [stretch.within(other) for other in others]
        overlap_s = max((each for each, _ in beside), default=0.0)
        together = (stretch.moved + sum(moved for _, moved in beside)) / lasting_s
        is_shared = overlap_s > _OVERLAP * lasting_s and together >= _FULL * capacity
        (self._at_least if is_shared else self._own).append(stretch.moved / lasting_s)

    def limit(self, capacity: float) -> float:
        """Returns how fast the job can be, at most the capacity, bytes/s."""
        if not self._own:
            return capacity
        own = sorted(self._own)[int(_UPPER * (len(self._own) - 1) + 0.5)]
        return min(capacity, max(own, *self._at_least, 1.0) if self._at_least else max(own, 1.0))
