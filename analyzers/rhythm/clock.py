"""Which clock a job's phases keep: from start to start, or from the end of a phase to the next start; and its drift."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from .phases import Floats, Phases, Regularity

_FEWEST: Final = 4  # intervals from which the better clock can be told
_FAR_BETTER: Final = 0.5  # ratio of spreads
_RECENT: Final = 16  # intervals that a drift is measured on
_FEWEST_DRIFTING: Final = 5
_DRIFTS: Final = 6.0  # logarithm of the ratio of likelihoods that tells a drift
_RESOLVED: Final = 1 / 6  # bins squared: no interval is known better


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """What the next start is told from.

    Attributes:
        intervals: bins; from each start, or each end, to the next start. Of a drifting clock the latest ones, as they
            would be now.
        from_end: whether they begin at the ends of phases.
        spread: their standard deviation as a share of the period.
        drifts: whether they grow or shrink.
    """

    intervals: Floats
    from_end: bool
    spread: float
    drifts: bool = False

    @property
    def next(self) -> float:
        """The next interval, bins."""
        return float(self.intervals.sum()) / len(self.intervals)


def clock_of(phases: Phases, regularity: Regularity, period: float) -> Clock:
    """Returns the clock that spreads less; that of starts unless the other is far better.

    A program that computes for a fixed time between phases starts later after a phase that took longer.

    Args:
        phases: in order of time; those that the regularity is of.
        regularity: of their starts.
        period: in bins.
    """
    starts = Clock(regularity.intervals, False, regularity.spread)
    if len(phases) <= _FEWEST or regularity.skipped:
        return starts
    if (drifting := _drifting(regularity.intervals, period)) is not None:
        return drifting
    gaps = phases.start[1:] - phases.end[:-1]
    off = gaps - float(gaps.sum()) / len(gaps)
    # no end is known better than a start: a twelfth of a bin's square each
    spread = math.sqrt(float(off @ off) / (len(gaps) - 1) + 1 / 6) / period
    return Clock(gaps, True, spread) if spread < _FAR_BETTER * regularity.spread else starts


def _drifting(intervals: Floats, period: float) -> Clock | None:
    """Returns the clock of intervals that lie about a line, where that is far more likely than about their mean."""
    recent = intervals[-_RECENT:]
    n = len(recent)
    if n < _FEWEST_DRIFTING:
        return None
    at = np.arange(n) - (n - 1) / 2
    mean = float(recent.sum()) / n
    slope = float(at @ recent) / float(at @ at)
    off = recent - mean
    rest = off - slope * at
    whole, left = float(off @ off) + n * _RESOLVED, float(rest @ rest) + n * _RESOLVED
    if n / 2 * math.log(whole / left) < _DRIFTS:
        return None
    now = mean + slope * (n + 1) / 2
    if now <= 0:
        return None
    # a line that is drawn on by one is known less well than a mean
    leverage = 1 / n + ((n + 1) / 2) ** 2 / float(at @ at)
    rest *= math.sqrt((1 + leverage) / (1 + 1 / n) * (n - 1) / (n - 2))
    return Clock(now + rest, False, math.sqrt(left / (n - 2)) / period, drifts=True)
