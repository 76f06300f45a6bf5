"""Estimators by name, and conversion of their results to public results."""

from __future__ import annotations

from typing import Final

from ....results.prediction import Prediction, Window
from ...settings import DetectSettings
from ..estimator import Estimator, PeriodEstimate, SignalWindow
from ..scores import scores_of
from . import default_estimator, ftio_reference

ESTIMATORS: Final[dict[str, Estimator]] = {"tide": default_estimator.estimate, "reference": ftio_reference.estimate}


def prediction_of(
    job: str,
    settings: DetectSettings,
    view: SignalWindow,
    periodicity: PeriodEstimate,
    *,
    made_at_s: float,
    adapted: bool,
    error: float = 0.0,
) -> Prediction:
    """Combine an estimate, its window and the scores.

    Args:
        job: job name.
        settings: method and limits.
        view: signal that was analyzed.
        periodicity: estimate for it.
        made_at_s: current time, s.
        adapted: whether the window was shortened after hits.
        error: abstraction error of the signal.
    """
    period = periodicity.period_s
    before = _others_before(view, periodicity)
    scored, phase_rad = view.window[before:], None if before else _phase_rad(periodicity)
    return Prediction(
        job=job,
        made_at_s=made_at_s,
        mode=settings.mode,
        method=settings.method,
        window=Window(start_s=view.window_start_s, end_s=view.end_s, samples=len(view.window), adapted=adapted),
        sampling_frequency_hz=1 / view.bin_s,
        period_s=period,
        confidence=periodicity.confidence,
        dominant=periodicity.dominant,
        harmonics_dropped=periodicity.harmonics_dropped,
        scores=None if period is None else scores_of(scored, view.bin_s, period.value, phase_rad),
        next_phase=periodicity.next_phase,
        drift=periodicity.drift,
        shifts=periodicity.shifts,
        interruptions=periodicity.interruptions,
        patterns=periodicity.patterns,
        others=periodicity.others,
        abstraction_error=error,
    )


def _others_before(view: SignalWindow, periodicity: PeriodEstimate) -> int:
    """Return the number of bins of the window with earlier periods. These must not affect the scores."""
    ends_s = [each.end_s for each in periodicity.others if each.relation == "earlier"]
    bins = int((max(ends_s) - view.window_start_s) / view.bin_s) if ends_s else 0
    return min(max(bins, 0), len(view.window) - 1)


def _phase_rad(periodicity: PeriodEstimate) -> float | None:
    """Return the phase of the estimate's cosine, if it is in the list of frequencies."""
    period = periodicity.period_s
    listed = (row.phase_rad for row in periodicity.dominant if period is not None and row.period_s == period.value)
    return next(listed, None)
