"""Input and result of an estimator, which is a function from ``SignalWindow`` to ``PeriodEstimate``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from ...results.base import Estimate
from ...results.prediction import Drift, Frequency, Interruptions, NextPhase, OtherPeriod, Pattern, WorkShifts
from ..settings import DetectSettings


class KnownPhases(Struct, frozen=True, eq=False):
    """Phases of one period, from which the shifts of a program are learned.

    Attributes:
        starts_s: their starts, s, oldest first, float64.
        period_s: their period, s.
        from_s, until_s: time between which no phase is missing, s.
        cut: whether phases before the first one are unknown.
        changed: whether phases before the first one had another period.
    """

    starts_s: npt.NDArray[np.float64]
    period_s: float
    from_s: float
    until_s: float
    cut: bool
    changed: bool = False


class SignalWindow(Struct, frozen=True, eq=False):
    """Signal given to an estimator: the window, and older bins from which regularity is learned.

    Attributes:
        bandwidth: bytes/s in each bin, float64.
        begin: number of bins before the window.
        bin_s: length of a bin, s.
        start_s: start of the first bin, s.
        now_s: current time; at or after the end of the last bin.
        expected_s: period found last, s; 0 if there is none.
        thorough: whether to try other hypotheses although the last period still holds.
        followed: number of programs with the last period, if only this period is measured while it holds; 0 to search
            alternatives, too.
        ended: whether the job has ended, so that the observed mean is the mean of the job.
        cut: whether the job was observed before the first bin, so that a phase there may be incomplete.
        earlier: phases found by earlier predictions; None if there are none.
    """

    bandwidth: npt.NDArray[np.float64]
    bin_s: float
    start_s: float
    now_s: float
    begin: int = 0
    expected_s: float = 0.0
    cut: bool = False
    thorough: bool = True
    followed: int = 0
    ended: bool = False
    earlier: KnownPhases | None = None

    @property
    def window(self) -> npt.NDArray[np.float64]:
        """Bandwidth within the window, bytes/s."""
        return self.bandwidth[self.begin :]

    @property
    def window_start_s(self) -> float:
        """Start of the window, s."""
        return self.start_s + self.begin * self.bin_s

    @property
    def end_s(self) -> float:
        """End of the window, s."""
        return self.start_s + len(self.bandwidth) * self.bin_s


class PeriodEstimate(Struct, frozen=True):
    """Result of an estimator.

    Attributes:
        period_s: mean distance of the phases, s; None if there is no period.
        confidence: probability that the period is correct to 5 % and not due to chance.
        next_confidence: probability that the next phase starts within a fifth of a period of its prediction. Estimates
            are ranked by it, since correct phases predict the next one.
        dominant: candidates for the dominant frequency, strongest first.
        harmonics_dropped: number of candidates dropped as multiples of others.
        next_phase: next phase; None if only the spectrum shows the period.
        drift: steady change of the period, if there is one.
        shifts: shifts of equal numbers of phases, if there are any.
        interruptions: missing phases and pauses, if there are any.
        patterns: repeated patterns of intervals, durations and volumes.
        others: further periods.
        typical_rate: volume of a typical phase over the period, bytes/s; 0 if unknown.
        busy_share: length of a typical phase over the period; 0 if unknown.
        rest_s: usual interval across the rest between two equal shifts of phases, s, by which the window is longer; 0
            if there are none, or if it is too long.
        repeats: whether intervals repeat a pattern, as those of two programs may do.
        phases: phases of the signal; None if only the spectrum shows the period.
    """

    period_s: Estimate | None = None
    confidence: float = 0.0
    next_confidence: float = 0.0
    dominant: list[Frequency] = field(default_factory=list)
    harmonics_dropped: int = 0
    next_phase: NextPhase | None = None
    drift: Drift | None = None
    shifts: WorkShifts | None = None
    interruptions: Interruptions | None = None
    patterns: list[Pattern] = field(default_factory=list)
    others: list[OtherPeriod] = field(default_factory=list)
    typical_rate: float = 0.0
    busy_share: float = 0.0
    rest_s: float = 0.0
    repeats: bool = False
    phases: KnownPhases | None = None


Estimator: TypeAlias = Callable[[SignalWindow, DetectSettings], PeriodEstimate]
