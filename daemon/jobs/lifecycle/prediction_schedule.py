"""Times of predictions by job. They are at an interval, which is longer if its predictions take long."""

from __future__ import annotations

from typing import Final

from ..session import JobSession
from .job_schedule import JobSchedule

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

    def plan(self, session: JobSession, now: float) -> None:
        """Schedule a job with new data. It is due an interval after its last prediction, sooner after a flush."""
        if session.flushed or session.predictor.changed:
            interval = self._interval_s / (4 if session.flushed else 1)
            if (before := self.predicted_at.get(session.job)) is not None:
                self.due.schedule(
                    session.job, max(now, before + interval, self._spread_until.get(session.job, now) - _BURST_S)
                )
            elif session.span_s > _SHORT_JOB_INTERVALS * interval:
                self.due.schedule(session.job, now)
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
