"""Commands on a long archive, as whole processes: their memory and CPU time, and how both grow with the archive."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from _figures import Figure, report
from iotide.archive.file.writer import ArchiveWriter
from iotide.events import Definitions, EventBatch, Kind, Layer, StreamInfo, make_batch
from iotide.events.definitions import FileInfo

CALLS = int(os.environ.get("BENCH_CALLS", "10000000"))
RANKS = 4
PAIRS = 4096
COMMANDS = ("detect", "dfg", "layers", "rank")
MOST_BYTES = 300e6


def phase(rank: int, number: int) -> EventBatch:
    """Writes of MPI-IO, each with one of the C library in it, and small writes or reads between them."""
    at = np.arange(PAIRS)
    begin = 1_700_000_000 * 10**9 + number * 2 * 10**9 + rank * 1000 + at * 100_000
    reads = number % 4 == 0
    small = (3, Kind.READ, 2) if reads else (4, Kind.WRITE, 3)
    offset = (number * PAIRS + at) * 65_536
    columns = {
        "start": np.stack([begin + 5_000, begin, begin + 70_000 + at % 7 * 100], 1).ravel(),
        "duration": np.tile([50_000, 60_000, 3_000], PAIRS),
        "call": np.tile([2, 1, small[0]], PAIRS),
        "layer": np.tile([Layer.POSIX, Layer.MPIIO, Layer.POSIX], PAIRS),
        "depth": np.tile([1, 0, 0], PAIRS),
        "file": np.tile([1, 1, small[2]], PAIRS),
        "kind": np.tile([Kind.WRITE, Kind.WRITE, small[1]], PAIRS),
        "bytes": np.tile([65_536, 65_536, 100], PAIRS),
        "requested": np.tile([65_536, 65_536, 100], PAIRS),
        "offset": np.stack([offset, offset, np.full(PAIRS, -1)], 1).ravel(),
        "handle": np.tile([3, 1, 4], PAIRS),
        "parent": np.tile([1, 0, 0], PAIRS),
        "rank": rank,
        "pid": 1000 + rank,
        "tid": 1000 + rank,
    }
    return make_batch(3 * PAIRS, columns)


def written(path: Path, calls: int) -> None:
    """Writes an archive of so many calls, nearly."""
    names = ["MPI_File_write_at", "pwrite64", "read", "write"]
    files = [FileInfo("/scratch/run/out.h5"), FileInfo("/scratch/run/in.dat"), FileInfo("/scratch/run/log.txt")]
    writer = ArchiveWriter()
    with path.open("wb") as file:
        file.write(writer.begin({"job": "long"}))
        for rank in range(RANKS):
            info = StreamInfo(
                job="long", source="preload", host=f"n{rank // 2}", pid=1000 + rank, rank=rank, clock_offset_ns=0
            )
            file.write(writer.opened(str(rank), info))
            fresh = Definitions(list(enumerate(names, 1)), list(enumerate(files, 1)))
            for number in range(calls // RANKS // (3 * PAIRS)):
                file.write(writer.batch(str(rank), phase(rank, number), fresh))
                fresh = Definitions()
            file.write(writer.closed(str(rank)))
        file.write(writer.end())


def measured(command: str, path: Path) -> tuple[float, float]:
    """Runs a command; returns the most memory that it had, bytes, and the CPU time that it took, s."""
    arguments = [sys.executable, "-m", "iotide", command, "--json", str(path)]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {child.returncode}")
    return used.ru_maxrss * 1024.0, used.ru_utime + used.ru_stime


def measure() -> list[Figure]:
    """Measures each command on an archive and on one of a tenth of its calls."""
    figures = []
    budget = f"<= {MOST_BYTES / 1e6:g} MB"
    with TemporaryDirectory() as folder:
        short, long = Path(folder) / "short.iotide", Path(folder) / "long.iotide"
        written(short, CALLS // 10)
        written(long, CALLS)
        for command in COMMANDS:
            least, least_s = measured(command, short)
            most, most_s = measured(command, long)
            what = f"{command}, {CALLS / 1e6:g} M calls"
            figures += [
                Figure(f"{what}: memory", most / 1e6, "MB", budget, "a tenth of them", least / 1e6, "lower"),
                Figure(f"{what}: CPU time", most_s, "s", "", "a tenth of them", least_s, "lower"),
            ]
    return figures


if __name__ == "__main__":
    report(measure())
