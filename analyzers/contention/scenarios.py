"""Scenarios: phases of jobs drawn from their predictions, and their course on a shared bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ...results.prediction import Who

Floats = npt.NDArray[np.float64]
_DONE: Final = 1e-9  # tolerance of simulated times, s


@dataclass(frozen=True, slots=True)
class Expected:
    """Expectation for a job on one file system in one of its periods. Times are seconds from now.

    Attributes:
        job: job name.
        rate: bandwidth of the job alone, bytes/s.
        start: start of the next phase.
        start_deviation: standard deviation of the start, and of each further compute time.
        on_time: probability that the prediction holds; otherwise the next phase comes anywhere in a period.
        period: mean time between starts of phases.
        period_deviation: standard deviation of the mean.
        growth: relative growth of each period over the one before.
        volume, volume_deviation: bytes per phase.
        under_way: remaining bytes of the phase in progress; 0 if there is none.
        phases: number of phases considered.
        who: members of the job with this period; None for all.
        gap: compute time from the end of a phase to the start of the next one; None if phases follow a timer.
        gap_deviation: standard deviation of each gap.
        unseen: time that the next phase may have lasted already without a known call, s.
        known_until: end of the last known call.
        extra: additional time before each phase, as across a rest between shifts; empty if there is none.
    """

    job: str
    rate: float
    start: float
    start_deviation: float
    on_time: float
    period: float
    period_deviation: float
    growth: float
    volume: float
    volume_deviation: float
    under_way: float
    phases: int
    who: Who | None = None
    gap: float | None = None
    gap_deviation: float = 0.0
    unseen: float = 0.0
    known_until: float = 0.0
    extra: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenarios:
    """Outcome of the phases, each array of shape [scenarios, jobs, phases]. Phase 0 is the one in progress.

    Attributes:
        start, end: seconds from now; NaN for missing phases.
        delay: additional duration over the job alone, s.
    """

    start: Floats
    end: Floats
    delay: Floats


def draw_scenarios(
    jobs: Sequence[Expected], capacity: float | None, horizon: float, count: int, seed: int
) -> Scenarios:
    """Draw scenarios and simulate them.

    A job with a cycle keeps its compute times between phases, another one the times from start to start. Both keep
    their volumes. The duration of a phase depends on all jobs, which share the capacity max-min fairly.

    Args:
        jobs: expectation for each job.
        capacity: bytes/s; None if unknown, which means no delays.
        horizon: latest start of considered phases, s.
        count: number of scenarios.
        seed: random seed; the result is reproducible.
    """
    generator = np.random.default_rng(seed)
    most = max((job.phases for job in jobs), default=0)
    gaps, volumes = np.full((count, len(jobs), most), np.inf), np.zeros((count, len(jobs), most + 1))
    for number, job in enumerate(jobs):
        gaps[:, number, : job.phases], volumes[:, number, 1 : job.phases + 1] = _draw(job, count, generator)
        volumes[:, number, 0] = job.under_way
    follows = np.array([job.gap is not None for job in jobs], np.bool_)
    begun = np.minimum(gaps[:, :, 0], 0.0) if most else np.zeros((count, len(jobs)))
    begun[volumes[:, :, 0] > 0] = 0.0  # no phase begins before the one in progress has ended
    outcome = _simulate(
        np.maximum(gaps, 0.0), volumes, np.array([job.rate for job in jobs]), capacity, horizon, follows
    )
    if most:  # phases that may have begun already are simulated from now on
        outcome.start[:, :, 1] += begun
    return outcome


def _draw(job: Expected, count: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Return times before each phase and volumes, float[count, phases].

    The times are those of computing, or without a cycle those from start to start. The first one counts from now on.
    """
    phases = np.arange(job.phases)
    volume = np.maximum(
        job.volume + job.volume_deviation * generator.standard_normal((count, job.phases)), 0.01 * job.volume
    )
    if job.gap is not None:
        return _following(job, job.gap, count, generator), volume
    lasting = job.period + job.period_deviation * generator.standard_normal((count, 1))
    lasting = lasting * (1 + job.growth * phases) + (np.array(job.extra) if job.extra else 0.0)
    gaps = np.maximum(lasting + job.start_deviation * generator.standard_normal((count, job.phases)), 0.0)
    gaps[:, 0] = _first(job, job.start + job.start_deviation * generator.standard_normal(count), generator)
    return gaps, volume


