"""Notifications for systemd or a compatible service manager: ready, reloading, stopping, watchdog.

The protocol is that of ``sd_notify(3)``: text datagrams to the socket in ``NOTIFY_SOCKET``.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Final

_PINGS_PER_INTERVAL: Final = 3  # notifications per watchdog interval


class ServiceManager:
    """Connection to the service manager, if one requests notifications; otherwise nothing is sent.

    Args:
        environment: contains the socket, and the watchdog interval.

    Attributes:
        watchdog_s: watchdog interval, s; None without a watchdog.
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
        """Report that the service is ready, also after a reload."""
        self._notify("READY=1", *([f"STATUS={status}"] if status else []))

    def reloading(self) -> None:
        """Report that settings are being read again; ``ready`` must follow."""
        self._notify("RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def stopping(self) -> None:
        """Report that the service is stopping."""
        self._notify("STOPPING=1")

    def keep_alive(self) -> None:
        """Send a watchdog notification, if there is a watchdog."""
        if self.watchdog_s is not None:
            self._notify("WATCHDOG=1")

    async def feed_watchdog(self, why_not: Callable[[], str]) -> None:
        """Send watchdog notifications while ``why_not`` returns "", until cancelled.

        It must be a task of the supervised event loop: a blocked loop sends nothing.
        """
        while self._address and self.watchdog_s is not None:
            if not why_not():
                self.keep_alive()
            await asyncio.sleep(self.watchdog_s / _PINGS_PER_INTERVAL)

    def _notify(self, *words: str) -> None:
        if not self._address:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto("\n".join(words).encode(), self._address)
