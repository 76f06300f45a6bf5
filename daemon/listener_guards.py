"""Guards of a process's ZeroMQ listeners against a lack of file descriptors."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from ..events.network.descriptors import ListenerGuard


class Listener(Protocol):
    """A listening ZeroMQ socket."""

    def stop_listening(self) -> None:
        """Stop listening."""

    def listen(self) -> None:
        """Listen again; raises an OSError if that is not possible yet."""


class ListenerGuards:
    """The guards of all listeners. Their pauses are counted as ``listener_pauses``."""

    def __init__(self, counters: Counter[str]) -> None:
        self._counters = counters
        self._guards: list[ListenerGuard] = []

    def add(self, name: str, endpoint: str, listener: Listener) -> ListenerGuard:
        """Guard a listener.

        Args:
            name: name of the listener, for the log.
            endpoint: endpoint at which it listens.
            listener: the listener.

        Returns:
            Its guard, to be closed before the listener.
        """
        guard = ListenerGuard(name, endpoint, listener.stop_listening, listener.listen, self._count_pause)
        self._guards.append(guard)
        return guard

    def check(self, now_s: float) -> None:
        """Block or allow new connections, by the number of free descriptors."""
        for guard in self._guards:
            guard.check(now_s)

    def renew(self) -> None:
        """End all connections, so that peers authenticate again."""
        for guard in self._guards:
            guard.renew()

    def close(self) -> None:
        """Release all guards."""
        for guard in self._guards:
            guard.close()

    def _count_pause(self) -> None:
        self._counters["listener_pauses"] += 1
