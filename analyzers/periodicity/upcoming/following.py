"""When the phases after the next one come."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from ..confidence import student
from ..phases.phases import Floats
from ..tuning import TUNING
from .clock import Clock
from .intervals import interval_of
from .next_start import NextStart

_CHANCES: Final = TUNING.chances
_MOST: Final = 5  # phases after the next one
_OF_SEEN: Final = 2  # intervals seen for each phase ahead
_HOLDS: Final = 0.95  # probability that fewer phases are missed than an interval reckons with
_STEEPEST: Final = 4.0  # times the first of the intervals that show a drift
_REACH: Final = 1.645  # standard deviations that hold 90 %


class Following(NamedTuple):
    """A phase after the next one, bins: when it is expected, its 90 % interval, and how likely it comes near."""

    start: float
    low: float
    high: float
    in_time: float


def following_of(expected: NextStart, clock: Clock, intervals: Floats, drift: float, period: float) -> list[Following]:
    """Returns when the phases after the next one start, if none is missed.

    How far phases stray over several intervals is taken from the past ones: where they keep a grid, one that comes late
    does not move those behind it; where each waits for the one before, they do. Phases that are missed make it later.

    Args:
        expected: when the next phase starts.
        clock: what that was told from.
        intervals: between the starts of past phases, bins; of a drifting clock they count as they would be now.
        drift: by how many bins each of the latest is longer than the one before, in the mean.
        period: the mean interval, bins.
    """
    recent = (clock.intervals if clock.drifts else intervals)[-_CHANCES.recent :]
    step, growth = period, 1.0
    if clock.drifts:
        step = clock.next
        growth = (step / max(step - drift * len(recent), step / _STEEPEST)) ** (1 / len(recent))
    first = min(expected.start - expected.low, expected.high - expected.start)
    found: list[Following] = []
    start, at = expected.start, np.append(0.0, np.cumsum(recent))
    for ahead in range(1, min(_MOST, len(recent) // _OF_SEEN) + 1):
        step *= growth
        start += step
        reach = interval_of(at[ahead:] - at[:-ahead], least=0.5)
        if clock.drifts:
            reach += _off_by_line(ahead, len(recent)) * interval_of(recent, least=0.5)
        low = start - math.hypot(expected.start - expected.low, reach)
        high = start + math.hypot(expected.high - expected.start, reach) + _missed_in(ahead, expected.missed) * period
        near = student(
            TUNING.same.near * period * _REACH / max(math.hypot(reach, first), _CHANCES.sharpest), len(recent)
        )
        found.append(Following(start, low, high, min(expected.in_time, near) * (1 - expected.missed) ** ahead))
    return found


def _off_by_line(ahead: int, count: int) -> float:
    """Returns how far off several intervals are, in deviations of one, by what a line through ``count`` is off.

    They are the next one and so many after it; a line that is too steep errs in all of them.
    """
    at = (math.hypot(1, (place + (count - 1) / 2) * math.sqrt(12) / count) for place in range(1, ahead + 2))
    return sum(at) / math.sqrt(count)


def _missed_in(phases: int, share: float) -> int:
    """Returns how many of so many phases are missed at most, with a probability of 95 %."""
    missed, left = 0, (1 - share) ** phases
    term = left
    while left < _HOLDS and missed < phases:
        missed += 1
        term *= share * (phases + missed - 1) / missed
        left += term
    return missed
