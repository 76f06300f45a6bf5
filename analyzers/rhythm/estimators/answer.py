"""The estimators by name, and their answer as a public result."""

from __future__ import annotations

from typing import Final

from ....results.models import Prediction, Window
from ...settings import DetectSettings
from ..scores import scores_of
from ..view import Estimator, Rhythm, View
from . import reference, tide

ESTIMATORS: Final[dict[str, Estimator]] = {"tide": tide.estimate, "reference": reference.estimate}


def prediction_of(
    job: str,
    settings: DetectSettings,
    view: View,
    rhythm: Rhythm,
    *,
    made_at_s: float,
    adapted: bool,
    error: float = 0.0,
) -> Prediction:
    """Puts together what was found, what it was found in, and the scores.

    Args:
        job: the job's name.
        settings: method and limits.
        view: the signal that was looked at.
        rhythm: what was found in it.
        made_at_s: the present.
        adapted: whether the window was cut after hits.
        error: the abstraction error of the signal.
    """
    period = rhythm.period_s
    before = _others_before(view, rhythm)
    scored, phase_rad = view.window[before:], None if before else _phase_rad(rhythm)
    return Prediction(
        job=job,
        made_at_s=made_at_s,
        mode=settings.mode,
        method=settings.method,
        window=Window(start_s=view.window_start_s, end_s=view.end_s, samples=len(view.window), adapted=adapted),
        sampling_frequency_hz=1 / view.bin_s,
        period_s=period,
        confidence=rhythm.confidence,
        dominant=rhythm.dominant,
        harmonics_dropped=rhythm.harmonics_dropped,
        scores=None if period is None else scores_of(scored, view.bin_s, period.value, phase_rad),
        next_phase=rhythm.next_phase,
        drift=rhythm.drift,
        others=rhythm.others,
        abstraction_error=error,
    )


def _others_before(view: View, rhythm: Rhythm) -> int:
    """Returns how many bins of the window belong to earlier rhythms, of which the scores would say nothing."""
    ends_s = [each.end_s for each in rhythm.others if each.relation == "earlier"]
    bins = int((max(ends_s) - view.window_start_s) / view.bin_s) if ends_s else 0
    return min(max(bins, 0), len(view.window) - 1)


def _phase_rad(rhythm: Rhythm) -> float | None:
    """Returns the phase of the answer's cosine, where that is among the frequencies listed."""
    period = rhythm.period_s
    listed = (row.phase_rad for row in rhythm.dominant if period is not None and row.period_s == period.value)
    return next(listed, None)
