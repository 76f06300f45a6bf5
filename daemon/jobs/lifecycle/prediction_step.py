"""Predictions and other work of running jobs: when each is due, whether its period is searched for, and the cost."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable
from typing import Final

from ....events.losses import TAKEN_ELSEWHERE
from ....results.prediction import Prediction
from ...pressure import Allowance, Pressure
from ..job_settings import JobSettings
from ..job_state import JobEvent, State
from ..losses.failures import AnalysisFailedError
from ..session import JobSession

_MAX_STALE_ENTRIES: Final = 64  # heap entries without a name, in addition to as many as there are names


class JobSchedule:
    """One time per name, earliest first; names that are not due cost nothing.

    Memory is bounded by the number of names: replaced or dropped times are removed with later ones.
    """

    def __init__(self) -> None:
        self._times: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._times)

    def schedule(self, name: str, at_s: float) -> None:
        """Set a name's time, unless an earlier one is set."""
        if at_s < self._times.get(name, float("inf")):
            self._times[name] = at_s
            heapq.heappush(self._heap, (at_s, name))
            if len(self._heap) > 2 * len(self._times) + _MAX_STALE_ENTRIES:
                self._heap = [(at_s, name) for name, at_s in self._times.items()]
                heapq.heapify(self._heap)

    @property
    def first_s(self) -> float:
        """Time of the earliest entry, s; infinite without entries."""
        while self._heap and self._times.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else math.inf

    def late_s(self, now_s: float) -> float:
        """Return the time since the earliest entry was due, s; 0 if none is."""
        return max(now_s - self.first_s, 0.0)

    def postpone(self, until_s: float) -> None:
        """Set all earlier times to a time."""
        self._times = {name: max(at_s, until_s) for name, at_s in self._times.items()}
        self._heap = [(at_s, name) for name, at_s in self._times.items()]
        heapq.heapify(self._heap)

    def drop(self, name: str) -> None:
        """Remove a name."""
        self._times.pop(name, None)

    def pop_due(self, now_s: float) -> tuple[str, float] | None:
        """Remove the name that was due first, and return it with its time; None if none is due."""
        while self._heap and self._heap[0][0] <= now_s:
            at_s, name = heapq.heappop(self._heap)
            if self._times.get(name) == at_s:  # otherwise it was dropped, or set earlier
                del self._times[name]
                return name, at_s
        return None


def due_event(session: JobSession, settings: JobSettings, now: float) -> JobEvent | None:
    """Return the event of a job for lack of input, by the steady clock; None before it is due."""
    quiet = now - session.heard_at_s
    alone = session.no_stream_since_s is not None and now - session.no_stream_since_s >= settings.linger_s
    if session.state is State.ENDED:
        return JobEvent.FORGOTTEN if now - session.ended_at_s >= settings.retain_s else None
    if alone or (quiet >= settings.end_after_s and not session.nodes.collectors):  # whose batch system has not ended it
        return JobEvent.DONE
    return JobEvent.QUIET if quiet >= settings.idle_after_s else None


def next_check_s(session: JobSession, settings: JobSettings) -> float:
    """Return the time of the next possible state change for lack of input."""
    if session.state is State.ENDED:
        return session.ended_at_s + settings.retain_s
    times = [math.inf if session.nodes.collectors else session.heard_at_s + settings.end_after_s]
    if session.state is not State.IDLE:
        times.append(session.heard_at_s + settings.idle_after_s)
    if session.no_stream_since_s is not None:
        times.append(session.no_stream_since_s + settings.linger_s)
    return min(times)


_SHORT_S: Final = 1.0  # jobs that lasted less arrive by the hundred per second
_SHORT_JOB_INTERVALS: Final = 2  # intervals; a job that was observed for less is not predicted at once
_BURST_S: Final = 5.0  # predictions of a job may follow one another if they keep their share over this time


