"""Backend that delays traced programs. It publishes a plan at the aggregator for collectors with ``--pace``."""

from __future__ import annotations

from collections.abc import Callable

from ....events import IotideError
from ....results.pacing import MAX_PACED_JOBS, PacedJob, PacingPlan, PhaseForecast
from ....scheduling.protocol import JobState
from ..limits import MIN_CONFIDENCE
from ..live_jobs import LiveState


class PreloadPacing:
    """Sends predictions of jobs to collectors, which decide locally at each call.

    Args:
        send: publishes a plan; raises an IotideError on failure.
        withdraw: withdraws the plan; raises an IotideError on failure.
        file_system: its identity.
        policy: its name.
        longest_wait_s: maximum wait of one job in one phase, s.
        lasts_s: validity of a plan without an update, s.
    """

    def __init__(
        self,
        send: Callable[[PacingPlan], None],
        withdraw: Callable[[], None],
        *,
        file_system: str,
        policy: str,
        longest_wait_s: float,
        lasts_s: float,
    ) -> None:
        self._send, self._withdraw = send, withdraw
        self._file_system, self._policy = file_system, policy
        self._longest_wait_s, self._lasts_s = longest_wait_s, lasts_s
        self._holds = False

    def plan(self, seen: LiveState, capacity: float, at_s: float) -> list[str]:
        """Publish a plan for these jobs; return the failures."""
        jobs = [_paced_job(seen.names[state.number], state, at_s, in_io=True) for state in seen.waiting]
        jobs += [_paced_job(seen.names[state.number], state, at_s, in_io=False) for state in seen.coming]
        plan = PacingPlan(
            file_system=self._file_system,
            policy=self._policy,
            capacity_bytes_per_s=capacity,
            longest_wait_s=self._longest_wait_s,
            lasts_s=self._lasts_s,
            jobs=jobs[:MAX_PACED_JOBS],
        )
        self._holds = True
        try:
            self._send(plan)
        except IotideError as error:
            return [f"the plan was not taken: {error}"]
        return []

    def clear(self) -> list[str]:
        """Withdraw the plan; return the failures. Without an answer the last plan expires."""
        if not self._holds:
            return []
        self._holds = False
        try:
            self._withdraw()
        except IotideError as error:
            return [f"the plan was not withdrawn, and ends in {self._lasts_s:g} s: {error}"]
        return []


def _paced_job(job: str, state: JobState, at_s: float, *, in_io: bool) -> PacedJob:
    told, forecast = state.forecast, None
    if told is not None and told.confidence > MIN_CONFIDENCE:
        forecast = PhaseForecast(
            period_s=told.period_s,
            volume_bytes=told.volume,
            gap_s=told.gap_s,
            drift=told.drift,
            confidence=told.confidence,
            next_confidence=told.next_confidence,
        )
    return PacedJob(
        job=job,
        limit_bytes_per_s=state.limit,
        forecast=forecast,
        in_io=in_io,
        since_s=max(0.0, at_s - state.since_s),
        moved_bytes=state.moved,
        age_s=max(0.0, at_s - state.start_s),
        done_s=max(0.0, state.done_s),
    )
