"""The collector's end of the wire as a state machine: items, messages and time in, messages out. No sockets.

A stream's batches get their sequence numbers when they are first sent, so batches dropped before leave no gap. What is
sent is kept until it is acknowledged, and sent again, in order, when the aggregator has not got it.
"""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ..events import Definitions, EventBatch, ProtocolError, StreamInfo, concatenate
from ..events.wire import (
    MAX_BATCH_EVENTS,
    MAX_STREAM_ID,
    Ack,
    Bye,
    Frame,
    Heartbeat,
    Hello,
    Reject,
    decode,
    encode,
    encode_batch,
)
from .backlog import Backlog
from .settings import CollectorSettings
from .source import Chunk, Opened, SourceItem

FIRST_CREDIT = 64
"""Batches that may be under way before the aggregator has said how many."""


@dataclass(slots=True)
class _Sent:
    seq: int
    frames: list[Frame]
    events: int
    size: int
    definitions: Definitions
    sent_s: float


@dataclass(slots=True)
class _Stream:
    info: StreamInfo
    wire_id: str
    next_seq: int = 1
    introduced: bool = False
    ended: bool = False
    """The source has closed it."""
    refused: bool = False
    """The aggregator takes no more streams, or speaks another version."""
    bye_sent_s: float | None = None
    waiting: int = 0
    """Batches in the backlog."""
    unsent: Definitions = field(default_factory=lambda: Definitions([], []))
    """Definitions of dropped batches, for the next one."""
    acknowledged: Definitions = field(default_factory=lambda: Definitions([], []))
    """For an aggregator that has lost its memory."""
    in_flight: deque[_Sent] = field(default_factory=deque)


@dataclass(slots=True)
class _Open:
    """Chunks of one stream that are still being merged into a batch."""

    since_s: float
    batches: list[EventBatch] = field(default_factory=list)
    events: int = 0
    definitions: Definitions = field(default_factory=lambda: Definitions([], []))


