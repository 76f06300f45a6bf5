"""Socket that replaces FTIO's: receives what tracers send to ftio-hpc's predictor, and assigns it to jobs."""

from __future__ import annotations

import contextlib
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import zmq

from ....events import ConfigError, EventBatch, Interner, Kind, Layer, StreamInfo, concatenate
from ....events.network.descriptors import ListenerGuard, backlog
from ....events.network.endpoints import check_private, is_ipv6, private_files
from ....events.network.wire import MAX_BATCH_EVENTS
from ...settings import FtioSettings
from ...source import Chunk, Closed, Input, Opened, Origin, Problems, SourceItem
from .ftio_messages import Message, numbered, read_message
from .interval_events import EXPECTED_INTERVALS, LATEST_S, Positions, described, events_of
from .intervals import Floats, Intervals, joined

_DISTANT_S: Final = 1e9
"""Stamps from here on count from a distant zero, such as Unix time. No program runs for so long."""
_UNIX_TOLERANCE_S: Final = 86_400.0
"""Stamps within this time of the time of day are Unix time, s."""


@dataclass(slots=True, eq=False)
class Job:
    """One run of one job."""

    base: str
    run: int
    distant_zero: bool
    """Its stamps are past 10^9 s, unlike those of a message with another clock."""
    unix: bool
    heard_s: float
    newest_s: float = 0.0
    """Latest end of an interval, by the job's clock."""

    @property
    def name(self) -> str:
        """The job id; further runs get a number."""
        return self.base if self.run == 1 else f"{self.base}.{self.run}"


@dataclass(slots=True, eq=False)
class Stream:
    """One job on one host."""

    id: str
    job: Job
    host: str
    interner: Interner = field(default_factory=Interner)


class Streams:
    """The open streams, bounded: the one idle longest is closed for a new one.

    Args:
        settings: names and bounds.
        about: names of the streams, and counter of closed ones.
        host: host of messages that name none.
        user: user of all streams.
    """

    def __init__(self, settings: FtioSettings, about: Input, host: str, user: str) -> None:
        self._settings = settings
        self._about = about
        self._host = host
        self._user = user
        self._jobs: dict[str, Job] = {}  # by base
        self._names: set[str] = set()
        # by base and host, the one idle longest first
        self._streams: OrderedDict[tuple[str, str], Stream] = OrderedDict()
        self._opened = 0

    def has(self, job: str) -> bool:
        """Return whether a job has open streams."""
        return job in self._names

    def stream_of(self, message: Message, now_s: float) -> tuple[Stream | None, list[SourceItem]]:
        """Find the stream of a message with intervals.

        Args:
            message: message with at least one section.
            now_s: Unix time.

        Returns:
            The stream, None for the first message of a job if none of its stamps is valid; and the items for streams
            that were closed and opened.
        """
        items: list[SourceItem] = []
        base = self._settings.job or message.job or self._settings.default_job
        host = message.host or self._host
        job = self._jobs.get(base)
        if job is None or now_s - job.heard_s >= self._settings.new_run_after_s:
            times = _times(message)
            if job is None:
                if times is None:
                    return None, items
                job = _new_job(base, 1, times[0], now_s)
            elif times is not None and _is_new_run(job, *times):
                self._close(job, items)
                job = _new_job(base, job.run + 1, times[0], now_s)
        job.heard_s = now_s
        stream = self._streams.get((base, host)) or self._open(job, host, message, items)
        self._streams.move_to_end((base, host))
        return stream, items

    def _open(self, job: Job, host: str, message: Message, items: list[SourceItem]) -> Stream:
        while len(self._streams) >= self._settings.max_streams:
            self._close_stream(next(iter(self._streams.values())), items)
            self._about.counters["streams_closed:bound"] += 1
        self._jobs[job.base] = job
        self._names.add(job.name)
        self._opened += 1
        stream = Stream(self._about.stream("ftio", f"{self._opened}:{job.name}@{host}"), job, host)
        self._streams[(job.base, host)] = stream
        info = StreamInfo(
            job=job.name,
            source="ftio",
            host=host,
            user=self._user,
            ranks=max(intervals.ranks for intervals, _ in message.sections),
            origin=self._about.name,
            clock_offset_ns=0 if job.unix else None,
        )
        items.append(Opened(stream.id, info))
        return stream

    def _close(self, job: Job, items: list[SourceItem]) -> None:
        for stream in [stream for stream in self._streams.values() if stream.job is job]:
            self._close_stream(stream, items)

    def _close_stream(self, stream: Stream, items: list[SourceItem]) -> None:
        del self._streams[(stream.job.base, stream.host)]
        items.append(Closed(stream.id))
        if not any(other.job is stream.job for other in self._streams.values()):
            self._names.discard(stream.job.name)
            self._jobs.pop(stream.job.base, None)


