"""When what is unacknowledged is sent again."""

from __future__ import annotations

import math
from typing import Final

_MOST_STALLS: Final = 5
"""How often the patience with an aggregator that acknowledges nothing is doubled."""


class Patience:
    """Sends again what is overdue: where something sent later was acknowledged, or where nothing is at all.

    The wire keeps the order, so silence about one batch while earlier ones are acknowledged means that the
    aggregator is slow; sending again would make it slower.

    Args:
        resend_after_s: what it begins with.
    """

    def __init__(self, resend_after_s: float) -> None:
        self._resend_after_s = resend_after_s
        self._progress_s = -math.inf
        self._stalls = 0
        self._is_stalled = False
        self._latest_acknowledged_s = -math.inf

    def begin(self, now_s: float) -> None:
        """Takes in that something is under way, where nothing was."""
        self._progress_s = now_s

    def acknowledged(self, sent_s: float, now_s: float) -> None:
        """Takes in that something that was sent then was acknowledged."""
        self._latest_acknowledged_s = max(self._latest_acknowledged_s, sent_s)
        self._progress_s = now_s
        self._stalls = 0

    def look(self, now_s: float, *, is_under_way: bool) -> None:
        """Finds out whether nothing at all is acknowledged; to be called before ``is_over``."""
        self._is_stalled = now_s - self._progress_s >= self._resend_after_s * 2**self._stalls
        if self._is_stalled and is_under_way:
            self._progress_s = now_s
            self._stalls = min(self._stalls + 1, _MOST_STALLS)

    def is_over(self, sent_s: float, now_s: float) -> bool:
        """Tells whether what was sent then is to be sent again."""
        if now_s - sent_s < self._resend_after_s:
            return False
        return self._is_stalled or sent_s < self._latest_acknowledged_s
