"""Decide which jobs wait, from the activity on one file system and the plan. Has no clock."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...results.pacing import PacedJob, PacingPlan
from ...scheduling.named_policies import policy_named
from ...scheduling.protocol import Forecast, Grant, JobState
from .constants import FULL_RATE_SHARE, GRANT_S, MIN_UNUSED_SHARE, QUANTUM_S
from .local_jobs import Activity, LocalJob, LocalJobs


class _CompetingJob(NamedTuple):
    """A job that wants bandwidth now."""

    name: str
    state: JobState
    local: LocalJob | None
    """None: the job has no process here, and the plan reports it as in a phase."""


class JobTurns:
    """Decides which jobs wait on one file system of this node.

    Among jobs of this node, the decision uses local measurements. If the plan reports phases of jobs on other nodes, it
    uses the plan's data for all jobs. Collectors of other nodes do the same, so all reach the same decision.

    Attributes:
        waits: number of times that a job was made to wait.
        overdue: phases that waited for the maximum time of the plan.
    """

    def __init__(self) -> None:
        self.waits = 0
        self.overdue = 0
        self._local = LocalJobs()
        self._plan: PacingPlan | None = None
        self._plan_received_s = -math.inf
        self._policy = policy_named("fair-share")[1]
        self._planned: dict[str, PacedJob] = {}
        self._forecasts: dict[str, Forecast | None] = {}
        self._grant: Grant | None = None
        self._granted_to: tuple[str, ...] = ()
        self._granted_s = -math.inf
        self._serving: str | None = None
        self._serving_since_s = -math.inf

    @property
    def is_idle(self) -> bool:
        """True while no job of this node is in a phase."""
        return self._local.is_idle

    def set_plan(self, plan: PacingPlan | None, received_s: float) -> None:
        """Set the plan that is valid since ``received_s``; None: there is no plan.

        Raises:
            ValueError: the plan's policy does not exist.
        """
        if plan is not None and plan is not self._plan:
            self._policy = policy_named(plan.policy)[1]
            self._planned = {each.job: each for each in plan.jobs}
            self._forecasts = {each.job: _forecast_of(each) for each in plan.jobs}
            self._grant = self._grant if self._plan is not None and plan.policy == self._plan.policy else None
        self._plan, self._plan_received_s = plan, received_s

    def update(self, now_s: float, activities: Mapping[str, Activity]) -> frozenset[str]:
        """Update the activity of jobs, by name.

        Returns the jobs whose calls wait, including planned ones that may start.
        """
        self._local.update(now_s, activities)
        plan = self._plan
        held = frozenset[str]()
        if plan is not None and now_s < self._plan_received_s + plan.lasts_s:
            held = self._waiting_jobs(plan, now_s)
        for name, job in self._local.jobs.items():
            self.waits += name in held and not job.is_held and job.in_phase
            job.is_held = name in held
        return held

    def _waiting_jobs(self, plan: PacingPlan, now_s: float) -> frozenset[str]:
        known = {name: job for name, job in self._local.jobs.items() if name in self._planned}
        for name, job in known.items():
            planned = self._planned[name]
            job.state.limit = min(plan.capacity_bytes_per_s, max(job.alone_rate, planned.limit_bytes_per_s))
            job.state.forecast = self._forecasts[name]
        active = {name: job for name, job in known.items() if job.in_phase and not job.is_quiet(now_s)}
        late = {name for name, job in active.items() if job.waited_s >= plan.longest_wait_s}
        self.overdue += sum(known[name].is_held for name in late)
        rivals = self._competing_jobs({name: job for name, job in active.items() if name not in late}, now_s)
        if not active or not rivals or not any(rival.state.forecast for rival in rivals):
            return frozenset()
        coming = [job.state for job in known.values() if not job.in_phase]
        grant = self._granted(rivals, coming, plan.capacity_bytes_per_s, now_s)
        for rival, share in zip(rivals, grant.shares, strict=True):
            if rival.local is not None:
                rival.local.share = share
        going, left = self._running_jobs(rivals, grant, plan.capacity_bytes_per_s, now_s)
        if left >= MIN_UNUSED_SHARE * plan.capacity_bytes_per_s:  # there is room for jobs that start
            return frozenset(name for name in active if name not in going and name not in late)
        return frozenset(name for name in known if name not in going and name not in late)

    def _competing_jobs(self, active: Mapping[str, LocalJob], now_s: float) -> list[_CompetingJob]:
        """Return the jobs that want bandwidth, here and on other nodes.

        They are ordered by the beginning of their phases.
        """
        elsewhere = [each for each in self._planned.values() if each.in_io and each.job not in self._local.jobs]
        rivals = [_CompetingJob(name, job.state, job) for name, job in active.items()]
        if elsewhere:
            rivals = [
                rival._replace(state=self._planned_state(planned, rival.state.number))
                if (planned := self._planned[rival.name]).in_io
                else rival
                for rival in rivals
            ]
            rivals += [
                _CompetingJob(each.job, self._planned_state(each, -1 - at), None) for at, each in enumerate(elsewhere)
            ]
        return sorted(rivals, key=lambda rival: (rival.state.since_s, rival.name))

    def _planned_state(self, planned: PacedJob, number: int) -> JobState:
        return JobState(
            number,
            planned.limit_bytes_per_s,
            self._plan_received_s - planned.age_s,
            self._forecasts[planned.job],
            self._plan_received_s - planned.since_s,
            planned.moved_bytes,
            planned.done_s,
        )

    def _granted(
        self, rivals: Sequence[_CompetingJob], coming: Sequence[JobState], capacity: float, now_s: float
    ) -> Grant:
        """Run the policy when a phase has begun or ended, and after GRANT_S. The simulator does the same.

        Asking at every poll would make two nearly equal jobs alternate, and each switch has a cost.
        """
        who = tuple(rival.name for rival in rivals)
        if self._grant is None or who != self._granted_to or now_s - self._granted_s >= GRANT_S:
            states = [rival.state for rival in rivals]
            self._grant, self._granted_to, self._granted_s = self._policy(states, coming, capacity, now_s), who, now_s
        return self._grant

    def _running_jobs(
        self, rivals: Sequence[_CompetingJob], grant: Grant, capacity: float, now_s: float
    ) -> tuple[set[str], float]:
        """Return the jobs that run, and the remaining capacity.

        A job whose share is its maximum rate runs. The others take turns by service received over share (weighted fair
        queueing). One at a time is served at the full rate, so that it finishes earlier.
        """
        wanted = [min(rival.state.limit, capacity) for rival in rivals]
        going = {
            rivals[place].name for place, share in enumerate(grant.shares) if share >= FULL_RATE_SHARE * wanted[place]
        }
        taken = (share for rival, share in zip(rivals, grant.shares, strict=True) if rival.name in going)
        left = capacity - math.fsum(taken)
        partly = [place for place, share in enumerate(grant.shares) if share > 0 and rivals[place].name not in going]
        if len(partly) > 1 and not going and max(grant.shares) <= min(grant.shares) * (1 + 1e-9):
            return {rival.name for rival in rivals}, 0.0  # equal shares: the file system does that by itself
        if partly:
            chosen = self._choose_next(rivals, grant, partly, now_s)
            if not going or left >= MIN_UNUSED_SHARE * wanted[chosen]:
                going.add(rivals[chosen].name)
                left -= wanted[chosen]
        return going, left

    def _choose_next(self, rivals: Sequence[_CompetingJob], grant: Grant, partly: Sequence[int], now_s: float) -> int:
        """Return the index of the next job. A served job keeps its turn for a quantum.

        It is the job that would first finish its quantum at its share. So a short phase with a large share does not
        wait for a quantum of a long one. Turns are taken among jobs of this node. If other nodes' jobs compete, the
        largest share runs.
        """
        local = {place: job for place in partly if (job := rivals[place].local) is not None}
        if len(local) < len(partly):
            return max(partly, key=lambda place: grant.shares[place])
        quantum = QUANTUM_S * max(rivals[place].state.limit for place in partly)
        current = next((place for place in partly if rivals[place].name == self._serving), None)
        if current is not None and now_s - self._serving_since_s < QUANTUM_S:
            return current
        chosen = min(partly, key=lambda place: local[place].served + quantum / grant.shares[place])
        if rivals[chosen].name != self._serving:
            self._serving, self._serving_since_s = rivals[chosen].name, now_s
        return chosen


def _forecast_of(planned: PacedJob) -> Forecast | None:
    forecast = planned.forecast
    if forecast is None:
        return None
    return Forecast(
        forecast.period_s,
        forecast.volume_bytes,
        forecast.gap_s,
        forecast.drift,
        forecast.confidence,
        forecast.next_confidence,
    )
