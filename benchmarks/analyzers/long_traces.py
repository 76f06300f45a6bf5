"""Memory and CPU time of commands on long inputs, as whole processes, and their growth with the input.

The inputs are created and removed here: an archive, JSON lines, and the output of strace. Environment variables:

    BENCH_CALLS       calls of the archive                             10000000
    BENCH_TEXT_BYTES  size of the JSON lines, and of strace's output   500000000
    BENCH_INPUTS      which of archive, jsonl, strace                  archive,jsonl,strace
    BENCH_COMMANDS    which of the commands, by their names            all
    BENCH_FORMATS     what the inputs are converted to                 parquet,hdf5
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from iotide.archive.file.writer import ArchiveWriter
from iotide.benchmarks.common.figures import Figure, report
from iotide.events import Definitions, EventBatch, Kind, Layer, StreamInfo, make_batch
from iotide.events.definitions import FileInfo

CALLS = int(os.environ.get("BENCH_CALLS", "10000000"))
TEXT_BYTES = int(os.environ.get("BENCH_TEXT_BYTES", "500000000"))
INPUTS = os.environ.get("BENCH_INPUTS", "archive,jsonl,strace").split(",")
FORMATS = [name for name in os.environ.get("BENCH_FORMATS", "parquet,hdf5").split(",") if name]
RANKS = 4
PAIRS = 4096
COMMANDS = {
    "detect": ["detect"],
    "detect replayed": ["detect", "--replay"],
    "detect at points": ["detect", "--sampling", "point"],
    "detect as the reference": ["detect", "--method", "reference", "--frequency", "auto"],
    "dfg": ["dfg"],
    "layers": ["layers"],
    "rank": ["rank"],
}
CHOSEN = os.environ.get("BENCH_COMMANDS", ",".join(COMMANDS)).split(",")
MOST_BYTES = 300e6
BEGIN_S = 1_700_000_000
ENDINGS = {"parquet": "parquet", "hdf5": "h5", "chrome": "json", "jsonl": "jsonl", "otf2": "otf2"}


def phase(rank: int, number: int) -> EventBatch:
    """MPI-IO writes, each with a stdio write below it, and small writes or reads between them."""
    at = np.arange(PAIRS)
    begin = BEGIN_S * 10**9 + number * 2 * 10**9 + rank * 1000 + at * 100_000
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
    """Write an archive of about the given number of calls."""
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


def jsonl_phase(number: int) -> str:
    """Large writes of all ranks and small reads between them, as JSON lines in order of time."""
    lines = []
    for at in range(PAIRS // 8):
        begin = (BEGIN_S + 2 * number) * 10**9 + at * 800_000
        for rank in range(RANKS):
            where = f'"rank": {rank}, "pid": {1000 + rank}, "tid": {1000 + rank}'
            offset = (number * PAIRS + at) * 65_536
            start = begin + rank * 1000
            lines.append(
                f'{{"call": "pwrite64", "path": "/scratch/run/out.h5", {where}, "start_ns": {start}, '
                f'"dur_ns": {50_000 + at % 7 * 100}, "size": 65536, "offset": {offset}}}\n'
            )
            lines.append(
                f'{{"call": "read", "path": "/scratch/run/in.dat", {where}, "start_ns": {start + 70_000}, '
                f'"dur_ns": 3000, "size": 100}}\n'
            )
    return "".join(lines)


def strace_phase(number: int) -> str:
    """The same in the format of ``strace -f -ttt -T -y``."""
    lines = []
    for at in range(PAIRS // 8):
        micros = at * 800
        for rank in range(RANKS):
            stamp = f"{1000 + rank} {BEGIN_S + 2 * number}."
            offset = (number * PAIRS + at) * 65_536
            whole = f'pwrite64(3</scratch/run/out.h5>, "\\1\\0\\0\\2"..., 65536, {offset}) = 65536'
            lines.append(f"{stamp}{micros + rank:06d} {whole} <0.{50 + at % 7:06d}>\n")
            lines.append(
                f'{stamp}{micros + 70 + rank:06d} read(4</scratch/run/in.dat>, "abc"..., 100) = 100 <0.000003>\n'
            )
    return "".join(lines)


def texts(phase_of: Callable[[int], str], path: Path, size: int) -> None:
    """Write phases up to a size in bytes."""
    written_bytes = number = 0
    with path.open("w") as file:
        while written_bytes < size:
            written_bytes += file.write(phase_of(number))
            number += 1


def run_measured(arguments: Sequence[str]) -> tuple[float, float]:
    """Run a command; return its peak memory in bytes and its CPU time in s."""
    command = [sys.executable, "-m", "iotide", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    return used.ru_maxrss * 1024.0, used.ru_utime + used.ru_stime


def compare_sizes(what: str, arguments: Sequence[str], short: Path, long: Path) -> list[Figure]:
    """Measure a command on an input and on a tenth of it."""
    least, least_s = run_measured([*arguments, str(short)])
    most, most_s = run_measured([*arguments, str(long)])
    budget = f"<= {MOST_BYTES / 1e6:g} MB"
    return [
        Figure(f"{what}: memory", most / 1e6, "MB", budget, "a tenth of it", least / 1e6, "lower"),
        Figure(f"{what}: CPU time", most_s, "s", "", "a tenth of it", least_s, "lower"),
    ]


def print_figures(figures: Sequence[Figure]) -> None:
    """Print a figure at once, because all of them take minutes."""
    for figure in figures:
        print(f"{figure.name} {figure.value:.4g} {figure.unit} ({figure.peer_value:.4g})", file=sys.stderr)


def measure() -> list[Figure]:
    """Measure each command on each input."""
    writers: dict[str, tuple[str, Callable[[Path, int], None], int]] = {
        "archive": (f"archive of {CALLS / 1e6:g} M calls", written, CALLS),
        "jsonl": (
            f"{TEXT_BYTES / 1e9:g} GB of JSON lines",
            lambda path, size: texts(jsonl_phase, path, size),
            TEXT_BYTES,
        ),
        "strace": (
            f"{TEXT_BYTES / 1e9:g} GB of strace",
            lambda path, size: texts(strace_phase, path, size),
            TEXT_BYTES,
        ),
    }
    figures = []
    for kind in INPUTS:
        what, write, size = writers[kind]
        with TemporaryDirectory() as folder:
            short, long = Path(folder) / f"short.{kind}", Path(folder) / f"long.{kind}"
            write(short, size // 10)
            write(long, size)
            for command in CHOSEN:
                figures += compare_sizes(f"{command}, {what}", [*COMMANDS[command], "--json"], short, long)
                print_figures(figures[-2:])
            for name in FORMATS:
                made = str(Path(folder) / f"converted.{ENDINGS[name]}")
                figures += compare_sizes(
                    f"convert to {name}, {what}", ["archive", "convert", "--force", "-o", made], short, long
                )
                print_figures(figures[-2:])
    return figures


if __name__ == "__main__":
    report(measure())
