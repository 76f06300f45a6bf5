"""Earlier certain periods of a running job, reported when it has none any more."""

from __future__ import annotations

import math

from ...results.prediction import OtherPeriod, Prediction
from ..periodicity.tuning import TUNING


class FormerPeriods:
    """Stores the last few periods with the times at which they were seen.

    Args:
        sure: minimum confidence of a stored period.
        same: maximum difference of the logarithms of equal periods.
    """

    def __init__(self, sure: float, same: float) -> None:
        self._sure, self._same = sure, same
        self._earlier_periods: list[OtherPeriod] = []

    def note(self, prediction: Prediction, until_s: float) -> None:
        """Add a prediction; ``until_s`` is the end of the newest data."""
        period = prediction.period_s
        if period is None or not period.value > 0 or prediction.confidence < self._sure:
            return
        known = self._earlier_periods[-1] if self._earlier_periods else None
        start_s, confidence = prediction.window.start_s, prediction.confidence
        if known is not None and abs(math.log(period.value / known.period_s.value)) < self._same:
            start_s, confidence = known.start_s, max(known.confidence, confidence)
            self._earlier_periods.pop()
        elif known is not None:
            start_s = max(start_s, known.end_s)
        phases = round(max(until_s - start_s, 0.0) / period.value) + 1
        made = OtherPeriod(
            relation="earlier",
            period_s=period,
            confidence=confidence,
            start_s=start_s,
            end_s=max(until_s, start_s),
            phases=max(phases, 2),
        )
        self._earlier_periods = [*self._earlier_periods, made][-TUNING.secondary_periods.max_earlier_periods :]

    def confirmed_periods(self) -> list[OtherPeriod]:
        """Return the periods that lasted, latest first."""
        return [
            each for each in reversed(self._earlier_periods) if each.phases > TUNING.secondary_periods.min_intervals
        ]
