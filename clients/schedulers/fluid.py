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
    run = _Simulation(jobs, capacity)
    steps = 0
    while run.is_active:
        shares = policy(run.in_phase, run.coming.values(), capacity, run.now_s).shares if run.in_phase else []
        ends = run.phase_ends(shares)
        until_s = min(*ends, run.next_start_s) if ends else run.next_start_s
        if until_s == math.inf:
            raise ValueError("the policy gives nothing to jobs that wait")
        until_s = min(until_s, horizon_s)
        if record is not None and until_s > run.now_s:
            record(run.now_s, until_s, run.in_phase, shares)
        run.move_data(shares, ends, until_s)
        if until_s >= horizon_s:
            break
        run.begin_phases()
        steps += 1
        if progress is not None and not steps % 1000:
            progress(run.now_s)
    return run.outcomes_at_end()


class _Simulation:
    """The jobs of a simulation: some compute, the others are in a phase of I/O.

    Attributes:
        now_s: simulated time.
        in_phase: jobs in a phase.
        coming: jobs that compute and have a next phase, by number.
    """

    def __init__(self, jobs: Sequence[Job], capacity: float) -> None:
        self.now_s = 0.0
        self.in_phase: list[JobState] = []
        self.coming: dict[int, JobState] = {}
        self._jobs = jobs
        self._outcomes = [Outcome() for _ in jobs]
        self._left = [0.0] * len(jobs)  # bytes that remain in each job's phase
        self._computations: list[
            tuple[float, int, bool]
        ] = []  # heap of ends, with the job and whether it has no further phase
        for number, job in enumerate(jobs):
            state = JobState(number, min(job.limit, capacity), job.start_s, since_s=job.start_s)
            state.forecast = job.forecasts[0]
            self.coming[number] = state
            self._computations.append((job.start_s + job.gaps_s[0], number, False))
        heapq.heapify(self._computations)

    @property
    def is_active(self) -> bool:
        """Whether any job has not ended."""
        return bool(self._computations or self.in_phase)

    @property
    def next_start_s(self) -> float:
        """The earliest end of a computation; infinite if no job computes."""
        return self._computations[0][0] if self._computations else math.inf

    def phase_ends(self, shares: Sequence[float]) -> list[float]:
        """Return the ends of the present phases if the bandwidths stay the same; infinite without bandwidth."""
        return [
            self.now_s + self._left[state.number] / share if share > 0 else math.inf
            for state, share in zip(self.in_phase, shares, strict=True)
        ]

    def move_data(self, shares: Sequence[float], ends: Sequence[float], until_s: float) -> None:
        """Advance to a time, and end the phases that end by then."""
        unfinished = []
        for state, share, end_s in zip(self.in_phase, shares, ends, strict=True):
            if end_s <= until_s:
                self._end_phase(state, until_s)
                continue
            if share > 0:
                moved = share * (until_s - self.now_s)
                self._left[state.number] -= moved
                state.moved += moved
            unfinished.append(state)
        self.in_phase = unfinished
        self.now_s = until_s

    def begin_phases(self) -> None:
        """End the computations that are over: the next phase begins, or the job has ended."""
        while self._computations and self._computations[0][0] <= self.now_s:
            _, number, is_last = heapq.heappop(self._computations)
            job, outcome = self._jobs[number], self._outcomes[number]
            if is_last:
                outcome.compute_s += job.tail_s
                _finish(job, outcome, self.now_s)
                continue
            state = self.coming.pop(number)
            outcome.compute_s += job.gaps_s[outcome.phases]
            state.done_s += job.gaps_s[outcome.phases]
            state.since_s, state.moved = self.now_s, 0.0
            self._left[number] = job.volumes[outcome.phases]
            self.in_phase.append(state)

    def outcomes_at_end(self) -> list[Outcome]:
        """Return the outcomes, also those of jobs that have not ended."""
        for state in self.in_phase:
            outcome = self._outcomes[state.number]
            outcome.io_s += self.now_s - state.since_s
            outcome.moved += state.moved
            outcome.io_alone_s += state.moved / state.limit
            outcome.left_alone_s = self._left[state.number] / state.limit
        for end_s, number, is_last in self._computations:
            job, outcome = self._jobs[number], self._outcomes[number]
            length_s = job.tail_s if is_last else job.gaps_s[outcome.phases]
            outcome.compute_s += min(length_s, max(0.0, length_s - (end_s - self.now_s)))
        for job, outcome in zip(self._jobs, self._outcomes, strict=True):
            if not outcome.finished:
                outcome.elapsed_s = max(0.0, self.now_s - job.start_s)
        return self._outcomes

    def _end_phase(self, state: JobState, now_s: float) -> None:
        number = state.number
        job, outcome = self._jobs[number], self._outcomes[number]
        _end_phase(job, outcome, state, now_s)
        if outcome.phases < len(job.volumes):
            self.coming[number] = state
            heapq.heappush(self._computations, (now_s + job.gaps_s[outcome.phases], number, False))
        elif job.tail_s > 0:
            heapq.heappush(self._computations, (now_s + job.tail_s, number, True))
        else:
            _finish(job, outcome, now_s)


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
