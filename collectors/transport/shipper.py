"""State machine of the collector's end of the wire: items, messages and time in, messages out. No sockets.

Batches get their sequence numbers when they are first sent, so batches dropped earlier leave no gap. A sent message is
kept until it is acknowledged, and sent again, in order, if the aggregator has not received it.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from ...events import Definitions, EventBatch, ProtocolError, StreamInfo, empty_batch
from ...events.losses import BYTES, EVENTS
from ...events.network.wire import MAX_BATCH_EVENTS, MAX_STREAM_ID, Ack, Frame, Heartbeat, Reject, decode, encode
from ..sent_definitions import extend, spelled
from ..settings import CollectorSettings
from ..source import Changed, Chunk, Closed, Lost, Opened, SourceItem
from .backlog import Backlog, Merging, WaitingBatch
from .heartbeats import ClockOffset, Heartbeats
from .shipper_state import NoShipperState, ShipperState
from .spool_files import SpoolFiles
from .window import InFlight, SendWindow, Sent

_MERGE_BEHIND_S: Final = 1.0
"""Time for which events wait for a fuller batch while others wait for credit, s."""


class Shipper:
    """Numbers, sends, resends and releases batches; bounded in bytes, with counters of what is dropped.

    Args:
        collector: name of the collector.
        settings: bounds and times.
        state: state of the previous collector, and store for the next one; its name then replaces ``collector``.
            None: nothing is stored.
        clock: offset of this node's clock from the aggregator's.

    Attributes:
        beats: heartbeats and their answers.
    """

    def __init__(
        self,
        collector: str,
        settings: CollectorSettings,
        state: ShipperState | None = None,
        clock: ClockOffset | None = None,
    ) -> None:
        self.collector = collector
        self.counters: Counter[str] = Counter()
        self._clock = clock or ClockOffset()
        self.beats = Heartbeats(collector, settings, self._clock)
        self._settings = settings
        self._prefix = hashlib.blake2b(collector.encode(errors="replace"), digest_size=6).hexdigest()
        self._opened = 0
        self._windows: dict[str, SendWindow] = {}  # by wire id
        self._wire_id: dict[str, str] = {}  # of the streams that sources have open
        self._merging = Merging()  # by wire id
        self._unstored: set[str] = set()  # wire ids of streams with batches since the last ``keep``
        self._state = state or NoShipperState()
        file = self._state.file
        spool = SpoolFiles(settings.spool_bytes, settings.spool_folder) if settings.spool_bytes and not file else None
        self._backlog = Backlog(settings.backlog_bytes, spool, file)
        self._in_flight = InFlight(collector, settings.resend_after_s, self.counters, settings.as_user)
        self._last_heard_s: float | None = None
        self._restore()

    def close(self) -> None:
        """Close the spool files; stored data remains for the next collector."""
        self._backlog.close()
        self.keep({})
        self._state.close()

    # ---- stored for the next collector ----

    def keep(self, places: Mapping[str, bytes | None]) -> None:
        """Store all changes and the sources' read positions, if anything is stored.

        Must be called before the messages of ``outgoing`` are sent.
        """
        is_kept = self._state.write(self._windows, places)
        self._unstored.clear()
        self._drop(self._backlog.on_commit(self._in_flight.bytes, is_kept=is_kept))

    def has_queued(self, streams: Iterable[str], now_s: float, *, urgent: bool) -> bool:
        """Return whether all events of the streams are in batches.

        An urgent request puts them into batches, and so does any request after a batch of one of the streams that is
        not stored yet: it is stored and sent next, and the read position of the source must then be behind its events.
        """
        wire_ids = [self._wire_id.get(stream, "") for stream in streams]
        merging = [wire_id for wire_id in wire_ids if wire_id in self._merging]
        if not merging:
            return True
        may_be_closed = bool(self._unstored) and "" in wire_ids  # a closed stream has no id any more
        if not urgent and not may_be_closed and self._unstored.isdisjoint(wire_ids):
            return False
        for wire_id in merging:
            self._queue_open(wire_id, now_s)
        return True

    def end_previous_streams(self, names: Iterable[str], losses: Counter[str]) -> None:
        """End streams that the previous collector had open, by their names at their sources."""
        for name in names:
            if (window := self._windows.get(self._state.unended_streams.pop(name, ""))) is not None:
                window.losses.update(losses)
                window.ended = True
                self._state.mark_changed(window.wire_id)

    def _restore(self) -> None:
        self._windows, waiting = self._state.windows(-math.inf)
        self._opened = self._state.opened
        self.counters.update(self._state.counters)
        for each in waiting:
            self._backlog.restore(each)
        for window in self._windows.values():
            self._in_flight.restore(window)

    # ---- input from sources ----

    def take(self, items: Iterable[SourceItem], now_s: float) -> None:
        """Accept items of sources; events that belong to no open stream are dropped and counted."""
        for item in items:
            if isinstance(item, Opened):
                self._close(item.stream, now_s)
                self._opened += 1
                # Sources may reuse names; the number keeps ids distinct that are cut at the maximum length.
                wire_id = f"{self._prefix}.{self._opened}:{spelled(item.stream)}"[:MAX_STREAM_ID]
                self._wire_id[item.stream] = wire_id
                window = self._windows[wire_id] = SendWindow(wire_id, self._of_job(item.info), self._settings.voucher)
                window.stamps_by_ns = self._clock.opened(item.info)
                self._state.record_opened_stream(wire_id, spelled(item.stream))
            elif isinstance(item, Closed):
                self._close(item.stream, now_s, item.losses)
            elif isinstance(item, Lost) and not item.stream:
                self._add_job_losses(item.job, item.losses)
            elif (wire_id := self._wire_id.get(item.stream, "")) in self._windows:
                self._state.mark_changed(wire_id)
                if isinstance(item, Changed):
                    self._change(wire_id, self._of_job(item.info), now_s)
                elif isinstance(item, Lost):
                    self._windows[wire_id].add_losses(item.losses)
                else:
                    self._merge(wire_id, item, now_s)
            elif isinstance(item, Chunk):
                self.counters["events_dropped:no_stream"] += len(item.batch)

    def _of_job(self, info: StreamInfo) -> StreamInfo:
        with_end = info.ending_at(self._settings.ends_at_s, self._settings.ends_job)
        return with_end.of_batch(self._settings.batch, self._settings.ends_job)

    def tick(self, now_s: float) -> None:
        """End the merging of chunks that have waited long enough; called also while nothing can be sent.

        While earlier batches wait for credit, they would only wait behind them. They are merged for longer instead: a
        batch of a few events costs the aggregator as much as one of hundreds.
        """
        linger_s = self._settings.linger_s
        if len(self._backlog):
            linger_s = max(linger_s, _MERGE_BEHIND_S)
        for wire_id in self._merging.waiting_since(now_s - linger_s):
            self._queue_open(wire_id, now_s)

    def flush(self, now_s: float) -> None:
        """Send merged chunks without waiting for more."""
        for wire_id in self._merging.waiting_since(math.inf):
            self._queue_open(wire_id, now_s)
        self.beats.make_due(now_s)

    @property
    def flushed(self) -> bool:
        """True when everything accepted was acknowledged (or dropped and counted)."""
        return not self.outstanding

    @property
    def outstanding(self) -> int:
        """Number of unacknowledged things: open streams, batches waiting and in flight, streams to be ended."""
        waiting = len(self._merging) + len(self._backlog) + self._in_flight.messages + len(self._windows_needing_bye())
        return waiting + self.beats.losses.has_unreported

    @property
    def lacks_only_byes(self) -> bool:
        """True when only ends of streams without any recorded or lost call are unacknowledged."""
        ending = self._windows_needing_bye()
        return len(ending) == self.outstanding and not any(each.made or each.losses for each in ending)

    @property
    def unacknowledged(self) -> int:
        """Number of events that the aggregator has not acknowledged."""
        under_way = sum(sent.events for window in self._windows.values() for sent in window.in_flight)
        return self._merging.events + self._backlog.events + under_way

    @property
    def has_room(self) -> bool:
        """False while the backlog is more than half full; sources that can wait are then not polled."""
        held = self._backlog.bytes + self._in_flight.bytes + self._merging.bytes
        return 2 * held < self._settings.backlog_bytes

    @property
    def last_heard_s(self) -> float | None:
        """Time of the aggregator's last message, by the clock that is passed in; None: never."""
        return self._last_heard_s

    # ---- the wire ----

    def receive(self, frames: Sequence[Frame], now_s: float) -> None:
        """Process a message of the aggregator; one that violates the protocol is counted."""
        try:
            message, _ = decode(frames)
        except ProtocolError:
            self.counters["messages_malformed"] += 1
            return
        self._last_heard_s = now_s
        if isinstance(message, Ack):
            self._acknowledged(message, now_s)
        elif isinstance(message, Reject):
            self._rejected(message, now_s)
        elif isinstance(message, Heartbeat):
            self.beats.answered(message, now_s)

    def outgoing(self, now_s: float, source_counters: Callable[[], Counter[str]] = Counter) -> list[list[Frame]]:
        """Return the messages to be sent now, in order.

        Args:
            now_s: time of any steady clock.
            source_counters: function called when a heartbeat is due, which carries these counters and our own.
        """
        out: list[list[Frame]] = []
        if self.beats.is_due(now_s):
            out.append(encode(self.beats.make(source_counters() + self.counters, now_s)))
            self._state.store_counters(self.counters)
            self._report_losses(now_s)
        self.tick(now_s)
        if self._last_heard_s is None or now_s - self._last_heard_s >= self._settings.away_after_s:
            self._in_flight.on_outage()
            return out  # everything else waits, bounded, until the aggregator is heard
        for window in self._windows.values():
            # a stream with events is introduced with the first of them, so that credit bounds streams, too
            idle = not window.waiting and window.wire_id not in self._merging
            if (idle or window.in_flight) and not window.introduced and not window.refused:
                self._in_flight.introduce(window, now_s)
        self._in_flight.resend_overdue(self._windows.values(), now_s)
        out.extend(self._in_flight.take_resends())
        while self._in_flight.has_room and len(self._backlog):
            self._send(*self._backlog.pop(), now_s, out)
        for window in self._windows_needing_bye():
            if window.bye_sent_s is None or now_s - window.bye_sent_s >= self._settings.resend_after_s:
                window.bye_sent_s = now_s
                out.append(window.bye())
        return out

    # ---- internals ----

    def _merge(self, wire_id: str, chunk: Chunk, now_s: float) -> None:
        self._windows[wire_id].made += len(chunk.batch)
        if self._merging.add(wire_id, chunk, now_s) >= self._settings.batch_events:
            self._queue_open(wire_id, now_s)

    def _change(self, wire_id: str, info: StreamInfo, now_s: float) -> None:
        """Send a new StreamInfo in a batch of its own, because no more events may follow."""
        self._queue_open(wire_id, now_s)
        window = self._windows[wire_id]
        window.change(replace(info, clock_off_ns=window.info.clock_off_ns))
        self._queue(wire_id, empty_batch(), Definitions(), now_s)

    def _queue_open(self, wire_id: str, now_s: float) -> None:
        merged = self._merging.take(wire_id)
        window = self._windows.get(wire_id)
        if merged is None or window is None:
            return
        events, definitions = merged
        if not len(events):
            extend(window.unsent, definitions)
            self._state.store_definitions(wire_id, definitions)
        for at in range(0, len(events), MAX_BATCH_EVENTS):
            part = events.select(slice(at, at + MAX_BATCH_EVENTS)) if len(events) > MAX_BATCH_EVENTS else events
            self._queue(wire_id, part, definitions, now_s)
            definitions = Definitions()

    def _queue(self, wire_id: str, batch: EventBatch, definitions: Definitions, now_s: float) -> None:
        window = self._windows[wire_id]
        window.waiting += 1
        if self._state.file:
            self._unstored.add(wire_id)
        self._drop(self._backlog.push(wire_id, batch, definitions, now_s, self._in_flight.bytes, window.job))

    def _drop(self, all_gone: Iterable[WaitingBatch]) -> None:
        for gone in all_gone:
            self._add_losses(self._windows[gone.stream], "shipper_full", gone.events, gone.moved)
            self._windows[gone.stream].waiting -= 1
            extend(self._windows[gone.stream].unsent, gone.definitions)

    def _close(self, name: str, now_s: float, losses: Counter[str] | None = None) -> None:
        wire_id = self._wire_id.pop(name, "")
        if window := self._windows.get(wire_id):
            self._queue_open(wire_id, now_s)
            window.add_losses(losses or Counter(), in_all=True)
            window.ended = True
            self._state.mark_changed(wire_id)
            self._remove_if_refused(window)

    def _add_losses(self, window: SendWindow, reason: str, events: int, moved: int) -> None:
        self.counters[f"{EVENTS}{reason}"] += events
        lost = +Counter({f"{EVENTS}{reason}": events, f"{BYTES}{reason}": moved})
        if window.refused:  # nothing more is sent about the stream
            self._add_job_losses(window.job, lost)
        else:
            window.losses.update(lost)
            self._state.mark_changed(window.wire_id)

    def _add_job_losses(self, job: str, losses: Counter[str]) -> None:
        if not self.beats.losses.add(job, losses):
            self.counters["job_losses_untold"] += 1

    def _report_losses(self, now_s: float) -> None:
        """Report losses in a batch without events if a stream has nothing else to send."""
        for window in self._windows.values():
            idle = window.introduced and not (window.ended or window.refused or window.waiting)
            if idle and window.has_unreported_losses and window.wire_id not in self._merging:
                self._queue(window.wire_id, empty_batch(), Definitions(), now_s)

    def _send(self, waiting: WaitingBatch, batch: EventBatch | None, now_s: float, out: list[list[Frame]]) -> None:
        window = self._windows[waiting.stream]
        window.waiting -= 1
        if window.refused:
            self._add_losses(window, "rejected", waiting.events, waiting.moved)
            self._state.finish_batch(waiting)
            self._remove_if_refused(window)
            return
        if batch is None:
            self._add_losses(window, "spool_damaged", waiting.events, waiting.moved)
            batch = empty_batch()
        batch = self._clock.corrected(window, batch)
        if not window.introduced:
            out.extend(self._in_flight.hello(window, now_s))
        messages = window.number(batch, waiting.definitions, waiting.size, now_s)
        self._state.record_sent(window.wire_id, waiting.row, messages)
        self._in_flight.add(messages, now_s)
        out.extend(sent.frames for sent in messages)

    def _acknowledged(self, ack: Ack, now_s: float) -> None:
        self._in_flight.set_credit(ack.credit)
        if (window := self._windows.get(ack.stream)) is None:
            return
        self._count_acknowledged(window.acknowledge(min(ack.seq, window.next_seq - 1)), now_s)
        if window.needs_only_bye and window.bye_sent_s is not None and ack.seq >= window.next_seq:
            self._remove(window)

    def _rejected(self, reject: Reject, now_s: float) -> None:
        self.counters[f"rejected:{reject.code}"] += 1
        if (window := self._windows.get(reject.stream)) is None:
            return
        if reject.code in ("malformed", "failed") and reject.seq:
            done = window.acknowledge(reject.seq)
            if done and done[-1].seq == reject.seq:
                self._add_losses(window, "rejected", done[-1].events, done[-1].moved)
            self._count_acknowledged(done, now_s)
        elif reject.code in ("version", "full", "foreign", "malformed"):
            lost = window.refuse()
            self._add_losses(window, "rejected", sum(sent.events for sent in lost), sum(sent.moved for sent in lost))
            self._count_acknowledged(lost, now_s)
            self._remove_if_refused(window)
        elif reject.code == "unknown_stream":
            if reject.seq <= window.oldest_seq:  # of many messages in flight, only the first rejection is acted on
                self._in_flight.introduce(window, now_s)
        elif reject.code == "gap":
            self._count_acknowledged(window.acknowledge(min(reject.seq, window.next_seq) - 1), now_s)
            if reject.seq < window.oldest_seq:  # an earlier run of the aggregator had acknowledged it
                self._in_flight.introduce(window, now_s)
            else:
                self._in_flight.resend(window, now_s)

    def _remove_if_refused(self, window: SendWindow) -> None:
        if window.refused and window.ended and not window.waiting:
            self._remove(window)

    def _remove(self, window: SendWindow) -> None:
        del self._windows[window.wire_id]
        self._state.remove_stream(window.wire_id)

    def _count_acknowledged(self, done: list[Sent], now_s: float) -> None:
        self._in_flight.remove(done, now_s)
        for sent in done:
            self._state.finish_batch(sent)

    def _windows_needing_bye(self) -> list[SendWindow]:
        return [window for window in self._windows.values() if window.needs_only_bye]
