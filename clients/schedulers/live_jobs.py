"""Running jobs as policy input.

It has the jobs in an I/O phase, its remaining volume, and the lost time of each job.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...results.live import LiveIo, LiveJob
from ...results.prediction import Prediction
from ...results.upcoming import Upcoming, upcoming
from ...scheduling.protocol import Forecast, JobState

_MAX_RATES: Final = 32
_MIN_MEASURED_S: Final = 0.02
"""Least length of an interval, s; shorter ones may only measure a cache."""
_FULL: Final = 0.7
"""Share of the capacity above which overlapping jobs take bandwidth from one another."""
_OVERLAP: Final = 0.02
_UPPER: Final = 0.9
"""Quantile of the measured rates: a job may be slower for reasons of its own."""


class Interval(NamedTuple):
    """Bytes of a job in an interval, Unix time."""

    start_s: float
    end_s: float
    moved: int

    def overlap(self, other: Interval) -> tuple[float, float]:
        """Return the overlap with another interval, s. It also returns the bytes that it moves in the overlap."""
        beside_s = min(self.end_s, other.end_s) - max(self.start_s, other.start_s)
        if beside_s <= 0:
            return 0.0, 0.0
        return beside_s, other.moved * beside_s / (other.end_s - other.start_s)


class OwnRates:
    """Measured rates of one job.

    An interval with other jobs on a full file system only gives a lower bound of the rate. Without any other interval
    the job is assumed to be able to use the whole capacity, which is tested as soon as others are limited for it.
    """

    def __init__(self) -> None:
        self._alone_rates: deque[float] = deque(maxlen=_MAX_RATES)
        self._lower_bounds: deque[float] = deque(maxlen=_MAX_RATES)

    def add(self, stretch: Interval, others: Iterable[Interval], capacity: float) -> None:
        """Add an interval of the job, with those of all others that may overlap it. Capacity in bytes/s."""
        lasting_s = stretch.end_s - stretch.start_s
        if lasting_s < _MIN_MEASURED_S or stretch.moved <= 0:
            return
        beside = [stretch.overlap(other) for other in others]
        overlap_s = max((each for each, _ in beside), default=0.0)
        together = (stretch.moved + sum(moved for _, moved in beside)) / lasting_s
        is_shared = overlap_s > _OVERLAP * lasting_s and together >= _FULL * capacity
        (self._lower_bounds if is_shared else self._alone_rates).append(stretch.moved / lasting_s)

    def limit(self, capacity: float) -> float:
        """Return the highest rate of the job, at most the capacity, bytes/s."""
        if not self._alone_rates:
            return capacity
        own = sorted(self._alone_rates)[int(_UPPER * (len(self._alone_rates) - 1) + 0.5)]
        return min(capacity, max(own, *self._lower_bounds, 1.0) if self._lower_bounds else max(own, 1.0))


_QUIET_S: Final = 0.3
"""Silence that ends a phase, s, in addition to the time between two steps."""
_MIN_BYTES: Final = 4096
"""Least bytes of a phase. Less is, for example, a log line, and no job waits for it."""
_MIN_INTERVAL_S: Final = 1e-3
_CALLS: Final = 2.0
_MAX_CALL_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class LiveState:
    """The jobs of one step.

    Attributes:
        waiting: jobs in an I/O phase, in the order in which the phases began.
        coming: computing jobs.
        names: job names by the number of their states.
        incomplete: jobs with too many losses for a prediction; they are never limited.
    """

    waiting: list[JobState]
    coming: list[JobState]
    names: dict[int, str]
    incomplete: list[str]


@dataclass(slots=True)
class _Known:
    """State of a job that is kept between steps."""

    state: JobState
    phase_start_s: float
    in_io: bool
    changed_s: float
    """End of its latest call that was taken in."""
    state_version: int = 0
    """Bytes of the phase up to that time."""
    gap_s: float | None = None
    """Gap before the phase; None for the first one, whose start was not observed."""
    rates: OwnRates = field(default_factory=OwnRates)


class LiveJobs:
    """Tracks the jobs of a file system.

    Args:
        capacity: bytes/s of the file system; no job can use more.
    """

    def __init__(self, capacity: float) -> None:
        self._capacity = capacity
        self._known: dict[str, _Known] = {}
        self._numbers = 0
        self._updated_s: float | None = None

    def update(self, live: LiveIo, limited: Mapping[str, float]) -> LiveState:
        """Take in the current data of the aggregator.

        Args:
            live: the data.
            limited: bytes/s of limited jobs. Their calls may take long, and a call is reported at its end.
        """
        now = live.made_at_s
        quiet = _QUIET_S + (0.0 if self._updated_s is None else min(now - self._updated_s, _QUIET_S))
        self._updated_s = now
        incomplete = [job.job for job in live.jobs if job.prediction is not None and job.prediction.incomplete]
        self._measure(live, limited)
        for job in live.jobs:
            rate = limited.get(job.job)
            call_s = 0.0 if rate is None else _CALLS * job.phase.moved / max(job.phase.calls, 1) / rate
            self._update(job, now, quiet + min(call_s, _MAX_CALL_S))
        here = {job.job for job in live.jobs}
        self._known = {name: known for name, known in self._known.items() if name in here}
        left = {name: known for name, known in self._known.items() if name not in incomplete}
        waiting = sorted((each.state for each in left.values() if each.in_io), key=lambda state: state.since_s)
        coming = [each.state for each in left.values() if not each.in_io]
        return LiveState(waiting, coming, {each.state.number: name for name, each in left.items()}, incomplete)

    def _measure(self, live: LiveIo, limited: Mapping[str, float]) -> None:
        """Learn the highest rate of each job from the bytes moved since the last step."""
        stretches = {}
        for job in live.jobs:
            known, phase = self._known.get(job.job), job.phase
            begun_s, before = phase.start_s, 0
            if known is not None and known.phase_start_s == phase.start_s:
                begun_s, before = max(known.changed_s, phase.start_s), known.state_version
            if phase.moved > before and phase.end_s > begun_s:
                stretches[job.job] = Interval(begun_s, phase.end_s, phase.moved - before)
        for name, stretch in stretches.items():
            known = self._known.get(name)
            if known is not None and name not in limited:
                others = [each for other, each in stretches.items() if other != name]
                known.rates.add(stretch, others, self._capacity)

    def _update(self, job: LiveJob, now: float, quiet: float) -> None:
        phase = job.phase
        in_io = now - phase.end_s <= quiet and phase.moved >= _MIN_BYTES
        known = self._known.get(job.job)
        if known is None:
            self._numbers += 1
            state = JobState(self._numbers, self._capacity, phase.start_s, since_s=phase.start_s)
            known = self._known[job.job] = _Known(state, phase.start_s, in_io=True, changed_s=phase.start_s)
        state = known.state
        state.limit = min(self._capacity, max(known.rates.limit(self._capacity), _predicted_rate(job.prediction)))
        if known.in_io and (not in_io or phase.start_s != known.phase_start_s):  # the phase in progress has ended
            same = phase.start_s == known.phase_start_s
            moved = float(phase.moved) if same else state.moved
            state.done_s += moved / state.limit
            state.seen.add(moved, known.gap_s, state.forecast)
            state.since_s, state.moved, known.in_io = (phase.end_s if same else now), 0.0, False
        if in_io:
            if not known.in_io:
                known.gap_s = max(0.0, phase.start_s - state.since_s)
                state.done_s += known.gap_s
                state.since_s = phase.start_s
            known.in_io = True
            state.moved = float(phase.moved)
        known.phase_start_s, known.changed_s, known.state_version = phase.start_s, phase.end_s, phase.moved
        state.forecast = forecast_of(job.prediction, state.since_s, in_io=in_io)


def _predicted_rate(prediction: Prediction | None) -> float:
    """Return the mean rate of the predicted phase, bytes/s. The job can reach at least this."""
    if prediction is None or (coming := prediction.next_phase) is None:
        return 0.0
    return coming.volume_bytes.value / max(coming.duration_s.value, _MIN_INTERVAL_S)


def forecast_of(prediction: Prediction | None, since_s: float, *, in_io: bool) -> Forecast | None:
    """Return a job's forecast for the policy; None without a period or a volume.

    If there are several periods, it is that of the current phase, or of the phase that comes next.

    Args:
        prediction: prediction of the job, with the periods of its groups.
        since_s: start of the current phase, or end of the last one, Unix time.
        in_io: whether the job is in a phase.
    """
    expected = [] if prediction is None else upcoming(prediction)
    expected = [each for each in expected if each.period_s.value > 0 and each.next_phase.volume_bytes.value > 0]
    if not expected:
        return None
    if in_io:
        chosen = min(expected, key=lambda each: _phase_error(each, since_s))
    else:
        chosen = min(expected, key=lambda each: _next_start_s(each, since_s))
    period_s, coming = chosen.period_s.value, chosen.next_phase
    gap_s = period_s - coming.duration_s.value if in_io else _next_start_s(chosen, since_s) - since_s
    return Forecast(
        period_s,
        coming.volume_bytes.value,
        max(0.0, gap_s),
        0.0 if chosen.drift is None else chosen.drift.per_phase,
        chosen.confidence,
        coming.confidence,
    )


def _phase_error(period: Upcoming, start_s: float) -> float:
    """Return the distance, in periods, of a phase's start from the nearest expected start."""
    turns = (period.next_phase.start_s.value - start_s) / period.period_s.value
    return abs(turns - round(turns))


def _next_start_s(period: Upcoming, since_s: float) -> float:
    """Return the first predicted start after the end of a phase."""
    start_s, length_s = period.next_phase.start_s.value, period.period_s.value
    return start_s - math.floor((start_s - since_s) / length_s) * length_s