def _following(job: Expected, gap: float, count: int, generator: np.random.Generator) -> Floats:
    """Return the compute times of a job with a cycle."""
    mean = (
        gap
        + job.period_deviation * generator.standard_normal((count, 1))
        + job.growth * job.period * np.arange(job.phases)
    )
    gaps = mean + job.gap_deviation * generator.standard_normal((count, job.phases))
    positive = np.maximum(gaps, 0.0)
    if job.under_way <= 0:  # the first gap has begun: start is its remainder
        positive[:, 0] = _first(job, gaps[:, 0] + job.start - gap, generator)
    return positive


def _first(job: Expected, first: Floats, generator: np.random.Generator) -> Floats:
    """Return the start of the next phase, given that no call of it is known yet. The period may be wrong."""
    behind = first < -job.unseen  # earlier starts are drawn again from later ones
    first[behind] = np.abs(first[behind] + job.unseen) * generator.random(int(behind.sum())) - job.unseen
    wrong = generator.random(len(first)) >= job.on_time
    first[wrong] = generator.random(int(wrong.sum())) * job.period
    return first


def _simulate(
    gaps: Floats,
    volumes: Floats,
    limits: Floats,
    capacity: float | None,
    horizon: float,
    follows: npt.NDArray[np.bool_],
) -> Scenarios:
    count, jobs, most = gaps.shape
    shape = (count, jobs, most + 1)
    starts, ends = np.full(shape, np.nan), np.full(shape, np.nan)
    now = np.zeros((count, 1))
    left = volumes[:, :, 0].copy()
    active = left > 0
    starts[:, :, 0][active] = 0.0
    phase = np.zeros((count, jobs), np.int64)
    # A phase either follows the end of the one before, or has a time of its own. Then it waits for that end.
    gaps = np.concatenate([gaps, np.full((count, jobs, 1), np.inf)], axis=2)
    due = gaps[:, :, 0].copy()
    planned = due.copy()
    for _ in range(2 * jobs * (most + 1)):
        rates = shares(active, limits, capacity)
        with np.errstate(divide="ignore", invalid="ignore"):
            ending = np.where(active, now + left / rates, np.inf)
        begins = np.where(active, np.inf, due)
        step = np.minimum(ending.min(axis=1, initial=np.inf), begins.min(axis=1, initial=np.inf))[:, None]
        going = np.isfinite(step) & (step <= horizon)
        if not going.any():
            break
        step = np.where(going, step, now)
        left = np.where(active, np.maximum(left - rates * (step - now), 0.0), left)
        now = step
        ended = going & active & (ending <= now + _DONE)
        begun = going & ~active & (begins <= now + _DONE)
        for rows, times in ((ended, ends), (begun, starts)):
            scenario, job = np.nonzero(rows)
            if rows is begun:
                phase[rows] += 1
                left[rows] = volumes[scenario, job, phase[rows]]
            times[scenario, job, phase[rows]] = now[scenario, 0]
        following = np.take_along_axis(gaps, phase[:, :, None], axis=2)[:, :, 0]
        planned = np.where(begun, planned + following, planned)
        due = np.where(ended, np.where(follows, now + following, np.maximum(planned, now)), due)
        active = (active & ~ended) | begun
    with np.errstate(invalid="ignore"):
        delay = ends - starts - volumes / limits[None, :, None]
    return Scenarios(starts, ends, delay)


def shares(active: npt.NDArray[np.bool_], limits: Floats, capacity: float | None) -> Floats:
    """Return the bandwidth of each job, float[scenarios, jobs], max-min fair: equal shares, limited per job."""
    wanted = np.where(active, limits, 0.0)
    crowded = np.flatnonzero(wanted.sum(axis=1) > capacity) if capacity is not None else np.zeros(0, np.intp)
    if capacity is None or not len(crowded):
        return wanted
    if len(crowded) < len(active):
        wanted[crowded] = shares(active[crowded], limits, capacity)
        return wanted
    order = np.argsort(limits)
    rates, free, waiting = np.zeros(active.shape), np.full(len(active), capacity), active.sum(axis=1)
    for job in order.tolist():
        here = active[:, job]
        rates[here, job] = np.minimum(limits[job], free[here] / np.maximum(waiting[here], 1))
        free = free - rates[:, job]
        waiting = waiting - here
    return rates
