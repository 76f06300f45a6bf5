"""Simulated jobs that share file systems: true slowdowns between jobs, and the part that a collector would see."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from iotide.analyzers.contention.loads import JobView
from iotide.results.jobs.file_systems import FileSystemUse, IoPhase, JobFileSystems
from iotide.results.jobs.job import JobSummary
from iotide.results.prediction import Prediction

CALL_BYTES = 2**20
T0 = 1_700_000_000.0


@dataclass(frozen=True)
class MixedJob:
    """A job that alternates between compute and I/O on one file system."""

    name: str
    file_system: str
    gap_s: float
    volume: float
    limit: float
    jitter: float = 0.0
    start_s: float = 0.0
    hidden: bool = False
    """Whether no collector sees the job."""
    lost: float = 0.0
    """Share of its calls that is lost before the aggregator."""


@dataclass
class JobOutcome:
    """Outcome of a job.

    Attributes:
        phases: start, end and bytes of each.
        crowded: by other job, seconds in which both did I/O and the total demand exceeded the bandwidth.
        together: by other job, seconds in which both did I/O.
    """

    job: MixedJob
    phases: list[tuple[float, float, float]] = field(default_factory=list)
    crowded: dict[str, float] = field(default_factory=dict)
    together: dict[str, float] = field(default_factory=dict)


def simulate(jobs: Sequence[MixedJob], capacity: dict[str, float], until_s: float, seed: int) -> list[JobOutcome]:
    """Simulate jobs event by event; jobs in I/O on one file system share its bandwidth max-min fairly."""
    chance = random.Random(seed)
    done = [JobOutcome(job) for job in jobs]
    left: list[float] = [0.0] * len(jobs)
    due = [job.start_s + chance.random() * job.gap_s for job in jobs]
    begun = [0.0] * len(jobs)
    volume = [0.0] * len(jobs)
    now = 0.0
    while now < until_s:
        active = [at for at in range(len(jobs)) if left[at] > 0]
        rates = _rates(jobs, active, capacity)
        ends = {at: now + left[at] / rates[at] for at in active}
        step = min([*ends.values(), *(due[at] for at in range(len(jobs)) if left[at] <= 0)])
        for at in active:
            left[at] -= rates[at] * (step - now)
            for other in active:
                if other != at and jobs[other].file_system == jobs[at].file_system:
                    _note(done[at], jobs, active, other, step - now, capacity)
        now = step
        for at, job in enumerate(jobs):
            if at in ends and ends[at] <= now + 1e-9:
                left[at] = 0.0
                done[at].phases.append((begun[at], now, volume[at]))
                due[at] = now + job.gap_s * math.exp(chance.gauss(0, job.jitter))
            elif at not in ends and due[at] <= now + 1e-9:
                volume[at] = left[at] = job.volume * math.exp(chance.gauss(0, job.jitter / 2))
                begun[at] = now
    return done


def _note(
    done: JobOutcome,
    jobs: Sequence[MixedJob],
    active: Sequence[int],
    other: int,
    lasting: float,
    capacity: dict[str, float],
) -> None:
    name = jobs[other].name
    done.together[name] = done.together.get(name, 0.0) + lasting
    there = done.job.file_system
    if sum(jobs[at].limit for at in active if jobs[at].file_system == there) > capacity[there]:
        done.crowded[name] = done.crowded.get(name, 0.0) + lasting


def _rates(jobs: Sequence[MixedJob], active: Sequence[int], capacity: dict[str, float]) -> dict[int, float]:
    rates: dict[int, float] = {}
    for name, free in capacity.items():
        here = sorted((at for at in active if jobs[at].file_system == name), key=lambda at: jobs[at].limit)
        for number, at in enumerate(here):
            rates[at] = min(jobs[at].limit, free / (len(here) - number))
            free -= rates[at]
    return rates


def observed_until(done: JobOutcome, now_s: float) -> JobOutcome:
    """Return the part of a job that has happened until then, with the current phase as far as it is complete."""
    rows = [
        (start, min(end, now_s), volume * (min(end, now_s) - start) / (end - start))
        for start, end, volume in done.phases
        if start < now_s
    ]
    return replace(done, phases=rows)


def view_of(done: JobOutcome, seed: int, *, noise: float = 0.1, prediction: Prediction | None = None) -> JobView:
    """Return the public results of a job; lost calls are missing in its phases, and counted as lost."""
    chance = random.Random(f"{seed} {done.job.name}")
    phases, lost, calls = [], 0, 0
    for start, end, volume in done.phases:
        count = max(1, round(volume / CALL_BYTES))
        gone = sum(chance.random() < done.job.lost for _ in range(count))
        lost += gone
        calls += count - gone
        if kept := count - gone:
            share = kept / count
            phases.append(
                IoPhase(
                    start_s=T0 + start,
                    end_s=T0 + end,
                    bytes_read=0,
                    bytes_written=int(volume * share),
                    calls=kept,
                    seconds=(end - start) * share * math.exp(chance.gauss(0, noise)),
                )
            )
    use = FileSystemUse(
        file_system=done.job.file_system,
        place="shared",
        bytes_read=0,
        bytes_written=sum(phase.bytes_written for phase in phases),
        calls=calls,
        seconds=sum(phase.seconds for phase in phases),
        metadata_calls=0,
        metadata_seconds=0.0,
        phases=phases[-512:],
    )
    summary = JobSummary(
        job=done.job.name,
        state="running",
        hosts=["n1"],
        streams=1,
        ranks=1,
        first_event_at_s=T0,
        last_event_at_s=phases[-1].end_s if phases else None,
        events=calls,
        bytes_read=0,
        bytes_written=use.bytes_written,
        bandwidth=0.0,
        events_dropped=lost,
        losses={"events_dropped:test": lost} if lost else {},
        complete=not lost,
        predictions=0,
    )
    files = JobFileSystems(job=done.job.name, gap_s=0.25, file_systems=[use])
    return JobView(summary, files, prediction)


def random_mix(seed: int) -> tuple[list[MixedJob], dict[str, float]]:
    """Return jobs of two file systems: some slow down no other job, some are hidden, some lose calls."""
    chance = random.Random(seed)
    capacity = {"a": 1e9, "b": 5e8}
    jobs = []
    for number in range(chance.randint(3, 9)):
        name = chance.choice(["a", "a", "b"])
        period = 10 ** chance.uniform(0.7, 1.8)
        limit = capacity[name] * chance.choice([0.05, 0.3, 0.6, 1.0])
        duty = chance.uniform(0.02, 0.35)
        jitter = chance.choice([0.0, 0.05, 0.3])
        jobs.append(
            MixedJob(
                f"job{number}", name, period * (1 - duty), limit * period * duty, limit, jitter,
                hidden=chance.random() < 0.2, lost=chance.choice([0.0, 0.0, 0.0, 0.05, 0.3]),
            )
        )  # fmt: skip
    return jobs, capacity


def without_losses(jobs: Sequence[MixedJob]) -> list[MixedJob]:
    """Return the same jobs, all of them visible and complete."""
    return [replace(job, hidden=False, lost=0.0) for job in jobs]
