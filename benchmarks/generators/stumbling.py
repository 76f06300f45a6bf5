"""Jobs with an irregular period: they pause, drift, miss phases, are slowed down, or consist of two programs.

Every constant of a kind is drawn anew for each job.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from iotide.benchmarks.generators.semisynthetic import Times, Trace, trace

_REQUESTS: Final = 24
_BYTES: Final = 1e7


@dataclass(frozen=True)
class Stumbling:
    """A job and its ground truth.

    Attributes:
        trace: its requests; ``starts_s`` are those of all phases.
        period_s: the distance of undisturbed phases; at the end, if it drifts.
        expected_s: for each phase but the first, the start that an oracle would expect that knows the generator and all
            phases before, s.
        periods_s: of each program of the job, s.
    """

    trace: Trace
    period_s: float
    expected_s: Times
    periods_s: tuple[float, ...]


Maker = Callable[[int], Stumbling]


def paused(seed: int) -> Stumbling:
    """Twenty phases, one pause of three to forty periods, twenty phases."""
    rng = np.random.default_rng(seed)
    period = float(rng.uniform(10, 60))
    count = int(rng.integers(15, 25))
    starts = 3 + period * np.arange(2 * count) + rng.normal(0, 0.01 * period, 2 * count)
    starts[count:] += float(rng.uniform(3, 40)) * period
    return _job(rng, starts, _lengths(rng, period, len(starts)), period, starts[:-1] + period)


def missing_and_late(seed: int) -> Stumbling:
    """A tenth of the phases are missing; a twentieth is one period late and delays all later phases."""
    rng = np.random.default_rng(seed)
    period = float(rng.uniform(10, 60))
    steps = np.ones(60)
    chance = rng.uniform(size=60)
    steps[chance < 0.1] = 2
    steps[chance > 0.95] = 2
    starts = 3 + period * np.cumsum(steps) + rng.normal(0, 0.01 * period, 60)
    return _job(rng, starts, _lengths(rng, period, 60), period, starts[:-1] + period)


def congested(seed: int) -> Stumbling:
    """Every fourth phase takes four times as long; the compute time between phases is fixed."""
    rng = np.random.default_rng(seed)
    compute = float(rng.uniform(8, 40))
    length = compute * float(rng.uniform(0.1, 0.4)) * rng.normal(1, 0.03, 40)
    length[int(rng.integers(4)) :: 4] *= 4
    starts = 3 + np.concatenate([[0.0], np.cumsum(compute * rng.normal(1, 0.01, 39) + length[:-1])])
    return _job(rng, starts, length, float(np.diff(starts).mean()), starts[:-1] + length[:-1] + compute)


def drifting(seed: int, growth: float) -> Stumbling:
    """The period increases by a constant share per iteration."""
    rng = np.random.default_rng(seed)
    periods = float(rng.uniform(10, 40)) * (1 + growth) ** np.arange(40)
    starts = 3 + np.concatenate([[0.0], np.cumsum(periods[:-1] * rng.normal(1, 0.005, 39))])
    return _job(rng, starts, _lengths(rng, periods[0], 40), float(periods[-1]), starts[:-1] + periods[:-1])


def two_programs(seed: int) -> Stumbling:
    """Two programs with periods without a simple ratio; each has its own phases."""
    rng = np.random.default_rng(seed)
    first = float(rng.uniform(12, 30))
    second = first * float(rng.uniform(1.55, 1.85))
    made = []
    for period in (first, second):
        count = int(900 / period)
        starts = float(rng.uniform(1, period)) + period * np.arange(count) * rng.normal(1, 0.002)
        made.append(_job(rng, starts, _lengths(rng, period, count, most=0.1), period, starts[:-1] + period))
    one, other = (each.trace for each in made)
    whole = Trace(
        np.concatenate([one.start_s, other.start_s]),
        np.concatenate([one.end_s, other.end_s]),
        np.concatenate([one.volume, other.volume]),
        one.starts_s,
        np.concatenate([one.phase, np.full(len(other.phase), -1)]),
    )
    return Stumbling(whole, first, made[0].expected_s, (first, second))


def doubled(seed: int) -> Stumbling:
    """A tenth of the phases are repeated at once."""
    rng = np.random.default_rng(seed)
    period = float(rng.uniform(15, 60))
    regular = 3 + period * np.arange(40) + rng.normal(0, 0.01 * period, 40)
    length = _lengths(rng, period, 40, most=0.08)
    again = np.flatnonzero(rng.uniform(size=40) < 0.1)
    behind = regular[again] + length[again] + float(rng.uniform(0.05, 0.12)) * period
    starts = np.concatenate([regular, behind])
    order = np.argsort(starts)
    made = _job(rng, starts[order], np.concatenate([length, length[again]])[order], period, np.zeros(0))
    number = np.concatenate([np.arange(40), again])[order]
    return Stumbling(made.trace, period, regular[number[:-1]] + period, (period,))


def busy(seed: int) -> Stumbling:
    """I/O takes most of the time."""
    rng = np.random.default_rng(seed)
    period = float(rng.uniform(10, 60))
    starts = 3 + period * np.arange(30) + rng.normal(0, 0.005 * period, 30)
    length = period * float(rng.uniform(0.88, 0.95)) * np.ones(30)
    return _job(rng, starts, length, period, starts[:-1] + period)


def uneven(seed: int, volume_jitter: float) -> Stumbling:
    """Volume and length of phases vary together, and the distances between them by 30 %."""
    rng = np.random.default_rng(seed)
    period = float(rng.uniform(10, 60))
    distance = period * np.maximum(rng.normal(1, 0.3, 39), 0.3)
    starts = 3 + np.concatenate([[0.0], np.cumsum(distance)])
    scale = np.maximum(rng.normal(1, volume_jitter, 40), 0.15)
    length = np.minimum(0.2 * period * scale, 0.9 * np.append(distance, period))
    return _job(rng, starts, length, float(distance.mean()), starts[:-1] + period, scale)


def cut_off(seed: int) -> Stumbling:
    """The first seconds are missing, so that it starts within a phase."""
    rng = np.random.default_rng(seed)
    period = float(rng.uniform(10, 60))
    length = _lengths(rng, period, 20, most=0.4)
    starts = period * np.arange(20) - float(rng.uniform(0.2, 0.8)) * length[0]
    whole = _job(rng, starts, length, period, starts[:-1] + period).trace
    kept = whole.start_s >= 0
    left = Trace(whole.start_s[kept], whole.end_s[kept], whole.volume[kept], starts, whole.phase[kept])
    return Stumbling(left, period, starts[:-1] + period, (period,))


def jittered(seed: int, relative_sigma: float) -> Stumbling:
    """Compute times with a deviation of one or two times their mean (after the paper's Section 5)."""
    made = trace(seed, relative_sigma=relative_sigma)
    mean = made.period_s
    return Stumbling(made, mean, made.starts_s[:-1] + mean, (mean,))


KINDS: Final[dict[str, Maker]] = {
    "one long pause": paused,
    "missing and late phases": missing_and_late,
    "congestion": congested,
    "period grows by 1 %": lambda seed: drifting(seed, 0.01),
    "period grows by 3 %": lambda seed: drifting(seed, 0.03),
    "two programs": two_programs,
    "doubled phases": doubled,
    "busy most of the time": busy,
    "uneven by 30 %": lambda seed: uneven(seed, 0.3),
    "uneven by 60 %": lambda seed: uneven(seed, 0.6),
    "start cut off": cut_off,
    "sigma/mu 1": lambda seed: jittered(seed, 1.0),
    "sigma/mu 2": lambda seed: jittered(seed, 2.0),
}


def _lengths(rng: np.random.Generator, period: float, count: int, most: float = 0.3) -> Times:
    return period * float(rng.uniform(0.03, most)) * rng.normal(1, 0.05, count)


def _job(
    rng: np.random.Generator,
    starts: Times,
    lengths: Times,
    period_s: float,
    expected_s: Times,
    scale: Sequence[float] | Times | None = None,
) -> Stumbling:
    """Cut each phase into requests that fill it except for short gaps."""
    edges = starts[:, None] + np.linspace(0, 1, _REQUESTS + 1) * lengths[:, None]
    volume = _BYTES * rng.normal(1, 0.03, len(starts)) * (1.0 if scale is None else np.asarray(scale))
    made = Trace(
        edges[:, :-1].ravel(),
        (edges[:, :-1] + 0.98 * np.diff(edges, axis=1)).ravel(),
        np.repeat(volume / _REQUESTS, _REQUESTS),
        starts,
        np.repeat(np.arange(len(starts)), _REQUESTS),
    )
    return Stumbling(made, period_s, expected_s, (period_s,))
