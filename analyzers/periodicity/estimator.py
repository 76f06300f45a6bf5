"""Input and result of an estimator, which is a function from ``SignalWindow`` to ``PeriodEstimate``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from ...results.base import Estimate
from ...results.prediction import Drift, Frequency, NextPhase, OtherPeriod
from ..settings import DetectSettings


class SignalWindow(Struct, frozen=True, eq=False):
    """The signal as an estimator sees it: the window, and older bins to learn regularity from.

    Attributes:
        bandwidth: bytes/s in each bin, float64.
        begin: number of bins before the window.
        bin_s: length of a bin, s.
        start_s: start of the first bin, s.
        now_s: the present; at or after the end of the last bin.
        expected_s: the period found last, s; 0 where there is none.
        thorough: whether other hypotheses are to be tried although the period found last is still there.
        ended: whether no more will come, so that the mean of what was seen is that of the job.
        cut: True if the job was observed before the first bin already, so that a phase there may be incomplete.
    """

    bandwidth: npt.NDArray[np.float64]
    bin_s: float
    start_s: float
    now_s: float
    begin: int = 0
    expected_s: float = 0.0
    cut: bool = False
    thorough: bool = True
    ended: bool = False

    @property
    def window(self) -> npt.NDArray[np.float64]:
        """Bandwidth within the window."""
        return self.bandwidth[self.begin :]

    @property
    def window_start_s(self) -> float:
        """Start of the window."""
        return self.start_s + self.begin * self.bin_s

    @property
    def end_s(self) -> float:
        """End of the window."""
        return self.start_s + len(self.bandwidth) * self.bin_s


class PeriodEstimate(Struct, frozen=True):
    """What an estimator found.

    Attributes:
        period_s: mean distance of the phases; None when there is no period.
        confidence: probability that it is that to 5 %, and no accident.
        foresight: probability that the next phase starts within a fifth of a period of when it is expected; answers are
            chosen by it, as one that foresees what comes has seen the right phases.
        dominant: candidates for the dominant frequency, strongest first.
        harmonics_dropped: how many candidates were multiples of others.
        next_phase: what comes next; None where only the spectrum has the period.
        drift: how the period changes, where it does steadily.
        others: further periods.
    """

    period_s: Estimate | None = None
    confidence: float = 0.0
    foresight: float = 0.0
    dominant: list[Frequency] = field(default_factory=list)
    harmonics_dropped: int = 0
    next_phase: NextPhase | None = None
    drift: Drift | None = None
    others: list[OtherPeriod] = field(default_factory=list)


Estimator: TypeAlias = Callable[[SignalWindow, DetectSettings], PeriodEstimate]
