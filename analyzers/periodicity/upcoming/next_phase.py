"""Start, duration and volume of the next I/O phase."""

from __future__ import annotations

from typing import Final

from ....results.base import Estimate
from ....results.prediction import FollowingPhase, NextPhase
from ..estimator import SignalWindow
from ..phases.phases import Floats, Phases
from ..tuning import TUNING
from .following import Following
from .intervals import interval_of
from .next_start import NextStart

_NEXT_PHASE: Final = TUNING.next_phase


def next_phase(
    view: SignalWindow,
    phases: Phases,
    period: float,
    expected: NextStart,
    following: list[Following],
    confidence: float,
) -> NextPhase:
    """Predict the next phase; duration and volume are means of the past complete phases.

    The last phase is excluded while it may be running. Intervals follow from the spread of past phases.

    Args:
        view: signal, for its bins and current time.
        phases: past phases, at least two.
        period: period, bins.
        expected: predicted start, bins.
        following: predicted starts of the phases after it, bins.
        confidence: probability that it starts within a fifth of a period of the prediction.
    """
    now = (view.now_s - view.start_s) / view.bin_s
    running = bool(now - phases.stop[-1] < TUNING.segmentation.max_gap_periods * period) and len(phases) > 1
    complete = phases.select(slice(None, -1)) if running else phases
    return NextPhase(
        confidence=confidence,
        start_s=_start_of(view, expected),
        duration_s=_next_of((complete.end - complete.start)[-_NEXT_PHASE.recent_phases :] * view.bin_s, view.bin_s / 2),
        volume_bytes=_next_of(complete.volume[-_NEXT_PHASE.recent_phases :] * view.bin_s, 0.0),
        following=[
            FollowingPhase(confidence=min(each.in_time, confidence), start_s=_start_of(view, each))
            for each in following
        ],
    )


def _start_of(view: SignalWindow, at: NextStart | Following) -> Estimate:
    """Return a start in seconds. A start in the past has not happened, so it is moved to now."""
    value, low, high = (max(view.start_s + bins * view.bin_s, view.now_s) for bins in (at.start, at.low, at.high))
    return Estimate(value=value, low=min(low, value), high=max(high, value))


def _next_of(values: Floats, least: float) -> Estimate:
    middle = float(values.sum()) / len(values)
    reach = interval_of(values, least=least)
    return Estimate(value=middle, low=max(middle - reach, 0.0), high=middle + reach)
