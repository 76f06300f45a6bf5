"""How a command that runs until a signal ends it takes that signal."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Final

_ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Ending:
    """Takes the signals that ask us to end, from the moment that it is made: before that they would kill us."""

    def __init__(self) -> None:
        self._is_asked = False
        for number in _ENDING_SIGNALS:
            signal.signal(number, self._early)

    def then(self, end: Callable[[], object]) -> None:
        """Has the loop that runs call something when we are asked to end, and if we have been already."""
        import asyncio  # which whoever calls has: --help should be instant

        for number in _ENDING_SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, end)
        if self._is_asked:
            end()

    def _early(self, number: int, frame: object) -> None:
        self._is_asked = True
