"""The aggregator's side of the protocol as a state machine: frames and time in, frames out. No sockets, no clock.

Each batch reaches the sink exactly once and in order, for any repetition and order of delivery. It is acknowledged
after the sink has returned; with a journal, the acknowledgement is sent when the batch is on disk.
"""

from __future__ import annotations

import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, ParamSpec

from msgspec import Struct, field

from ...events import NODE_COLLECTOR, Definitions, FileInfo, ProtocolError, empty_batch
from ...events.losses import LOST_IN_JOURNAL, STREAM_FORGOTTEN, TAKEN_ELSEWHERE, checked, merged
from ...events.network.wire import (
    PROTOCOL_VERSION,
    Ack,
    Batch,
    Bye,
    Frame,
    Heartbeat,
    Hello,
    Reject,
    decode_columns,
    decode_header,
    encode,
)
from .ingest_settings import IngestSettings, IngestStats
from .owners import Collector, Owners
from .sink import Sink, StreamForgottenError

_log = logging.getLogger(__name__)

_MAX_JOBS: Final = 1000
"""Maximum number of jobs whose losses one heartbeat carries."""
Reply = tuple[bytes, list[Frame]]
_P = ParamSpec("_P")
_FULL_STATE_ATTRIBUTES: Final = (
    *("_streams", "_owners", "_ended", "_cut_off", "_owner_of", "_heard", "_awaited", "_awaited_until_s", "_may_skip"),
    *("_has_gap", "_with_forgotten"),
)
"""Attributes that determine the handling of a message."""


class _Stream(Struct):
    owner: Collector
    expected: int
    gap_requested: int = 0
    """Sequence number of the last requested repetition."""
    taken_before: int = 1
    """Batches before this number were processed before the stream was cut off."""
    losses: dict[str, int] = field(default_factory=dict)
    """Cumulative losses of the stream, by the collector's counters."""