def other_clock(job: Job, start_s: Floats) -> npt.NDArray[np.bool_]:
    """Return which stamps cannot be of the job's clock."""
    other: npt.NDArray[np.bool_] = (start_s >= _DISTANT_S) != job.distant_zero
    return other


def _times(message: Message) -> tuple[float, float] | None:
    """Return the first begin and the last end of a message. It returns None if no stamp is valid."""
    starts = np.concatenate([intervals.start_s for intervals, _ in message.sections])
    ends = np.concatenate([intervals.end_s for intervals, _ in message.sections])
    with np.errstate(invalid="ignore"):
        good = (starts >= 0) & (ends >= starts) & (ends <= LATEST_S)
    return (float(starts[good].min()), float(ends[good].max())) if good.any() else None


def _new_job(base: str, run: int, begin_s: float, now_s: float) -> Job:
    return Job(base, run, begin_s >= _DISTANT_S, abs(begin_s - now_s) <= _UNIX_TOLERANCE_S, now_s)


def _is_new_run(job: Job, begin_s: float, end_s: float) -> bool:
    """Detect a new run. It has another clock, or all times in the first half of those seen.

    Late data is never that late.
    """
    if (begin_s >= _DISTANT_S) != job.distant_zero:
        return True
    return not job.distant_zero and end_s < job.newest_s / 2


_MESSAGES_A_POLL: Final = 1000
_BYTES_A_POLL: Final = 16 << 20
_CUT_OFF: Final = 16
"""Factor above max_message_bytes at which ZeroMQ refuses a message and closes its connection."""

_Section: TypeAlias = tuple[Stream, str, Kind, Layer]
_Part: TypeAlias = tuple[int, Intervals]
"""A message's number, and its intervals of one section."""


