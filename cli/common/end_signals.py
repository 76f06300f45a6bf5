"""Signal handling of commands that run until a signal."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Final

_ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class SignalHandler:
    """Handler of the ending signals from its creation on; before that they kill the process.

    Args:
        reloads: also handle SIGHUP.
    """

    def __init__(self, *, reloads: bool = False) -> None:
        self._end_requested = False
        self._reload_requested = False
        if reloads:
            signal.signal(signal.SIGHUP, self._early_reload)
        for number in _ENDING_SIGNALS:
            signal.signal(number, self._early)

    @property
    def is_end_requested(self) -> bool:
        """Whether a signal has requested the end."""
        return self._end_requested

    def on_end(self, end: Callable[[], object]) -> None:
        """Have the running event loop call a function when the end is requested.

        It is called now if the end has been requested.
        """
        import asyncio  # the caller has imported it; --help must be instant

        for number in _ENDING_SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._request_end, end)
        if self._end_requested:
            end()

    def on_reload(self, reload: Callable[[], object]) -> None:
        """Have the running event loop call a function on SIGHUP. It is called now if one has arrived."""
        import asyncio

        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)
        if self._reload_requested:
            reload()

    def _request_end(self, end: Callable[[], object]) -> None:
        self._end_requested = True  # also for later stages than the one that ends now
        end()

    def _early_reload(self, number: int, frame: object) -> None:
        self._reload_requested = True

    def _early(self, number: int, frame: object) -> None:
        self._end_requested = True
