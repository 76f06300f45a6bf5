"""How a command that runs until a signal ends it takes that signal."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Final

_ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Ending:
    """Takes the signals that ask us to end, from the moment that it is made: before that they would kill us.

    Args:
        reloads: SIGHUP does not end us either.
    """

    def __init__(self, *, reloads: bool = False) -> None:
        self._is_asked = False
        self._is_to_reload = False
        if reloads:
            signal.signal(signal.SIGHUP, self._early_reload)
        for number in _ENDING_SIGNALS:
            signal.signal(number, self._early)

    def then(self, end: Callable[[], object]) -> None:
        """Has the loop that runs call something when we are asked to end, and if we have been already."""
        import asyncio  # which whoever calls has: --help should be instant

        for number in _ENDING_SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._asked, end)
        if self._is_asked:
            end()

    def reload(self, reload: Callable[[], object]) -> None:
        """Has the loop that runs call something on SIGHUP, and if one has come already."""
        import asyncio

        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)
        if self._is_to_reload:
            reload()

    def _asked(self, end: Callable[[], object]) -> None:
        self._is_asked = True  # also for what comes after that which ends now
        end()

    def _early_reload(self, number: int, frame: object) -> None:
        self._is_to_reload = True

    def _early(self, number: int, frame: object) -> None:
        self._is_asked = True
