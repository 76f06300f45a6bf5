"""What systemd, or another service manager of its kind, is told: that we are ready, reload, end, and still work.

The protocol is that of ``sd_notify(3)``: datagrams of text to the socket that ``NOTIFY_SOCKET`` names.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Final

_FED: Final = 3  # times in the time after which the manager would end us


class ServiceManager:
    """Who started us, if it wants to be told; else nothing is done.

    Args:
        environment: names the socket, and after which time without a word we are ended.

    Attributes:
        watchdog_s: this time in seconds; None for never.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        named = environment.get("NOTIFY_SOCKET", "")
        self._address = f"\0{named[1:]}" if named.startswith("@") else named
        self.watchdog_s: float | None = None
        meant = environment.get("WATCHDOG_PID", "")
        with contextlib.suppress(ValueError):
            if not meant or int(meant) == os.getpid():
                self.watchdog_s = int(environment.get("WATCHDOG_USEC", "")) / 1e6 or None

    def ready(self, status: str = "") -> None:
        """Says that we work, also after a reload."""
        self._tell("READY=1", *([f"STATUS={status}"] if status else []))

    def reloading(self) -> None:
        """Says that settings are read again; ``ready`` has to follow."""
        self._tell("RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def stopping(self) -> None:
        """Says that we end."""
        self._tell("STOPPING=1")

    async def feed(self, why_not: Callable[[], str]) -> None:
        """Says that we still work as long as ``why_not`` returns "", until cancelled.

        It has to be a task of the loop whose progress is meant: one that stands still says nothing.
        """
        while self._address and self.watchdog_s is not None:
            if not why_not():
                self._tell("WATCHDOG=1")
            await asyncio.sleep(self.watchdog_s / _FED)

    def _tell(self, *words: str) -> None:
        if not self._address:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto("\n".join(words).encode(), self._address)
