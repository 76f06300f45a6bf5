"""One prediction of a job. It has whether its period is searched for, the cost, and the next due time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from ....results.prediction import Prediction
from ...pressure import Allowance, Pressure
from ...settings import AggregatorSettings
from ..losses.failures import AnalysisFailedError
from ..session import JobSession
from .prediction_schedule import PredictionSchedule

_SHORT_S: Final = 1.0  # jobs that lasted less arrive by the hundred per second


class PredictionStep:
    """Predicts jobs one by one, with the clocks and the counters of the aggregator.

    Attributes:
        schedule: schedule of predictions.
        searched: whether the last prediction searched for a period.
    """

    def __init__(
        self,
        settings: AggregatorSettings,
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

    def predict(self, session: JobSession, *, whole: bool, looks: bool | None) -> Prediction | None:
        """Predict a job now.

        Args:
            session: the job.
            whole: whether this is its final prediction.
            looks: whether to search for its period; None if not yet decided.

        Returns:
            The prediction; None before the first event, and for a job that cannot be predicted.
        """
        at, now, spent_s = self._steady(), self._clock(), self._effort()
        self.schedule.begin(session.job, at)
        short = session.span_s < _SHORT_S
        if looks is None:
            looks = not (short and (self._pressure.skips_optional or (whole and not self._short_jobs.has_time(at))))
        self.searched = looks
        self._counters["last_words_skipped"] += not looks
        try:
            prediction = session.predict(now, whole=whole, looks=looks)
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
