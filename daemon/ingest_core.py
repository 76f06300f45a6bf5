"""The aggregator's end of the wire as a state machine: frames and time in, frames out. No sockets, no clock.

Each batch reaches the sink exactly once and in order, however often and in whatever order the wire delivers it. It is
acknowledged after the sink has returned; a journal will be a sink that appends and then forwards.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from ..events import Definitions, EventBatch, ProtocolError, StreamInfo, empty_batch
from ..events.wire import (
    PROTOCOL_VERSION,
    Ack,
    Batch,
    Bye,
    Frame,
    Heartbeat,
    Hello,
    Reject,
    decode,
    decode_header,
    encode,
)

_log = logging.getLogger(__name__)

Reply = tuple[bytes, list[Frame]]


class IngestSettings(BaseModel):
    """Bounds of what collectors may send."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    allow_plaintext: bool = Field(
        False, description="Listen in plain text beyond loopback (on a trusted network only)."
    )
    max_streams: int = Field(200_000, ge=1, description="Streams open at once; more are refused.")
    max_collectors: int = Field(100_000, ge=1, description="Collectors known at once; more are not listed.")
    remembered_streams: int = Field(200_000, ge=0, description="Ended streams whose late repetitions are recognised.")
    credit: int = Field(256, ge=1, description="Batches that a collector may have unacknowledged.")
    lost_after_s: float = Field(10.0, gt=0, description="Silence after which a collector counts as lost, s.")


class Sink(Protocol):
    """What takes the streams in."""

    def opened(self, stream: str, info: StreamInfo) -> None:
        """Takes in a new stream."""
        ...

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        """Takes in events, or (with an empty batch) definitions alone.

        Raises:
            ProtocolError: the batch contradicts what came before; it is rejected and skipped.
        """
        ...

    def closed(self, stream: str) -> None:
        """Takes in that a stream has ended."""
        ...

    def heartbeat(self, collector: str, host: str, counters: Mapping[str, int]) -> None:
        """Takes in a collector's cumulative counters."""
        ...

    def lost(self, collector: str) -> None:
        """Takes in that a collector has fallen silent."""
        ...


@dataclass(slots=True)
class IngestStats:
    """What has come in; all cumulative but ``streams`` and ``collectors``."""

    messages: int = 0
    batches: int = 0
    events: int = 0
    bytes: int = 0
    duplicates: int = 0
    malformed: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    streams: int = 0
    collectors: int = 0


@dataclass(slots=True)
class _Stream:
    collector: str
    expected: int
    gap_told: int = 0
    """The sequence number that was last asked for again."""


