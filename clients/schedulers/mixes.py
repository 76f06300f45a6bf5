"""Mixes of periodic jobs, drawn by a seed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from .fluid import Job
from .predictions import true_forecasts

MAX_PHASES: Final = 2_000_000
"""Maximum number of phases of all jobs together."""
_MIN_FACTOR: Final = 0.1
"""Least value of a drawn number, over its mean."""


@dataclass(frozen=True, slots=True)
class JobClass:
    """Similar jobs.

    Attributes:
        name: name in tables.
        count: number of jobs.
        period_s: mean length of an iteration alone.
        spread: standard deviation of the jobs' mean lengths over their mean.
        jitter: standard deviation of one job's gaps and volumes over their means.
        drift: growth of each gap over the previous one, as a share.
        weight: weight of the class in the load.
        uneven: whether each job's part is multiplied by a number drawn from 0 to 1.
        limit: bytes/s of each job; None for the capacity.
    """

    name: str
    count: int
    period_s: float
    spread: float = 0.0
    jitter: float = 0.0
    drift: float = 0.0
    weight: float = 1.0
    uneven: bool = False
    limit: float | None = None


def draw(classes: Sequence[JobClass], load: float, capacity: float, horizon_s: float, seed: int) -> list[Job]:
    """Draw jobs whose I/O alone needs ``load`` of the capacity.

    The length of an iteration is drawn from a normal distribution; values below a tenth of its mean are drawn again.
    Each job begins at a random point of its first computation.

    Raises:
        ValueError: a job would need more than its whole time for I/O, or there would be too many phases.
    """
    chance = random.Random(seed)  # noqa: S311  (no secret)
    rows = []
    for one in classes:
        for number in range(one.count):
            period = one.period_s * _random_factor(chance, one.spread)
            part = one.weight * (1.0 - chance.random() if one.uneven else 1.0)
            rows.append((f"{one.name}-{number + 1}", one, period, part))
    total = math.fsum(part for _, _, _, part in rows)
    expected = math.fsum(horizon_s / period + 2 for _, _, period, _ in rows)
    if expected > MAX_PHASES:
        raise ValueError(f"{expected:.3g} phases are more than {MAX_PHASES:,}: lower the duration")
    jobs = []
    for name, one, period, part in rows:
        limit = min(one.limit or capacity, capacity)
        duty = part / total * load * capacity / limit
        if duty > 1:
            raise ValueError(f"{name} would do I/O for {duty:.3g} of its time: lower the load or raise its limit")
        jobs.append(_job(name, one, (1 - duty) * period, duty * period * limit, limit, horizon_s, chance))
    return jobs


def _job(
    name: str, one: JobClass, gap_s: float, volume: float, limit: float, horizon_s: float, chance: random.Random
) -> Job:
    elapsed = chance.random() * gap_s
    gaps, volumes = [elapsed], [volume * _random_factor(chance, one.jitter)]
    elapsed += volumes[0] / limit
    while elapsed < horizon_s:
        gaps.append(gap_s * (1 + one.drift) ** len(gaps) * _random_factor(chance, one.jitter))
        volumes.append(volume * _random_factor(chance, one.jitter))
        elapsed += gaps[-1] + volumes[-1] / limit
        if len(gaps) > MAX_PHASES:
            raise ValueError(f"{name} has more than {MAX_PHASES:,} phases: lower the duration or the drift")
    forecasts = true_forecasts(gaps, volumes, limit)
    if one.drift:
        forecasts = tuple(replace(forecast, drift=one.drift) for forecast in forecasts)
    return Job(name, tuple(gaps), tuple(volumes), limit, forecasts, kind=one.name)


def _random_factor(chance: random.Random, spread: float) -> float:
    """Return a random number around 1."""
    while spread:
        if (drawn := chance.gauss(1, spread)) >= _MIN_FACTOR:
            return drawn
    return 1.0
