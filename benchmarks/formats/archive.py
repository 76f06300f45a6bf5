"""Calls per core through call signatures and grammar: repeated calls, and unique calls."""

from __future__ import annotations

import io
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from iotide.archive.codec.coder import Coder
from iotide.archive.codec.columns import FIELDS, FIRST_OF_HANDLE
from iotide.archive.codec.grammar import Grammar
from iotide.archive.codec.stream import StreamCompressor
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.benchmarks.common.events import DEFINITIONS, make_batches
from iotide.benchmarks.common.figures import Figure, report
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.archiving.archives import Archives, ArchiveSettings
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, DefinitionTable, EventBatch, Kind, Layer, StreamInfo, make_batch
from iotide.events.network.wire import Hello, encode, encode_batch

CALLS = 2_000_000
BATCH = 4096
STREAMS = 500
MANY = 10_000

Calls = tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]


def strided() -> Calls:
    """One file written in equal steps, with 12 kinds of calls in turn."""
    fields = np.zeros((CALLS, len(FIELDS)), np.int64)
    fields[:, 0] = fields[:, 2] = 3
    fields[:, FIRST_OF_HANDLE] = 4096 * np.arange(CALLS)
    fields[:, -1] = fields[:, -2] = 4096
    return (np.arange(CALLS) % 12).astype(np.uint32), fields


def files() -> Calls:
    """A new file each time: open, a hundred writes, close."""
    step, turn = np.arange(CALLS) % 102, np.arange(CALLS) // 102
    is_write = (step > 0) & (step < 101)
    fields = np.zeros((CALLS, len(FIELDS)), np.int64)
    fields[:, 0] = fields[:, 2] = turn + 1
    fields[:, FIRST_OF_HANDLE] = np.where(is_write, 4096 * (step - 1), -1)
    fields[:, -1] = fields[:, -2] = np.where(is_write, 4096, 0)
    return np.where(is_write, 1, 2 * (step > 0)).astype(np.uint32), fields


def unpredictable() -> Calls:
    """Fifty signatures in random order."""
    fields = np.zeros((CALLS, len(FIELDS)), np.int64)
    fields[:, FIRST_OF_HANDLE] = -1
    return np.random.default_rng(1).integers(0, 50, CALLS).astype(np.uint32), fields


def rate(groups: npt.NDArray[np.uint32], fields: npt.NDArray[np.int64]) -> float:
    """Return calls per second of CPU time through call signatures and grammar alone, the best of three."""
    best = float("inf")
    for _ in range(3):
        coder, grammar = Coder(len(FIELDS), FIRST_OF_HANDLE), Grammar()
        begun = time.process_time()
        for at in range(0, CALLS, BATCH):
            grammar.feed(coder.feed(groups[at : at + BATCH], fields[at : at + BATCH]))
        best = min(best, time.process_time() - begun)
    return CALLS / best


def batches_of(groups: npt.NDArray[np.uint32], fields: npt.NDArray[np.int64]) -> list[EventBatch]:
    """Return the same calls as batches, with times from the clock."""
    random = np.random.default_rng(1)
    start = 10**18 + np.cumsum(random.integers(1_000, 90_000, CALLS))
    duration = random.integers(500, 9_000, CALLS)
    names = {"handle": 0, "file": 2, "offset": FIRST_OF_HANDLE, "requested": -2}
    columns = {name: fields[:, at] for name, at in names.items()}
    columns |= {"bytes": fields[:, -2], "start": start, "duration": duration, "call": groups + 1}
    return [
        make_batch(BATCH, {name: column[at : at + BATCH] for name, column in columns.items()})
        for at in range(0, CALLS - BATCH, BATCH)
    ]


def rate_of_stream(batches: list[EventBatch]) -> float:
    """Return calls per second of CPU time through the whole compressor of a stream, the best of three."""
    best, table = float("inf"), DefinitionTable()
    table.apply(Definitions([(number, f"call{number}") for number in range(1, 51)]))
    for _ in range(3):
        compressor = StreamCompressor()
        begun = time.process_time()
        for batch in batches:
            compressor.update(batch, table)
        compressor.finish()
        best = min(best, time.process_time() - begun)
    return BATCH * len(batches) / best


