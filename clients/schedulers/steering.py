"""Control loop of ``iotide schedule``. It queries running jobs, runs a policy, and limits jobs by a backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ...events import IotideError
from ...results.contention import Capacity
from ...results.live import LiveIo
from ...scheduling.protocol import Policy
from .backends.contract import Backend, Planner
from .limits import Decision, Limit, decide
from .live_jobs import LiveJobs, LiveState

_RELIABLE: Final = ("configured", "learnt")
_UNUSED: Final = "no job uses a file system of that name: `iotide contention URL` lists those that are used"


@dataclass(frozen=True, slots=True)
class Step:
    """Result of one step.

    Attributes:
        at_s: Unix time, by the aggregator; NaN without an answer.
        decision: current limits.
        jobs: number of jobs that use the file system.
        incomplete: jobs with too many losses for a prediction.
        capacity: bytes/s; 0 if unknown.
        problems: failures.
    """

    at_s: float
    decision: Decision
    jobs: int = 0
    incomplete: Sequence[str] = ()
    capacity: float = 0.0
    problems: Sequence[str] = ()


class Steering:
    """Control of one file system with one policy and one backend.

    All limits are removed without an answer of the aggregator, without a known capacity, and without periods.

    Args:
        ask: returns the current I/O of jobs; raises an IotideError without an answer.
        policy: the policy.
        backend: sets the limits.
        capacity: bytes/s of the file system; None for the value known or learnt by the aggregator.
        floor: least share of the capacity of each job.
        newest_s: age from which data of the aggregator counts as outdated, s.
        clock: Unix time.
    """

    def __init__(
        self,
        ask: Callable[[], LiveIo],
        policy: Policy,
        backend: Backend | Planner,
        *,
        capacity: float | None,
        floor: float,
        newest_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._ask, self._policy, self._backend = ask, policy, backend
        self._limits_set, self._floor, self._newest_s, self._clock = capacity, floor, newest_s, clock
        self._jobs: LiveJobs | None = None
        self._capacity = 0.0
        self._limited: dict[str, float] = {}

    def step(self) -> Step:
        """Run one step."""
        try:
            live = self._ask()
        except IotideError as error:
            return self._suspended(f"no news: {error}")
        if abs(self._clock() - live.made_at_s) > self._newest_s:
            return self._suspended(f"the aggregator's clock or answer is {self._clock() - live.made_at_s:.1f} s off")
        if not live.jobs:
            return self._suspended(_UNUSED, live.made_at_s, live)
        capacity = self._limits_set or _known(live.capacity)
        if capacity is None:
            return self._suspended("the file system's capacity is not known yet: give --capacity", live.made_at_s, live)
        if self._jobs is None or abs(capacity - self._capacity) > capacity / 4:  # yields are counted from 0 again
            self._jobs, self._capacity = LiveJobs(capacity), capacity
        seen = self._jobs.update(live, self._limited)
        decision = decide(seen, self._policy, self._capacity, live.made_at_s, self._floor)
        problems = self._apply_limits(decision.limits, seen, live.made_at_s)
        return Step(live.made_at_s, decision, len(live.jobs), seen.incomplete, self._capacity, problems)

    def close(self) -> list[str]:
        """Remove all limits; return the failures."""
        self._limited = {}
        return self._backend.clear()

    def _apply_limits(self, limits: Sequence[Limit], seen: LiveState | None = None, at_s: float = 0.0) -> list[str]:
        if isinstance(self._backend, Planner):
            return self._backend.clear() if seen is None else self._backend.plan(seen, self._capacity, at_s)
        self._limited = {limit.job: limit.bytes_per_s for limit in limits}
        return self._backend.apply(limits)

    def _suspended(self, why: str, at_s: float = float("nan"), live: LiveIo | None = None) -> Step:
        return Step(
            at_s, Decision((), why, 0, 0), 0 if live is None else len(live.jobs), problems=self._apply_limits(())
        )


def _known(capacity: Capacity) -> float | None:
    if capacity.known in _RELIABLE and capacity.bytes_per_s is not None and capacity.bytes_per_s.value > 0:
        return capacity.bytes_per_s.value
    return None
