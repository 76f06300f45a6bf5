"""What jobs of this node do on one file system: their phases, how much these moved, how fast each job can be."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ...scheduling.protocol import JobState
from .constants import DONE_QUIET_S, PHASE_GAP_S, QUIET_S, RATE_OVER_S, STUCK_S

_MOST_MOVED: Final = 1 << 50
"""Between two looks; a process that says more breaks the layout."""
_LOOKS: Final = 2
"""Without a call, before a job counts as quiet: one may lie between two calls, however late it is."""
_PHASES: Final = 4
_FEWEST: Final = 2
_LONGER: Final = 2.0
"""A pause so many times as long as any within the latest phases is none of them."""


@dataclass(frozen=True, slots=True)
class Activity:
    """What the processes of a job say.

    Attributes:
        moved: bytes on the file system so far.
        in_call_s: start of the latest call that goes on or waits; None while there is none.
    """

    moved: int
    in_call_s: float | None


@dataclass(slots=True, eq=False)
class LocalJob:
    """A job and its phase on this node.

    Attributes:
        state: what a policy is told of it.
        moved: bytes of all its processes, ever.
        in_phase: whether a phase goes on; short pauses are part of it.
        is_held: whether its calls wait.
        waited_s: in this phase.
        share: bytes/s, as granted last.
        served: bytes over share, s: what turns go by.
        active_s: when it was in a call last.
        idle_looks: looks since then.
        longest_pause_s: between calls of this phase.
        pauses_s: the same of the latest phases.
        gap_s: time from the end of the phase before to the start of this one; None where it is not known.
        has_ended: whether a phase of it has ended.
        alone_rate: the fastest that it was while it alone moved data, bytes/s.
    """

    state: JobState
    moved: int
    in_phase: bool = False
    is_held: bool = False
    waited_s: float = 0.0
    share: float = 0.0
    served: float = 0.0
    active_s: float = -math.inf
    idle_looks: int = 0
    longest_pause_s: float = 0.0
    pauses_s: deque[float] = field(default_factory=lambda: deque(maxlen=_PHASES))
    gap_s: float | None = None
    has_ended: bool = False
    alone_rate: float = 0.0
    call_s: float | None = None
    going_s: float = 0.0
    alone_since_s: float | None = None
    alone_from: int = 0

    def is_quiet(self, now_s: float) -> bool:
        """Tells whether it has done nothing for so long that others may go."""
        forecast = self.state.forecast
        is_done = forecast is not None and self.state.moved >= forecast.volume
        return self.idle_looks >= _LOOKS and now_s - self.active_s > (DONE_QUIET_S if is_done else self._pause_s())

    def _pause_s(self) -> float:
        """Returns a pause that is longer than those between the calls of one phase, as far as phases were seen."""
        if len(self.pauses_s) < _FEWEST:
            return QUIET_S
        return min(QUIET_S, max(DONE_QUIET_S, _LONGER * max(*self.pauses_s, self.longest_pause_s)))

    def is_in_call(self, in_call_s: float | None, fresh: int, since_s: float) -> bool:
        """Takes in the latest call; tells whether it goes on, or was left long ago by a handler of a signal."""
        if fresh or in_call_s != self.call_s:
            self.call_s, self.going_s = in_call_s, 0.0
        elif not self.is_held:
            self.going_s += since_s
        return in_call_s is not None and self.going_s <= STUCK_S


class LocalJobs:
    """Follows the jobs of one collector.

    Attributes:
        jobs: by name.
    """

    def __init__(self) -> None:
        self.jobs: dict[str, LocalJob] = {}
        self._numbers = 0
        self._looked_s: float | None = None

    @property
    def is_idle(self) -> bool:
        """True while no job is in a phase."""
        return not any(job.in_phase for job in self.jobs.values())

    def look(self, now_s: float, activities: Mapping[str, Activity]) -> None:
        """Takes in what all jobs do now, by name."""
        since_s = 0.0 if self._looked_s is None else now_s - self._looked_s
        self._looked_s = now_s
        self.jobs = {name: job for name, job in self.jobs.items() if name in activities}
        for name, activity in activities.items():
            self._follow(name, activity, now_s, since_s)

    def _follow(self, name: str, activity: Activity, now_s: float, since_s: float) -> None:
        job = self.jobs.get(name)
        if job is None:
            self._numbers += 1
            job = self.jobs[name] = LocalJob(JobState(self._numbers, math.inf, now_s, since_s=now_s), activity.moved)
        fresh = activity.moved - job.moved
        fresh = fresh if 0 <= fresh < _MOST_MOVED else 0
        job.moved = activity.moved
        if job.is_in_call(activity.in_call_s, fresh, since_s) or fresh:
            if not job.in_phase:
                self._begin(job, now_s)
            elif job.idle_looks:
                job.longest_pause_s = max(job.longest_pause_s, now_s - job.active_s)
            job.active_s, job.idle_looks = now_s, 0
        else:
            job.idle_looks += 1
            if job.in_phase and now_s - job.active_s > PHASE_GAP_S:
                _end(job)
        if job.in_phase:
            job.state.moved += fresh
            job.served += fresh / job.share if job.share > 0 else 0.0
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
        """Learns how fast the job is while it alone moves data; what slows it down otherwise is no limit of its own."""
        alone = all(each is job or each.is_held or now_s - each.active_s > QUIET_S for each in self.jobs.values())
        if not alone or job.is_held or job.active_s < now_s:
            job.alone_since_s = None
        elif job.alone_since_s is None:
            job.alone_since_s, job.alone_from = now_s, job.moved
        elif now_s - job.alone_since_s >= RATE_OVER_S and math.isfinite(job.state.limit):
            rate = (job.moved - job.alone_from) / (now_s - job.alone_since_s)
            job.alone_rate = max(job.alone_rate, rate)
            job.alone_since_s, job.alone_from = now_s, job.moved


def _end(job: LocalJob) -> None:
    state = job.state
    state.done_s += state.moved / state.limit
    state.seen.add(state.moved, job.gap_s)
    job.has_ended = True
    state.since_s, state.moved, job.in_phase = job.active_s, 0.0, False
    job.pauses_s.append(job.longest_pause_s)
