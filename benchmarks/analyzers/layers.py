"""Calls per second of the layer analysis, and its cost for 10,000 processes on 100,000 files.

No other known tool analyses layers while a job runs: Darshan's summaries and the profiles of OTF2 traces are created
afterwards. The yardstick is a plain loop over calls, with fewer sums than ours. Its sums are compared with ours before
the timing. CPU time, the least of some runs.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from iotide.analyzers.layers.report.report import make_report
from iotide.analyzers.layers.settings import LayersSettings
from iotide.analyzers.layers.state.call_tables import PROCESS
from iotide.analyzers.layers.update import LayerAnalyzer
from iotide.benchmarks.common.figures import Figure, report
from iotide.events import EventBatch, FileInfo, Kind, Layer, StreamInfo, make_batch

EVENTS = 1 << 19
PEER_EVENTS = 1 << 17
BATCH = 4096
RANKS = 16
FILES = 200
PROCESSES = 10_000
MANY_FILES = 100_000
RUNS = 5

Part = tuple[str, StreamInfo, EventBatch]
Call = tuple[int, int, int, int, int, int, int]
"""Depth, duration, own time, layer, kind, size and file."""


def stacked(count: int, rank: int, begin_ns: int) -> EventBatch:
    """Make writes of HDF5, each with one MPI-IO write, each with two POSIX writes, in order of their ends."""
    many = count // 4
    at = begin_ns + np.arange(many)[:, None] * 1_000_000
    size = np.random.default_rng(rank).integers(2, 1 << 20, many)[:, None] // 2
    columns: dict[str, object] = {
        "start": (at + np.array([20_000, 60_000, 15_000, 0])).ravel(),
        "duration": np.tile([30_000, 30_000, 80_000, 100_000], many),
        "depth": np.tile([2, 2, 1, 0], many),
        "layer": np.tile([Layer.POSIX, Layer.POSIX, Layer.MPIIO, Layer.HDF5], many),
        "call": np.tile([1, 1, 2, 3], many),
        "handle": np.tile([3, 3, 2, 1], many),
        "parent": np.tile([2, 2, 1, 0], many),
        "requested": (size * [1, 1, 2, 2]).ravel(),
        "bytes": (size * [1, 1, 2, 2]).ravel(),
    }
    return make_batch(
        4 * many, {**columns, "kind": int(Kind.WRITE), "rank": rank, "pid": rank + 1, "tid": 7, "file": 1}
    )


def flat(count: int, rank: int, begin_ns: int) -> EventBatch:
    """Make POSIX calls on two hundred files."""
    random = np.random.default_rng(rank)
    file, kind = random.integers(1, FILES, count), random.choice([7, 8, 1, 3, 0], count)
    size = np.where((kind == Kind.READ) | (kind == Kind.WRITE), random.integers(1, 1 << 20, count), 0)
    columns: dict[str, object] = {
        "start": begin_ns + np.arange(count) * 250_000,
        "duration": random.integers(1_000, 200_000, count),
        "call": kind + 1, "kind": kind, "file": file, "handle": file, "requested": size, "bytes": size,
    }  # fmt: skip
    return make_batch(count, {**columns, "layer": int(Layer.POSIX), "rank": rank, "pid": rank + 1, "tid": 7})


def parts(make: Callable[[int, int, int], EventBatch], events: int, batch: int) -> list[Part]:
    """Return batches of sixteen ranks in turn."""
    infos = [StreamInfo(job="j", source="b", host="h", rank=rank, pid=rank + 1) for rank in range(RANKS)]
    turns = max(1, events // batch // RANKS)
    return [
        (str(rank), infos[rank], make(batch, rank, turn * batch * 250_000))
        for turn in range(turns)
        for rank in range(RANKS)
    ]


def known(count: int) -> list[FileInfo]:
    """Return files by number."""
    return [FileInfo(""), *(FileInfo(f"/scratch/{number % 100}/out.{number}", shared=True) for number in range(count))]


def feed(batches: list[Part], files: list[FileInfo]) -> LayerAnalyzer:
    """Feed all batches."""
    made = LayerAnalyzer(LayersSettings())
    for stream, info, batch in batches:
        made.update(batch, stream, info, files)
    made.compact()
    return made


def looped(batches: list[Part]) -> dict[int, list[int]]:
    """Compute sums of layers, steps between layers, sizes, files and handles, call by call; return the layers' sums.

    Collectives, completions of requests, and the timeline are left out.
    """
    sums: dict[int, list[int]] = {}
    steps: dict[tuple[int, int, int, int], list[int]] = {}
    sizes: dict[tuple[int, int, int, int], int] = {}
    files: dict[tuple[int, int, int], list[int]] = {}
    handles: dict[tuple[str, int], list[int]] = {}
    open_calls: dict[tuple[str, int], list[Call]] = {}

    def nested(call: Call, over: int, over_kind: int) -> None:
        _, duration, own, layer, kind, size, file = call
        step = steps.setdefault((over, over_kind, layer, kind), [0, 0, 0])
        there = files.setdefault((file, over, layer), [0, 0, 0])
        for row, values in ((step, (1, duration, size)), (there, (1, own, size))):
            for at, value in enumerate(values):
                row[at] += value
        key = (over, layer, kind, size.bit_length())
        sizes[key] = sizes.get(key, 0) + 1

    for stream, _, batch in batches:
        names = ("tid", "depth", "layer", "duration", "bytes", "kind", "file", "handle")
        for tid, depth, layer, duration, size, kind, file, handle in zip(
            *(getattr(batch, name).tolist() for name in names), strict=True
        ):
            waiting = open_calls.setdefault((stream, tid), [])
            own = duration
            while waiting and waiting[-1][0] > depth:
                below = waiting.pop()
                own -= below[1]
                nested(below, layer, kind)
            call = (depth, duration, own, layer, kind, size, file)
            if depth:
                waiting.append(call)
            else:
                nested(call, len(Layer), 0)
            through = handles.setdefault((stream, handle), [0, 0, 0, 0])
            row = sums.setdefault(layer, [0, 0, 0])
            for at, value in enumerate((own, 1, size)):
                row[at] += value
            for at, value in enumerate((1, duration, own, size)):
                through[at] += value
    return sums


def check(batches: list[Part], files: list[FileInfo]) -> None:
    """Compare the loop's sums with ours."""
    key, sums = feed(batches, files).tables.processes.rows()
    for layer, (own, calls, size) in looped(batches).items():
        total = sums[key % len(Layer) == layer].sum(axis=0)
        ours = [int(total[PROCESS.index(name)]) for name in ("exclusive_ns", "calls", "bytes_written", "bytes_read")]
        if (own, calls, size) != (ours[0], ours[1], ours[2] + ours[3]):
            raise AssertionError(f"layer {layer}: {ours} here, {(own, calls, size)} in the loop")