def regular_batches(count: int, start_ns: int, step_ns: int) -> list[EventBatch]:
    """A file written in equal steps of one size by one thread, with times from the clock."""
    random = np.random.default_rng(1)
    common = {"call": 2, "layer": int(Layer.POSIX), "kind": int(Kind.WRITE), "file": 1, "handle": 1, "pid": 4711}
    sizes = {"tid": 4711, "rank": 3, "requested": 4096, "bytes": 4096}
    batches = []
    for at in range(count):
        step = at * BATCH + np.arange(BATCH)
        times = {"start": start_ns + step_ns * step, "duration": random.integers(1_000, 20_000, BATCH)}
        batches.append(make_batch(BATCH, {**common, **sizes, **times, "offset": 4096 * step}))
    return batches


def rate_of_aggregator(batches: list[EventBatch], *, archived: bool, analysed: bool = True) -> float:
    """Events per second of CPU time through decoding, analyzers, predictions and an archive in a file, the best of
    three.

    The analyzers of calls, such as the graph, have their default settings, or only the predictor is active.
    """
    return max(_rate_of_aggregator(batches, archived, analysed) for _ in range(3))


def _rate_of_aggregator(batches: list[EventBatch], archived: bool, analysed: bool = True) -> float:
    messages = [encode(Hello(collector="c", stream="s", info=StreamInfo(job="j", source="bench")))]
    for at, batch in enumerate(batches):
        messages.append(encode_batch("s", at + 1, batch, Definitions() if at else DEFINITIONS))
    wired = [[bytes(frame) for frame in message] for message in messages]
    with tempfile.TemporaryDirectory() as folder:
        analyses = {name: {"enabled": analysed} for name in ("dfg", "layers", "rank")}
        aggregator = Aggregator(AggregatorSettings.model_validate(analyses), time.time)
        archives = Archives(aggregator, ArchiveSettings(folder=Path(folder)), lambda info: info.job)
        core = IngestCore(archives if archived else aggregator, IngestSettings())
        begun = time.process_time()
        for at, message in enumerate(wired):
            core.receive(b"peer", message, time.time())
            if at % 50 == 0:
                aggregator.tick()
        archives.close()
        return len(batches) * BATCH / (time.process_time() - begun)


def checkpoint() -> tuple[float, float, float]:
    """Save 10,000 open streams of ten calls: seconds of CPU time, KiB per stream before, longest slice in ms."""
    now = [0.0]
    before = resident_bytes()
    with tempfile.TemporaryDirectory() as folder:
        archives = Archives(Nobody(), ArchiveSettings(folder=Path(folder)), lambda info: info.job, None, lambda: now[0])
        for rank in range(MANY):
            archives.opened(str(rank), StreamInfo(job="j", source="bench", rank=rank))
            archives.batch(str(rank), ten_calls(rank), Definitions([(1, "pwrite64")]))
        taken = resident_bytes() - before
        now[0] += ArchiveSettings().checkpoint_s
        begun, longest, more = time.process_time(), 0.0, True
        while more:
            at = time.perf_counter()
            more = archives.tick()
            longest = max(longest, time.perf_counter() - at)
        spent = time.process_time() - begun
        archives.close()
    return spent, taken / MANY / 1024, longest * 1e3


class Nobody:
    """A sink that discards everything."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *arguments: None


def resident_bytes() -> int:
    """Return the current memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def short_streams() -> tuple[float, float]:
    """Return CPU time in ms and memory in bytes of a stream of ten calls."""
    writer = ArchiveWriter()
    writer.begin({})
    size, begun = 0, time.process_time()
    for rank in range(STREAMS):
        size += len(writer.opened(str(rank), StreamInfo(job="j", source="bench", rank=rank)))
        size += len(writer.batch(str(rank), ten_calls(rank), Definitions([(1, "pwrite64")])))
        size += len(writer.closed(str(rank)))
    return (time.process_time() - begun) * 1e3 / STREAMS, size / STREAMS


