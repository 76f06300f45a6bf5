"""Archives of many ranks: time and memory of a merge, and sizes without times."""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator

import numpy as np
from iotide.archive.codec.encoding import PartKind, section_part, text_part
from iotide.archive.codec.stream import StreamCompressor
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.archive.merge.merging import Merger
from iotide.benchmarks.common.figures import Figure, report
from iotide.events import Definitions, DefinitionTable, EventBatch, StreamInfo, make_batch
from iotide.events.definitions import FileInfo

RANKS = 10_000
LIBRARIES = 80
BLOCK = 64 * 1024
CALLS = 40


def info_of(rank: int, ranks: int, pid: int) -> StreamInfo:
    """A rank of a job with sixteen ranks per host."""
    host = f"node{rank // 16:04d}"
    return StreamInfo(job="job", source="preload", rank=rank, ranks=ranks, pid=pid, host=host, command="./solver")


def strided(rank: int, ranks: int, calls: int, pid: int) -> EventBatch:
    """The paper's pattern: each rank writes its blocks of one file."""
    return make_batch(
        calls,
        {
            "start": 10**18 + 1000 * np.arange(calls), "duration": 700, "call": 1, "rank": rank, "pid": pid, "tid": pid,
            "file": 1, "handle": 1, "signature": 1, "kind": 8, "layer": 1,
            "offset": BLOCK * (rank + ranks * np.arange(calls)), "requested": BLOCK, "bytes": BLOCK,
        },
    )  # fmt: skip


def names_of(rank: int, files: int = 1) -> Definitions:
    """The shared file, one with the rank in its name, and libraries."""
    named = ["/scratch/out", f"/scratch/log.{rank:05d}"]
    named += [f"/usr/lib/x86_64-linux-gnu/lib{number}.so.6" for number in range(2, files)]
    infos = [(number, FileInfo(path)) for number, path in enumerate(named[:files], 1)]
    return Definitions([(1, "pwrite64")], infos, [], [(1, f"pwrite64(fd=3, count={BLOCK})")])


def sized(ranks: Iterable[int], count: int, calls: int, pids: Iterator[int]) -> int:
    """Size of an archive without times, bytes."""
    writer = ArchiveWriter(times=False)
    size = len(writer.begin({"job": "job"}))
    for rank in ranks:
        pid, name = next(pids), f"rank {rank}"
        size += len(writer.opened(name, info_of(rank, count, pid)))
        size += len(writer.batch(name, strided(rank, count, calls, pid), names_of(rank, 2)))
        size += len(writer.closed(name))
    return size + len(writer.end())


def regular() -> Iterator[int]:
    """Consecutive process numbers."""
    return iter(range(1000, 1_000_000))


def random() -> Iterator[int]:
    """Process numbers without a pattern."""
    return iter(np.random.default_rng(1).integers(1000, 2**22, RANKS).tolist())


def merge(kind: str) -> dict[str, float]:
    """Merge parts of many ranks, each with many files, that arrive in order or not; in a separate process."""
    ranks, pids = list(range(RANKS)), regular()
    if kind == "random":
        ranks, pids = np.random.default_rng(1).permutation(RANKS).tolist(), random()
    written: list[bytes] = []
    merger = Merger(lambda _, payload: written.append(payload))
    seconds = 0.0
    for rank in ranks:
        pid, names, table, compressor = next(pids), names_of(rank, LIBRARIES), DefinitionTable(), StreamCompressor()
        table.apply(names)
        compressor.update(strided(rank, RANKS, CALLS, pid), table)
        section = compressor.finish()
        assert section is not None
        begun = time.process_time()
        merger.add(PartKind.STREAM, 0, 1, rank, text_part((f"rank {rank}", info_of(rank, RANKS, pid))))
        merger.add(PartKind.NAMES, 0, 1, rank, text_part(Definitions([], names.files)))
        merger.add(PartKind.SECTION, 0, 1, rank, section_part(section))
        merger.add(PartKind.CLOSED, 0, 1, rank, text_part({}))
        seconds += time.process_time() - begun
    begun = time.process_time()
    merger.flush()
    flush = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds + flush, "flush": flush, "mib": peak, "bytes": sum(map(len, written))}


def reading() -> list[Figure]:
    """Return the time to open an archive of many ranks, and to read one of them."""
    writer, pids = ArchiveWriter(), regular()
    written = [writer.begin({"job": "job"})]
    for rank in range(RANKS):
        pid, name = next(pids), f"rank {rank}"
        written += [writer.opened(name, info_of(rank, RANKS, pid))]
        written += [
            writer.batch(name, strided(rank, RANKS, CALLS, pid), names_of(rank, LIBRARIES)),
            writer.closed(name),
        ]
    file = io.BytesIO(b"".join([*written, writer.end()]))
    begun = time.process_time()
    reader = ArchiveReader(file, "archive")
    opened = time.process_time() - begun
    number = RANKS * 7 // 10
    rank, files = reader.streams[number].info.rank, len(reader.streams[number].files)
    calls = sum(len(each.batch) for each in reader.calls(number))
    took = time.process_time() - begun - opened
    assert (rank, files, calls) == (number - 1, LIBRARIES, CALLS)
    return [
        Figure(f"opening an archive of {RANKS} ranks", opened, "s", better="lower"),
        Figure("  reading one rank after that", took, "s", better="lower"),
    ]


def measure() -> list[Figure]:
    """Return time and memory of a merge and of reading, and sizes over ranks and calls."""
    figures = reading()
    for kind, what in (("regular", "in order"), ("random", "in any order, random process numbers")):
        done = subprocess.run([sys.executable, __file__, kind], check=True, capture_output=True, text=True)
        found = json.loads(done.stdout)
        figures += [
            Figure(f"merge of {RANKS} ranks, {what}", found["seconds"], "s", "<= 10 s", better="lower"),
            Figure("  part of it at the checkpoint itself", found["flush"], "s", better="lower"),
            Figure("  peak memory of the process", found["mib"], "MiB", "<= 1024 MiB", better="lower"),
            Figure("  merged", found["bytes"], "bytes", better="lower"),
        ]
    for ranks in (1, 10, 100, 1000, 10_000):
        size = sized(range(ranks), ranks, 100, regular())
        figures.append(Figure(f"strided file, 100 calls, {ranks} ranks, no times", size, "bytes", better="lower"))
    for calls in (10, 100, 1000, 10_000, 100_000):
        size = sized(range(10), 10, calls, regular())
        figures.append(Figure(f"strided file, {calls} calls, 10 ranks, no times", size, "bytes", better="lower"))
    size = sized(range(RANKS), RANKS, 10, random()) - sized(range(RANKS), RANKS, 10, regular())
    figures.append(Figure("added by random process numbers", size / RANKS, "bytes/rank", better="lower"))
    return figures


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(merge(sys.argv[1])))
    else:
        report(measure())
