"""Which clock a job's phases keep: from start to start, or from the end of a phase to the next start."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from .phases import Floats, Phases, Regularity

_FEWEST: Final = 4  # intervals from which the better clock can be told
_FAR_BETTER: Final = 0.5  # ratio of spreads


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """What the next start is told from.

    Attributes:
        intervals: bins; from each start, or each end, to the next start.
        from_end: whether they begin at the ends of phases.
        spread: their standard deviation as a share of the period.
    """

    intervals: Floats
    from_end: bool
    spread: float


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
    gaps = phases.start[1:] - phases.end[:-1]
    off = gaps - float(gaps.sum()) / len(gaps)
    # no end is known better than a start: a twelfth of a bin's square each
    spread = math.sqrt(float(off @ off) / (len(gaps) - 1) + 1 / 6) / period
    return Clock(gaps, True, spread) if spread < _FAR_BETTER * regularity.spread else starts
