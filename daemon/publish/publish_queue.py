"""Messages that wait for subscribers: ZeroMQ itself would drop some of them for all subscribers."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Generic, TypeVar

import zmq

from .slow_subscribers import SlowSubscribers

_T = TypeVar("_T")


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
