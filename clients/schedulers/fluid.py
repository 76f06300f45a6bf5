"""Run jobs that compute and do I/O in turns under a policy: fluid sharing of one bandwidth, from event to event."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .policies import Policy, Request


@dataclass(frozen=True, slots=True)
class Job:
    """Iterations of compute seconds and then volume bytes, at most limit bytes/s, from start on."""

    compute: float
    volume: float
    iterations: int
    limit: float
    start: float = 0.0
    known: bool = True  # whether the policy is told the period

    @property
    def alone(self) -> float:
        """Seconds of one iteration without other jobs."""
        return self.compute + self.volume / self.limit


@dataclass(slots=True)
class Outcome:
    """What became of one job: seconds of I/O, its end, bytes moved, iterations done."""

    io_seconds: float = 0.0
    end: float = 0.0
    moved: float = 0.0
    done: int = 0

    def slowdown(self, job: Job) -> float:
        """I/O slowdown (Boito et al., IPDPS 2023): time in I/O over the time that it takes alone."""
        return self.io_seconds / (job.iterations * job.volume / job.limit)

    def progress(self, job: Job) -> float:
        """Yield: time alone over time elapsed; the stretch is its inverse."""
        return job.iterations * job.alone / (self.end - job.start)


def simulate(jobs: Sequence[Job], policy: Policy, capacity: float) -> list[Outcome]:
    """Run all jobs to their end; the policy is asked anew whenever a job begins or ends I/O."""
    if not capacity > 0 or any(
        not (j.compute >= 0 and j.volume > 0 and j.limit > 0 and j.iterations > 0) for j in jobs
    ):
        raise ValueError("capacity, volume, limit and iterations must be above 0, compute 0 or above")
    limits = [min(job.limit, capacity) for job in jobs]
    outcomes = [Outcome() for _ in jobs]
    begins = {i: job.start + job.compute for i, job in enumerate(jobs)}
    waiting: dict[int, float] = {}
    since = [0.0] * len(jobs)
    now = min(begins.values(), default=0.0)
    while begins or waiting:
        for i in [i for i, at in begins.items() if at <= now]:
            del begins[i]
            waiting[i], since[i] = jobs[i].volume, now
        places = sorted(waiting)
        requests = []
        for i in places:
            job, elapsed = jobs[i], now - jobs[i].start
            own = outcomes[i].done * job.alone + job.compute + (job.volume - waiting[i]) / limits[i]
            progress = min(1.0, own / elapsed) if elapsed > 0 else 1.0
            requests.append(Request(since[i], waiting[i], limits[i], job.alone if job.known else None, progress))
        shares = policy(requests, capacity) if places else []
        ends = [now + waiting[i] / share if share > 0 else math.inf for i, share in zip(places, shares, strict=True)]
        after = min([*begins.values(), *ends])
        for i, share, end in zip(places, shares, ends, strict=True):
            waiting[i] -= share * (after - now)
            if end <= after:
                del waiting[i]
                outcome = outcomes[i]
                outcome.io_seconds += after - since[i]
                outcome.moved += jobs[i].volume
                outcome.done += 1
                outcome.end = after
                if outcome.done < jobs[i].iterations:
                    begins[i] = after + jobs[i].compute
        now = after
    return outcomes
