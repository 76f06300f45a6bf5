"""Running jobs as a policy sees them: who is in an I/O phase now, how much of it is left, what each has lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...results.jobs.live_io import LiveIo, LiveJob
from ...results.prediction import Prediction
from ...scheduling.protocol import Forecast, JobState

_QUIET_S: Final = 0.3
"""Silence after which a phase has ended, beyond the time between two looks."""
_LEAST_BYTES: Final = 4096
"""Less is no phase that anybody waits for: a line of a log."""
_SHORTEST_S: Final = 1e-3
_CALLS: Final = 2.0
_LONGEST_CALL_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Seen:
    """The jobs of one look.

    Attributes:
        waiting: those in an I/O phase, in the order in which the phases began.
        coming: those that compute.
        names: of all, by the number of their states.
        incomplete: jobs of which too much was lost to say anything; nobody limits them.
    """

    waiting: list[JobState]
    coming: list[JobState]
    names: dict[int, str]
    incomplete: list[str]


@dataclass(slots=True)
class _Known:
    """What is kept of a job from look to look."""

    state: JobState
    phase_start_s: float
    in_io: bool
    seen_s: float


class LiveJobs:
    """Follows the jobs of a file system.

    Args:
        capacity: bytes/s of the file system; no job takes more.
    """

    def __init__(self, capacity: float) -> None:
        self._capacity = capacity
        self._known: dict[str, _Known] = {}
        self._numbers = 0
        self._looked_s: float | None = None

    def look(self, live: LiveIo, limited: Mapping[str, float]) -> Seen:
        """Takes in what the aggregator tells now.

        Args:
            live: that.
            limited: bytes/s of the jobs that are limited; single calls of theirs take long, and are told at their end.
        """
        now = live.made_at_s
        quiet = _QUIET_S + (0.0 if self._looked_s is None else min(now - self._looked_s, _QUIET_S))
        self._looked_s = now
        incomplete = [job.job for job in live.jobs if job.prediction is not None and job.prediction.incomplete]
        for job in live.jobs:
            rate = limited.get(job.job)
            call_s = 0.0 if rate is None else _CALLS * job.phase.moved / max(job.phase.calls, 1) / rate
            self._update(job, now, quiet + min(call_s, _LONGEST_CALL_S))
        here = {job.job for job in live.jobs}
        self._known = {name: known for name, known in self._known.items() if name in here}
        left = {name: known for name, known in self._known.items() if name not in incomplete}
        waiting = sorted((each.state for each in left.values() if each.in_io), key=lambda state: state.since_s)
        coming = [each.state for each in left.values() if not each.in_io]
        return Seen(waiting, coming, {each.state.number: name for name, each in left.items()}, incomplete)

    def _update(self, job: LiveJob, now: float, quiet: float) -> None:
        phase = job.phase
        in_io = now - phase.end_s <= quiet and phase.moved >= _LEAST_BYTES
        known = self._known.get(job.job)
        if known is None:
            self._numbers += 1
            state = JobState(self._numbers, self._capacity, phase.start_s, since_s=phase.start_s)
            known = self._known[job.job] = _Known(state, phase.start_s, in_io=True, seen_s=now)
            state.limit = self._limit(job, 0.0)
        state = known.state
        state.limit = self._limit(job, state.limit if state.limit < self._capacity else 0.0)
        if known.in_io and (not in_io or phase.start_s != known.phase_start_s):  # the phase that went on has ended
            ended = phase.end_s if phase.start_s == known.phase_start_s else now
            state.done_s += (phase.moved if phase.start_s == known.phase_start_s else state.moved) / state.limit
            state.since_s, state.moved, known.in_io = ended, 0.0, False
        if in_io:
            if not known.in_io:
                state.done_s += max(0.0, phase.start_s - state.since_s)
                state.since_s = phase.start_s
            known.in_io, known.phase_start_s = True, phase.start_s
            state.moved = float(phase.moved)
        state.forecast = forecast_of(job.prediction)

    def _limit(self, job: LiveJob, before: float) -> float:
        """Returns the fastest that the job was seen; what slows it down now is no limit of its own."""
        lasting = max(job.phase.end_s - job.phase.start_s, _SHORTEST_S)
        told = 0.0
        if job.prediction is not None and (coming := job.prediction.next_phase) is not None:
            told = coming.volume_bytes.value / max(coming.duration_s.value, _SHORTEST_S)
        return min(self._capacity, max(before, told, job.phase.moved / lasting, 1.0))


def forecast_of(prediction: Prediction | None) -> Forecast | None:
    """Returns what a policy is told of a job; None without a period, or without a volume."""
    if prediction is None or prediction.period_s is None or prediction.next_phase is None:
        return None
    period, coming = prediction.period_s.value, prediction.next_phase
    if not (period > 0 and coming.volume_bytes.value > 0):
        return None
    return Forecast(
        period,
        coming.volume_bytes.value,
        max(0.0, period - coming.duration_s.value),
        0.0 if prediction.drift is None else prediction.drift.per_phase,
        prediction.confidence,
        coming.confidence,
    )
