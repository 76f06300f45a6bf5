"""Many jobs that each make a burst every ten seconds and are predicted after it, as a running aggregator does it."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import numpy as np
from _events import DEFINITIONS, make_batches
from _figures import Figure, report
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, StreamInfo

JOBS = 100
BURSTS = 120
EVENTS = 16
STEP_S = 10.0


def resident() -> int:
    """Bytes of memory that the process has now, not at its peak."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def twenty_minutes(settings: AggregatorSettings) -> tuple[float, float]:
    """Returns the bytes that a job holds at the end, and the seconds that one prediction round took for each job."""
    now = [1.7e9]
    aggregator = Aggregator(settings, lambda: now[0])
    (batch,) = make_batches(1, EVENTS)
    rounds = []
    before = resident()
    for burst in range(BURSTS):
        stamped = batch.replace(start=int(now[0] * 1e9) - 2_000_000 + np.arange(EVENTS) * 1000)
        for number in range(JOBS):
            if not burst:
                aggregator.opened(f"s{number}", StreamInfo(job=f"job{number}", source="bench"))
            aggregator.batch(f"s{number}", stamped, Definitions([], []) if burst else DEFINITIONS)
        start = time.perf_counter()
        aggregator.tick()
        rounds.append(time.perf_counter() - start)
        now[0] += STEP_S
    assert all(session.predictions == BURSTS for session in aggregator.jobs.values())
    return (resident() - before) / JOBS, rounds[-1] / JOBS


def measure() -> list[Figure]:
    held, _ = twenty_minutes(AggregatorSettings(history=1))
    remembering, round_s = twenty_minutes(AggregatorSettings())
    gib = 10_000 / 2**30
    return [
        Figure("10,000 jobs, 120 predictions each, default", remembering * gib, "GiB", "<= 4 GiB", better="lower"),
        Figure("the same, one prediction remembered", held * gib, "GiB", "<= 4 GiB", better="lower"),
        Figure("loop held by a round, each due job", round_s * 1e3, "ms", better="lower"),
    ]


if __name__ == "__main__":
    report(measure())
