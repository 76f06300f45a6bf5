"""Speed of converting an archive to other formats, beside the otf2 package's own writer for the same events.

CPU time of one process on both sides.
"""

from __future__ import annotations

import io
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import otf2
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.benchmarks.common.figures import Figure
from iotide.cli.archive.targets import TARGETS
from iotide.cli.common.atomic_files import size_of
from iotide.events import Definitions, StreamInfo, make_batch
from iotide.events.definitions import FileInfo

CALLS = 100_000
LARGE = 2_000_000


def archive_of(calls: int) -> bytes:
    """One process that writes in steps with random gaps."""
    random = np.random.default_rng(1)
    writer = ArchiveWriter()
    written = writer.begin({"job": "j"}) + writer.opened("s", StreamInfo(job="j", source="preload", rank=0, pid=7))
    texts = [(1, "open(flags=O_RDWR|O_CREAT) = 3"), (2, "pwrite64(fd=3, count=64)")]
    names = Definitions([(1, "open"), (2, "pwrite64")], [(1, FileInfo("/scratch/x"))], [], texts)
    common = {"layer": 1, "file": 1, "handle": 1, "pid": 7, "tid": 7, "flags": 1, "rank": 0}
    opened = {"start": 1_700_000_000_000_000_000, "duration": 10, "call": 1, "kind": 1, "signature": 1}
    written += writer.batch("s", make_batch(1, {**common, **opened}), names)
    start = opened["start"] + np.cumsum(random.integers(1000, 3000, calls - 1))
    moved = {"requested": 64, "bytes": 64, "call": 2, "kind": 8, "signature": 2}
    columns = {"start": start, "duration": random.integers(200, 900, calls - 1), "offset": np.arange(calls - 1) * 64}
    written += writer.batch("s", make_batch(calls - 1, {**common, **moved, **columns}), Definitions())
    return written + writer.closed("s") + writer.end()


def with_the_package(folder: Path) -> None:
    """Write the same number of events of the same kinds with the package's classes."""
    with otf2.writer.open(str(folder / "p"), timer_resolution=10**9) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("n")
        thread = definitions.location("t", group=definitions.location_group("p", system_tree_parent=node))
        region = definitions.region("pwrite64")
        paradigm = definitions.io_paradigm(
            "POSIX", "POSIX I/O", otf2.IoParadigmClass.SERIAL, otf2.IoParadigmFlag.OS, {}
        )
        file = definitions.io_regular_file("/scratch/x", scope=node)
        signature = definitions.attribute("signature", type=otf2.Type.STRING)
        offset = definitions.attribute("offset", type=otf2.Type.UINT64)
        text = "pwrite64(fd=3, count=64)"
        handle = definitions.io_handle("", file=file, io_paradigm=paradigm)
        events = trace.event_writer_from_location(thread)
        for number in range(CALLS):
            at = number * 1000
            events.enter(at, region, attributes={signature: text})
            events.io_operation_begin(
                at, handle, otf2.IoOperationMode.WRITE, otf2.IoOperationFlag.NONE, 64, matching_id=number,
                attributes={offset: 64 * number},
            )  # fmt: skip
            events.io_operation_complete(at + 500, handle, 64, number)
            events.leave(at + 500, region)


def cpu_seconds_of(work: Callable[[], object], repeats: int) -> float:
    """Return the least CPU time of some runs, after a warm-up."""
    work()
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def peak_mb_of(target: str, archive: Path, output: Path) -> float:
    """Convert in a separate process; return the peak memory of all such processes so far."""
    command = [sys.executable, "-m", "iotide", "archive", "convert", "--to", target, "-o", str(output), str(archive)]
    subprocess.run(command, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def measure() -> list[Figure]:
    data = archive_of(CALLS)
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def fresh(work: Callable[[Path], object]) -> Callable[[], object]:
            def run() -> object:
                shutil.rmtree(folder / "run", ignore_errors=True)
                (folder / "run").mkdir()
                return work(folder / "run")

            return run

        def converting(target: str) -> Callable[[], object]:
            def convert(into: Path) -> None:
                path = into / "out"
                if TARGETS[target].folder:
                    path.mkdir()
                reader = ArchiveReader(io.BytesIO(data), "benchmark")
                TARGETS[target].writer()(reader, path, Counter(), lambda calls: None)

            return fresh(convert)

        theirs = CALLS / cpu_seconds_of(fresh(with_the_package), 1)
        for target in TARGETS:
            rate = CALLS / cpu_seconds_of(converting(target), 3)
            peer = {"peer": "otf2 package", "peer_value": theirs} if target == "otf2" else {}
            figures.append(Figure(f"{target}, calls written", rate, "calls/s", **peer))  # type: ignore[arg-type]
            size = size_of(folder / "run" / "out") / CALLS
            figures.append(Figure(f"{target}, size", size, "bytes/call", better="lower"))
        archive = folder / "large.iotide"
        archive.write_bytes(archive_of(LARGE))
        for target in ("otf2", "hdf5", "parquet"):
            peak = peak_mb_of(target, archive, folder / f"large.{TARGETS[target].endings[0]}")
            figures.append(Figure(f"{LARGE / 1e6:g} M calls, peak memory up to {target}", peak, "MB", better="lower"))
    return figures