class FtioSource:
    """PULL socket for FTIO's messages. Each frame is one message, as in FTIO.

    A stream is a (job, host) pair. A PULL socket does not identify senders, so senders that do not name their host
    share a stream.

    Args:
        settings: endpoint, job and bounds.
        origin: host and user of streams whose messages do not name them.
        context: ZeroMQ context; by default a new one.
        clock: the time of day in Unix seconds.

    Raises:
        ConfigError: the endpoint cannot be bound, or would be open to the network.
    """

    def __init__(
        self,
        settings: FtioSettings,
        origin: Origin,
        context: zmq.Context[zmq.Socket[bytes]] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self._settings = settings
        self._clock = clock
        self._own_context = context is None
        self._context: zmq.Context[zmq.Socket[bytes]] = context or zmq.Context()
        self._closed = False
        self.endpoint = ""
        self._socket = self._context.socket(zmq.PULL)
        self.endpoint = self._bind()
        self._guard = ListenerGuard("ftio-listen", self.endpoint, self._stop_listening, self._listen)
        self._about = Input(self.endpoint, origin, problems=self.problems, counters=self.counters)
        host = "" if settings.allow_remote else origin.host
        self._streams = Streams(settings, self._about, host, origin.user)
        self._pending: dict[_Section, list[_Part]] = {}

    @property
    def finished(self) -> bool:
        """True once closed: a socket has no end."""
        return self._closed

    def has(self, job: str) -> bool:
        """Return whether messages arrive for a job."""
        return self._streams.has(job)

    def poll(self) -> list[SourceItem]:
        """Receives waiting messages, up to a bound, without blocking."""
        self._guard.check(time.monotonic())
        items: list[SourceItem] = []
        taken, gathered = 0, 0
        with contextlib.suppress(zmq.Again):
            for _ in range(0 if self._closed else _MESSAGES_A_POLL):
                data = self._socket.recv(zmq.NOBLOCK)
                taken += len(data)
                gathered += self._take(data, items)
                if taken >= _BYTES_A_POLL or gathered >= MAX_BATCH_EVENTS:
                    break
        self._emit(items)
        return items

    def close(self) -> None:
        """Stop listening; can be called twice."""
        if not self._closed:
            self._closed = True
            if self.endpoint:
                self._guard.close()
            self._socket.close(0)
            if self._own_context:
                self._context.term()

    def _stop_listening(self) -> None:
        self.counters["listener_pauses"] += 1
        with contextlib.suppress(zmq.ZMQError):
            self._socket.unbind(self.endpoint)

    def _listen(self) -> None:
        with private_files():
            self._socket.bind(self.endpoint)

    def _bind(self) -> str:
        self._socket.setsockopt(zmq.RCVHWM, self._settings.high_water)
        self._socket.setsockopt(zmq.BACKLOG, backlog())
        self._socket.setsockopt(zmq.MAXMSGSIZE, _CUT_OFF * self._settings.max_message_bytes)
        endpoint = self._settings.endpoint
        try:
            check_private(endpoint, allow=self._settings.allow_remote, permission="allow_remote")
            self._socket.setsockopt(zmq.IPV6, is_ipv6(endpoint))
            with private_files():
                self._socket.bind(endpoint)
        except (ConfigError, zmq.ZMQError) as error:
            self.close()
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(f"cannot listen for FTIO's messages on {endpoint}: {error}") from None
        return bytes(self._socket.getsockopt(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()

    def _take(self, data: bytes, items: list[SourceItem]) -> int:
        """Process one message; returns the number of its intervals."""
        self.counters["messages"] += 1
        self.counters["bytes_read"] += len(data)
        number = self.counters["messages"]
        if len(data) > self._settings.max_message_bytes:
            self.counters["bytes_dropped:too_large"] += len(data)
            expected = f"at most {self._settings.max_message_bytes} bytes"
            numbered(self._about, number).malformed(None, f"the message has {len(data)} bytes", expected)
            return 0
        message = read_message(data, self._about, number)
        for rule in message.rules:
            self.counters[f"sections_ignored:{rule}"] += 1
        gathered = sum(len(intervals.start_s) for intervals, _ in message.sections)
        if gathered:
            self._gather(number, message, items)
        return gathered

    def _gather(self, number: int, message: Message, items: list[SourceItem]) -> None:
        stream, news = self._streams.stream_of(message, self._clock())
        if any(isinstance(item, Closed) for item in news):
            self._emit(items)  # earlier intervals belong before the end
        items += news
        for intervals, layer in message.sections:
            if stream is not None:
                section = (stream, intervals.section, intervals.kind, layer)
                self._pending.setdefault(section, []).append((number, intervals))
            elif count := len(intervals.start_s):
                self._report(intervals, np.arange(count), [(number, intervals)])

    def _emit(self, items: list[SourceItem]) -> None:
        """Convert the buffered intervals to chunks, each section of all messages at once."""
        pending, self._pending = self._pending, {}
        batches: dict[Stream, list[EventBatch]] = {}
        for (stream, _, _, layer), parts in pending.items():
            batches.setdefault(stream, []).append(self._events(stream, layer, parts))
        for stream, made in batches.items():
            whole = concatenate(made)
            if not len(whole):
                continue
            stream.job.newest_s = max(stream.job.newest_s, float(whole.end.max()) / 1e9)
            self.counters["events"] += len(whole)
            for first in range(0, len(whole), MAX_BATCH_EVENTS):
                part = whole.select(slice(first, first + MAX_BATCH_EVENTS))
                items.append(Chunk(stream.id, part, stream.interner.take_fresh()))

    def _events(self, stream: Stream, layer: Layer, parts: list[_Part]) -> EventBatch:
        whole = joined([intervals for _, intervals in parts])
        call = stream.interner.string(whole.section)
        made = events_of(whole, call, layer, ~other_clock(stream.job, whole.start_s))
        self.counters["intervals_ignored:no_bytes"] += made.empty
        if len(made.wrong):
            self._report(whole, made.wrong, parts)
        return made.batch

    def _report(self, whole: Intervals, wrong: Positions, parts: list[_Part]) -> None:
        """Report malformed intervals once for each message that contained them."""
        self.counters["intervals_malformed"] += len(wrong)
        ends = np.cumsum([len(intervals.start_s) for _, intervals in parts])
        owners, firsts, counts = np.unique(
            np.searchsorted(ends, wrong, side="right"), return_index=True, return_counts=True
        )
        for owner, first, count in zip(owners.tolist(), firsts.tolist(), counts.tolist(), strict=True):
            number, intervals = parts[owner]
            numbered(self._about, number).malformed(
                None,
                f"{whole.section}: {count} of {len(intervals.start_s)} intervals are wrong, first "
                f"{described(whole, int(wrong[first]))}",
                f"{EXPECTED_INTERVALS}, and one clock for a job",
            )
