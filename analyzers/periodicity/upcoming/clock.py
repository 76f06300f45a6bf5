"""Timing of phases and its drift. It is from start to start, or from the end of a phase to the next start."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from ..phases.missed_phases import RESOLVED
from ..phases.phases import Floats
from ..phases.regularity import Regularity, extrapolated_interval
from ..tuning import TUNING
from .grid import grid_of

_NEXT_PHASE: Final = TUNING.next_phase


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """Intervals from which the next start is predicted.

    Attributes:
        intervals: intervals, bins, from each start, or each end, to the next start; of a drifting clock the latest
            ones, extrapolated to now.
        from_end: whether they begin at the ends of phases.
        spread: standard deviation over the period.
        drifts: whether they grow or shrink.
        late: time from the point of a grid to the last start, bins; None if starts keep no grid.
    """

    intervals: Floats
    from_end: bool
    spread: float
    drifts: bool = False
    late: float | None = None

    @property
    def next(self) -> float:
        """Next interval, bins."""
        return float(self.intervals.sum()) / len(self.intervals)


def clock_of(regularity: Regularity, start: Floats) -> Clock:
    """Return the clock with the smaller spread. That of starts unless the other is far better.

    If a program computes for a fixed time between phases, a longer phase delays the next start.

    Args:
        regularity: regularity of the phases.
        start: starts of all these phases, bins.
    """
    if regularity.drift:
        return _drifting(regularity)
    if regularity.pauses is None:
        grid = grid_of(start, regularity.period)
        if grid is None:
            return Clock(regularity.intervals, False, regularity.spread)
        spread = math.sqrt(float(grid.errors @ grid.errors) / (len(grid.errors) - 1) + RESOLVED / 2) / grid.step
        return Clock(grid.step + grid.errors - float(grid.errors.mean()), False, spread, late=grid.late)
    return Clock(regularity.pauses, True, regularity.pause_spread)


def _drifting(regularity: Regularity) -> Clock:
    """Return the clock of intervals around a line, extrapolated by one."""
    recent = regularity.intervals[-TUNING.intervals.drift_intervals :]
    n = len(recent)
    now, rest = extrapolated_interval(recent)
    # an extrapolated line is less certain than a mean
    leverage = 1 / n + 3 * (n + 1) ** 2 / (n * (n * n - 1))
    rest = rest * math.sqrt((1 + leverage) / (1 + 1 / n) * (n - 1) / (n - 2))
    return Clock(now + rest - float(rest.sum()) / n, False, regularity.spread, drifts=True)
