"""Cost of phases by file system in the aggregator: events per second with and without, in turns."""

from __future__ import annotations

import statistics
import time

from iotide.benchmarks.common.events import DEFINITIONS, make_batches
from iotide.benchmarks.common.figures import Figure
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, StreamInfo
from iotide.events.network.wire import Hello, encode, encode_batch

BATCHES = 300
LENGTH = 4096
TURNS = 15


def seconds(*, enabled: bool) -> float:
    """Return the CPU time of one core for all events through decode, sequence state, job session and predictions."""
    now = time.time()
    batches = make_batches(BATCHES, LENGTH, start_ns=int((now - 60) * 1e9), step_ns=20_000)
    settings = AggregatorSettings.model_validate({"analyzers": {"filesystems": {"enabled": enabled}}})
    aggregator = Aggregator(settings, time.time)
    core = IngestCore(aggregator, IngestSettings())
    info = StreamInfo(job="j", source="bench", host="n1")
    messages = [encode(Hello(collector="c", stream="s", info=info))]
    for at, batch in enumerate(batches):
        messages.append(encode_batch("s", at + 1, batch, DEFINITIONS if at == 0 else Definitions([], [])))
    wired = [[bytes(frame) for frame in message] for message in messages]
    start = time.process_time()
    for at, message in enumerate(wired):
        core.receive(b"peer", message, now)
        if at % 50 == 0:
            aggregator.tick()
    return time.process_time() - start


def measure() -> list[Figure]:
    more = []
    for turn in range(TURNS):
        first = bool(turn % 2)
        taken = {enabled: seconds(enabled=enabled) for enabled in (first, not first)}
        more.append(taken[True] / taken[False] - 1)
    return [
        Figure(
            "aggregator, phases by file system: added CPU time",
            statistics.median(more) * 100,
            "%",
            "<= 5 %",
            better="lower",
        )
    ]
