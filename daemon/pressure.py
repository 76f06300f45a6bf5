"""How far the aggregator is behind its work: then collectors are held back, and short jobs cost less."""

from __future__ import annotations

import logging
from typing import Final

_log = logging.getLogger(__name__)
_PATIENCE_S: Final = 1.0  # behind, from which on collectors get less credit
_LEAST_SHARE: Final = 1 / 64
_TOLD_S: Final = 5.0
_BURST_S: Final = 1.0  # of work that an allowance saves up


class Pressure:
    """Follows by how much the most overdue job is late.

    Args:
        logs: say so in the log when that is much.

    Attributes:
        behind_s: as of the last round; 0 while nothing waits.
        crowded: messages of collectors wait although they are read all the time.
    """

    def __init__(self, *, logs: bool = True) -> None:
        self.behind_s = 0.0
        self.crowded = False
        self._logs = logs
        self._told = False

    def note(self, behind_s: float) -> None:
        """Takes in how late the most overdue job is; says once when it is much, and again when it is over."""
        self.behind_s = behind_s
        if not self._logs:
            return
        if behind_s >= _TOLD_S and not self._told:
            self._told = True
            _log.warning(
                "the aggregator is %.1f s behind: collectors are held back, and short jobs get no period "
                "(a longer prediction_interval_s, or fewer analyses, take less time)",
                behind_s,
            )
        elif behind_s < _PATIENCE_S and self._told:
            self._told = False
            _log.warning("the aggregator is no longer behind")

    @property
    def hurries(self) -> bool:
        """Whether what can be left out is: messages wait, or the log says that the aggregator is behind."""
        return self.crowded or self._told

    @property
    def share(self) -> float:
        """What part of their credit collectors get: all, or less the further behind."""
        return 1.0 if self.behind_s <= _PATIENCE_S else max(_LEAST_SHARE, _PATIENCE_S / self.behind_s / 4)


class Allowance:
    """Time that a kind of work may take: a share of the time that passes, of which one second can be saved up."""

    def __init__(self, share: float, now_s: float) -> None:
        self._share = share
        self._left_s = _BURST_S
        self._at_s = now_s

    def has_room(self, now_s: float) -> bool:
        """Tells whether there is time left."""
        self._left_s = min(self._left_s + self._share * max(now_s - self._at_s, 0.0), _BURST_S)
        self._at_s = now_s
        return self._left_s > 0

    def spend(self, seconds: float) -> None:
        """Takes in that the work took so long."""
        self._left_s -= seconds
