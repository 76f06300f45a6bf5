"""Limits on predictions from a window with missing calls."""

from __future__ import annotations

from ....analyzers.completeness import Completeness
from ....results.prediction import Prediction
from .job_losses import JobLosses


def without_incomplete_period(
    prediction: Prediction, now_ns: int, completeness: Completeness, losses: JobLosses
) -> Prediction:
    """Remove the period of a prediction whose window is too incomplete.

    Args:
        prediction: prediction from the received calls.
        now_ns: its time.
        completeness: losses of the job's calls, by time.
        losses: losses of the job, with its cut-off streams.

    Returns:
        The prediction with its completeness, and without a period if that is too low.
    """
    window = prediction.window
    # Losses since its newest event count, too.
    share = completeness.share(int(window.start_s * 1e9), max(int(window.end_s * 1e9), now_ns))
    if losses.cut_off:  # nothing is known of their missing data
        share *= 1 - losses.cut_off / max(losses.opened, losses.cut_off)
    if share >= 1.0:
        return prediction
    prediction_with_share = prediction.model_copy(update={"completeness": share})
    if not prediction_with_share.incomplete:
        return prediction_with_share
    nothing: dict[str, object] = dict.fromkeys(("period_s", "next_phase", "scores", "who", "drift"))
    return prediction_with_share.model_copy(update=nothing | {"confidence": 0.0, "others": [], "dominant": []})
