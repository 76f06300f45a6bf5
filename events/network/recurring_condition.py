"""Conditions that come and go.

One log line is written when a condition begins, and one with a count when it has ended.
"""

from __future__ import annotations

from typing import Final, NamedTuple

CALM_S: Final = 10.0
"""Time without a condition after which it has ended, s. A full listener may open and shut 4 times per second."""


class EndedCondition(NamedTuple):
    """A condition that has ended."""

    times: int
    """Number of occurrences."""
    lasted_s: float


class RecurringCondition:
    """Counts the occurrences of a condition from its beginning to its end.

    Args:
        calm_s: time without an occurrence after which the condition has ended, s.
    """

    def __init__(self, calm_s: float = CALM_S) -> None:
        self._calm_s = calm_s
        self._count = 0
        self._begun_s = self._last_s = 0.0

    def occurred(self, now_s: float) -> bool:
        """Count an occurrence; return True if the condition begins with it."""
        self._count += 1
        self._last_s = now_s
        if self._count > 1:
            return False
        self._begun_s = now_s
        return True

    def continues(self, now_s: float) -> None:
        """Note that the last occurrence has not ended yet."""
        self._last_s = now_s

    def ended(self, now_s: float) -> EndedCondition | None:
        """Return the condition, once, after it has not occurred for ``calm_s``."""
        if not self._count or now_s - self._last_s < self._calm_s:
            return None
        found = EndedCondition(self._count, self._last_s - self._begun_s)
        self._count = 0
        return found
