"""The whole aggregator: events per second with all analyzers on, latency of a prediction, memory of idle jobs."""

from __future__ import annotations

import asyncio
import resource
import statistics
import time
from collections import Counter

import numpy as np
from iotide.benchmarks.common.events import DEFINITIONS, make_batches
from iotide.benchmarks.common.figures import Figure, report
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Closed, Opened, Problems, SourceItem
from iotide.collectors.transport.agent import Agent
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.daemon.server import Server
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, StreamInfo
from iotide.events.network.wire import Hello, encode, encode_batch

BATCHES = 300
LENGTH = 4096
IDLE_JOBS = 2_000
BURSTS = 40


def rate_with_analyzers(jobs: int = 1, length: int = LENGTH) -> float:
    """Events per second of one core, from decoding to predictions, until all events are analyzed.

    Args:
        jobs: number of jobs, whose batches arrive in turns.
        length: events of a batch.
    """
    now = time.time()
    count = BATCHES * LENGTH // length // jobs
    batches = make_batches(count, length, start_ns=int((now - 60) * 1e9), step_ns=20_000)
    aggregator = Aggregator(AggregatorSettings(), time.time)
    core = IngestCore(aggregator, IngestSettings())
    messages = []
    for job in range(jobs):
        info = StreamInfo(job=f"j{job}", source="bench")
        messages.append(encode(Hello(collector="c", stream=f"s{job}", info=info)))
    for at, batch in enumerate(batches):
        definitions = DEFINITIONS if at == 0 else Definitions([], [])
        messages += [encode_batch(f"s{job}", at + 1, batch, definitions) for job in range(jobs)]
    wired = [[bytes(frame) for frame in message] for message in messages]
    start = time.process_time()
    for at, message in enumerate(wired):
        core.receive(b"peer", message, now)
        if at % 50 == 0:
            aggregator.tick()
    for session in aggregator.jobs.awake:
        session.compact()
    return count * jobs * length / (time.process_time() - start)


class Bursts:
    """A source that emits a burst on command."""

    def __init__(self) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self.finished = False
        self._waiting: list[SourceItem] = [Opened("s", StreamInfo(job="latency", source="bench"))]
        self._first = True

    def burst(self) -> None:
        (batch,) = make_batches(1, 64, start_ns=time.time_ns() - 2_000_000)
        self._waiting.append(Chunk("s", batch, DEFINITIONS if self._first else Definitions([], [])))
        self._first = False

    def poll(self) -> list[SourceItem]:
        items, self._waiting = self._waiting, []
        return items

    def close(self) -> None:
        self._waiting.append(Closed("s"))


async def latencies(interval_s: float) -> list[float]:
    """Seconds from a burst to the first prediction that includes it, without the prediction interval."""
    server = Server(
        AggregatorSettings(ingest="tcp://127.0.0.1:*", http=None, publish=None, prediction_interval_s=interval_s)
    )
    await server.start()
    running = asyncio.create_task(server.run())
    source = Bursts()
    agent = Agent([source], CollectorSettings(endpoint=server.ingest_endpoint))
    collecting = asyncio.create_task(agent.run())
    predicted = asyncio.Event()
    server.aggregator.on_prediction(lambda _: predicted.set())
    waited = []
    for _ in range(BURSTS):
        predicted.clear()
        start = time.perf_counter()
        source.burst()
        await asyncio.wait_for(predicted.wait(), 10)
        waited.append(max(0.0, time.perf_counter() - start - interval_s))
    for task in (collecting, running):
        task.cancel()
    await asyncio.wait([collecting, running])
    agent.close()
    await server.stop()
    return waited


def memory_of_idle_jobs() -> float:
    """Memory per job after 20 minutes of a burst every 10 s, bytes."""
    aggregator = Aggregator(AggregatorSettings(max_jobs=IDLE_JOBS + 1), time.time)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    now = time.time_ns()
    (batch,) = make_batches(1, 120)
    start = now - 1_200_000_000_000
    spread = batch.replace(start=start + np.arange(120) * 10_000_000_000)
    for number in range(IDLE_JOBS):
        stream = f"s{number}"
        aggregator.opened(stream, StreamInfo(job=f"job{number}", source="bench"))
        aggregator.batch(stream, spread, DEFINITIONS)
    aggregator.tick()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / IDLE_JOBS


def measure() -> list[Figure]:
    waited = sorted(asyncio.run(latencies(0.2)))
    per_job = memory_of_idle_jobs()
    return [
        Figure("aggregator, all analyzers on, one core", rate_with_analyzers() / 1e6, "M events/s", ">= 1"),
        Figure("16 jobs, batches of 1,024 events", rate_with_analyzers(16, 1024) / 1e6, "M events/s"),
        Figure("200 jobs, batches of 1,024 events", rate_with_analyzers(200, 1024) / 1e6, "M events/s"),
        Figure("event to prediction, median", statistics.median(waited) * 1e3, "ms", better="lower"),
        Figure("event to prediction, p99", waited[int(len(waited) * 0.99)] * 1e3, "ms", "<= 250 ms", better="lower"),
        Figure("memory per job, idle after 20 min", per_job / 1024, "KiB", better="lower"),
        Figure("memory of 10,000 such jobs", per_job * 10_000 / 2**30, "GiB", "<= 4 GiB", better="lower"),
    ]


if __name__ == "__main__":
    report(measure())
