"""Messages of all streams in flight: their bounds, and the times at which unacknowledged ones are sent again."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import Final

from ...events.network.wire import Frame
from .window import SendWindow, Sent

FIRST_CREDIT: Final = 64
"""Batches that may be in flight before the aggregator has sent a credit."""
FIRST_UNDER_WAY: Final = 256 << 10
"""Bytes in flight above which nothing more is sent before the first ack, also after an outage. All collectors of a
cluster send at once when an aggregator returns, before it can limit their credit."""
MAX_UNDER_WAY: Final = 16 << 20
"""Bytes in flight above which nothing more is sent until some are acknowledged. They occupy the aggregator's memory,
where a full credit of full batches would take 256 MiB per collector. With acks after 50 ms it allows 320 MB/s."""

_MAX_STALLS: Final = 5
"""Maximum number of times that the timeout is doubled while nothing is acknowledged."""


class InFlight:
    """Bounds the messages in flight by the aggregator's credit and by bytes, and resends them in order.

    Args:
        collector: name of the collector.
        resend_after_s: time after which an unacknowledged message may be sent again, s.
        counters: the shipper's counters.
        as_user: user of the streams, as in HELLO.

    Attributes:
        messages: number of messages in flight.
        bytes: their size.
    """

    def __init__(self, collector: str, resend_after_s: float, counters: Counter[str], as_user: str = "") -> None:
        self.messages = 0
        self.bytes = 0
        self._collector, self._as_user = collector, as_user
        self._counters = counters
        self._credit, self._max_bytes = FIRST_CREDIT, FIRST_UNDER_WAY
        self._timeout = ResendTimeout(resend_after_s)
        self._resends: deque[list[Frame]] = deque()

    @property
    def has_room(self) -> bool:
        """Whether one more batch may be sent."""
        return self.messages < self._credit and self.bytes < self._max_bytes

    def set_credit(self, credit: int) -> None:
        """Set the aggregator's credit: the number of messages that may be in flight; at least one may."""
        self._credit, self._max_bytes = max(1, credit), MAX_UNDER_WAY

    def on_outage(self) -> None:
        """Apply the bounds before the first ack again: the aggregator is silent, and another one may answer next."""
        self._credit, self._max_bytes = FIRST_CREDIT, FIRST_UNDER_WAY

    def restore(self, window: SendWindow) -> None:
        """Count the messages that a previous collector had in flight."""
        self.messages += len(window.in_flight)
        self.bytes += sum(sent.size for sent in window.in_flight)

    def add(self, messages: Iterable[Sent], now_s: float) -> None:
        """Count messages that are sent now for the first time."""
        if not self.messages:
            self._timeout.begin(now_s)
        for sent in messages:
            self.messages += 1
            self.bytes += sent.size
            self._counters["batches_sent"] += 1
            self._counters["events_sent"] += sent.events

    def remove(self, messages: Sequence[Sent], now_s: float) -> None:
        """Remove messages that the aggregator has acknowledged or refused."""
        for sent in messages:
            self.messages -= 1
            self.bytes -= sent.size
            self._timeout.acknowledged(sent.sent_s, now_s)

    def introduce(self, window: SendWindow, now_s: float) -> None:
        """Send HELLO of a stream, and its messages in flight again."""
        self._resends.extend(self.hello(window, now_s))
        self.resend(window, now_s)

    def hello(self, window: SendWindow, now_s: float) -> list[list[Frame]]:
        """Return HELLO of a stream, and count the definitions that do not fit into it: they are in flight again."""
        before = len(window.in_flight)
        frames = window.hello(self._collector, now_s, self._as_user)
        self.messages += len(window.in_flight) - before
        return frames

    def resend(self, window: SendWindow, now_s: float) -> None:
        """Send all messages of a stream in flight again."""
        self._resends.extend(window.resend(now_s))
        self._counters["batches_resent"] += len(window.in_flight)

    def resend_overdue(self, windows: Iterable[SendWindow], now_s: float) -> None:
        """Send the messages of streams again whose oldest message is overdue."""
        self._timeout.update(now_s, is_under_way=bool(self.messages))
        for window in windows:
            if window.in_flight and self._timeout.is_over(window.in_flight[0].sent_s, now_s):
                self.resend(window, now_s)

    def take_resends(self) -> list[list[Frame]]:
        """Remove and return the messages to be sent again, in order."""
        resends = list(self._resends)
        self._resends.clear()
        return resends


class ResendTimeout:
    """Selects overdue messages: those older than an acknowledged one, or all if nothing is acknowledged.

    The wire keeps the order. So if earlier batches are still being acknowledged, a missing ack means that the
    aggregator is slow, and sending again would make it slower.

    Args:
        resend_after_s: initial timeout, s.
    """

    def __init__(self, resend_after_s: float) -> None:
        self._resend_after_s = resend_after_s
        self._progress_s = -math.inf
        self._stalls = 0
        self._is_stalled = False
        self._latest_acknowledged_s = -math.inf

    def begin(self, now_s: float) -> None:
        """Start the timeout when the first message is in flight."""
        self._progress_s = now_s

    def acknowledged(self, sent_s: float, now_s: float) -> None:
        """Record the ack of a message that was sent at ``sent_s``."""
        self._latest_acknowledged_s = max(self._latest_acknowledged_s, sent_s)
        self._progress_s = now_s
        self._stalls = 0

    def update(self, now_s: float, *, is_under_way: bool) -> None:
        """Update whether nothing at all is acknowledged; must be called before ``is_over``."""
        self._is_stalled = now_s - self._progress_s >= self._resend_after_s * 2**self._stalls
        if self._is_stalled and is_under_way:
            self._progress_s = now_s
            self._stalls = min(self._stalls + 1, _MAX_STALLS)

    def is_over(self, sent_s: float, now_s: float) -> bool:
        """Return whether a message that was sent at ``sent_s`` must be sent again."""
        if now_s - sent_s < self._resend_after_s:
            return False
        return self._is_stalled or sent_s < self._latest_acknowledged_s
