"""Calls per second of the advice analyzer, and its cost for 10,000 processes on 100,000 files.

No other known tool computes advice while a job runs: Drishti reads a finished log of Darshan. The yardstick is a plain
loop over calls that sums calls, time and bytes by thread, file, layer and kind, and follows the positions in files. Its
sums are compared with ours before the timing. Order and gaps of a job's first calls are analyzed, so these cost more.
CPU time, the least of some runs.
"""

from __future__ import annotations

import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from iotide.analyzers.advice.settings import AdviceSettings
from iotide.analyzers.advice.update import AdviceAnalyzer
from iotide.analyzers.pipeline.analysis_queue import QueuedEvents
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.benchmarks.analyzers.layers import (
    BATCH,
    EVENTS,
    FILES,
    MANY_FILES,
    PEER_EVENTS,
    PROCESSES,
    Part,
    flat,
    known,
    parts,
    rate,
    stacked,
)
from iotide.benchmarks.common.figures import Figure, report
from iotide.events import FileInfo, StreamInfo

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.jobs.analyzer_kinds import context

FIRST = 2**40
"""Setting at which the order of all calls is analyzed."""


def feed(batches: list[Part], files: list[FileInfo], ordered: int) -> AdviceAnalyzer:
    """Feed all batches; analyze the order of some first calls."""
    names = JobNames(len(batches[0][2]), len(files))
    for info in files[1:]:
        names.file(info)
    for number in range(16):
        names.call(f"call{number}")
    made = AdviceAnalyzer(context(names), AdviceSettings(max_ordered_calls=ordered))
    for stream, info, batch in batches:
        made.update(QueuedEvents.of(batch, stream, info))
    made.losses()  # merges buffered rows
    return made


def looped(batches: list[Part]) -> tuple[dict[tuple[str, int, int, int, int, bool], list[int]], int]:
    """Compute sums and jumps call by call; return the sums, and the number of calls that do not continue the last."""
    sums: dict[tuple[str, int, int, int, int, bool], list[int]] = {}
    ends: dict[tuple[str, int], int] = {}
    jumps = 0
    for stream, _, batch in batches:
        names = ("tid", "file", "layer", "kind", "depth", "duration", "bytes", "handle", "offset")
        for tid, file, layer, kind, depth, duration, size, handle, offset in zip(
            *(getattr(batch, name).tolist() for name in names), strict=True
        ):
            row = sums.setdefault((stream, tid, file, layer, kind, depth > 0), [0, 0, 0])
            row[0] += 1
            row[1] += duration
            row[2] += size
            if size and not depth:
                end = ends.get((stream, handle), 0)
                at = offset if offset >= 0 else end
                jumps += at != end
                ends[stream, handle] = at + size
    return sums, jumps


def check(batches: list[Part], files: list[FileInfo]) -> None:
    """Compare the loop's sums with ours."""
    sums, _ = looped(batches)
    ours = feed(batches, files, 0).deferred_result()()
    top = [row for (*_, deep), row in sums.items() if not deep]
    if sum(row[2] for row in top) != ours.bytes_read + ours.bytes_written:
        raise AssertionError(f"{ours.bytes_read + ours.bytes_written} bytes here, {sum(row[2] for row in top)} there")


def crowd(_: int) -> tuple[float, float, float]:
    """Feed ten thousand processes on a hundred thousand files; return MiB, CPU s of the report, and losses."""
    files = known(MANY_FILES)
    random = np.random.default_rng(1)
    batches = []
    for process in range(PROCESSES):
        file = np.repeat(random.integers(1, MANY_FILES + 1, 16), 4)
        info = StreamInfo(job="j", source="b", host=f"n{process // 96}", rank=process, pid=process + 1)
        batches.append((str(process), info, stacked(64, process, 10**9).replace(file=file)))
    bare = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    made = feed(batches, files, 65_536)
    result = made.deferred_result()
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - bare) / 1024
    begin = time.process_time()
    result()
    return memory, time.process_time() - begin, sum(made.losses().values()) / PROCESSES / 64


def measure() -> list[Figure]:
    """Measure updates, the loop, and the memory and report of a large job."""
    files = known(FILES)
    figures = []
    for name, make_calls in (("three layers", stacked), ("POSIX on 200 files", flat)):
        few = parts(make_calls, PEER_EVENTS, BATCH)
        check(few, files)
        loop = rate(lambda few=few: looped(few), PEER_EVENTS) / 1e6
        for which, ordered in (("first", FIRST), ("later", 0)):
            for batch in (BATCH, 256):
                many = parts(make_calls, EVENTS, batch)
                calls = sum(len(part[2]) for part in many)
                ours = rate(lambda many=many, ordered=ordered: feed(many, files, ordered), calls) / 1e6
                title = f"{name}, {which} calls, batches of {batch}"
                figures.append(Figure(title, ours, "M calls/s", ">= 1", "a loop over calls", loop))
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        memory, seconds, lost = pool.submit(crowd, 0).result()
    return [
        *figures,
        Figure("10,000 processes, 100,000 files: 0.64 M calls", memory, "MiB", better="lower"),
        Figure("one report of that job", seconds, "s", better="lower"),
        Figure("calls beyond the bounds there", lost * 100, "%", better="lower"),
    ]


if __name__ == "__main__":
    report(measure())
