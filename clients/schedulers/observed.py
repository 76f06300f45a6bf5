"""Observed jobs as simulation input: phases of a finished trace, predictions of a running job."""

from __future__ import annotations

import math
from dataclasses import replace

from ...results.prediction import Prediction
from ...results.traces.plot_data import PhaseColumns
from ...results.upcoming import upcoming
from ...scheduling.protocol import Forecast
from ..text.headline import members_text
from .fluid import Job
from .mixes import MAX_PHASES
from .predictions import true_forecasts

_MIN_S = 1e-6


def job_from_phases(
    name: str,
    span_s: tuple[float, float],
    phases: PhaseColumns,
    prediction: Prediction,
) -> Job:
    """Make a job from the I/O phases of a finished trace.

    Its rate limit is its mean bandwidth within phases. The prediction of each phase is the phase itself, with the
    probabilities of the prediction; without a period there are no predictions.

    Args:
        name: name of the job.
        span_s: start and end of the trace.
        phases: I/O phases, in order.
        prediction: prediction of the trace.

    Raises:
        ValueError: there are no bytes.
    """
    columns = (column.tolist() for column in (phases.start_s, phases.end_s, phases.volume_bytes))
    rows = [row for row in zip(*columns, strict=True) if row[2] > 0]
    if not rows:
        raise ValueError("no bytes were moved that count")
    busy = math.fsum(max(end - start, _MIN_S) for start, end, _ in rows)
    limit = math.fsum(volume for _, _, volume in rows) / busy
    gaps, before = [], span_s[0]
    for start, end, _ in rows:
        gaps.append(max(0.0, start - before))
        before = max(end, start + _MIN_S)
    moved = tuple(volume for _, _, volume in rows)
    forecasts: tuple[Forecast | None, ...] = (None,) * len(rows)
    if prediction.period_s is not None:
        sure = 0.0 if prediction.next_phase is None else prediction.next_phase.confidence
        forecasts = tuple(
            replace(each, period_s=prediction.period_s.value, confidence=prediction.confidence, next_confidence=sure)
            for each in true_forecasts(gaps, moved, limit)
        )
    return Job(name, tuple(gaps), moved, limit, forecasts, span_s[0], max(0.0, span_s[1] - before))


def predictions_by_period(prediction: Prediction) -> list[Prediction]:
    """Return one prediction per period of a running job, the main one first. Each is named by its members."""
    expected = upcoming(prediction)
    if len(expected) < 2:
        return [prediction]
    return [
        prediction.model_copy(
            update={
                "job": prediction.job if each.who is None else f"{prediction.job}, {members_text(each.who)}",
                "period_s": each.period_s, "confidence": each.confidence, "next_phase": each.next_phase,
                "drift": each.drift, "who": each.who, "others": [],
            }
        )
        for each in expected
    ]  # fmt: skip


def job_from_prediction(prediction: Prediction, duration_s: float) -> Job:
    """Make a job that repeats the predicted next phase of a running one.

    Raises:
        ValueError: there is no period, no next phase, or no volume in it; the text continues a sentence after the job's
            name.
    """
    if prediction.period_s is None or prediction.next_phase is None:
        raise ValueError("has no period, or no next phase")
    coming = prediction.next_phase
    volume, lasting = coming.volume_bytes.value, max(coming.duration_s.value, _MIN_S)
    period, growth = prediction.period_s.value, 0.0
    if prediction.drift is not None:
        period, growth = prediction.drift.period_s.value, prediction.drift.per_phase * prediction.period_s.value
    if not (0 < volume < math.inf and 0 < period < math.inf):
        raise ValueError("has a next phase without bytes")
    first = max(0.0, coming.start_s.value - prediction.made_at_s)
    lasting = min(lasting, period)
    gaps, elapsed = [first], first + lasting
    while elapsed < duration_s:
        gaps.append(max(0.0, period + len(gaps) * growth - lasting))
        elapsed += gaps[-1] + lasting
        if len(gaps) > MAX_PHASES:
            raise ValueError(f"has more than {MAX_PHASES:,} phases in {duration_s:g} s")
    forecasts = tuple(
        Forecast(
            prediction.period_s.value,
            volume,
            gap,
            0.0 if prediction.drift is None else prediction.drift.per_phase,
            prediction.confidence,
            coming.confidence,
        )
        for gap in gaps
    )
    return Job(prediction.job, tuple(gaps), (volume,) * len(gaps), volume / lasting, forecasts)
