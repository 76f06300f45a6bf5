"""What may be said of a window from which calls are missing."""

from __future__ import annotations

from ....analyzers.completeness import Completeness
from ....results.prediction import Prediction
from .job_losses import JobLosses


def held_to_what_arrived(
    prediction: Prediction, now_ns: int, completeness: Completeness, losses: JobLosses
) -> Prediction:
    """Claims no period from a window of which more was lost than does not matter.

    Args:
        prediction: of what arrived.
        now_ns: when it is made.
        completeness: what was lost of the job's calls, by time.
        losses: its streams that were cut off.

    Returns:
        The same with its completeness, and without a period where that is too low.
    """
    window = prediction.window
    # What was lost since its newest event is missing in it, too.
    share = completeness.share(int(window.start_s * 1e9), max(int(window.end_s * 1e9), now_ns))
    if losses.cut_off:  # of what they would have sent nothing is known but who they were
        share *= 1 - losses.cut_off / max(losses.opened, losses.cut_off)
    if share >= 1.0:
        return prediction
    told = prediction.model_copy(update={"completeness": share})
    if not told.incomplete:
        return told
    nothing: dict[str, object] = dict.fromkeys(("period_s", "next_phase", "scores", "who", "drift"))
    return told.model_copy(update=nothing | {"confidence": 0.0, "others": [], "dominant": []})
