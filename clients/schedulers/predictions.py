"""Predictions of simulated jobs for schedulers: the truth, or late, wrong or missing ones."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from ...scheduling.protocol import Forecast
from .fluid import Job

_RIGHT = math.log(1.05)
_ON_TIME = 0.2


@dataclass(frozen=True, slots=True)
class Errors:
    """Deviations of predictions from the truth.

    Attributes:
        late: phases that pass before a job has predictions, and by which predictions are out of date.
        wrong: standard deviation of the logarithm of predicted over true periods and volumes, and of starts over the
            period.
        missing: share of the jobs without predictions.
    """

    late: int = 0
    wrong: float = 0.0
    missing: float = 0.0

    def __post_init__(self) -> None:
        if self.late < 0 or not 0 <= self.wrong < math.inf or not 0 <= self.missing <= 1:
            raise ValueError("late and wrong must be 0 or above, missing 0 to 1")


def true_forecasts(gaps_s: Sequence[float], volumes: Sequence[float], limit: float) -> tuple[Forecast, ...]:
    """Return the truth of each phase. The period is the mean length of an iteration without other jobs."""
    iterations = [gap + volume / limit for gap, volume in zip(gaps_s, volumes, strict=True)]
    # the computation before the first phase may be cut
    usual = iterations[1:] or iterations
    period = max(math.fsum(usual) / len(usual), 1e-9)
    shared: dict[tuple[float, float], Forecast] = {}
    return tuple(
        shared.setdefault((gap, volume), Forecast(period, volume, gap))
        for gap, volume in zip(gaps_s, volumes, strict=True)
    )


def add_errors(jobs: Sequence[Job], errors: Errors, seed: int) -> list[Job]:
    """Return the same jobs, with errors applied to their predictions.

    Probabilities are those of a calibrated predictor: of a period within 5 % of the true one, and of a start within a
    fifth of a period. The errors of a job depend only on the seed and its index.
    """
    if errors == Errors():
        return list(jobs)
    changed = []
    for place, job in enumerate(jobs):
        chance = random.Random(f"{seed} {place}")  # noqa: S311  (no secret)
        missing = chance.random() < errors.missing
        forecasts: list[Forecast | None] = [None] * min(errors.late, len(job.forecasts))
        forecasts += job.forecasts[: len(job.forecasts) - len(forecasts)]
        if missing:
            forecasts = [None] * len(forecasts)
        elif errors.wrong:
            forecasts = _scaled(forecasts, errors.wrong, chance)
        changed.append(replace(job, forecasts=tuple(forecasts)))
    return changed


def _scaled(forecasts: Sequence[Forecast | None], spread: float, chance: random.Random) -> list[Forecast | None]:
    period, volume = (math.exp(chance.gauss(0, spread)) for _ in range(2))
    confidence, next_confidence = (2 * NormalDist().cdf(within / spread) - 1 for within in (_RIGHT, _ON_TIME))
    return [
        None
        if one is None
        else Forecast(
            one.period_s * period,
            one.volume * volume,
            max(0.0, one.gap_s + chance.gauss(0, spread) * one.period_s),
            one.drift,
            min(one.confidence, confidence),
            min(one.next_confidence, next_confidence),
        )
        for one in forecasts
    ]
