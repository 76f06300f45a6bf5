"""The collector's end of the wire as a state machine: items, messages and time in, messages out. No sockets.

A stream's batches get their sequence numbers when they are first sent, so batches dropped before leave no gap. What is
sent is kept until it is acknowledged, and sent again, in order, when the aggregator has not got it.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ...events import Definitions, EventBatch, FileInfo, ProtocolError, StreamInfo, concatenate, empty_batch
from ...events.losses import BYTES, EVENTS, bounded
from ...events.wire import MAX_BATCH_EVENTS, MAX_STREAM_ID, Ack, Bye, Frame, Heartbeat, Reject, decode, encode
from ..settings import CollectorSettings
from ..source import Changed, Chunk, Closed, Lost, Opened, SourceItem
from .backlog import Backlog, Waiting, size_of
from .spool_files import SpoolFiles
from .window import SendWindow, Sent, extend, spelled

FIRST_CREDIT = 64
"""Batches that may be under way before the aggregator has said how many."""

_MOST_JOBS = 1000
"""Whose losses beside all streams are told apart."""
_MOST_STALLS = 5
"""How often the patience with an aggregator that acknowledges nothing is doubled."""


@dataclass(slots=True)
class _Open:
    """Chunks of one stream that are still being merged into a batch."""

    since_s: float
    batches: list[EventBatch] = field(default_factory=list)
    events: int = 0
    size: int = 0
    definitions: Definitions = field(default_factory=Definitions)


class Shipper:
    """Numbers, sends, resends and forgets batches; bounded in bytes; counts what the bound cost."""

    def __init__(self, collector: str, settings: CollectorSettings) -> None:
        self.collector = collector
        self.counters: Counter[str] = Counter()
        self.job_losses: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """What of jobs was lost and no stream tells of, cumulative; of at most a thousand jobs."""
        self._losses_sent: tuple[int, int] = (0, 0)  # their sum, and the heartbeat that told it
        self._beats_sent = 0
        self._beats_answered = 0
        self.paces: FileInfo | None = None
        """A folder on the file system whose jobs can be told to wait."""
        self.plan = b""
        """What the aggregator said last of who waits there; and how often it has said something."""
        self.plans_heard = 0
        self._settings = settings
        self._prefix = hashlib.blake2b(collector.encode(errors="replace"), digest_size=6).hexdigest()
        self._opened = 0
        self._windows: dict[str, SendWindow] = {}  # by wire id
        self._wire_id: dict[str, str] = {}  # of the streams that sources have open
        self._open: OrderedDict[str, _Open] = OrderedDict()  # by wire id
        self._open_bytes = 0
        spool = SpoolFiles(settings.spool_bytes, settings.spool_folder) if settings.spool_bytes else None
        self._backlog = Backlog(settings.backlog_bytes, spool)
        self._credit = FIRST_CREDIT
        self._under_way_bytes = 0
        self._under_way = 0
        self._last_heard_s: float | None = None
        self._next_heartbeat_s = -math.inf
        self._progress_s = -math.inf
        self._stalls = 0
        self._latest_acknowledged_s = -math.inf
        self._resends: deque[list[Frame]] = deque()

    def close(self) -> None:
        """Lets go of what waits in files."""
        self._backlog.close()

    # ---- what the sources give ----

    def take(self, items: Iterable[SourceItem], now_s: float) -> None:
        """Takes in what sources gave; what belongs to no open stream is dropped and counted."""
        for item in items:
            if isinstance(item, Opened):
                self._close(item.stream, now_s)
                self._opened += 1
                # Sources name streams as they like, twice too; the number keeps ids apart that the bound cuts.
                wire_id = f"{self._prefix}.{self._opened}:{spelled(item.stream)}"[:MAX_STREAM_ID]
                self._wire_id[item.stream] = wire_id
                self._windows[wire_id] = SendWindow(wire_id, self._of_job(item.info))
            elif isinstance(item, Closed):
                self._close(item.stream, now_s, item.losses)
            elif isinstance(item, Lost) and not item.stream:
                self._lose_of_job(item.job, item.losses)
            elif (wire_id := self._wire_id.get(item.stream, "")) in self._windows:
                if isinstance(item, Changed):
                    self._change(wire_id, self._of_job(item.info), now_s)
                elif isinstance(item, Lost):
                    self._windows[wire_id].lose(item.losses)
                else:
                    self._merge(wire_id, item, now_s)
            elif isinstance(item, Chunk):
                self.counters["events_dropped:no_stream"] += len(item.batch)

    def _of_job(self, info: StreamInfo) -> StreamInfo:
        told = info.ending_at(self._settings.ends_at_s, self._settings.ends_job)
        return told.of_batch(self._settings.batch, self._settings.ends_job)

    def tick(self, now_s: float) -> None:
        """Ends the merging of what has waited long enough; called also while nothing can be sent."""
        for wire_id, merging in list(self._open.items()):
            if now_s - merging.since_s >= self._settings.linger_s:
                self._queue_open(wire_id, now_s)

    def flush(self, now_s: float) -> None:
        """Sends what is being merged without waiting for more."""
        for wire_id in list(self._open):
            self._queue_open(wire_id, now_s)
        if self._has_job_losses_to_tell:
            self._next_heartbeat_s = now_s

    @property
    def flushed(self) -> bool:
        """True when everything taken in was acknowledged (or dropped and counted)."""
        return not self.outstanding

    @property
    def outstanding(self) -> int:
        """How much is not acknowledged: open streams, batches on hand and on the way, ends to be said."""
        waiting = len(self._open) + len(self._backlog) + self._under_way + len(self._windows_to_end())
        return waiting + self._has_job_losses_to_tell

    @property
    def unacknowledged(self) -> int:
        """How many events the aggregator has not acknowledged."""
        under_way = sum(sent.events for window in self._windows.values() for sent in window.in_flight)
        return sum(merging.events for merging in self._open.values()) + self._backlog.events + under_way

    @property
    def has_room(self) -> bool:
        """False while half of what may wait does: a source that can wait is then not polled, and loses nothing."""
        held = self._backlog.bytes + self._under_way_bytes + self._open_bytes
        return 2 * held < self._settings.backlog_bytes

    @property
    def last_heard_s(self) -> float | None:
        """When the aggregator last said something, by the clock that is passed in; None: never."""
        return self._last_heard_s

    # ---- the wire ----

    def receive(self, frames: Sequence[Frame], now_s: float) -> None:
        """Takes in a message of the aggregator; one that breaks the protocol is counted."""
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
            self._beats_answered += 1
            self.plan, self.plans_heard = message.plan, self.plans_heard + 1

    def outgoing(self, now_s: float, source_counters: Callable[[], Counter[str]] = Counter) -> list[list[Frame]]:
        """Returns the messages that are to be sent now, in order.

        Args:
            now_s: any steady clock.
            source_counters: called when a heartbeat is due, which carries them and our own.
        """
        out: list[list[Frame]] = []
        if now_s >= self._next_heartbeat_s:
            counters = {name: int(count) for name, count in (source_counters() + self.counters).items()}
            losses = {job: bounded(lost) for job, lost in self.job_losses.items()}
            beat = Heartbeat(
                collector=self.collector,
                host=self._settings.host,
                counters=counters,
                losses=losses,
                paces=self.paces,
            )
            out.append(encode(beat))
            self._next_heartbeat_s = now_s + self._settings.heartbeat_s
            self._beats_sent += 1
            if self._losses_sent[0] != (told := self._job_losses_sum):
                self._losses_sent = told, self._beats_sent
            self._tell_losses(now_s)
        self.tick(now_s)
        if self._last_heard_s is None or now_s - self._last_heard_s >= self._settings.away_after_s:
            return out  # everything else waits, bounded, until it is heard of
        self._time_out(now_s)
        for window in self._windows.values():
            # one with events is introduced with the first of them, so that credit bounds streams, too
            idle = not window.waiting and window.wire_id not in self._open
            if idle and not window.introduced and not window.refused:
                self._introduce(window, now_s)
        out.extend(self._resends)
        self._resends.clear()
        while self._under_way < self._credit and len(self._backlog):
            self._send(*self._backlog.pop(), now_s, out)
        for window in self._windows_to_end():
            if window.bye_sent_s is None or now_s - window.bye_sent_s >= self._settings.resend_after_s:
                window.bye_sent_s = now_s
                out.append(
                    encode(
                        Bye(
                            stream=window.wire_id,
                            last_seq=window.next_seq - 1,
                            losses=bounded(window.losses),
                            made=window.made,
                        )
                    )
                )
        return out

    # ---- inside ----

    def _merge(self, wire_id: str, chunk: Chunk, now_s: float) -> None:
        merging = self._open.setdefault(wire_id, _Open(now_s))
        extend(merging.definitions, chunk.definitions)
        if len(chunk.batch):
            merging.batches.append(chunk.batch)
            merging.events += len(chunk.batch)
            self._windows[wire_id].made += len(chunk.batch)
            merging.size += (size := size_of(chunk.batch))
            self._open_bytes += size
        if merging.events >= self._settings.batch_events:
            self._queue_open(wire_id, now_s)

    def _change(self, wire_id: str, info: StreamInfo, now_s: float) -> None:
        """Has a batch of its own carry what is new, as there may be no more events."""
        self._queue_open(wire_id, now_s)
        self._windows[wire_id].change(info)
        self._queue(wire_id, empty_batch(), Definitions(), now_s)

    def _queue_open(self, wire_id: str, now_s: float) -> None:
        merging = self._open.pop(wire_id, None)
        self._open_bytes -= merging.size if merging is not None else 0
        window = self._windows.get(wire_id)
        if merging is None or window is None:
            return
        events, definitions = concatenate(merging.batches), merging.definitions
        if not len(events):
            extend(window.unsent, definitions)
        for at in range(0, len(events), MAX_BATCH_EVENTS):
            part = events.select(slice(at, at + MAX_BATCH_EVENTS)) if len(events) > MAX_BATCH_EVENTS else events
            self._queue(wire_id, part, definitions, now_s)
            definitions = Definitions()

    def _queue(self, wire_id: str, batch: EventBatch, definitions: Definitions, now_s: float) -> None:
        self._windows[wire_id].waiting += 1
        for gone in self._backlog.push(wire_id, batch, definitions, now_s, self._under_way_bytes):
            self._lose(self._windows[gone.stream], "shipper_full", gone.events, gone.moved)
            self._windows[gone.stream].waiting -= 1
            extend(self._windows[gone.stream].unsent, gone.definitions)

    def _close(self, name: str, now_s: float, losses: Counter[str] | None = None) -> None:
        wire_id = self._wire_id.pop(name, "")
        if window := self._windows.get(wire_id):
            self._queue_open(wire_id, now_s)
            window.lose(losses or Counter(), in_all=True)
            window.ended = True
            self._remove_if_refused(window)

    def _lose(self, window: SendWindow, reason: str, events: int, moved: int) -> None:
        self.counters[f"{EVENTS}{reason}"] += events
        lost = +Counter({f"{EVENTS}{reason}": events, f"{BYTES}{reason}": moved})
        if window.refused:  # nothing more is said of the stream
            self._lose_of_job(window.job, lost)
        else:
            window.losses.update(lost)

    def _lose_of_job(self, job: str, losses: Counter[str]) -> None:
        if job in self.job_losses or len(self.job_losses) < _MOST_JOBS:
            self.job_losses[job].update(losses)
        else:
            self.counters["job_losses_untold"] += 1

    @property
    def _job_losses_sum(self) -> int:
        return sum(sum(lost.values()) for lost in self.job_losses.values())

    @property
    def _has_job_losses_to_tell(self) -> bool:
        told, beat = self._losses_sent
        return told != self._job_losses_sum or self._beats_answered < beat

    def _tell_losses(self, now_s: float) -> None:
        """Has a batch without events tell what was lost of a stream that has nothing else to send."""
        for window in self._windows.values():
            idle = window.introduced and not (window.ended or window.refused or window.waiting)
            if idle and window.has_losses_to_tell and window.wire_id not in self._open:
                self._queue(window.wire_id, empty_batch(), Definitions(), now_s)

    def _send(self, waiting: Waiting, batch: EventBatch | None, now_s: float, out: list[list[Frame]]) -> None:
        window = self._windows[waiting.stream]
        window.waiting -= 1
        if window.refused:
            self._lose(window, "rejected", waiting.events, waiting.moved)
            self._remove_if_refused(window)
            return
        if batch is None:
            self._lose(window, "spool_damaged", waiting.events, waiting.moved)
            batch = empty_batch()
        if not self._under_way:
            self._progress_s = now_s
        if not window.introduced:
            out.extend(window.hello(self.collector, now_s))
        for sent in window.number(batch, waiting.definitions, waiting.size, now_s):
            self._under_way += 1
            self._under_way_bytes += sent.size
            self.counters["batches_sent"] += 1
            self.counters["events_sent"] += sent.events
            out.append(sent.frames)

    def _acknowledged(self, ack: Ack, now_s: float) -> None:
        self._credit = max(1, ack.credit)
        if (window := self._windows.get(ack.stream)) is None:
            return
        self._forget(window.acknowledge(min(ack.seq, window.next_seq - 1)), now_s)
        if window.to_end and window.bye_sent_s is not None and ack.seq >= window.next_seq:
            del self._windows[window.wire_id]

    def _rejected(self, reject: Reject, now_s: float) -> None:
        self.counters[f"rejected:{reject.code}"] += 1
        if (window := self._windows.get(reject.stream)) is None:
            return
        if reject.code in ("malformed", "failed") and reject.seq:
            done = window.acknowledge(reject.seq)
            if done and done[-1].seq == reject.seq:
                self._lose(window, "rejected", done[-1].events, done[-1].moved)
            self._forget(done, now_s)
        elif reject.code in ("version", "full", "foreign", "malformed"):
            lost = window.refuse()
            self._lose(window, "rejected", sum(sent.events for sent in lost), sum(sent.moved for sent in lost))
            self._forget(lost, now_s)
            self._remove_if_refused(window)
        elif reject.code == "unknown_stream":
            if reject.seq <= window.oldest_seq:  # of many under way, the first speaks for all
                self._introduce(window, now_s)
        elif reject.code == "gap":
            self._forget(window.acknowledge(min(reject.seq, window.next_seq) - 1), now_s)
            if reject.seq < window.oldest_seq:  # another life of the aggregator had it
                self._introduce(window, now_s)
            else:
                self._go_back(window, now_s)

    def _remove_if_refused(self, window: SendWindow) -> None:
        if window.refused and window.ended and not window.waiting:
            del self._windows[window.wire_id]

    def _introduce(self, window: SendWindow, now_s: float) -> None:
        before = len(window.in_flight)
        self._resends.extend(window.hello(self.collector, now_s))
        self._under_way += len(window.in_flight) - before
        self._go_back(window, now_s)

    def _go_back(self, window: SendWindow, now_s: float) -> None:
        self._resends.extend(window.again(now_s))
        self.counters["batches_resent"] += len(window.in_flight)

    def _time_out(self, now_s: float) -> None:
        """Sends again what is overdue: where something sent later was acknowledged, or where nothing is at all.

        The wire keeps the order, so silence about one batch while earlier ones are acknowledged means that the
        aggregator is slow; sending again would make it slower.
        """
        stalled = now_s - self._progress_s >= self._settings.resend_after_s * 2**self._stalls
        if stalled and self._under_way:
            self._progress_s = now_s
            self._stalls = min(self._stalls + 1, _MOST_STALLS)
        for window in self._windows.values():
            if not window.in_flight or now_s - window.in_flight[0].sent_s < self._settings.resend_after_s:
                continue
            if stalled or window.in_flight[0].sent_s < self._latest_acknowledged_s:
                self._go_back(window, now_s)

    def _forget(self, done: list[Sent], now_s: float) -> None:
        for sent in done:
            self._under_way -= 1
            self._under_way_bytes -= sent.size
            self._latest_acknowledged_s = max(self._latest_acknowledged_s, sent.sent_s)
        if done:
            self._progress_s = now_s
            self._stalls = 0

    def _windows_to_end(self) -> list[SendWindow]:
        return [window for window in self._windows.values() if window.to_end]
