"""Input and output of an I/O scheduling policy."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final, Protocol

MIN_LEFT: Final = 0.02
"""Share of a phase's predicted volume that counts as remaining when the phase exceeds the prediction."""
_PHASES: Final = 8
_SIGMA: Final = 1.4826
"""Factor from the median absolute deviation to the standard deviation of a normal distribution."""
_UNLIKE: Final = 0.5
"""Prior standard deviation of the logarithm of a job's volumes; weighs as one phase."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Prediction of one I/O phase of a job.

    Attributes:
        period_s: mean time between starts of phases; policies may take it as the length of an iteration.
        volume: bytes of the phase.
        gap_s: time from the end of the previous phase to the start of this one.
        drift: growth of each interval over the previous one, as a share of the period.
        confidence: probability that the period is right.
        next_confidence: probability that the phase starts at the expected time.
    """

    period_s: float
    volume: float
    gap_s: float
    drift: float = 0.0
    confidence: float = 1.0
    next_confidence: float = 1.0


class SeenPhases:
    """Estimate of the next phase from a job's own latest phases, without predictions.

    Attributes:
        volume: geometric mean of their bytes; 0 before the first one.
        gap_s: mean time between them; None before the second one.
        error: standard deviation of the logarithm of the next volume over ``volume``.
        forecast_error: standard deviation of the logarithm of predicted over observed volumes, from the median
            distance. 0 before the first one.
    """

    __slots__ = ("_forecast_errors", "_gaps", "_volumes", "error", "forecast_error", "gap_s", "volume")

    def __init__(self) -> None:
        self._volumes: deque[float] = deque(maxlen=_PHASES)
        self._forecast_errors: deque[float] = deque(maxlen=_PHASES)
        self.forecast_error = 0.0
        self._gaps: deque[float] = deque(maxlen=_PHASES)
        self.volume, self.error = 0.0, math.inf
        self.gap_s: float | None = None

    def add(self, volume: float, gap_s: float | None, forecast: Forecast | None = None) -> None:
        """Add a finished phase.

        Args:
            volume: bytes of the phase.
            gap_s: time between it and the previous one; None if unknown.
            forecast: prediction of the phase; None without one.
        """
        if volume <= 0:
            return
        if forecast is not None and forecast.volume > 0:
            self._forecast_errors.append(abs(math.log(forecast.volume / volume)))
            self.forecast_error = _SIGMA * median(self._forecast_errors)  # one phase cut in two must not decide
        self._volumes.append(math.log(volume))
        count = len(self._volumes)
        mean = math.fsum(self._volumes) / count
        self.volume = math.exp(mean)
        spread = (math.fsum((each - mean) ** 2 for each in self._volumes) + _UNLIKE**2) / count
        self.error = math.sqrt(spread * (1 + 1 / count))
        if gap_s is not None:
            self._gaps.append(gap_s)
            self.gap_s = math.fsum(self._gaps) / len(self._gaps)


@dataclass(slots=True, eq=False)
class JobState:
    """State of one job for a policy; a job either does I/O or computes.

    Attributes:
        number: index of the job among all jobs.
        limit: highest rate that the job can use, bytes/s.
        start_s: start of the job.
        forecast: prediction of the current or next phase; None without one.
        since_s: start of the current phase, or of the computation before the next one.
        moved: bytes moved in the phase.
        done_s: time alone, s, of all work of the job before ``since_s``.
        seen: its phases so far.
    """

    number: int
    limit: float
    start_s: float = 0.0
    forecast: Forecast | None = None
    since_s: float = 0.0
    moved: float = 0.0
    done_s: float = 0.0
    seen: SeenPhases = field(default_factory=SeenPhases)

    def remaining(self) -> float | None:
        """Return the bytes that the phase still has to move, by the prediction."""
        if self.forecast is None:
            return None
        return max(self.forecast.volume - self.moved, MIN_LEFT * self.forecast.volume)

    def waiting_yield(self, now_s: float) -> float:
        """Return, for a job in I/O, its yield, 0 to 1 [Sharing].

        It is the time that it needs alone over the elapsed time.
        """
        elapsed = now_s - self.start_s
        return min(1.0, (self.done_s + self.moved / self.limit) / elapsed) if elapsed > 0 else 1.0

    def expected_s(self) -> float:
        """Return, for a computing job, the expected start of its next phase. Infinity without a prediction."""
        return math.inf if self.forecast is None else self.since_s + self.forecast.gap_s


@dataclass(slots=True)
class Grant:
    """Bandwidth of each job until the next phase begins or ends.

    Attributes:
        shares: bytes/s of each waiting job.
        order: indices of these jobs in the order of service.
    """

    shares: list[float]
    order: list[int] = field(default_factory=list)

    def starts(self, waiting: Sequence[JobState], capacity: float, now_s: float) -> list[float]:
        """Return the time at which each job gets bandwidth if no further phase begins.

        NaN if it depends on a job without a prediction.
        """
        starts = [now_s] * len(waiting)
        ahead = 0.0
        for place in self.order:
            if self.shares[place] <= 0:
                starts[place] = now_s + ahead / capacity
            left = waiting[place].remaining()
            ahead = math.nan if left is None else ahead + left
        return starts


class Policy(Protocol):
    """A function that shares the bandwidth; it keeps no state between decisions."""

    def __call__(
        self, waiting: Sequence[JobState], coming: Collection[JobState], capacity: float, now_s: float
    ) -> Grant:
        """Distribute the whole bandwidth, as far as the jobs can use it.

        Args:
            waiting: jobs in an I/O phase, in the order in which the phases began.
            coming: jobs that compute.
            capacity: bytes/s of the file system.
            now_s: current time.
        """
