"""Messages in flight, of one stream and of all: numbered, sent, kept until acknowledged, and sent again if lost."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...events import Definitions, EventBatch, StreamInfo, empty_batch
from ...events.losses import bounded
from ...events.network.wire import Bye, Frame, Hello, encode, encode_batch
from ..sent_definitions import extend, extended, packed, readable, readable_info

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


@dataclass(slots=True)
class Sent:
    """A sent message that may have to be sent again."""

    seq: int
    frames: list[Frame]
    events: int
    moved: int
    """Bytes that the events moved."""
    size: int
    definitions: Definitions
    """Empty if the message only repeats definitions to a new aggregator."""
    sent_s: float
    was_resent: bool = False
    row: int = 0
    """Row in the store for the next collector; 0: it is not stored."""
    batch_definitions: Definitions | None = None
    """Definitions of the whole batch, if earlier messages carry a part of them."""


class SendWindow:
    """The sequence state of one stream at its sender.

    Attributes:
        next_seq: number of the next batch; assigned at first sending, so batches dropped earlier leave no gap.
        introduced: HELLO was sent and not rejected since.
        ended: the source has closed the stream.
        refused: the aggregator refuses the stream; its events are dropped and counted.
        bye_sent_s: time when BYE was last sent.
        waiting: number of batches in the backlog.
        unsent: definitions of dropped batches; sent with the next one.
        in_flight: unacknowledged messages, by number.
        news: changed StreamInfo; sent with the next batch.
        made: number of events that the source returned.
        losses: cumulative losses by counter, in the source and here; sent with the next batch, HELLO and BYE.
        stamps_by_ns: reference of the stamps; see ``ClockOffset.opened``.
    """

    def __init__(self, wire_id: str, info: StreamInfo, voucher: str = "") -> None:
        self.wire_id = wire_id
        self.next_seq = 1
        self.introduced = False
        self.ended = False
        self.refused = False
        self.bye_sent_s: float | None = None
        self.waiting = 0
        self.unsent = Definitions()
        self.in_flight: deque[Sent] = deque()
        self.news: StreamInfo | None = None
        self.made = 0
        self.losses: Counter[str] = Counter()
        self._source_losses: Counter[str] = Counter()
        self._reported_losses: Counter[str] = Counter()
        self.stamps_by_ns: int | None = None
        self._info = readable_info(info)
        self._voucher = voucher
        self._acknowledged = Definitions()  # for an aggregator that has lost its state

    @classmethod
    def restored(
        cls, wire_id: str, info: StreamInfo, next_seq: int, made: int, losses: Counter[str], *, ended: bool
    ) -> SendWindow:
        """Return the window of a previous collector's stream; messages in flight must be numbered again."""
        window = cls(wire_id, info)
        window.next_seq, window.made, window.losses, window.ended = next_seq, made, losses, ended
        return window

    @property
    def info(self) -> StreamInfo:
        """StreamInfo of the stream."""
        return self._info

    @property
    def job(self) -> str:
        """Job of the stream."""
        return self._info.job

    @property
    def needs_only_bye(self) -> bool:
        """True if only BYE remains to be sent."""
        return self.ended and not self.refused and not self.in_flight and not self.waiting

    @property
    def oldest_seq(self) -> int:
        """The lowest number that can still be sent."""
        return self.in_flight[0].seq if self.in_flight else self.next_seq

    @property
    def has_unreported_losses(self) -> bool:
        """True if losses have grown since the last message that carried them."""
        return self.losses != self._reported_losses

    def add_losses(self, losses: Counter[str], *, in_all: bool = False) -> None:
        """Add losses of the source; ``in_all``: they are cumulative."""
        grown = losses - self._source_losses if in_all else losses
        self._source_losses.update(grown)
        self.losses.update(grown)

    def change(self, info: StreamInfo) -> None:
        """Set a new StreamInfo."""
        self._info = self.news = readable_info(info)

    def number(self, batch: EventBatch, definitions: Definitions, size: int, now_s: float) -> list[Sent]:
        """Numbers a batch and puts it in flight. Definitions too large for one message precede it."""
        fresh = extended(self.unsent, definitions)
        self.unsent = Definitions()
        *ahead, last = packed(fresh)
        sent = [self._put(empty_batch(), part, 0, now_s) for part in ahead]
        sent.append(self._put(batch, last, size, now_s))
        if ahead:
            sent[-1].batch_definitions = fresh
        return sent

    def hello(self, collector: str, now_s: float, as_user: str = "") -> list[list[Frame]]:
        """Create HELLO, and puts definitions that do not fit into it in flight again.

        These messages get the numbers just before the oldest batch in flight. There are enough numbers, because each
        number was a message, and no message carried more than fits.
        """
        self.introduced = True
        self.bye_sent_s = None
        while self.in_flight and self.in_flight[0].was_resent:
            self.in_flight.popleft()
        first, *more = packed(self._acknowledged)
        seq = self.oldest_seq
        for part in reversed(more):
            seq -= 1
            frames = _batch_frames(self.wire_id, seq, empty_batch(), part)
            self.in_flight.appendleft(Sent(seq, frames, 0, 0, 0, Definitions(), now_s, was_resent=True))
        message = Hello(
            collector=collector,
            stream=self.wire_id,
            info=self._info,
            next_seq=seq,
            definitions=first,
            losses=bounded(self.losses),
            voucher=self._voucher,
            as_user=as_user,
        )
        try:
            return [encode(message)]
        except UnicodeEncodeError:
            message.definitions = readable(message.definitions)
            return [encode(message)]

    def bye(self) -> list[Frame]:
        """Create BYE."""
        return encode(Bye(stream=self.wire_id, last_seq=self.next_seq - 1, losses=bounded(self.losses), made=self.made))

    def acknowledge(self, seq: int) -> list[Sent]:
        """Remove and return the messages up to and including ``seq``."""
        done = []
        while self.in_flight and self.in_flight[0].seq <= seq:
            done.append(self.in_flight.popleft())
            extend(self._acknowledged, done[-1].definitions)
        return done

    def has_acknowledged(self, definitions: Definitions) -> None:
        """Record definitions that the previous collector got acknowledged."""
        extend(self._acknowledged, definitions)

    def resend(self, now_s: float) -> list[list[Frame]]:
        """Return all messages in flight, to be sent again in order."""
        for sent in self.in_flight:
            sent.sent_s = now_s
        return [sent.frames for sent in self.in_flight]

    def refuse(self) -> list[Sent]:
        """Give the stream up; returns the messages that were in flight."""
        self.refused = True
        lost = list(self.in_flight)
        self.in_flight.clear()
        return lost

    def _put(self, batch: EventBatch, definitions: Definitions, size: int, now_s: float) -> Sent:
        losses = self.losses if self.has_unreported_losses else None
        frames = _batch_frames(self.wire_id, self.next_seq, batch, definitions, self.news, losses, self.made)
        self.news = None
        if losses is not None:
            self._reported_losses = losses.copy()
        sent = Sent(self.next_seq, frames, len(batch), batch.moved, size, definitions, now_s)
        self.in_flight.append(sent)
        self.next_seq += 1
        return sent


def _batch_frames(
    wire_id: str,
    seq: int,
    batch: EventBatch,
    definitions: Definitions,
    info: StreamInfo | None = None,
    losses: Mapping[str, int] | None = None,
    made: int = 0,
) -> list[Frame]:
    reported_losses = bounded(losses or {})
    try:
        return encode_batch(wire_id, seq, batch, definitions, info, reported_losses, made)
    except UnicodeEncodeError:
        return encode_batch(wire_id, seq, batch, readable(definitions), info, reported_losses, made)


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
