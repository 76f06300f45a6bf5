"""What a job's prediction says of its phases on one file system."""

from __future__ import annotations

from typing import Final

from ...results.file_systems import FileSystemUse
from ...results.models import Estimate
from .loads import JobView
from .scenarios import Expected

_INTERVAL: Final = 3.29  # a 90 % interval of a normal number, in standard deviations
_LEAST_SHARE: Final = 0.1
_UNDER_WAY_S: Final = 0.5


def expected_of(
    view: JobView, use: FileSystemUse, rate: float, now_s: float, *, horizon_s: float, phases_ahead: int
) -> Expected | None:
    """Returns what a job is expected to do on a file system; None where it does little there, or has no prediction.

    Args:
        view: the job.
        use: what it did there.
        rate: what it moves there alone, bytes/s.
        now_s: Unix time.
        horizon_s: how far ahead phases are looked at.
        phases_ahead: how many of them at most.
    """
    prediction = view.prediction
    if prediction is None or prediction.period_s is None or prediction.next_phase is None or rate <= 0:
        return None
    total = sum(each.bytes_read + each.bytes_written for each in view.use.file_systems)
    share = (use.bytes_read + use.bytes_written) / total if total else 0.0
    coming, period = prediction.next_phase, prediction.period_s
    volume = coming.volume_bytes.value * share
    if share < _LEAST_SHARE or volume <= 0 or period.value <= 0:
        return None
    seen = max((prediction.window.end_s - prediction.window.start_s) / period.value, 1.0)
    deviation = _deviation(coming.start_s)
    length, growth = period.value, 0.0
    if prediction.drift is not None:
        length, growth = prediction.drift.period_s.value, prediction.drift.per_phase
    return Expected(
        job=view.summary.job,
        rate=rate,
        start=coming.start_s.value - now_s,
        start_deviation=deviation,
        on_time=min(1.0, prediction.confidence) if coming.confidence > 0 else 0.0,
        period=length,
        period_deviation=deviation / seen**0.5,
        growth=growth,
        volume=volume,
        volume_deviation=_deviation(coming.volume_bytes) * share,
        under_way=_under_way(use, volume, now_s),
        phases=max(1, min(phases_ahead, int(horizon_s / length) + 1)),
    )


def _under_way(use: FileSystemUse, volume: float, now_s: float) -> float:
    """Returns the bytes that a phase which goes on still has to move."""
    last = use.phases[-1] if use.phases else None
    if last is None or now_s - last.end_s > _UNDER_WAY_S:
        return 0.0
    moved = 0
    for phase in reversed(use.phases):
        moved += phase.moved
        if not phase.continues:
            break
    return max(volume - moved, 0.0)


def _deviation(estimate: Estimate) -> float:
    return max(estimate.high - estimate.low, 0.0) / _INTERVAL
