"""Messages of one stream in flight. They are numbered, sent, kept until acknowledged, and sent again if lost."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass

from ...events import Definitions, EventBatch, StreamInfo, empty_batch
from ...events.losses import bounded
from ...events.network.wire import Bye, Frame, Hello, encode, encode_batch
from ..sent_definitions import extend, extended, packed, readable, readable_info


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
