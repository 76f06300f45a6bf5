"""Draining a ring and decoding its records into a batch with signatures, on one core."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from iotide.collectors.source import Chunk, Origin
from iotide.collectors.sources.preload.records import ring_layout as layout
from iotide.collectors.sources.preload.source import PreloadSource

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from iotide.benchmarks.common.figures import Figure, report
from support.tracing.regions import WRITE, MadeRegion

LINES = 1 << 16
TIMES = 12
BUDGET = ">= 3 M events/s"


def fill(made: MadeRegion, requested: np.ndarray, words: int) -> None:
    """Write pwrite64 records of four descriptors in turn into the ring, with the given parameter words."""
    count = len(requested)
    rows = np.zeros(count, layout.RECORD)
    rows["start"], rows["duration"] = np.arange(count), 100
    rows["call"], rows["kind"], rows["words"] = WRITE if not words else 4, 8, words
    rows["descriptor"], rows["requested"], rows["bytes"] = np.arange(count) % 4, requested, requested
    extra = -(-words // layout.WORDS_PER_LINE)
    lines = np.zeros((count, 1 + extra, 8), np.uint64)
    lines[:, 0] = rows.view(np.uint64).reshape(count, 8)
    lines[:, 1:, -1] = layout.MARK_WORDS << 56
    made.put_lines(lines.reshape(-1, 8), records=count)


def polled(source: PreloadSource) -> int:
    """Poll until the ring is empty, and return the number of events."""
    events = 0
    while chunks := [item for item in source.poll() if isinstance(item, Chunk)]:
        events += sum(len(chunk.batch) for chunk in chunks)
    return events


def rate(sizes: Sequence[np.ndarray], words: int = 0) -> float:
    """Return events per second of CPU time, with the ring filled with each array of sizes, all of one length."""
    with MadeRegion(slots=1, lines=LINES) as made, tempfile.TemporaryDirectory() as folder:
        made.define(4, b"work(a:i,b:i,c:x)", kind=layout.ENTRY_CALL, aux=4)
        source = PreloadSource(Path(folder) / "gate", Origin("job"))
        made.hand_over(Path(folder) / "gate")
        times = [seconds_to_take(made, source, requested, words) for requested in sizes]
        source.close()
    return len(sizes[0]) / statistics.median(times[1:])


def seconds_to_take(made: MadeRegion, source: PreloadSource, requested: np.ndarray, words: int) -> float:
    """Fill a ring and return the CPU time of reading it."""
    fill(made, requested, words)
    start = time.process_time()
    events = polled(source)
    took = time.process_time() - start
    if events != len(requested):
        raise AssertionError("events were lost")
    return took


def microseconds_a_look(calls: int) -> float:
    """Return the CPU time of one poll of a process with 64 rings, one of which has the given number of new calls."""
    with MadeRegion(slots=64, lines=1 << 10) as made, tempfile.TemporaryDirectory() as folder:
        source = PreloadSource(Path(folder) / "gate", Origin("job"))
        made.hand_over(Path(folder) / "gate")
        source.poll()
        times = []
        for _ in range(2000):
            made.put(calls, requested=4096)
            start = time.process_time()
            source.poll()
            times.append(time.process_time() - start)
        source.close()
    return statistics.median(times) * 1e6


def measure() -> Sequence[Figure]:
    """Measure drain and decode of one process: repeated parameters, random sizes, parameters as words; and one poll."""
    draw = np.random.default_rng(1)
    same = [np.full(LINES - 8, 4096)] * TIMES
    some = [draw.choice([64, 4096, 65536, 1 << 20], LINES - 8) for _ in range(TIMES)]
    few = [draw.integers(1, 16_000, LINES - 8) for _ in range(TIMES)]
    new = [draw.integers(1, 1 << 40, LINES - 8) for _ in range(TIMES)]
    words = [np.full(LINES // 2 - 8, 1)] * TIMES
    return [
        Figure("tracer's records decoded, same parameters", rate(same), "events/s", BUDGET),
        Figure("tracer's records decoded, four sizes at random", rate(some), "events/s", BUDGET),
        Figure("tracer's records decoded, 16,000 sizes at random", rate(few), "events/s", BUDGET),
        Figure("tracer's records decoded, each size different", rate(new), "events/s"),
        Figure("tracer's records decoded, three words each", rate(words, words=3), "events/s"),
        Figure("one poll of a process with ten new calls", microseconds_a_look(10), "us", better="lower"),
        Figure("one poll of a process with none", microseconds_a_look(0), "us", better="lower"),
    ]


if __name__ == "__main__":
    report(measure())
