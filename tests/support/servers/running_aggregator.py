"""A running aggregator, and collectors that feed it over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable

import httpx
import numpy as np
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Closed, Lost, Opened, Problems, SourceItem
from iotide.collectors.transport.agent import Agent
from iotide.daemon.publish.http.routes.page_routes import Pages
from iotide.daemon.server import Server
from iotide.daemon.settings import AggregatorSettings
from iotide.events import EventBatch, Interner, Kind, StreamInfo, make_batch
from support.system.waiting import DEADLINE_S

PERIOD_S = 5.0


def periodic_batch(interner: Interner, *, periods: int = 12, until_s: float | None = None) -> EventBatch:
    """Writes of 1 MB during one of every five seconds; the last burst has just ended."""
    end = time.time() if until_s is None else until_s
    starts = [end - 1.0 - PERIOD_S * back + 0.1 * step for back in range(periods - 1, -1, -1) for step in range(10)]
    count = len(starts)
    return make_batch(
        count,
        {
            "start": (np.array(starts) * 1e9).astype(np.int64),
            "duration": 100_000_000,
            "call": interner.string("write"),
            "kind": int(Kind.WRITE),
            "layer": 1,
            "file": interner.file("/scratch/out"),
            "bytes": 1_000_000,
        },
    )


class Fed:
    """A source that emits the batches of a test."""

    def __init__(self) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self.finished = False
        self.closed = False
        self._waiting: list[SourceItem] = []
        self._interners: dict[str, Interner] = {}

    def open(self, stream: str, job: str, **facts: object) -> None:
        self._interners[stream] = Interner()
        self._waiting.append(Opened(stream, StreamInfo(**({"job": job, "source": "test"} | facts))))  # type: ignore[arg-type]

    def periodic(self, stream: str, **options: object) -> None:
        batch = periodic_batch(self._interners[stream], **options)  # type: ignore[arg-type]
        self._waiting.append(Chunk(stream, batch, self._interners[stream].take_fresh()))

    def feed(self, stream: str, batch: EventBatch, calls: Iterable[str], files: Iterable[str]) -> None:
        """Emit a batch whose calls and files are numbered in this order, from 1."""
        for call in calls:
            self._interners[stream].string(call)
        for file in files:
            self._interners[stream].file(file)
        self._waiting.append(Chunk(stream, batch, self._interners[stream].take_fresh()))

    def lose(self, stream: str, losses: dict[str, int]) -> None:
        self._waiting.append(Lost(Counter(losses), stream))

    def end(self, stream: str) -> None:
        self._waiting.append(Closed(stream))

    def poll(self) -> list[SourceItem]:
        items, self._waiting = self._waiting, []
        return items

    def close(self) -> None:
        self.closed = True


@contextlib.asynccontextmanager
async def serving(*, pages: Pages | None = None, **options: object) -> AsyncIterator[Server]:
    """Run an aggregator on ports assigned by the system."""
    values = {"ingest": "tcp://127.0.0.1:*", "http": "127.0.0.1:0", "publish": "tcp://127.0.0.1:*"}
    server = Server(AggregatorSettings.model_validate(values | {"prediction_interval_s": 0.05} | options), pages)
    await server.wait_for_lease()
    await server.start()
    running = asyncio.create_task(server.run())
    try:
        yield server
    finally:
        running.cancel()
        await asyncio.wait([running])
        await server.stop()


@contextlib.asynccontextmanager
async def collecting(endpoint: str, sources: Iterable[Fed], **options: object) -> AsyncIterator[Agent]:
    """Run a collector that ships the sources to the ingest endpoint."""
    agent = Agent(sources, CollectorSettings.model_validate({"endpoint": endpoint} | options))
    running = asyncio.create_task(agent.run())
    try:
        yield agent
    finally:
        running.cancel()
        await asyncio.wait([running])
        agent.close()


@contextlib.asynccontextmanager
async def feeding(server: Server, *sources: Fed, **options: object) -> AsyncIterator[Agent]:
    """Run a collector that ships the sources to the aggregator."""
    async with collecting(server.ingest_endpoint, sources, **{"heartbeat_s": 0.1} | options) as agent:
        yield agent


def asking(server: Server) -> httpx.AsyncClient:
    """Return a client of the HTTP API with the timeout of the tests; its default is 5 s."""
    return httpx.AsyncClient(base_url=server.http_url or "", timeout=DEADLINE_S)


async def until(condition: Callable[[], object], deadline_s: float = DEADLINE_S) -> None:
    """Run the event loop until the condition holds."""
    async with asyncio.timeout(deadline_s):
        while not condition():
            await asyncio.sleep(0.005)
