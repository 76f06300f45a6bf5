"""Pending alerts of one receiver: no clock, no socket."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ...results.alerts import Alert

DROPPED: Final = "notifications_dropped"
"""Name in the aggregator's counters."""
_MAX_AT_ONCE: Final = 64
_FIRST_PAUSE_S: Final = 1.0
_MAX_PAUSE_S: Final = 60.0


class Outbox:
    """Keeps the latest state of each alert until it is sent. Times are seconds of a monotonic clock.

    Args:
        most: maximum number of pending alerts.
        repeat_s: interval of repeating raised alerts, s; None for a receiver that only wants changes.

    Attributes:
        dropped: number of alerts dropped by the bound.
    """

    def __init__(self, most: int, repeat_s: float | None) -> None:
        self.dropped = 0
        self._most, self._repeat_s = most, repeat_s
        self._waiting: dict[str, Alert] = {}
        self._repeat_at = -math.inf if repeat_s is not None else math.inf
        self._not_before = -math.inf
        self._failures = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def waiting(self) -> list[Alert]:
        """Return the pending alerts in order of arrival."""
        return list(self._waiting.values())

    def put(self, alert: Alert) -> None:
        """Add an alert that was raised or resolved, or its repetition."""
        if alert.key not in self._waiting and len(self._waiting) >= self._most:
            self.dropped += 1
            return
        self._waiting.pop(alert.key, None)  # the latest comes last
        self._waiting[alert.key] = alert

    def clear(self) -> None:
        """Remove the waiting alerts."""
        self._waiting.clear()

    def due_alerts(self, now_s: float, raised: Callable[[], Iterable[Alert]]) -> list[Alert]:
        """Return the alerts to send now; they stay pending until ``remove``.

        Args:
            now_s: current time.
            raised: returns all raised alerts, for the repetition.
        """
        if now_s < self._not_before:
            return []
        if self._repeat_s is not None and now_s >= self._repeat_at:
            for alert in raised():  # raised alerts have a bound of their own
                self._waiting.setdefault(alert.key, alert)
            self._repeat_at = now_s + self._repeat_s
        return list(self._waiting.values())[:_MAX_AT_ONCE]

    def remove(self, alerts: Sequence[Alert]) -> None:
        """Remove alerts that were sent, or that the receiver refuses permanently."""
        self._failures = 0
        for alert in alerts:
            if self._waiting.get(alert.key) is alert:  # otherwise there is a newer state
                del self._waiting[alert.key]

    def on_failed(self, now_s: float) -> float:
        """Note a failure, and return the pause before the next attempt, s."""
        pause_s = min(_FIRST_PAUSE_S * 2.0**self._failures, _MAX_PAUSE_S)
        self._failures = min(self._failures + 1, 30)
        self._not_before = now_s + pause_s
        return pause_s

    def due_in(self, now_s: float) -> float:
        """Return the time until ``due_alerts`` may return alerts, s. Return infinite if only a new alert can."""
        at_s = -math.inf if self._waiting else self._repeat_at
        return max(at_s, self._not_before, now_s) - now_s
