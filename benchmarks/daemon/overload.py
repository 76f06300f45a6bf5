"""An aggregator at twice its capacity: drops are counted, memory is bounded, other jobs continue.

``iotide serve`` is a separate process. A collector with a spool, a further process, floods it with the calls of one
job. Another collector has a job with a burst every two seconds, and the benchmark waits for its predictions. The
capacity of the aggregator is measured before.

    IOTIDE_SECONDS=600 python benchmarks/run.py overload
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import tempfile
import time
from collections import Counter
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, NamedTuple

from iotide.benchmarks.common.events import DEFINITIONS, make_batches
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.served import Served, decoded, served, waited_for_core_s
from iotide.clients.job_fetch import fetch
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Closed, Opened, Problems, SourceItem
from iotide.collectors.transport.agent import Agent
from iotide.events import Definitions, StreamInfo
from iotide.results.jobs.ledger import JobLedger

SECONDS: Final = float(os.environ.get("IOTIDE_SECONDS", "60"))
MEASURED_S: Final = 10.0
LENGTH: Final = 16_384
FACTOR: Final = 2.0
BURST_S: Final = 2.0
SPOOL_BYTES: Final = 64 << 20


class Flood:
    """A source with the given events per second, independent of the receiver; 0 for as many as there is room for."""

    def __init__(self, job: str, rate: float) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self.finished = False
        self.rate = rate
        self.made = 0
        self._batches = make_batches(8, LENGTH, step_ns=1000)
        self._begun_s = time.monotonic()
        self._waiting: list[SourceItem] = [Opened("s", StreamInfo(job=job, source="bench"))]

    def poll(self) -> list[SourceItem]:
        items, self._waiting = self._waiting, []
        while self.rate and self.made < (time.monotonic() - self._begun_s) * self.rate and len(items) < 64:
            batch = self._batches[self.made // LENGTH % 8]
            first = self.made == 0
            now_ns = time.time_ns() - LENGTH * 1000
            batch = batch.replace(start=batch.start - batch.start[0] + now_ns)
            items.append(Chunk("s", batch, DEFINITIONS if first else Definitions([], [])))
            self.made += LENGTH
        return items

    def close(self) -> None:
        self._waiting.append(Closed("s"))


class Bursts:
    """A source with an occasional burst."""

    def __init__(self) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self.finished = False
        self._waiting: list[SourceItem] = [Opened("b", StreamInfo(job="steady", source="bench"))]
        self._first = True

    def burst(self) -> None:
        (batch,) = make_batches(1, 64, start_ns=time.time_ns() - 2_000_000)
        self._waiting.append(Chunk("b", batch, DEFINITIONS if self._first else Definitions([], [])))
        self._first = False

    def poll(self) -> list[SourceItem]:
        items, self._waiting = self._waiting, []
        return items

    def close(self) -> None:
        self._waiting.append(Closed("b"))


def made_at_s(server: Served) -> float:
    """Return the time of the last prediction of the steady job; 0 without any."""
    try:
        return float(str(decoded(server.get("/api/v1/jobs/steady/prediction"))["made_at_s"]))
    except OSError:
        return 0.0


async def capacity(server: Served) -> float:
    """Return the events received per second under permanent backlog."""
    source = Flood("capacity", 1e9)
    agent = Agent([source], CollectorSettings(endpoint=server.endpoint))
    collecting = asyncio.create_task(agent.run())
    await asyncio.sleep(1)
    before, begun = server.metric("iotide_ingest_events_total"), time.monotonic()
    await asyncio.sleep(MEASURED_S)
    taken = (server.metric("iotide_ingest_events_total") - before) / (time.monotonic() - begun)
    collecting.cancel()
    await asyncio.wait([collecting])
    agent.close()
    return taken


class Flooded(NamedTuple):
    """What the collector of the flood reports."""

    made: int
    dropped: int
    complete: bool
    peak_bytes: int


def flood(endpoint: str, rate: float, result: Connection) -> None:
    """Flood the aggregator for the time, and send what became of the calls."""

    async def run() -> Flooded:
        source = Flood("flood", rate)
        agent = Agent([source], CollectorSettings(endpoint=endpoint, spool_bytes=SPOOL_BYTES))
        collecting = asyncio.create_task(agent.run())
        await asyncio.sleep(SECONDS)
        source.rate = 0.0
        complete = await agent.drain(120)
        collecting.cancel()
        await asyncio.wait([collecting])
        agent.close()
        peak_bytes = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return Flooded(source.made, agent.counters()["events_dropped:shipper_full"], complete, peak_bytes)

    result.send(asyncio.run(run()))


def p99(values: list[float]) -> float:
    """Return the 99th percentile."""
    return sorted(values)[int(len(values) * 0.99)]


async def flooded(server: Served, rate: float) -> list[Figure]:
    context = get_context("spawn")
    answers, given = context.Pipe(duplex=False)
    process = context.Process(target=flood, args=(server.endpoint, rate, given))
    process.start()
    given.close()  # so that the end of the process is the end of the answers
    bursts = Bursts()
    agent = Agent([bursts], CollectorSettings(endpoint=server.endpoint))
    collecting = asyncio.create_task(agent.run())
    begun, late, at_work, memory = time.monotonic(), [], [], []
    while (gone := time.monotonic() - begun) < SECONDS:
        at_s = time.time()
        bursts.burst()
        asked_s, waited_s = time.monotonic(), server.waited_s() + waited_for_core_s(os.getpid())
        while True:
            if await asyncio.to_thread(made_at_s, server) >= at_s:
                break
            await asyncio.sleep(0.02)
        late.append(time.monotonic() - asked_s)
        waited_s = server.waited_s() + waited_for_core_s(os.getpid()) - waited_s
        at_work.append(max(late[-1] - waited_s, 0.0))
        await asyncio.sleep(max(0.0, BURST_S - (time.monotonic() - asked_s)))
        memory.append((gone, server.memory()))
    made, dropped, complete, peak_bytes = await asyncio.to_thread(answers.recv)
    process.join()
    collecting.cancel()
    await asyncio.wait([collecting])
    agent.close()
    ledger = await asyncio.to_thread(fetch, f"{server.url}/jobs/flood", "ledger", JobLedger)
    first = statistics.median(size for at, size in memory if at <= SECONDS / 3)
    last = statistics.median(size for at, size in memory if at >= SECONDS * 2 / 3)
    name = f"offered {FACTOR:g} times what fits for {SECONDS:.0f} s, "
    return [
        Figure("what fits", rate / FACTOR / 1e6, "M events/s"),
        Figure(name + "taken in", ledger.total.received / SECONDS / 1e6, "M events/s", f">= {rate / FACTOR / 1e6:.2g}"),
        Figure("dropped and counted", dropped / made, "of all"),
        Figure(
            "neither received nor counted",
            abs(made - dropped - ledger.total.received) if complete else float("nan"),
            "events",
            "0",
            better="lower",
        ),
        Figure("memory of the aggregator, first third", first / 2**20, "MiB", better="lower"),
        Figure("memory of the aggregator, last third", last / 2**20, "MiB", "<= 1.2 of it", better="lower"),
        Figure("peak memory of the collector", peak_bytes / 2**20, "MiB", better="lower"),
        Figure("burst of another job to its prediction, median", statistics.median(late), "s", better="lower"),
        Figure("the same, p99", p99(late), "s", "<= 2 s", better="lower"),
        Figure("the same, p99 without waiting for a core", p99(at_work), "s", "<= 2 s", better="lower"),
    ]


async def figures_of_overload(folder: Path) -> list[Figure]:
    with served(folder) as server:
        return await flooded(server, FACTOR * await capacity(server))


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory(dir=os.environ.get("IOTIDE_FOLDER", "/var/tmp")) as folder:
        return asyncio.run(figures_of_overload(Path(folder)))


if __name__ == "__main__":
    report(measure())
