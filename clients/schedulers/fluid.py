"""A fluid model of one bandwidth. Jobs alternate between computation and I/O, and a policy shares the bandwidth.

Rates change only when a phase begins or ends. The model therefore advances from event to event and is exact, without
time steps.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...scheduling.protocol import Forecast, JobState, Policy

Recorder = Callable[[float, float, Sequence[JobState], Sequence[float]], None]
"""Callback with start and end of an interval, the jobs in I/O and their bytes/s."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job that alternates between computation and I/O.

    Attributes:
        name: name in tables.
        gaps_s: seconds of computation before each I/O phase.
        volumes: bytes of each phase.
        limit: highest rate that the job can use, bytes/s.
        forecasts: prediction of each phase for the scheduler; None without a prediction.
        start_s: start of the job.
        tail_s: seconds of computation after the last phase.
        kind: class of jobs in tables.
    """

    name: str
    gaps_s: tuple[float, ...]
    volumes: tuple[float, ...]
    limit: float
    forecasts: tuple[Forecast | None, ...]
    start_s: float = 0.0
    tail_s: float = 0.0
    kind: str = ""

    def __post_init__(self) -> None:
        numbers = (*self.gaps_s, *self.volumes, self.limit, self.start_s, self.tail_s)
        if not (
            len(self.gaps_s) == len(self.volumes) == len(self.forecasts) > 0
            and all(map(math.isfinite, numbers))
            and min(*self.gaps_s, self.tail_s) >= 0
            and min(self.limit, *self.volumes) > 0
        ):
            raise ValueError(f"{self.name}: volumes and limit must be above 0, gaps 0 or above, all of them finite")


@dataclass(slots=True)
class Outcome:
    """Result of one job until its end or the horizon.

    Attributes:
        io_s: seconds in I/O phases.
        io_alone_s: seconds that the completed I/O takes without other jobs.
        compute_s: seconds of computation.
        elapsed_s: seconds since the job began.
        moved: bytes.
        phases: phases that ended.
        left_alone_s: seconds without other jobs for the rest of the phase that the horizon cut.
        finished: whether the job ended before the horizon.
    """

    io_s: float = 0.0
    io_alone_s: float = 0.0
    compute_s: float = 0.0
    elapsed_s: float = 0.0
    moved: float = 0.0
    phases: int = 0
    left_alone_s: float = 0.0
    finished: bool = False

    @property
    def io_slowdown(self) -> float | None:
        """Time in I/O over the time that it takes alone [IO-Sets]; None without I/O.

        The rest of a phase that the horizon cuts counts as moved without other jobs.
        """
        alone = self.io_alone_s + self.left_alone_s
        return max(1.0, (self.io_s + self.left_alone_s) / alone) if alone > 0 else None

    @property
    def job_yield(self) -> float:
        """Time that the completed work takes alone over the elapsed time [Sharing]. Its inverse is the stretch."""
        return min(1.0, (self.compute_s + self.io_alone_s) / self.elapsed_s) if self.elapsed_s > 0 else 1.0

    @property
    def utilisation(self) -> float:
        """Share of the elapsed time in which the job computed."""
        return self.compute_s / self.elapsed_s if self.elapsed_s > 0 else 1.0


def simulate(
    jobs: Sequence[Job],
    policy: Policy,
    capacity: float,
    horizon_s: float = math.inf,
    *,
    record: Recorder | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Outcome]:
    """Run jobs to their ends or to a horizon. The policy decides when a phase begins or ends.

    Args:
        jobs: the jobs.
        policy: the policy.
        capacity: bytes/s that all jobs share.
        horizon_s: end of the simulation.
        record: callback for each interval with constant rates.
        progress: callback with the simulated time, at intervals.

    Raises:
        ValueError: the capacity is not above 0, or the policy gives no bandwidth to waiting jobs.
    """
    if not 0 < capacity < math.inf:
        raise ValueError(f"capacity {capacity}: expected a finite number of bytes/s above 0")
    outcomes = [Outcome() for _ in jobs]
    states = [JobState(i, min(job.limit, capacity), job.start_s, since_s=job.start_s) for i, job in enumerate(jobs)]
    left = [0.0] * len(jobs)
    agenda: list[tuple[float, int, int]] = []
    waiting: list[JobState] = []
    coming: dict[int, JobState] = {}
    steps = 0
    for i, job in enumerate(jobs):
        states[i].forecast = job.forecasts[0]
        coming[i] = states[i]
        agenda.append((job.start_s + job.gaps_s[0], i, 0))
    heapq.heapify(agenda)
    now = 0.0
    while agenda or waiting:
        if waiting:
            shares = policy(waiting, coming.values(), capacity, now).shares
            ends = [
                now + left[state.number] / share if share > 0 else math.inf
                for state, share in zip(waiting, shares, strict=True)
            ]
            after = min(ends)
        else:
            shares, ends, after = [], [], math.inf
        if agenda:
            after = min(after, agenda[0][0])
        if after == math.inf:
            raise ValueError("the policy gives nothing to jobs that wait")
        after = min(after, horizon_s)
        if record is not None and after > now:
            record(now, after, waiting, shares)
        still = []
        for state, share, end in zip(waiting, shares, ends, strict=True):
            number = state.number
            if end <= after:
                _end_phase(jobs[number], outcomes[number], state, after)
                if outcomes[number].phases < len(jobs[number].volumes):
                    coming[number] = state
                    heapq.heappush(agenda, (after + jobs[number].gaps_s[outcomes[number].phases], number, 0))
                elif jobs[number].tail_s > 0:
                    heapq.heappush(agenda, (after + jobs[number].tail_s, number, 1))
                else:
                    _finish(jobs[number], outcomes[number], after)
            else:
                if share > 0:
                    moved = share * (after - now)
                    left[number] -= moved
                    state.moved += moved
                still.append(state)
        waiting = still
        now = after
        if now >= horizon_s:
            break
        while agenda and agenda[0][0] <= now:
            _, number, last = heapq.heappop(agenda)
            if last:
                outcomes[number].compute_s += jobs[number].tail_s
                _finish(jobs[number], outcomes[number], now)
                continue
            state = coming.pop(number)
            phase = outcomes[number].phases
            outcomes[number].compute_s += jobs[number].gaps_s[phase]
            state.done_s += jobs[number].gaps_s[phase]
            state.since_s, state.moved = now, 0.0
            left[number] = jobs[number].volumes[phase]
            waiting.append(state)
        steps += 1
        if progress is not None and not steps % 1000:
            progress(now)
    for state in waiting:
        number = state.number
        outcome = outcomes[number]
        outcome.io_s += now - state.since_s
        outcome.moved += state.moved
        outcome.io_alone_s += state.moved / state.limit
        outcome.left_alone_s = left[number] / state.limit
    for due, number, last in agenda:
        gap = jobs[number].tail_s if last else jobs[number].gaps_s[outcomes[number].phases]
        outcomes[number].compute_s += min(gap, max(0.0, gap - (due - now)))
    for job, outcome in zip(jobs, outcomes, strict=True):
        if not outcome.finished:
            outcome.elapsed_s = max(0.0, now - job.start_s)
    return outcomes


def _end_phase(job: Job, outcome: Outcome, state: JobState, now: float) -> None:
    volume = job.volumes[outcome.phases]
    outcome.io_s += now - state.since_s
    outcome.io_alone_s += volume / state.limit
    outcome.moved += volume
    gap_s = job.gaps_s[outcome.phases] if outcome.phases else None  # the first gap may be cut
    state.seen.add(volume, gap_s, state.forecast)
    outcome.phases += 1
    state.done_s += volume / state.limit
    state.since_s, state.moved = now, 0.0
    state.forecast = job.forecasts[outcome.phases] if outcome.phases < len(job.volumes) else None


def _finish(job: Job, outcome: Outcome, now: float) -> None:
    outcome.elapsed_s = now - job.start_s
    outcome.finished = True
