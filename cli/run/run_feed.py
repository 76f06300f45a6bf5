"""What a collector's source gives goes straight to the aggregator beside it, without a wire between them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, ParamSpec, Protocol

from ...collectors.source import Changed, Chunk, Lost, Opened, Source, SourceItem
from ...daemon.ingest.ingest_core import IngestStats
from ...daemon.ingest.sink import Sink
from ...events import BatchJob, ProtocolError
from ...events.losses import BYTES, EVENTS
from .aside import Pressure
from .holding_back import MANY, HoldingBack

_log = logging.getLogger(__name__)
_PATIENCE_S: Final = 10.0
"""How long the analysis may be behind and give way all the same."""
HELD_S: Final = 3.0
"""How long it leaves a burst that has all cores wholly alone: as long as most bursts last."""
_WORTH_A_LOOK: Final = 16_384
_REST_S: Final = 0.02
"""How long fewer calls than that wait for more: many at once cost a fifth less than as they come."""
_HEARTBEAT_S: Final = 1.0
_LOOK_AGAIN_S: Final = 0.05
_COLLECTOR: Final = "run"
_P = ParamSpec("_P")


class Feeding(Source, Protocol):
    """A source that says when there is news."""

    @property
    def looks_again(self) -> bool:
        """True while something has to be asked for again without news."""
        ...

    @property
    def waiting_calls(self) -> int:
        """About how many calls wait to be polled."""
        ...

    def fileno(self) -> int:
        """Returns a descriptor that can be read when there is news."""
        ...

    def listen(self) -> None:
        """Takes in how many calls wait, and leaves them there."""
        ...


class Feed:
    """Polls a source when it has news, and hands on what it gives.

    Args:
        source: what is polled.
        sink: what takes it in; one that raises loses what it was given, which is counted.
        stats: what came in, for those who ask the aggregator.
        host: of the heartbeats.
        holding_back: tells when to leave what waits for later.
        ends_at_s: when the command is killed, Unix time; 0: not known.
        batch: what the batch system says of the job.
    """

    def __init__(
        self,
        source: Feeding,
        sink: Sink,
        stats: IngestStats,
        host: str,
        holding_back: HoldingBack,
        ends_at_s: float = 0.0,
        batch: BatchJob | None = None,
    ) -> None:
        self._source = source
        self._sink = sink
        self._stats = stats
        self._host = host
        self._beaten_s: float | None = None
        self._given_up = False
        self._holding_back = holding_back
        self._ends_at_s = ends_at_s
        self._batch_job = batch
        self._hurried = asyncio.Event()
        self.pressure = Pressure(MANY, _PATIENCE_S)
        """Whether too many calls have waited for too long."""
        self._losses: dict[tuple[str, str], Counter[str]] = {}  # by stream or job

    async def run(self) -> None:
        """Goes on until the source is finished, or ``give_up`` was called."""
        while not (self._source.finished or self._given_up):
            busy = self._holds() or self.pump()
            self._beat()
            if busy:
                await self._rest()
            else:
                await self._news(_LOOK_AGAIN_S if self._source.looks_again else _HEARTBEAT_S)
        self._beat(now=True)

    def pump(self) -> bool:
        """Takes what the source has now, a bounded amount; returns whether there was any."""
        items = self._source.poll()
        for item in items:
            self._hand_on(item)
        self.pressure.tell(self._source.waiting_calls)
        return bool(items)

    def stop_buffering(self) -> None:
        """Has ``run`` take what there is without a rest from here on."""
        self._hurried.set()

    def give_up(self) -> None:
        """Has ``run`` return without what has not been read."""
        self._given_up = True

    def lose(self, job: str, losses: Mapping[str, int]) -> None:
        """Takes in what of a job was lost, which no stream tells of, by the counter's name."""
        lost = Counter(losses)
        self._source.counters.update(lost)
        self._lose("", job, lost)

    async def _news(self, most_s: float) -> None:
        """Waits for news; only meanwhile is the descriptor watched, as a loop that watches news nobody reads spins."""
        loop, news = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._source.fileno(), news.set)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(most_s):
                    await news.wait()
        finally:
            loop.remove_reader(self._source.fileno())

    def _holds(self) -> bool:
        """Tells whether what waits is left for later."""
        if self._hurried.is_set():
            return False
        self._source.listen()
        waiting = self._source.waiting_calls
        self.pressure.tell(waiting)
        return self._holding_back.holds(waiting)

    async def _rest(self) -> None:
        """Lets others have their turn, and little news become more; not once it was hurried."""
        if self._hurried.is_set() or (self._source.waiting_calls > _WORTH_A_LOOK and not self._holding_back.held):
            await asyncio.sleep(0)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REST_S):
                await self._hurried.wait()

    def _hand_on(self, item: SourceItem) -> None:
        stats, sink = self._stats, self._sink
        stats.messages += 1
        if isinstance(item, Chunk):
            self._batch(item)
        elif isinstance(item, Lost):
            self._lose(item.stream, item.job, item.losses)
        elif isinstance(item, Opened):
            stats.streams += 1
            self._tell(sink.opened, item.stream, item.info.ending_at(self._ends_at_s).of_batch(self._batch_job))
        elif isinstance(item, Changed):
            self._tell(sink.changed, item.stream, item.info.ending_at(self._ends_at_s).of_batch(self._batch_job))
        else:
            stats.streams -= 1
            lost = item.losses | self._losses.pop((item.stream, ""), Counter())
            self._tell(sink.closed, item.stream, lost)

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
            self._lose(chunk.stream, "", +Counter(lost))
        else:
            stats.batches += 1
            stats.events += len(chunk.batch)

    def _lose(self, stream: str, job: str, losses: Counter[str]) -> None:
        so_far = self._losses.setdefault((stream, job), Counter())
        so_far.update(losses)
        if stream:
            self._tell(self._sink.lossy, stream, so_far)
        else:
            self._tell(self._sink.lossy_job, _COLLECTOR, job, so_far)

    def _beat(self, *, now: bool = False) -> None:
        now_s = time.monotonic()
        if now or self._beaten_s is None or now_s - self._beaten_s >= _HEARTBEAT_S:
            self._beaten_s = now_s
            self._stats.collectors = 1
            self._tell(self._sink.heartbeat, _COLLECTOR, self._host, +self._source.counters)

    def _tell(self, listener: Callable[_P, None], *news: _P.args, **more: _P.kwargs) -> None:
        try:
            listener(*news, **more)
        except Exception:
            self._stats.failed += 1
            _log.exception("the aggregator raised")
