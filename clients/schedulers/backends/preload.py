"""Has traced programs wait for their turn: leaves a plan at the aggregator, which collectors with ``--pace`` follow."""

from __future__ import annotations

from collections.abc import Callable

from ....events import IotideError
from ....results.pacing import MOST_PACED_JOBS, PacedJob, PacingPlan, PhaseForecast
from ....scheduling.protocol import JobState
from ..limits import SUREST_FROM
from ..live_jobs import Seen


class PreloadPacing:
    """Tells collectors what is predicted of jobs; they decide at each call, nearer to it than anybody who asks them.

    Args:
        send: leaves a plan; raises an IotideError where that fails.
        withdraw: has none hold; likewise.
        file_system: its identity.
        policy: its name.
        longest_wait_s: of one job in one phase.
        lasts_s: how long a plan holds without news.
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

    def plan(self, seen: Seen, capacity: float, at_s: float) -> list[str]:
        """Has a plan for these jobs hold; returns what did not work."""
        jobs = [_paced(seen.names[state.number], state, at_s, in_io=True) for state in seen.waiting]
        jobs += [_paced(seen.names[state.number], state, at_s, in_io=False) for state in seen.coming]
        told = PacingPlan(
            file_system=self._file_system,
            policy=self._policy,
            capacity_bytes_per_s=capacity,
            longest_wait_s=self._longest_wait_s,
            lasts_s=self._lasts_s,
            jobs=jobs[:MOST_PACED_JOBS],
        )
        self._holds = True
        try:
            self._send(told)
        except IotideError as error:
            return [f"the plan was not taken: {error}"]
        return []

    def clear(self) -> list[str]:
        """Has no plan hold; returns what did not work. Without an answer the last one ends by itself."""
        if not self._holds:
            return []
        self._holds = False
        try:
            self._withdraw()
        except IotideError as error:
            return [f"the plan was not withdrawn, and ends in {self._lasts_s:g} s: {error}"]
        return []


def _paced(job: str, state: JobState, at_s: float, *, in_io: bool) -> PacedJob:
    told, forecast = state.forecast, None
    if told is not None and told.confidence > SUREST_FROM:
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