class IngestCore:
    """Holds the sequence state of all streams and feeds a sink."""

    def __init__(self, sink: Sink, settings: IngestSettings) -> None:
        self.stats = IngestStats()
        self._sink = sink
        self._settings = settings
        self._streams: dict[str, _Stream] = {}
        self._ended: OrderedDict[str, int] = OrderedDict()
        self._heard: dict[str, float] = {}

    def receive(self, identity: bytes, frames: Sequence[Frame], now_s: float) -> list[Reply]:
        """Takes in one message of the peer ``identity``; returns what is to be answered."""
        self.stats.messages += 1
        try:
            message, events = decode(frames)
        except ProtocolError as error:
            return self._malformed(identity, frames, str(error))
        if isinstance(message, Batch) and events is not None:
            self.stats.bytes += sum(len(frame) for frame in frames)
            return self._batch(identity, message, events)
        if isinstance(message, Hello):
            return self._hello(identity, message)
        if isinstance(message, Heartbeat):
            return self._heartbeat(identity, message, now_s)
        if isinstance(message, Bye):
            return self._bye(identity, message)
        self.stats.malformed += 1
        return []  # ACK and REJECT go the other way; answering could make two ends answer for ever

    def tick(self, now_s: float) -> None:
        """Notices collectors that have fallen silent."""
        limit = now_s - self._settings.lost_after_s
        for collector in [name for name, heard in self._heard.items() if heard < limit]:
            del self._heard[collector]
            self._sink.lost(collector)
        self.stats.collectors = len(self._heard)

    def _malformed(self, identity: bytes, frames: Sequence[Frame], problem: str) -> list[Reply]:
        self.stats.malformed += 1
        try:
            header = decode_header(frames[0]) if frames else None
        except ProtocolError:
            header = None
        if not isinstance(header, Batch):
            return self._reject(identity, getattr(header, "stream", ""), 0, "malformed", problem)
        stream = self._streams.get(header.stream)
        if stream is not None and stream.expected == header.seq:
            stream.expected += 1  # skipped: its sender forgets it, and goes on with the next
        return self._reject(identity, header.stream, header.seq, "malformed", problem)

    def _hello(self, identity: bytes, hello: Hello) -> list[Reply]:
        stream = hello.stream
        if hello.version != PROTOCOL_VERSION:
            return self._reject(identity, stream, 0, "version", f"this end speaks version {PROTOCOL_VERSION}")
        if stream in self._streams or stream in self._ended:
            return []  # said again; its batches are judged by their numbers
        if len(self._streams) >= self._settings.max_streams:
            return self._reject(identity, stream, 0, "full", f"at most {self._settings.max_streams} streams are open")
        if hello.next_seq < 1:
            return self._reject(identity, stream, 0, "malformed", "next_seq is at least 1")
        self._streams[stream] = _Stream(hello.collector, hello.next_seq)
        self.stats.streams = len(self._streams)
        self._sink.opened(stream, hello.info)
        if hello.definitions:
            try:
                self._sink.batch(stream, empty_batch(), hello.definitions)
            except ProtocolError as error:
                return self._reject(identity, stream, 0, "malformed", str(error))
        return []

    def _batch(self, identity: bytes, header: Batch, events: EventBatch) -> list[Reply]:
        stream = self._streams.get(header.stream)
        if stream is None:
            if header.stream in self._ended:
                self.stats.duplicates += 1
                return self._ack(identity, header.stream, self._ended[header.stream])
            return self._reject(identity, header.stream, header.seq, "unknown_stream", "say HELLO first")
        if header.seq < stream.expected:
            self.stats.duplicates += 1
            return self._ack(identity, header.stream, stream.expected - 1)
        if header.seq > stream.expected:
            if stream.gap_told == stream.expected:
                return []
            stream.gap_told = stream.expected
            return self._reject(identity, header.stream, stream.expected, "gap", f"{stream.expected} is missing")
        stream.expected += 1
        stream.gap_told = 0
        try:
            self._sink.batch(header.stream, events, header.definitions)
        except ProtocolError as error:
            self.stats.malformed += 1
            return self._reject(identity, header.stream, header.seq, "malformed", str(error))
        except Exception as error:  # one batch that breaks an analyzer does not end the daemon
            _log.exception("batch %d of stream %s failed", header.seq, header.stream)
            return self._reject(identity, header.stream, header.seq, "failed", repr(error))
        self.stats.batches += 1
        self.stats.events += header.length
        return self._ack(identity, header.stream, header.seq)

    def _bye(self, identity: bytes, bye: Bye) -> list[Reply]:
        stream = self._streams.get(bye.stream)
        if stream is None:
            if bye.stream in self._ended:
                return self._ack(identity, bye.stream, self._ended[bye.stream])
            return self._reject(identity, bye.stream, bye.last_seq, "unknown_stream", "say HELLO first")
        if bye.last_seq >= stream.expected:
            return self._reject(identity, bye.stream, stream.expected, "gap", f"{stream.expected} is missing")
        del self._streams[bye.stream]
        self.stats.streams = len(self._streams)
        self._ended[bye.stream] = stream.expected - 1
        while len(self._ended) > self._settings.remembered_streams:
            self._ended.popitem(last=False)
        self._sink.closed(bye.stream)
        return self._ack(identity, bye.stream, stream.expected - 1)

    def _heartbeat(self, identity: bytes, beat: Heartbeat, now_s: float) -> list[Reply]:
        if beat.collector in self._heard or len(self._heard) < self._settings.max_collectors:
            self._heard[beat.collector] = now_s
            self.stats.collectors = len(self._heard)
            self._sink.heartbeat(beat.collector, beat.host, beat.counters)
        return [(identity, encode(Heartbeat()))]

    def _ack(self, identity: bytes, stream: str, seq: int) -> list[Reply]:
        return [(identity, encode(Ack(stream=stream, seq=seq, credit=self._settings.credit)))]

    def _reject(self, identity: bytes, stream: str, seq: int, code: str, reason: str) -> list[Reply]:
        self.stats.rejected[code] += 1
        return [(identity, encode(Reject(stream=stream, seq=seq, code=code, reason=reason)))]
