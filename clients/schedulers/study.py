"""Simulation of the same jobs under several policies, as public results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean, geometric_mean

from ...results.schedule import PolicyResult, SimulatedJob
from ...scheduling.protocol import Policy
from .fluid import Job, Outcome, Recorder, simulate


def load_of(jobs: Sequence[Job], capacity: float) -> float:
    """Return the bandwidth that jobs need at their own pace, over the capacity."""
    return math.fsum(_rate(job, capacity) for job in jobs) / capacity


def end_alone_s(jobs: Sequence[Job], capacity: float) -> float:
    """Return the end of the last job if each ran alone."""
    return max(job.start_s + _alone_s(job, capacity) for job in jobs)


def run(
    name: str,
    policy: Policy,
    jobs: Sequence[Job],
    capacity: float,
    horizon_s: float = math.inf,
    *,
    record: Recorder | None = None,
    progress: Callable[[float], None] | None = None,
) -> PolicyResult:
    """Run jobs under one policy and summarise the outcomes."""
    outcomes = simulate(jobs, policy, capacity, horizon_s, record=record, progress=progress)
    slowdowns = [each.io_slowdown for each in outcomes if each.io_slowdown is not None]
    yields = [each.job_yield for each in outcomes]
    return PolicyResult(
        policy=name,
        io_slowdown=fmean(slowdowns) if slowdowns else None,
        io_slowdown_geometric=geometric_mean(slowdowns) if slowdowns else None,
        io_slowdown_highest=max(slowdowns, default=None),
        yield_lowest=min(yields),
        yield_mean=fmean(yields),
        utilisation=fmean(each.utilisation for each in outcomes),
        elapsed_s=max(job.start_s + each.elapsed_s for job, each in zip(jobs, outcomes, strict=True)),
        jobs=[_job(job, each) for job, each in zip(jobs, outcomes, strict=True)],
    )


def _job(job: Job, outcome: Outcome) -> SimulatedJob:
    return SimulatedJob(
        job=job.name,
        kind=job.kind,
        predicted=any(each is not None for each in job.forecasts),
        phases=outcome.phases,
        bytes_moved=outcome.moved,
        io_slowdown=outcome.io_slowdown,
        job_yield=outcome.job_yield,
        utilisation=min(1.0, outcome.utilisation),
        elapsed_s=outcome.elapsed_s,
        finished=outcome.finished,
    )


def _alone_s(job: Job, capacity: float) -> float:
    return math.fsum(job.gaps_s) + math.fsum(job.volumes) / min(job.limit, capacity) + job.tail_s


def _rate(job: Job, capacity: float) -> float:
    """Return the mean bandwidth of a job alone; over whole iterations if there are several."""
    if len(job.volumes) == 1:
        return job.volumes[0] / _alone_s(job, capacity)
    moved = math.fsum(job.volumes[1:])
    return moved / (math.fsum(job.gaps_s[1:]) + moved / min(job.limit, capacity))
