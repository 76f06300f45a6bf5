"""Direct transfer from a collector's source to the aggregator in the same process.

It does not use the network protocol.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, ParamSpec, Protocol

from ...analyzers.pipeline.whole_streams import WholeStream
from ...collectors.source import Changed, Chunk, Closed, Lost, Opened, Source, SourceItem
from ...daemon.ingest.ingest_settings import IngestStats
from ...daemon.ingest.sink import Sink, pass_whole_streams
from ...events import BatchJob, ProtocolError, StreamInfo
from ...events.losses import BYTES, EVENTS
from .background_loop import BacklogPressure
from .burst_deferral import MIN_BURST_CALLS, BurstDeferral

_log = logging.getLogger(__name__)
_MAX_BEHIND_S: Final = 10.0
"""Maximum time, s, for which the analysis may be behind and keep its low priority."""
MAX_DEFERRAL_S: Final = 3.0
"""Time for which a burst that uses all cores is left alone, s. It is the length of most bursts."""
_MIN_CALLS: Final = 16_384
_REST_S: Final = 0.02
"""Time for which fewer calls than that wait for more, s. Batches take a fifth less CPU time."""
_HEARTBEAT_S: Final = 1.0
_POLL_S: Final = 0.05
_COLLECTOR: Final = "run"
_MAX_TOGETHER: Final = 16_384
"""Number of events from which streams that have ended are passed on."""
_ITEMS_OF_ONE: Final = 3
"""Number of items of a stream of which everything has arrived: its beginning, its events and its end."""
_P = ParamSpec("_P")


class PollableSource(Source, Protocol):
    """A source with notifications of new data."""

    @property
    def has_pending_metadata(self) -> bool:
        """True while the source must be polled without a notification."""
        ...

    @property
    def waiting_calls(self) -> int:
        """Approximate number of calls that wait to be polled."""
        ...

    def fileno(self) -> int:
        """Return a descriptor that is readable when there is new data."""
        ...

    def listen(self) -> None:
        """Update the number of waiting calls without taking them."""
        ...


class Feed:
    """Polls a source when it has new data, and passes its items on.

    Args:
        source: source that is polled.
        sink: receiver; if it raises, the item is lost and counted.
        stats: counters of received data, for the aggregator's metrics.
        host: host name in heartbeats.
        holding_back: decides whether the backlog is deferred.
        ends_at_s: time limit of the command, Unix time; 0: unknown.
        batch: batch system data of the job.
    """

    def __init__(
        self,
        source: PollableSource,
        sink: Sink,
        stats: IngestStats,
        host: str,
        holding_back: BurstDeferral,
        ends_at_s: float = 0.0,
        batch: BatchJob | None = None,
    ) -> None:
        self._source = source
        self._sink = sink
        self._stats = stats
        self._host = host
        self._heartbeat_s: float | None = None
        self._is_cancelled = False
        self._deferral = holding_back
        self._ends_at_s = ends_at_s
        self._batch_job = batch
        self._hurried = asyncio.Event()
        self.pressure = BacklogPressure(MIN_BURST_CALLS, _MAX_BEHIND_S)
        """Whether the backlog has been too large for too long."""
        self.on_items: Callable[[], None] = lambda: None
        """Called when items were passed on."""
        self._losses: dict[tuple[str, str], Counter[str]] = {}  # by stream or job

    async def run(self) -> None:
        """Run until the source is finished or ``cancel`` is called."""
        while not (self._source.finished or self._is_cancelled):
            busy = self._is_deferred() or self.pump()
            self._heartbeat()
            if busy:
                await self._yield_to_others()
            elif not self._source.finished:  # a finished source reports nothing more
                await self._wait_for_data(_POLL_S if self._source.has_pending_metadata else _HEARTBEAT_S)
        self._heartbeat(now=True)

    def pump(self) -> bool:
        """Pass on a bounded amount of the source's data; return whether there was any."""
        items = self._source.poll()
        at = 0
        while at < len(items):
            if whole := self._whole_streams(items, at):
                self._pass_whole_streams(whole)
                at += _ITEMS_OF_ONE * len(whole)
            else:
                self._pass_item(items[at])
                at += 1
        if items:
            self.on_items()
        self.pressure.update(self._source.waiting_calls)
        return bool(items)

    def stop_buffering(self) -> None:
        """Make ``run`` take the remaining data without pauses."""
        self._hurried.set()

    def cancel(self) -> None:
        """Make ``run`` return without the remaining data."""
        self._is_cancelled = True

    def add_losses(self, job: str, losses: Mapping[str, int]) -> None:
        """Add losses of a job that no stream reports, by the counter's name."""
        lost = Counter(losses)
        self._source.counters.update(lost)
        self._report_losses("", job, lost)

    async def _wait_for_data(self, most_s: float) -> None:
        """Wait for new data. The descriptor is only watched meanwhile, as unread data would make the loop spin."""
        loop, news = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._source.fileno(), news.set)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(most_s):
                    await news.wait()
        finally:
            loop.remove_reader(self._source.fileno())

    def _is_deferred(self) -> bool:
        """Return whether the backlog is deferred."""
        if self._hurried.is_set():
            return False
        self._source.listen()
        waiting = self._source.waiting_calls
        self.pressure.update(waiting)
        return self._deferral.update(waiting)

    async def _yield_to_others(self) -> None:
        """Yield to other tasks and let little data become more; not after ``stop_buffering``."""
        if self._hurried.is_set() or (self._source.waiting_calls > _MIN_CALLS and not self._deferral.is_deferred):
            await asyncio.sleep(0)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REST_S):
                await self._hurried.wait()

    def _pass_item(self, item: SourceItem) -> None:
        stats, sink = self._stats, self._sink
        stats.messages += 1
        if isinstance(item, Chunk):
            self._batch(item)
        elif isinstance(item, Lost):
            self._report_losses(item.stream, item.job, item.losses)
        elif isinstance(item, Opened):
            stats.streams += 1
            self._notify_sink(sink.opened, item.stream, self._described(item.info))
        elif isinstance(item, Changed):
            self._notify_sink(sink.changed, item.stream, self._described(item.info))
        else:
            stats.streams -= 1
            lost = item.losses | self._losses.pop((item.stream, ""), Counter())
            self._notify_sink(sink.closed, item.stream, lost)

    def _whole_streams(self, items: list[SourceItem], at: int) -> list[WholeStream]:
        """Return the streams from an item on of which everything has arrived, without other items in between."""
        found, events = list[WholeStream](), 0
        while at + _ITEMS_OF_ONE <= len(items) and events < _MAX_TOGETHER:
            first, chunk, last = items[at : at + _ITEMS_OF_ONE]
            if not (isinstance(first, Opened) and isinstance(chunk, Chunk) and isinstance(last, Closed)) or last.losses:
                break
            whole = WholeStream(first.stream, self._described(first.info), chunk.batch, chunk.definitions)
            # others go one by one: a failure then affects only the item, and is counted in its job
            if not (first.stream == chunk.stream == last.stream and whole.is_usual):
                break
            if found and whole.info.job != found[0].info.job:
                break
            found.append(whole)
            events += len(chunk.batch)
            at += _ITEMS_OF_ONE
        return found

    def _described(self, info: StreamInfo) -> StreamInfo:
        """Return a description with what is known about the job."""
        return info.ending_at(self._ends_at_s).of_batch(self._batch_job)

    def _pass_whole_streams(self, streams: list[WholeStream]) -> None:
        """Pass on streams that have ended."""
        stats, events = self._stats, sum(len(each.batch) for each in streams)
        stats.messages += _ITEMS_OF_ONE * len(streams)
        try:
            pass_whole_streams(self._sink, streams)
        except Exception:
            stats.failed += 1
            _log.exception("the aggregator raised an exception")
            lost = {f"{EVENTS}rejected": events, f"{BYTES}rejected": sum(each.batch.moved for each in streams)}
            self._source.counters.update(lost)
            self._report_losses("", streams[0].info.job, +Counter(lost))
        else:
            stats.batches += len(streams)
            stats.events += events

    def _batch(self, chunk: Chunk) -> None:
        stats = self._stats
        try:
            self._sink.batch(chunk.stream, chunk.batch, chunk.definitions)
        except Exception as error:  # one batch that breaks the sink does not end the run
            if isinstance(error, ProtocolError):
                stats.malformed += 1
            else:
                stats.failed += 1
                _log.exception("a batch of stream %s failed", chunk.stream)
            lost = {f"{EVENTS}rejected": len(chunk.batch), f"{BYTES}rejected": chunk.batch.moved}
            self._source.counters.update(lost)
            self._report_losses(chunk.stream, "", +Counter(lost))
        else:
            stats.batches += 1
            stats.events += len(chunk.batch)

    def _report_losses(self, stream: str, job: str, losses: Counter[str]) -> None:
        so_far = self._losses.setdefault((stream, job), Counter())
        so_far.update(losses)
        if stream:
            self._notify_sink(self._sink.stream_losses, stream, so_far)
        else:
            self._notify_sink(self._sink.job_losses, _COLLECTOR, job, so_far)

    def _heartbeat(self, *, now: bool = False) -> None:
        now_s = time.monotonic()
        if now or self._heartbeat_s is None or now_s - self._heartbeat_s >= _HEARTBEAT_S:
            self._heartbeat_s = now_s
            self._stats.collectors = 1
            self._notify_sink(self._sink.heartbeat, _COLLECTOR, self._host, +self._source.counters)

    def _notify_sink(self, listener: Callable[_P, None], *news: _P.args, **more: _P.kwargs) -> None:
        try:
            listener(*news, **more)
        except Exception:
            self._stats.failed += 1
            _log.exception("the aggregator raised an exception")
