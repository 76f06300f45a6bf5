"""One prediction of a job: whether its period is looked for, what that cost, and when the job is due again."""

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

_SHORT_S: Final = 1.0  # jobs that lasted less come by the hundred a second


class PredictionStep:
    """Predicts jobs one by one, with the clocks and the counters of the aggregator.

    Attributes:
        planned: when jobs are due.
        looked: whether the last prediction looked for a period.
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
        self.planned = PredictionSchedule(settings.prediction_interval_s, settings.prediction_share)
        self.looked = True
        self._clock, self._steady, self._effort = clock, steady, effort
        self._counters, self._pressure = counters, pressure
        self._short_jobs = Allowance(settings.short_jobs_share, steady())

    def predict(self, session: JobSession, *, whole: bool, looks: bool | None) -> Prediction | None:
        """Predicts a job now.

        Args:
            session: the job.
            whole: whether this is the last word on it.
            looks: whether to look for its period; None where that is not decided yet.

        Returns:
            The prediction; None before the first event, and of a job that cannot be predicted.
        """
        at, now, spent_s = self._steady(), self._clock(), self._effort()
        self.planned.begin(session.job, at)
        short = session.span_s < _SHORT_S
        if looks is None:
            looks = not (short and (self._pressure.hurries or (whole and not self._short_jobs.has_room(at))))
        self.looked = looks
        self._counters["last_words_skipped"] += not looks
        try:
            prediction = session.predict(now, whole=whole, looks=looks)
        except AnalysisFailedError:  # which is told with the job
            self._counters["prediction_errors"] += 1
            return None
        finally:
            self._counters["predictions_put_off"] += self.planned.spent(session.job, at, self._effort() - spent_s)
            if short and whole:
                self._short_jobs.spend(self._effort() - spent_s)
        if prediction is None:
            return None
        self._counters["predictions"] += 1
        if session.stale_at_s is not None and not whole:
            self.planned.renew(session.job, at, session.stale_at_s - now)
        return prediction
