"""Which clock a job's phases keep: from start to start, or from the end of a phase to the next start; and its drift."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from ..phases.phases import Floats
from ..phases.regularity import Regularity, drawn_on
from ..tuning import TUNING

_CHANCES: Final = TUNING.chances


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


def clock_of(regularity: Regularity) -> Clock:
    """Returns the clock that spreads less; that of starts unless the other is far better.

    A program that computes for a fixed time between phases starts later after a phase that took longer.

    Args:
        regularity: of the phases.
    """
    starts = Clock(regularity.intervals, False, regularity.spread)
    if regularity.drift:
        return _drifting(regularity)
    if regularity.pauses is None:
        return starts
    return Clock(regularity.pauses, True, regularity.pause_spread)


def _drifting(regularity: Regularity) -> Clock:
    """Returns the clock of intervals that lie about a line, drawn on by one."""
    recent = regularity.intervals[-TUNING.regular.drift_over :]
    n = len(recent)
    now, rest = drawn_on(recent)
    # a line that is drawn on by one is known less well than a mean
    leverage = 1 / n + 3 * (n + 1) ** 2 / (n * (n * n - 1))
    rest = rest * math.sqrt((1 + leverage) / (1 + 1 / n) * (n - 1) / (n - 2))
    return Clock(now + rest - float(rest.sum()) / n, False, regularity.spread, drifts=True)
