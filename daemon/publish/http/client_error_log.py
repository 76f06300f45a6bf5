"""Log of errors of HTTP clients: two lines per condition, for any number of errors."""

from __future__ import annotations

import asyncio
import logging

from ....events.network.recurring_condition import CALM_S, RecurringCondition

_log = logging.getLogger(__name__)


class QuietLogger(logging.Logger):
    """uvicorn's logger without its warnings, one per malformed request; errors are passed on."""

    def __init__(self) -> None:
        super().__init__("uvicorn.error", logging.ERROR)
        self.parent = logging.getLogger(self.name)


class ConditionLog:
    """Logs the beginning and the end of a condition that outsiders can repeat at will.

    Args:
        begins: log text of the first occurrence; ``occurred`` has its arguments.
        ends: log text of the end: count and duration, s.
    """

    def __init__(self, begins: str, ends: str) -> None:
        self._begins, self._ends = begins, ends
        self._condition = RecurringCondition()
        self._timer: asyncio.TimerHandle | None = None

    def occurred(self, *about: object) -> None:
        """Count an occurrence, and log the first one."""
        loop = asyncio.get_running_loop()
        if self._condition.occurred(loop.time()):
            _log.warning(self._begins, *about)
            self._timer = loop.call_later(CALM_S, self._check)

    def close(self) -> None:
        """Stop waiting for the end."""
        if self._timer is not None:
            self._timer.cancel()

    def _check(self) -> None:
        loop = asyncio.get_running_loop()
        ended = self._condition.ended(loop.time())
        if ended is None:
            self._timer = loop.call_later(CALM_S, self._check)
        else:
            _log.warning(self._ends, ended.times, ended.lasted_s)
