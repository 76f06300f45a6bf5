"""Delay of the aggregator's work. With a delay, collectors are slowed down, and short jobs get less work."""

from __future__ import annotations

import logging
from typing import Final

_log = logging.getLogger(__name__)
_TOLERATED_DELAY_S: Final = 1.0  # delay from which on collectors get less credit
_MIN_SHARE: Final = 1 / 64  # of the credit, however long the delay is
_LOGGED_DELAY_S: Final = 5.0  # delay that is logged, and from which on optional work is skipped
_BURST_S: Final = 1.0  # maximum saved work of an allowance


class Pressure:
    """Tracks the delay of the most overdue job.

    Args:
        logs: log long delays.

    Attributes:
        behind_s: delay as of the last round; 0 without waiting work.
        is_backlogged: messages of collectors wait although they are read continuously.
    """

    def __init__(self, *, logs: bool = True) -> None:
        self.behind_s = 0.0
        self.is_backlogged = False
        self._logs = logs
        self._is_logged = False

    def update(self, behind_s: float) -> None:
        """Set the delay of the most overdue job. Log once when it is long, and when it is over."""
        self.behind_s = behind_s
        if not self._logs:
            return
        if behind_s >= _LOGGED_DELAY_S and not self._is_logged:
            self._is_logged = True
            _log.warning(
                "the aggregator is %.1f s behind: collectors are slowed down, and short jobs get no period; raise "
                "prediction_interval_s, or switch analyses off",
                behind_s,
            )
        elif behind_s < _TOLERATED_DELAY_S and self._is_logged:
            self._is_logged = False
            _log.warning("the aggregator is no longer behind")

    @property
    def skips_optional(self) -> bool:
        """Whether optional work is skipped: messages wait, or a long delay was logged."""
        return self.is_backlogged or self._is_logged

    @property
    def share(self) -> float:
        """Share of their credit that collectors get: less for a longer delay."""
        return 1.0 if self.behind_s <= _TOLERATED_DELAY_S else max(_MIN_SHARE, _TOLERATED_DELAY_S / self.behind_s / 4)


class Allowance:
    """CPU time budget for a kind of work. It is a share of the elapsed time, of which one second can be saved up."""

    def __init__(self, share: float, now_s: float) -> None:
        self._share = share
        self._left_s = _BURST_S
        self._at_s = now_s

    def has_time(self, now_s: float) -> bool:
        """Return whether time is left."""
        self._left_s = min(self._left_s + self._share * max(now_s - self._at_s, 0.0), _BURST_S)
        self._at_s = now_s
        return self._left_s > 0

    def spend(self, seconds: float) -> None:
        """Subtract the time of work."""
        self._left_s -= seconds
