"""Messages that wait for subscribers: ZeroMQ itself would drop some of them for all subscribers.

A subscriber that does not read is cut off. ZeroMQ does not name it, but the kernel does.
"""

from __future__ import annotations

import fcntl
import logging
import math
import socket
import struct
import termios
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

import zmq

from ...events.network.peers import connections_at, name_of_peer

_log = logging.getLogger(__name__)
_TIMEOUT_S: Final = 1.0
"""Time for which others wait for a subscriber with a full queue, s."""
_INT: Final = struct.Struct("i")
_T = TypeVar("_T")


class SlowSubscribers:
    """Cuts off the slowest subscriber while a queue of messages stays full.

    Args:
        endpoint: bound endpoint of the publisher.
        behind: messages in a full queue (``publish_behind``).
        counters: gets ``subscribers_cut_off``.
    """

    def __init__(self, endpoint: str, behind: int, counters: Counter[str]) -> None:
        self._endpoint, self._behind, self._counters = endpoint, behind, counters
        self._since_s = math.inf

    def on_writable(self) -> None:
        """Note that each queue takes messages."""
        self._since_s = math.inf

    def on_full(self, now_s: float) -> None:
        """Note that a queue takes no message; cut a subscriber off after a while."""
        self._since_s = min(self._since_s, now_s)
        if now_s - self._since_s < _TIMEOUT_S:
            return
        self._since_s = now_s
        slowest, most = None, 0
        for connection in connections_at(self._endpoint):
            if (waiting := _unread_bytes(connection)) > most:
                if slowest is not None:
                    slowest.close()
                slowest, most = connection, waiting
            else:
                connection.close()
        if slowest is not None:
            with slowest:
                self._cut_off(slowest)

    def _cut_off(self, connection: socket.socket) -> None:
        peer = name_of_peer(connection)
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:  # it has left
            return
        self._counters["subscribers_cut_off"] += 1
        _log.warning(
            "publish: the subscriber %s was cut off: it does not read, and publish_behind = %d messages wait for it",
            peer, self._behind,
        )  # fmt: skip


def _unread_bytes(connection: socket.socket) -> int:
    """Return the bytes in the send buffer of a connection (SIOCOUTQ, see tcp(7) and unix(7))."""
    try:
        return int(_INT.unpack(fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(_INT.size)))[0])
    except OSError:
        return 0


class PublishQueue(Generic[_T]):
    """Sends messages in their order. They wait while the queue of a subscriber is full.

    Args:
        send: sends a message by a socket with XPUB_NODROP; raises ``zmq.Again`` if the queue of a subscriber is full.
        endpoint: bound endpoint of the socket.
        behind: maximum number of waiting messages (``publish_behind``).
        counters: gets ``subscribers_cut_off`` and ``published_missed``.
    """

    def __init__(self, send: Callable[[_T], object], endpoint: str, behind: int, counters: Counter[str]) -> None:
        self.waiting: deque[_T] = deque(maxlen=behind)
        self._send, self._counters = send, counters
        self._slow = SlowSubscribers(endpoint, behind, counters)

    def put(self, message: _T) -> None:
        """Send a message, after those that wait; above the maximum the oldest is dropped and counted."""
        if len(self.waiting) == self.waiting.maxlen:
            self._counters["published_missed"] += 1
        self.waiting.append(message)
        self.flush()

    def flush(self) -> None:
        """Send waiting messages; call it a few times per second. A subscriber that stays full is cut off."""
        while self.waiting:
            try:
                self._send(self.waiting[0])
            except zmq.Again:
                self._slow.on_full(time.monotonic())
                return
            self.waiting.popleft()
        self._slow.on_writable()