class PredictionSchedule:
    """Schedules predictions. All times are of the steady clock.

    Args:
        interval_s: interval between predictions of one job, s.
        share: maximum share of a core for predictions of one job.

    Attributes:
        due: time of the next prediction of each job.
        predicted_at: time of the last prediction of each job.
    """

    def __init__(self, interval_s: float, share: float) -> None:
        self.due = JobSchedule()
        self.predicted_at: dict[str, float] = {}
        self._interval_s, self._share = interval_s, share
        self._spread_until: dict[str, float] = {}  # time up to which a job's predictions have used their share

    def plan(self, session: JobSession, now: float, unseen_s: float = 0.0) -> None:
        """Schedule a job with new data. It is due an interval after its last prediction, sooner after a flush.

        A prediction before the end of the bin with the new data would need a second one to see a burst. It waits for
        the end of the bin, for at most an interval.

        Args:
            session: the job.
            now: current time.
            unseen_s: time until the end of this bin, s.
        """
        if session.flushed or session.predictor.changed:
            interval = self._interval_s / (4 if session.flushed else 1)
            if (before := self.predicted_at.get(session.job)) is not None:
                visible = now if session.flushed else now + min(unseen_s, interval)
                self.due.schedule(
                    session.job, max(visible, before + interval, self._spread_until.get(session.job, now) - _BURST_S)
                )
            elif session.span_s > _SHORT_JOB_INTERVALS * interval:
                # After a takeover without its state, more of a backlog follows, and the bin with the newest bytes ends.
                self.due.schedule(session.job, now + interval if session.losses.total[TAKEN_ELSEWHERE] else now)
            else:  # most jobs that end before this had no period, and they are the majority
                self.due.schedule(session.job, max(now, session.created_at_s + interval))

    def begin(self, job: str, at: float) -> None:
        """Mark a job as being predicted now."""
        self.predicted_at[job] = at
        self.due.drop(job)

    def charge(self, job: str, at: float, took_s: float) -> bool:
        """Account for the time of a prediction; a few may follow one another. Return whether the next one must wait."""
        until = max(self._spread_until.get(job, at), at) + took_s / self._share
        self._spread_until[job] = until
        return until - _BURST_S > at + self._interval_s

    def reschedule(self, job: str, at: float, stale_in_s: float) -> None:
        """Schedule a job again for when its prediction goes stale, even without new data.

        The prediction was made at ``at``.
        """
        stale_s = at + max(stale_in_s, self._interval_s)
        self.due.schedule(job, max(stale_s, self._spread_until[job] - _BURST_S))

    def remove(self, job: str) -> None:
        """Remove a job."""
        self.predicted_at.pop(job, None)
        self._spread_until.pop(job, None)
        self.due.drop(job)


class PredictionStep:
    """Predicts jobs one by one, with the clocks and the counters of the aggregator.

    Attributes:
        schedule: schedule of predictions.
        searched: whether the last prediction searched for a period.
    """

    def __init__(
        self,
        settings: JobSettings,
        clock: Callable[[], float],
        steady: Callable[[], float],
        effort: Callable[[], float],
        counters: Counter[str],
        pressure: Pressure,
    ) -> None:
        self.schedule = PredictionSchedule(settings.prediction_interval_s, settings.prediction_share)
        self.searched = True
        self._clock, self._steady, self._effort = clock, steady, effort
        self._counters, self._pressure = counters, pressure
        self._short_jobs = Allowance(settings.short_jobs_share, steady())

    def predict(self, session: JobSession, *, whole: bool, search: bool | None) -> Prediction | None:
        """Predict a job now.

        Args:
            session: the job.
            whole: whether this is its final prediction.
            search: whether to search for its period; None if not yet decided.

        Returns:
            The prediction; None before the first event, and for a job that cannot be predicted.
        """
        at, now, spent_s = self._steady(), self._clock(), self._effort()
        self.schedule.begin(session.job, at)
        short = session.span_s < _SHORT_S
        if search is None:
            search = not (short and (self._pressure.skips_optional or (whole and not self._short_jobs.has_time(at))))
        self.searched = search
        self._counters["last_words_skipped"] += not search
        try:
            prediction = session.predict(now, whole=whole, search=search)
        except AnalysisFailedError:  # reported with the job
            self._counters["prediction_errors"] += 1
            return None
        finally:
            self._counters["predictions_put_off"] += self.schedule.charge(session.job, at, self._effort() - spent_s)
            if short and whole:
                self._short_jobs.spend(self._effort() - spent_s)
        if prediction is None:
            return None
        self._counters["predictions"] += 1
        if session.stale_at_s is not None and not whole:
            self.schedule.reschedule(session.job, at, session.stale_at_s - now)
        return prediction