class Shipper:
    """Numbers, sends, resends and forgets batches; bounded in bytes; counts what the bound cost."""

    def __init__(self, collector: str, settings: CollectorSettings) -> None:
        self.collector = collector
        self.counters: Counter[str] = Counter()
        self._settings = settings
        self._prefix = hashlib.blake2b(collector.encode(), digest_size=6).hexdigest()
        self._streams: dict[str, _Stream] = {}
        self._by_wire_id: dict[str, str] = {}
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._backlog = Backlog(settings.backlog_bytes)
        self._credit = FIRST_CREDIT
        self._under_way = 0
        self._under_way_bytes = 0
        self._last_heard_s: float | None = None
        self._next_heartbeat_s = 0.0
        self._resends: deque[list[Frame]] = deque()

    # ---- what the sources give ----

    def take(self, items: Iterable[SourceItem], now_s: float) -> None:
        """Takes in what sources gave."""
        for item in items:
            if isinstance(item, Opened):
                wire_id = f"{self._prefix}:{item.stream}"[:MAX_STREAM_ID]
                self._streams[item.stream] = _Stream(item.info, wire_id)
                self._by_wire_id[wire_id] = item.stream
            elif isinstance(item, Chunk):
                self._merge(item, now_s)
            else:
                self._queue_open(item.stream, now_s)
                stream = self._streams[item.stream]
                stream.ended = True
                if stream.refused:
                    self._remove_if_refused(item.stream, stream)

    def flush(self, now_s: float) -> None:
        """Sends what is being merged without waiting for more."""
        for stream in list(self._open):
            self._queue_open(stream, now_s)

    @property
    def flushed(self) -> bool:
        """True when everything taken in was acknowledged (or dropped and counted)."""
        return not self._open and not len(self._backlog) and not self._under_way and not self._streams_to_end()

    # ---- the wire ----

    def receive(self, frames: Sequence[Frame], now_s: float) -> None:
        """Takes in a message of the aggregator; one that breaks the protocol is counted."""
        try:
            message, _ = decode(frames)
        except ProtocolError:
            self.counters["messages_malformed"] += 1
            return
        if self._away(now_s) and self._last_heard_s is not None:
            self._go_back_all(now_s)
        self._last_heard_s = now_s
        if isinstance(message, Ack):
            self._acknowledged(message)
        elif isinstance(message, Reject):
            self._rejected(message, now_s)

    def outgoing(self, now_s: float, source_counters: Callable[[], Counter[str]] = Counter) -> list[list[Frame]]:
        """Returns the messages that are to be sent now, in order.

        Args:
            now_s: any steady clock.
            source_counters: called when a heartbeat is due, which carries them and our own.
        """
        out: list[list[Frame]] = []
        if now_s >= self._next_heartbeat_s:
            counters = dict(source_counters() + self.counters)
            out.append(encode(Heartbeat(collector=self.collector, host=self._settings.host, counters=counters)))
            self._next_heartbeat_s = now_s + self._settings.heartbeat_s
        for name, merging in list(self._open.items()):
            if now_s - merging.since_s >= self._settings.linger_s:
                self._queue_open(name, now_s)
        if self._away(now_s):
            return out  # everything else waits, bounded, until it is heard of
        self._time_out(now_s)
        out.extend(self._resends)
        self._resends.clear()
        for stream in self._streams.values():
            self._introduce(stream, out)
        while self._under_way < self._credit and (oldest := self._backlog.peek()) is not None:
            self._backlog.pop()
            self._send(oldest.stream, oldest.batch, oldest.definitions, oldest.size, now_s, out)
        for stream in self._streams_to_end():
            if not stream.introduced:
                continue
            if stream.bye_sent_s is None or now_s - stream.bye_sent_s >= self._settings.resend_after_s:
                stream.bye_sent_s = now_s
                out.append(encode(Bye(stream=stream.wire_id, last_seq=stream.next_seq - 1)))
        return out

    # ---- inside ----

    def _merge(self, chunk: Chunk, now_s: float) -> None:
        merging = self._open.setdefault(chunk.stream, _Open(now_s))
        _extend(merging.definitions, chunk.definitions)
        if len(chunk.batch):
            merging.batches.append(chunk.batch)
            merging.events += len(chunk.batch)
        if merging.events >= self._settings.batch_events:
            self._queue_open(chunk.stream, now_s)

    def _queue_open(self, name: str, now_s: float) -> None:
        merging = self._open.pop(name, None)
        if merging is None:
            return
        events, definitions = concatenate(merging.batches), merging.definitions
        if not len(events):
            _extend(self._streams[name].unsent, definitions)
            return
        for at in range(0, len(events), MAX_BATCH_EVENTS):
            part = events.select(slice(at, at + MAX_BATCH_EVENTS)) if len(events) > MAX_BATCH_EVENTS else events
            self._streams[name].waiting += 1
            for gone in self._backlog.push(name, part, definitions, now_s, self._under_way_bytes):
                self.counters["events_dropped:shipper_full"] += len(gone.batch)
                self._streams[gone.stream].waiting -= 1
                _extend(self._streams[gone.stream].unsent, gone.definitions)
            definitions = Definitions([], [])

    def _introduce(self, stream: _Stream, out: list[list[Frame]]) -> None:
        if stream.introduced or stream.refused:
            return
        stream.introduced = True
        first = stream.in_flight[0].seq if stream.in_flight else stream.next_seq
        out.append(
            encode(
                Hello(
                    collector=self.collector,
                    stream=stream.wire_id,
                    info=stream.info,
                    next_seq=first,
                    definitions=stream.acknowledged,
                )
            )
        )

    def _send(
        self, name: str, batch: EventBatch, definitions: Definitions, size: int, now_s: float, out: list[list[Frame]]
    ) -> None:
        stream = self._streams[name]
        stream.waiting -= 1
        if stream.refused:
            self.counters["events_dropped:rejected"] += len(batch)
            self._remove_if_refused(name, stream)
            return
        fresh = Definitions([], [])
        _extend(fresh, stream.unsent)
        _extend(fresh, definitions)
        stream.unsent = Definitions([], [])
        frames = encode_batch(stream.wire_id, stream.next_seq, batch, fresh)
        stream.in_flight.append(_Sent(stream.next_seq, frames, len(batch), size, fresh, now_s))
        stream.next_seq += 1
        self._under_way += 1
        self._under_way_bytes += size
        self.counters["batches_sent"] += 1
        self.counters["events_sent"] += len(batch)
        out.append(frames)

    def _acknowledged(self, ack: Ack) -> None:
        self._credit = max(1, ack.credit)
        name = self._by_wire_id.get(ack.stream)
        if name is None:
            return
        stream = self._streams[name]
        while stream.in_flight and stream.in_flight[0].seq <= ack.seq:
            self._forget(stream, stream.in_flight.popleft())
        if stream.bye_sent_s is not None and not stream.in_flight and not stream.waiting:
            del self._by_wire_id[stream.wire_id]
            del self._streams[name]

    def _rejected(self, reject: Reject, now_s: float) -> None:
        self.counters[f"rejected:{reject.code}"] += 1
        name = self._by_wire_id.get(reject.stream)
        if name is None:
            return
        stream = self._streams[name]
        if reject.code in ("malformed", "failed"):
            while stream.in_flight and stream.in_flight[0].seq <= reject.seq:
                lost = stream.in_flight.popleft()
                if lost.seq == reject.seq:
                    self.counters["events_dropped:rejected"] += lost.events
                self._forget(stream, lost)
        elif reject.code == "unknown_stream":
            if not stream.in_flight:
                stream.introduced = False
                stream.bye_sent_s = None
            elif reject.seq <= stream.in_flight[0].seq:  # of many under way, the first speaks for all
                stream.introduced = False
                self._go_back(stream, now_s)
        elif reject.code == "gap":
            self._go_back(stream, now_s)
        elif reject.code in ("version", "full"):
            for sent in list(stream.in_flight):
                self.counters["events_dropped:rejected"] += sent.events
                self._forget(stream, sent)
            stream.in_flight.clear()
            stream.refused = True
            self._remove_if_refused(name, stream)

    def _remove_if_refused(self, name: str, stream: _Stream) -> None:
        if stream.ended and not stream.waiting:
            del self._by_wire_id[stream.wire_id]
            del self._streams[name]

    def _go_back(self, stream: _Stream, now_s: float) -> None:
        if not stream.introduced:
            self._introduce_again(stream)
        for sent in stream.in_flight:
            sent.sent_s = now_s
            self._resends.append(sent.frames)
            self.counters["batches_resent"] += 1

    def _introduce_again(self, stream: _Stream) -> None:
        hello: list[list[Frame]] = []
        self._introduce(stream, hello)
        self._resends.extend(hello)

    def _go_back_all(self, now_s: float) -> None:
        for stream in self._streams.values():
            if stream.in_flight:
                self._go_back(stream, now_s)

    def _time_out(self, now_s: float) -> None:
        if self._away(now_s):
            return  # resent at once when it is heard of again
        for stream in self._streams.values():
            if stream.in_flight and now_s - stream.in_flight[0].sent_s >= self._settings.resend_after_s:
                self._go_back(stream, now_s)

    def _away(self, now_s: float) -> bool:
        return self._last_heard_s is None or now_s - self._last_heard_s >= self._settings.away_after_s

    def _forget(self, stream: _Stream, sent: _Sent) -> None:
        _extend(stream.acknowledged, sent.definitions)
        self._under_way -= 1
        self._under_way_bytes -= sent.size

    def _streams_to_end(self) -> list[_Stream]:
        return [
            stream
            for stream in self._streams.values()
            if stream.ended and not stream.refused and not stream.in_flight and not stream.waiting
        ]


def _extend(into: Definitions, more: Definitions) -> None:
    into.strings.extend(more.strings)
    into.files.extend(more.files)