def rate(work: Callable[[], object], events: int) -> float:
    """Return events per second of CPU time, of the fastest of some runs."""
    best = float("inf")
    for _ in range(RUNS):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return events / best


def crowd(_: int) -> tuple[float, float, float, int]:
    """Feed ten thousand processes on a hundred thousand files; return MiB early and late, s per report, losses."""
    files = known(MANY_FILES)
    bare = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    made = LayerAnalyzer(LayersSettings())
    random = np.random.default_rng(1)
    sizes = []
    for turn in range(4):
        for process in range(PROCESSES):
            batch = stacked(64, process, turn * 10**9)
            file = np.repeat(random.integers(1, MANY_FILES + 1, 16), 4)
            info = StreamInfo(job="j", source="b", host=f"n{process // 96}", rank=process, pid=process + 1)
            made.update(batch.replace(file=file), str(process), info, files)
        made.compact()
        sizes.append((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - bare) / 1024)
    begin = time.process_time()
    make_report(made, ["", "write", "MPI_File_write_at", "H5Dwrite"])
    return sizes[0], sizes[-1], time.process_time() - begin, sum(made.losses().values())


def measure() -> list[Figure]:
    """Measure updates, the loop, and the memory of a large job."""
    files = known(FILES)
    figures = []
    for name, make in (("three layers", stacked), ("POSIX on 200 files", flat)):
        few = parts(make, PEER_EVENTS, BATCH)
        check(few, files)
        loop = rate(lambda few=few: looped(few), PEER_EVENTS)
        for batch in (BATCH, 256):
            many = parts(make, EVENTS, batch)
            ours = rate(lambda many=many: feed(many, files), sum(len(part[2]) for part in many))
            figures.append(
                Figure(f"{name}, batches of {batch}", ours / 1e6, "M calls/s", ">= 1", "a loop over calls", loop / 1e6)
            )
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        early, late, seconds, lost = pool.submit(crowd, 0).result()
    calls = PROCESSES * 64 / 1e6
    return [
        *figures,
        Figure(f"10,000 processes, 100,000 files: {calls:.2g} M calls", early, "MiB", better="lower"),
        Figure(f"memory after {4 * calls:.2g} M calls", late, "MiB", better="lower"),
        Figure("one report of that job", seconds, "s", better="lower"),
        Figure("calls aggregated by the bounds", lost / (4e6 * calls) * 100, "%", better="lower"),
    ]


if __name__ == "__main__":
    report(measure())
