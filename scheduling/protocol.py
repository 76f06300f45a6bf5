"""What a scheduler of I/O is told of jobs, and what it answers."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

LEAST_LEFT: Final = 0.02
"""Share of a phase's predicted volume that counts as left while the phase goes on beyond the prediction."""
_PHASES: Final = 8
_UNLIKE: Final = 0.5
"""Standard deviation of the logarithm of a job's volumes, as far as nothing else is known: counts as one phase."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is predicted of one I/O phase of a job.

    Attributes:
        period_s: mean time between starts of phases, which a scheduler may take for the iteration's length.
        volume: bytes of the phase.
        gap_s: time from the end of the phase before to the start of this one.
        drift: by which share of the period each interval is longer than the one before.
        confidence: probability that the period is right.
        next_confidence: probability that the phase starts when it is expected.
    """

    period_s: float
    volume: float
    gap_s: float
    drift: float = 0.0
    confidence: float = 1.0
    next_confidence: float = 1.0


class SeenPhases:
    """What a job's own latest phases say of the next one, whatever is predicted.

    Attributes:
        volume: geometric mean of their bytes; 0 before the first one.
        gap_s: mean time between them; None before the second one.
        error: standard deviation of the logarithm of the next volume over ``volume``.
    """

    __slots__ = ("_gaps", "_volumes", "error", "gap_s", "volume")

    def __init__(self) -> None:
        self._volumes: deque[float] = deque(maxlen=_PHASES)
        self._gaps: deque[float] = deque(maxlen=_PHASES)
        self.volume, self.error = 0.0, math.inf
        self.gap_s: float | None = None

    def add(self, volume: float, gap_s: float | None) -> None:
        """Takes in a phase that has ended, and the time between it and the one before, where that is known."""
        if volume <= 0:
            return
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
    """One job as a scheduler sees it; a job does I/O or computes.

    Attributes:
        number: place of the job among all jobs.
        limit: bytes/s that the job can take at most.
        start_s: when the job began.
        forecast: what is predicted of the phase that goes on or comes next; None without a prediction.
        since_s: start of the phase that goes on, or of the computation before the next one.
        moved: bytes of the phase that were moved.
        done_s: seconds that the job would have needed alone for all that it did before ``since_s``.
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
        """Returns the bytes that the phase still has to move as far as is predicted."""
        if self.forecast is None:
            return None
        return max(self.forecast.volume - self.moved, LEAST_LEFT * self.forecast.volume)

    def waiting_yield(self, now_s: float) -> float:
        """Returns, of a job in I/O, the time that it needs alone over the time elapsed, 0 to 1 [Sharing]."""
        elapsed = now_s - self.start_s
        return min(1.0, (self.done_s + self.moved / self.limit) / elapsed) if elapsed > 0 else 1.0

    def expected_s(self) -> float:
        """Returns, of a job that computes, when its next phase is expected; infinity without a prediction."""
        return math.inf if self.forecast is None else self.since_s + self.forecast.gap_s


@dataclass(slots=True)
class Grant:
    """Who gets what until the next phase begins or ends.

    Attributes:
        shares: bytes/s of each job that waits.
        order: places of these jobs, the first to be served first.
    """

    shares: list[float]
    order: list[int] = field(default_factory=list)

    def starts(self, waiting: Sequence[JobState], capacity: float, now_s: float) -> list[float]:
        """Returns when each job gets bandwidth if no further phase begins.

        NaN where that depends on a job without a prediction.
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
    """Decides who gets the bandwidth; keeps nothing from one decision to the next."""

    def __call__(
        self, waiting: Sequence[JobState], coming: Collection[JobState], capacity: float, now_s: float
    ) -> Grant:
        """Shares the bandwidth, all of it as far as the jobs can take it.

        Args:
            waiting: jobs in an I/O phase, in the order in which the phases began.
            coming: jobs that compute.
            capacity: bytes/s of the file system.
            now_s: the time.
        """
