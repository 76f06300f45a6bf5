"""What one receiver has still to be told of alerts: no clock, no socket."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ....results.alerts import Alert

DROPPED: Final = "notifications_dropped"
"""In the aggregator's counters."""
_MOST_AT_ONCE: Final = 64
_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 60.0


class Outbox:
    """The latest of each alert waits until it was sent. Times are seconds of a steady clock.

    Args:
        most: news that may wait.
        repeat_s: after which what is raised is sent again; None for a receiver that wants news alone.

    Attributes:
        dropped: alerts for which there was no room.
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
        """Returns what waits, in the order in which it came."""
        return list(self._waiting.values())

    def put(self, alert: Alert) -> None:
        """Takes in that an alert was raised or resolved, or is so still."""
        if alert.key not in self._waiting and len(self._waiting) >= self._most:
            self.dropped += 1
            return
        self._waiting.pop(alert.key, None)  # the latest comes last
        self._waiting[alert.key] = alert

    def forget(self) -> None:
        """Forget what waits."""
        self._waiting.clear()

    def take(self, now_s: float, raised: Callable[[], Iterable[Alert]]) -> list[Alert]:
        """Returns what is to be sent now; it waits until ``done`` is told of it.

        Args:
            now_s: now.
            raised: returns all alerts that are raised, for the repetition.
        """
        if now_s < self._not_before:
            return []
        if self._repeat_s is not None and now_s >= self._repeat_at:
            for alert in raised():  # has a bound of its own
                self._waiting.setdefault(alert.key, alert)
            self._repeat_at = now_s + self._repeat_s
        return list(self._waiting.values())[:_MOST_AT_ONCE]

    def done(self, alerts: Sequence[Alert]) -> None:
        """Takes in that these were sent, or that the receiver will never have them."""
        self._failures = 0
        for alert in alerts:
            if self._waiting.get(alert.key) is alert:  # else there is news of it since
                del self._waiting[alert.key]

    def failed(self, now_s: float) -> float:
        """Takes in that it did not work, and returns after which pause it is tried again, s."""
        pause_s = min(_FIRST_PAUSE_S * 2.0**self._failures, _LONGEST_PAUSE_S)
        self._failures = min(self._failures + 1, 30)
        self._not_before = now_s + pause_s
        return pause_s

    def due_in(self, now_s: float) -> float:
        """Returns after which time ``take`` may have something, s; infinite where only news would."""
        at_s = -math.inf if self._waiting else self._repeat_at
        return max(at_s, self._not_before, now_s) - now_s