class IngestCore:
    """The sequence state of all streams; feeds a sink."""

    def __init__(self, sink: Sink, settings: IngestSettings) -> None:
        self.stats = IngestStats()
        self.credit_share = 1.0
        """Share of the credit that collectors currently get."""
        self.credit_of: Callable[[bytes], int] = lambda identity: settings.credit
        """Returns the credit of a collector by its identity, batches."""
        self.plan_for: Callable[[str, FileInfo], bytes] = lambda host, place: b""
        """Returns the plan for the file system of a host's folder; see ``Heartbeat.plan``."""
        self.time_of_day: Callable[[], float] = lambda: 0.0
        """Time from which collectors measure their clock offset, s; 0: they get no time."""
        self.vouched: Callable[[Hello], None] = lambda hello: None  # checks the voucher of an opened stream
        self._sink = sink
        self._settings = settings
        self._streams: dict[str, _Stream] = {}
        self._owners = Owners()
        self._ended: OrderedDict[str, tuple[int, str]] = OrderedDict()  # sequence number of the last ack, collector
        self._cut_off: OrderedDict[str, int] = OrderedDict()  # expected sequence number at the cut-off
        self._owner_of: dict[str, str] = {}  # its collector
        self._with_forgotten: OrderedDict[str, None] = OrderedDict()  # collectors of removed entries
        self._heard: dict[str, float] = {}
        self._awaited: dict[str, dict[str, int]] = {}  # losses of streams that were open at another daemon
        self._awaited_until_s = math.inf
        self._may_skip: set[str] = set()
        self._has_gap = False  # streams may be unknown here that were known before

    def state(self) -> dict[str, Any]:
        """Return the state that another core needs to process each batch exactly once."""
        taken = {name: max(each.expected, each.taken_before) for name, each in self._streams.items()}
        losses = self._awaited | {name: stream.losses for name, stream in self._streams.items()}
        owners = self._owner_of | {name: stream.owner.name for name, stream in self._streams.items()}
        kept = {"ended": self._ended, "owners": owners, "gap": self._has_gap, "forgotten": self._with_forgotten}
        return kept | {"expected": {**self._cut_off, **taken}, "open": losses}

    def full_state(self) -> dict[str, Any]:
        """Return all state that determines the handling of further messages."""
        return {name: getattr(self, name) for name in _FULL_STATE_ATTRIBUTES}

    def load_full_state(self, state: Mapping[str, Any]) -> None:
        """Set the state of another core, including connections, for its further messages."""
        for name in _FULL_STATE_ATTRIBUTES:
            setattr(self, name, state.get(name, getattr(self, name)))

    def accept_gap(self) -> None:
        """Accept a gap: acknowledged messages are missing here; each open stream continues with its next batch."""
        self._may_skip = set(self._streams)
        self._has_gap = True

    def resume(self, state: Mapping[str, Any], now_s: float) -> None:
        """Continue from another core's state; collectors that do not return are given up after ``forget_after_s``."""
        self._cut_off.update(state["expected"])
        self._owner_of.update(state.get("owners", {}))
        self._ended.update(state["ended"])
        self._has_gap = state.get("gap", False)
        self._with_forgotten.update(state.get("forgotten", {}))
        self._awaited, self._awaited_until_s = dict(state["open"]), now_s + self._settings.forget_after_s

    def receive(self, identity: bytes, frames: Sequence[Frame], now_s: float) -> list[Reply]:
        """Process one message of the peer ``identity``; return the answers."""
        self.stats.messages += 1
        try:
            if not frames:
                raise ProtocolError("a message has at least one frame")
            message = decode_header(frames[0])
            if len(frames) > 1 and not isinstance(message, Batch):
                raise ProtocolError(f"only a batch has column frames, but {len(frames) - 1} follow")
        except ProtocolError as error:
            self.stats.malformed += 1
            return self._reject(identity, "", 0, "malformed", str(error))
        if isinstance(message, Batch):
            self.stats.bytes += sum(len(frame) for frame in frames)
            return self._batch(identity, message, frames[1:])
        if isinstance(message, Hello):
            return self._hello(identity, message)
        if isinstance(message, Heartbeat):
            return self._heartbeat(identity, message, now_s)
        if isinstance(message, Bye):
            return self._bye(identity, message)
        self.stats.malformed += 1
        return []  # ACK and REJECT are for collectors; answering them could cause an endless loop

    def tick(self, now_s: float) -> None:
        """Mark silent collectors, and close the streams of those that stay silent."""
        limit = now_s - self._settings.lost_after_s
        for collector in [name for name, heard in self._heard.items() if heard < limit]:
            del self._heard[collector]
            self._notify_sink(self._sink.collector_lost, collector)
            self._report_silence(collector, True)
        self.stats.collectors = len(self._heard)
        if now_s >= self._awaited_until_s:
            for name, losses in self._awaited.items():
                self._notify_sink(self._sink.closed, name, {**losses, "streams_cut_off": 1})
            self._awaited, self._awaited_until_s = {}, math.inf
        for name in self._owners.abandoned(self._heard, now_s, self._settings.forget_after_s):
            # If its collector returns, it sends HELLO again and continues.
            self._remember(name, self._streams[name].expected)
            self._remove(name, {**self._streams[name].losses, "streams_cut_off": 1})
        self.stats.streams_silent = self._owners.streams_without(self._heard)

    def _hello(self, identity: bytes, hello: Hello) -> list[Reply]:
        name = hello.stream
        if hello.version != PROTOCOL_VERSION:
            return self._reject(identity, name, 0, "version", f"this end speaks version {PROTOCOL_VERSION}")
        if hello.next_seq < 1:
            self.stats.malformed += 1
            return self._reject(identity, name, 0, "malformed", "next_seq is at least 1")
        stream = self._streams.get(name)
        known = self._owner_of.get(name, hello.collector)
        owner = stream.owner.name if stream is not None else self._ended.get(name, (0, known))[1]
        if owner != hello.collector:
            self.stats.foreign += 1
            return self._reject(identity, name, 0, "foreign", "the stream is another collector's")
        self._owners.bind(hello.collector, identity)
        if name in self._ended:
            return []  # a repetition; its batches are checked by their numbers
        if stream is None:
            if full := self._exceeded_bound(hello.collector):
                self._notify_sink(self._sink.stream_refused, hello.info, full)
                most = getattr(self._settings, full)
                return self._reject(identity, name, 0, "full", f"bounds.{full} = {most} is reached; raise it")
            stream = self._open(identity, hello)
        elif hello.next_seq <= stream.expected:
            self._update_losses(name, stream, hello.losses)
            return []  # a repetition, too
        stream.expected = hello.next_seq  # its sender has no earlier batches any more
        if hello.definitions:
            self._define(name, hello.definitions)
        return []

    def _open(self, identity: bytes, hello: Hello) -> _Stream:
        """Open a stream, which may have been open before."""
        name = hello.stream
        stream = _Stream(self._owners.add(hello.collector, identity, name), hello.next_seq)
        taken_before = self._cut_off.pop(name, None)
        self._owner_of.pop(name, None)
        stream.taken_before = taken_before or 1
        stream.losses = self._awaited.pop(name, {})
        self._streams[name] = stream
        self.stats.streams = len(self._streams)
        self._notify_sink(self._sink.opened, name, hello.info)
        self._notify_sink(self.vouched, hello)
        self._update_losses(name, stream, hello.losses)
        if hello.info.follows:
            self._end_predecessor(hello)
        # The batches between were acknowledged and are not here. A collector's own stream has no events.
        if hello.next_seq > stream.taken_before and hello.info.source != NODE_COLLECTOR:
            known = STREAM_FORGOTTEN if hello.collector in self._with_forgotten else TAKEN_ELSEWHERE
            self._update_losses(name, stream, {LOST_IN_JOURNAL if taken_before or self._has_gap else known: 1})
        return stream

    def _batch(self, identity: bytes, header: Batch, columns: Sequence[Frame]) -> list[Reply]:
        name, seq = header.stream, header.seq
        stream = self._streams.get(name)
        if stream is None:
            if name in self._ended:
                self.stats.duplicates += 1
                return self._ack(identity, name, self._ended[name][0])
            return self._reject(identity, name, seq, "unknown_stream", "say HELLO first")
        if stream.owner.peer != identity:
            return self._answer_foreign(identity, name, seq)
        if seq < stream.expected:
            self.stats.duplicates += 1
            return self._ack(identity, name, stream.expected - 1)
        self._skip_lost(name, stream, seq)
        if seq > stream.expected:
            return self._request_missing(identity, name, stream)
        return self._accept(identity, stream, header, columns)

    def _skip_lost(self, name: str, stream: _Stream, seq: int) -> None:
        """Continue with ``seq`` if the journal may have lost the batches before it."""
        if name in self._may_skip:
            self._may_skip.discard(name)
            if seq > stream.expected:
                stream.expected = seq
                self._update_losses(name, stream, {LOST_IN_JOURNAL: 1})

    def _accept(self, identity: bytes, stream: _Stream, header: Batch, columns: Sequence[Frame]) -> list[Reply]:
        """Process the expected batch of a stream."""
        name, seq = header.stream, header.seq
        stream.expected += 1  # also on rejection: the sender discards the batch and continues with the next
        stream.gap_requested = 0
        if seq < stream.taken_before:  # everything except its events is new to us
            self.stats.duplicates += 1
            self._define(name, header.definitions)
            return self._ack(identity, name, seq)
        if header.info is not None:
            self._notify_sink(self._sink.changed, name, header.info)
        if header.losses:
            self._update_losses(name, stream, header.losses)
        if header.made > 0:
            self._notify_sink(self._sink.events_taken, name, header.made, ended=False)
        return self._pass_events(identity, stream, header, columns)

    def _request_missing(self, identity: bytes, name: str, stream: _Stream) -> list[Reply]:
        """Request the batches from the expected one on, once until it arrives."""
        if stream.gap_requested == stream.expected:
            return []
        stream.gap_requested = stream.expected
        return self._reject(identity, name, stream.expected, "gap", f"{stream.expected} is missing")

    def _pass_events(self, identity: bytes, stream: _Stream, header: Batch, columns: Sequence[Frame]) -> list[Reply]:
        """Pass the events of a batch to the sink."""
        name, seq = header.stream, header.seq
        try:
            events = decode_columns(header, columns)
        except ProtocolError as error:
            self.stats.malformed += 1
            self._define(name, header.definitions)  # later batches build on them
            return self._reject(identity, name, seq, "malformed", str(error))
        try:
            self._sink.batch(name, events, header.definitions)
        except StreamForgottenError as error:
            self._remember(name, seq)
            self._remove(name, stream.losses)
            return self._reject(identity, name, seq, "unknown_stream", str(error))
        except ProtocolError as error:
            self.stats.malformed += 1
            return self._reject(identity, name, seq, "malformed", str(error))
        except Exception as error:  # a batch that breaks an analyzer does not end the daemon
            _log.exception("batch %d of stream %s failed", seq, name)
            return self._reject(identity, name, seq, "failed", repr(error))
        self.stats.batches += 1
        self.stats.events += header.length
        return self._ack(identity, name, seq)

    def _bye(self, identity: bytes, bye: Bye) -> list[Reply]:
        name = bye.stream
        stream = self._streams.get(name)
        if stream is None:
            if name in self._ended:
                return self._ack(identity, name, self._ended[name][0])
            return self._reject(identity, name, bye.last_seq, "unknown_stream", "say HELLO first")
        if stream.owner.peer != identity:
            return self._answer_foreign(identity, name, bye.last_seq)
        if bye.last_seq >= stream.expected:
            return self._reject(identity, name, stream.expected, "gap", f"{stream.expected} is missing")
        self._ended[name] = stream.expected, stream.owner.name
        while len(self._ended) > self._settings.remembered_streams:
            self._forget(self._ended.popitem(last=False)[1][1])
        if bye.made > 0:
            self._notify_sink(self._sink.events_taken, name, bye.made, ended=True)
        self._remove(name, {**bye.losses, **merged(stream.losses, checked(bye.losses))})
        return self._ack(identity, name, stream.expected)  # the BYE itself follows the last batch

    def _end_predecessor(self, hello: Hello) -> None:
        """End the predecessor of a stream, as its collector is gone; if it returns, it sends HELLO and continues."""
        for name, stream in self._streams.items():
            if name.rpartition(":")[2] == hello.info.follows and stream.owner.name != hello.collector:
                self._remember(name, stream.expected)
                self._remove(name, stream.losses)
                return

    def _remember(self, name: str, expected: int) -> None:
        """Store the number with which an open stream continues if its collector introduces it again."""
        self._cut_off[name] = expected
        self._owner_of[name] = self._streams[name].owner.name
        while len(self._cut_off) > self._settings.remembered_streams:
            self._forget(self._owner_of.pop(self._cut_off.popitem(last=False)[0], ""))

    def _forget(self, collector: str) -> None:
        """Note that a stream of a collector is not stored any more, so that its return can be explained."""
        self._with_forgotten[collector] = None
        while len(self._with_forgotten) > self._settings.remembered_streams:
            self._with_forgotten.popitem(last=False)

    def _answer_foreign(self, identity: bytes, stream: str, seq: int) -> list[Reply]:
        """Answer a peer that does not own the stream; a collector that reconnected sends HELLO and continues."""
        self.stats.foreign += 1
        return self._reject(identity, stream, seq, "unknown_stream", "its collector has a new connection; send HELLO")

    def _exceeded_bound(self, collector: str) -> str:
        """Return the bound that a further stream would exceed, or ""."""
        if len(self._streams) >= self._settings.max_streams:
            return "max_streams"
        if collector not in self._owners and len(self._owners) >= self._settings.max_collectors:
            return "max_collectors"
        return ""

    def _remove(self, name: str, losses: Mapping[str, int]) -> None:
        stream = self._streams.pop(name)
        self.stats.streams = len(self._streams)
        self._owners.remove(stream.owner, name)
        self._notify_sink(self._sink.closed, name, losses)

    def _update_losses(self, name: str, stream: _Stream, losses: Mapping[str, int]) -> None:
        """Update the cumulative losses of a stream; repeated or late reports change nothing."""
        known = stream.losses
        stream.losses = merged(known, checked(losses))
        if stream.losses != known:
            self._notify_sink(self._sink.stream_losses, name, stream.losses)

    def _report_silence(self, collector: str, is_silent: bool) -> None:
        for name in self._owners.streams_of(collector):
            self._notify_sink(self._sink.silence_changed, name, is_silent)

    def _define(self, stream: str, definitions: Definitions) -> None:
        try:
            self._sink.batch(stream, empty_batch(), definitions)
        except ProtocolError:
            self.stats.malformed += 1
        except Exception:
            self.stats.failed += 1
            _log.exception("the definitions of stream %s failed", stream)

    def _notify_sink(self, listener: Callable[_P, None], *news: _P.args, **more: _P.kwargs) -> None:
        try:
            listener(*news, **more)
        except Exception:  # input that breaks the sink does not end the daemon
            self.stats.failed += 1
            _log.exception("the sink failed")

    def _heartbeat(self, identity: bytes, beat: Heartbeat, now_s: float) -> list[Reply]:
        self._owners.bind(beat.collector, identity)
        if beat.collector not in self._heard:
            self._report_silence(beat.collector, False)
        if beat.collector in self._heard or len(self._heard) < self._settings.max_collectors:
            self._heard[beat.collector] = now_s
            self.stats.collectors = len(self._heard)
            self._notify_sink(self._sink.heartbeat, beat.collector, beat.host, beat.counters, beat.job)
            for job, losses in islice(beat.losses.items(), _MAX_JOBS):
                self._notify_sink(self._sink.job_losses, beat.collector, job, checked(losses))
        plan = b"" if beat.paces is None else self.plan_for(beat.host, beat.paces)
        answer = Heartbeat(plan=plan, asked_ns=beat.asked_ns, time_ns=int(self.time_of_day() * 1e9))
        return [(identity, encode(answer))]

    def _ack(self, identity: bytes, stream: str, seq: int) -> list[Reply]:
        credit = max(1, round(self.credit_of(identity) * self.credit_share))
        return [(identity, encode(Ack(stream=stream, seq=seq, credit=credit)))]

    def _reject(self, identity: bytes, stream: str, seq: int, code: str, reason: str) -> list[Reply]:
        self.stats.rejected[code] += 1
        return [(identity, encode(Reject(stream=stream, seq=seq, code=code, reason=reason)))]
