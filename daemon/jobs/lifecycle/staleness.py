"""Expiry of a silent job's prediction."""

from __future__ import annotations

from typing import Final

from ....results.prediction import Prediction

_SKIPPED_SHARE: Final = 0.51  # share of a period after the predicted start at which a phase counts as skipped
_MAX_SILENCE: Final = 16  # periods; the prediction of a job that is silent for longer is not renewed


def stale_at(prediction: Prediction, last_s: float) -> float | None:
    """Return when the predicted start has passed by more than half a period. A new prediction is then needed.

    Without a predicted start: 1, 2, 4, ... periods after the last data. None after the longest silence.
    """
    if prediction.period_s is None or prediction.period_s.value <= 0:
        return None
    period_s = prediction.period_s.value
    if prediction.next_phase is not None:
        stale_s = prediction.next_phase.start_s.value + _SKIPPED_SHARE * period_s
        return stale_s if stale_s - last_s <= _MAX_SILENCE * period_s else None
    silence_s = period_s
    while last_s + silence_s <= prediction.made_at_s:
        silence_s *= 2
    return last_s + silence_s if silence_s <= _MAX_SILENCE * period_s else None