def ten_calls(rank: int) -> EventBatch:
    """A rank's calls."""
    start = 10**18 + np.cumsum(np.random.default_rng(rank).integers(1000, 90_000, 10))
    return make_batch(10, {"start": start, "call": 1, "rank": rank, "offset": 64 * np.arange(10), "bytes": 64})


def rate_of_reading() -> float:
    """Call per second of CPU time when decompressing fifty signatures in random order."""
    calls = np.random.default_rng(1).integers(1, 51, CALLS // 2)
    writer = ArchiveWriter()
    names = Definitions([(number, f"call{number}") for number in range(1, 51)])
    data = writer.begin({}) + writer.opened("s", StreamInfo(job="j", source="bench"))
    data += writer.batch("s", make_batch(len(calls), {"call": calls, "start": 1000 * np.arange(len(calls))}), names)
    reader = ArchiveReader(io.BytesIO(data + writer.end()), "benchmark")
    begun = time.process_time()
    read = sum(len(each.batch) for each in reader.calls(1))
    return read / (time.process_time() - begun)


def measure() -> list[Figure]:
    """Return the rates beside their budgets."""
    of_stream, of_checkpoint = short_streams(), checkpoint()
    now = int((time.time() - 60) * 1e9)
    hard = make_batches(CALLS // BATCH, BATCH, start_ns=now, step_ns=20_000)
    regular = regular_batches(CALLS // BATCH, now, 20_000)
    return [
        Figure("archive: strided writes, 12 signatures", rate(*strided()) / 1e6, "M calls/s", ">= 5"),
        Figure(
            "archive: strided writes, whole stream", rate_of_stream(batches_of(*strided())) / 1e6, "M calls/s", ">= 5"
        ),
        Figure("archive: files of a hundred writes", rate(*files()) / 1e6, "M calls/s", ">= 5"),
        Figure(
            "archive: files of a hundred writes, whole stream",
            rate_of_stream(batches_of(*files())) / 1e6,
            "M calls/s",
            ">= 5",
        ),
        Figure("archive: 50 signatures in random order", rate(*unpredictable()) / 1e6, "M calls/s", ">= 2"),
        Figure(
            "archive: 50 signatures in random order, whole stream",
            rate_of_stream(batches_of(*unpredictable())) / 1e6,
            "M calls/s",
            ">= 2",
        ),
        Figure("archive: aggregator, all random", rate_of_aggregator(hard, archived=True) / 1e6, "M events/s", ">= 1"),
        Figure(
            "archive: aggregator, all random, archives off",
            rate_of_aggregator(hard, archived=False) / 1e6,
            "M events/s",
        ),
        Figure("archive: aggregator, regular", rate_of_aggregator(regular, archived=True) / 1e6, "M events/s", ">= 3"),
        Figure(
            "archive: aggregator, regular, archives off",
            rate_of_aggregator(regular, archived=False) / 1e6,
            "M events/s",
        ),
        Figure(
            "archive: regular, archive and predictor alone",
            rate_of_aggregator(regular, archived=True, analysed=False) / 1e6,
            "M events/s",
        ),
        Figure("archive: reading, random order", rate_of_reading() / 1e6, "M calls/s"),
        Figure("archive: a stream of ten calls", of_stream[0], "ms", better="lower"),
        Figure("archive: a stream of ten calls", of_stream[1], "bytes", better="lower"),
        Figure("archive: checkpoint of 10,000 streams", of_checkpoint[0], "s", "<= 60", better="lower"),
        Figure("archive: memory of an open stream", of_checkpoint[1], "KiB", better="lower"),
        Figure("archive: longest slice of a checkpoint", of_checkpoint[2], "ms", better="lower"),
    ]


if __name__ == "__main__":
    report(measure())
