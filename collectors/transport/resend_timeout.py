"""Decide when unacknowledged messages are sent again."""

from __future__ import annotations

import math
from typing import Final

_MAX_STALLS: Final = 5
"""Maximum number of times that the timeout is doubled while nothing is acknowledged."""


class ResendTimeout:
    """Selects overdue messages: those older than an acknowledged one, or all if nothing is acknowledged.

    The wire keeps the order. So if earlier batches are still being acknowledged, a missing ack means that the
    aggregator is slow, and sending again would make it slower.

    Args:
        resend_after_s: initial timeout, s.
    """

    def __init__(self, resend_after_s: float) -> None:
        self._resend_after_s = resend_after_s
        self._progress_s = -math.inf
        self._stalls = 0
        self._is_stalled = False
        self._latest_acknowledged_s = -math.inf

    def begin(self, now_s: float) -> None:
        """Start the timeout when the first message is in flight."""
        self._progress_s = now_s

    def acknowledged(self, sent_s: float, now_s: float) -> None:
        """Record the ack of a message that was sent at ``sent_s``."""
        self._latest_acknowledged_s = max(self._latest_acknowledged_s, sent_s)
        self._progress_s = now_s
        self._stalls = 0

    def update(self, now_s: float, *, is_under_way: bool) -> None:
        """Update whether nothing at all is acknowledged; must be called before ``is_over``."""
        self._is_stalled = now_s - self._progress_s >= self._resend_after_s * 2**self._stalls
        if self._is_stalled and is_under_way:
            self._progress_s = now_s
            self._stalls = min(self._stalls + 1, _MAX_STALLS)

    def is_over(self, sent_s: float, now_s: float) -> bool:
        """Return whether a message that was sent at ``sent_s`` must be sent again."""
        if now_s - sent_s < self._resend_after_s:
            return False
        return self._is_stalled or sent_s < self._latest_acknowledged_s
