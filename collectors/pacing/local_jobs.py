"""Track the jobs of this node on one file system: phases, volumes, and maximum rates."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ...scheduling.protocol import JobState
from .constants import CALL_TIMEOUT_S, DONE_QUIET_S, MIN_RATE_MEASUREMENT_S, PHASE_GAP_S, QUIET_S

_MAX_MOVED: Final = 1 << 50
"""Maximum number of bytes moved between two polls. A process that reports more violates the layout."""
_MAX_IDLE_UPDATES: Final = 2
"""Polls without a call before a job counts as quiet. One poll may always fall between two calls."""
_PHASES: Final = 4  # latest phases whose pauses are stored
_MIN_PHASES: Final = 2  # phases needed to know the pauses of a job
_LONGER: Final = 2.0
"""A pause this many times longer than any in the latest phases is outside a phase."""


@dataclass(frozen=True, slots=True)
class Activity:
    """State reported by the processes of a job.

    Attributes:
        moved: bytes moved on the file system so far.
        in_call_s: start of the latest call that is running or waiting; None if there is none.
    """

    moved: int
    in_call_s: float | None


@dataclass(slots=True, eq=False)
class LocalJob:
    """A job and its phase on this node.

    Attributes:
        state: the job as policies see it.
        moved: bytes of all its processes since their start.
        in_phase: whether a phase is in progress; short pauses are part of it.
        is_held: whether its calls wait.
        waited_s: waiting time in this phase.
        share: last granted bandwidth, bytes/s.
        served: bytes over share, s; decides the turns.
        active_s: last time that it was in a call.
        idle_updates: polls since then.
        longest_pause_s: longest pause between calls of this phase.
        pauses_s: the same for the latest phases.
        gap_s: time from the end of the previous phase to the start of this one; None if unknown.
        has_ended: whether any of its phases has ended.
        alone_rate: highest rate while only this job moved data, bytes/s.
        call_s: start of the latest call; None if there is none.
        call_progress_s: time since this call began or moved data, without waiting.
        alone_since_s: since when only this job has moved data; None if others do.
        alone_from: bytes moved by then.
    """

    state: JobState
    moved: int
    in_phase: bool = False
    is_held: bool = False
    waited_s: float = 0.0
    share: float = 0.0
    served: float = 0.0
    active_s: float = -math.inf
    idle_updates: int = 0
    longest_pause_s: float = 0.0
    pauses_s: deque[float] = field(default_factory=lambda: deque(maxlen=_PHASES))
    gap_s: float | None = None
    has_ended: bool = False
    alone_rate: float = 0.0
    call_s: float | None = None
    call_progress_s: float = 0.0
    alone_since_s: float | None = None
    alone_from: int = 0

    def is_quiet(self, now_s: float) -> bool:
        """Return whether the job has been idle long enough for others to go."""
        forecast = self.state.forecast
        is_done = forecast is not None and self.state.moved >= forecast.volume
        return self.idle_updates >= _MAX_IDLE_UPDATES and now_s - self.active_s > (
            DONE_QUIET_S if is_done else self._pause_s()
        )

    def _pause_s(self) -> float:
        """Return a pause longer than those between calls of one phase. It is known as far as phases were measured."""
        if len(self.pauses_s) < _MIN_PHASES:
            return QUIET_S
        return min(QUIET_S, max(DONE_QUIET_S, _LONGER * max(*self.pauses_s, self.longest_pause_s)))

    def is_in_call(self, in_call_s: float | None, new_bytes: int, since_s: float) -> bool:
        """Record the latest call. Returns whether it is running, and not one left long ago by a signal handler."""
        if new_bytes or in_call_s != self.call_s:
            self.call_s, self.call_progress_s = in_call_s, 0.0
        elif not self.is_held:
            self.call_progress_s += since_s
        return in_call_s is not None and self.call_progress_s <= CALL_TIMEOUT_S


class LocalJobs:
    """Tracks the jobs of one collector.

    Attributes:
        jobs: jobs by name.
    """

    def __init__(self) -> None:
        self.jobs: dict[str, LocalJob] = {}
        self._numbers = 0
        self._updated_s: float | None = None

    @property
    def is_idle(self) -> bool:
        """True while no job is in a phase."""
        return not any(job.in_phase for job in self.jobs.values())

    def update(self, now_s: float, activities: Mapping[str, Activity]) -> None:
        """Update the activity of all jobs, by name."""
        since_s = 0.0 if self._updated_s is None else now_s - self._updated_s
        self._updated_s = now_s
        self.jobs = {name: job for name, job in self.jobs.items() if name in activities}
        for name, activity in activities.items():
            self._update_job(name, activity, now_s, since_s)

    def _update_job(self, name: str, activity: Activity, now_s: float, since_s: float) -> None:
        job = self.jobs.get(name)
        if job is None:
            self._numbers += 1
            job = self.jobs[name] = LocalJob(JobState(self._numbers, math.inf, now_s, since_s=now_s), activity.moved)
        new_bytes = activity.moved - job.moved
        new_bytes = new_bytes if 0 <= new_bytes < _MAX_MOVED else 0
        job.moved = activity.moved
        if job.is_in_call(activity.in_call_s, new_bytes, since_s) or new_bytes:
            if not job.in_phase:
                self._begin(job, now_s)
            elif job.idle_updates:
                job.longest_pause_s = max(job.longest_pause_s, now_s - job.active_s)
            job.active_s, job.idle_updates = now_s, 0
        else:
            job.idle_updates += 1
            if job.in_phase and now_s - job.active_s > PHASE_GAP_S:
                _end(job)
        if job.in_phase:
            job.state.moved += new_bytes
            job.served += new_bytes / job.share if job.share > 0 else 0.0
            job.waited_s += since_s if job.is_held and activity.in_call_s is not None else 0.0
            self._measure(job, now_s)

    def _begin(self, job: LocalJob, now_s: float) -> None:
        state = job.state
        state.done_s += now_s - state.since_s
        job.gap_s = now_s - state.since_s if job.has_ended else None
        state.since_s, state.moved = now_s, 0.0
        job.in_phase, job.waited_s, job.alone_since_s, job.longest_pause_s = True, 0.0, None, 0.0
        others = (each.served for each in self.jobs.values() if each.in_phase and each is not job)
        job.served = min(others, default=0.0)

    def _measure(self, job: LocalJob, now_s: float) -> None:
        """Measure the job's rate while only it moves data. Contention hides the job's own limit."""
        alone = all(each is job or each.is_held or now_s - each.active_s > QUIET_S for each in self.jobs.values())
        if not alone or job.is_held or job.active_s < now_s:
            job.alone_since_s = None
        elif job.alone_since_s is None:
            job.alone_since_s, job.alone_from = now_s, job.moved
        elif now_s - job.alone_since_s >= MIN_RATE_MEASUREMENT_S and math.isfinite(job.state.limit):
            rate = (job.moved - job.alone_from) / (now_s - job.alone_since_s)
            job.alone_rate = max(job.alone_rate, rate)
            job.alone_since_s, job.alone_from = now_s, job.moved


def _end(job: LocalJob) -> None:
    state = job.state
    state.done_s += state.moved / state.limit
    state.seen.add(state.moved, job.gap_s, state.forecast)
    job.has_ended = True
    state.since_s, state.moved, job.in_phase = job.active_s, 0.0, False
    job.pauses_s.append(job.longest_pause_s)
