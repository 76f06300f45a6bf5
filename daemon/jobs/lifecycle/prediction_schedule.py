"""When which job is predicted: an interval after the last time, later where predictions of it take long."""

from __future__ import annotations

from typing import Final

from ..session import JobSession
from .job_schedule import JobSchedule

_SHORT: Final = 2  # intervals; what was seen of a job for less is not predicted at once
_FEW_S: Final = 5.0  # predictions of a job that together have their share in so long may follow one another


class PredictionSchedule:
    """Says when jobs are due. All times are of the steady clock.

    Args:
        interval_s: between predictions of one job.
        share: of a core that predictions of one job may take.

    Attributes:
        due: when each job is predicted next.
        predicted_at: when each was predicted last.
    """

    def __init__(self, interval_s: float, share: float) -> None:
        self.due = JobSchedule()
        self.predicted_at: dict[str, float] = {}
        self._interval_s, self._share = interval_s, share
        self._spread_until: dict[str, float] = {}  # until when what predictions of a job took is its share

    def plan(self, session: JobSession, now: float) -> None:
        """Has a job predicted that has new data: an interval after the last time, sooner after a flush."""
        if session.flushed or session.predictor.changed:
            interval = self._interval_s / (4 if session.flushed else 1)
            if (before := self.predicted_at.get(session.job)) is not None:
                self.due.put(
                    session.job, max(now, before + interval, self._spread_until.get(session.job, now) - _FEW_S)
                )
            elif session.span_s > _SHORT * interval:
                self.due.put(session.job, now)
            else:  # most jobs that are over by then had no period, and they are the most
                self.due.put(session.job, max(now, session.created_at_s + interval))

    def begin(self, job: str, at: float) -> None:
        """Takes in that a job is predicted now."""
        self.predicted_at[job] = at
        self.due.drop(job)

    def spent(self, job: str, at: float, took_s: float) -> bool:
        """Takes in what a prediction took; a few may follow one another. Returns whether the next one has to wait."""
        until = max(self._spread_until.get(job, at), at) + took_s / self._share
        self._spread_until[job] = until
        return until - _FEW_S > at + self._interval_s

    def renew(self, job: str, at: float, stale_in_s: float) -> None:
        """Has a job predicted again when what was said of it at ``at`` goes stale, even if no data comes."""
        stale_s = at + max(stale_in_s, self._interval_s)
        self.due.put(job, max(stale_s, self._spread_until[job] - _FEW_S))

    def forget(self, job: str) -> None:
        """Lets go of a job."""
        self.predicted_at.pop(job, None)
        self._spread_until.pop(job, None)
        self.due.drop(job)
