"""The same jobs under several policies, as public results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, geometric_mean
from typing import Final

from ...results.schedule import PolicyResult, SimulatedJob
from .fluid import Job, Outcome, Recorder, simulate
from .policies import fair_share, fcfs, lowest_yield, set10
from .protocol import Policy
from .volume_first import FAIRNESS, volume_first

OURS: Final = "volume-first"
POLICIES: Final[Mapping[str, Policy]] = {
    "fair-share": fair_share,
    "fcfs": fcfs,
    "set-10": set10,
    "lowest-yield": lowest_yield,
}
POLICY_NAMES: Final = (*POLICIES, OURS)


def policy_named(text: str) -> tuple[str, Policy]:
    """Returns a policy by its name; ours may carry its fairness behind a colon.

    >>> policy_named("volume-first:4")[0]
    'volume-first:4'

    Raises:
        ValueError: there is no such policy.
    """
    name, _, number = text.partition(":")
    if name == OURS:
        try:
            return text, volume_first(float(number) if number else FAIRNESS)
        except ValueError:
            raise ValueError(f"{text!r}: expected {OURS} or {OURS}:FAIRNESS with a number from 0 on") from None
    if text not in POLICIES:
        raise ValueError(f"{text!r}: expected one of {', '.join(POLICY_NAMES)}, or {OURS}:FAIRNESS")
    return text, POLICIES[text]


def load_of(jobs: Sequence[Job], capacity: float) -> float:
    """Returns the bandwidth that jobs need, each at its own pace, over the capacity."""
    return math.fsum(_rate(job, capacity) for job in jobs) / capacity


def longest_alone_s(jobs: Sequence[Job], capacity: float) -> float:
    """Returns when the last job would end if each ran alone."""
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
    """Runs jobs under one policy and sums up what became of them."""
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
    """Returns the mean bandwidth of a job alone over whole iterations, where there is more than one."""
    if len(job.volumes) == 1:
        return job.volumes[0] / _alone_s(job, capacity)
    moved = math.fsum(job.volumes[1:])
    return moved / (math.fsum(job.gaps_s[1:]) + moved / min(job.limit, capacity))
