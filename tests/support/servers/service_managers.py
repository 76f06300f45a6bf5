"""A service manager for tests: the notification socket of systemd."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from support.system.waiting import DEADLINE_S


class Manager:
    """A socket that receives the notifications of a service.

    Attributes:
        environment: of the service.
    """

    def __init__(self, notifications: socket.socket, path: Path, watchdog_s: float | None) -> None:
        self._socket = notifications
        self.environment = {"NOTIFY_SOCKET": str(path)}
        if watchdog_s is not None:
            self.environment["WATCHDOG_USEC"] = str(round(watchdog_s * 1e6))
        self.notifications: list[str] = []

    def wait_for(self, wanted: str) -> str:
        """Wait for a notification; return the whole message."""
        while True:
            message = self._socket.recv(4096).decode()
            self.notifications.append(message)
            if wanted in message.split("\n"):
                return message

    def forget_waiting(self) -> None:
        """Drop the notifications that have arrived."""
        self._socket.settimeout(0)
        with suppress(BlockingIOError):
            while True:
                self._socket.recv(4096)
        self._socket.settimeout(DEADLINE_S)


@contextmanager
def managing(path: Path, watchdog_s: float | None = None) -> Iterator[Manager]:
    """Listen during the block."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications:
        notifications.bind(str(path))
        notifications.settimeout(DEADLINE_S)
        yield Manager(notifications, path, watchdog_s)
