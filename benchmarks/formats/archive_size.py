"""Bytes per call in an archive, beside other formats for the same calls; and archives of more MPI ranks.

Our archives and dftracer's traces are those of real runs, one run each. Recorder and Darshan are computed, see
``trace_sizes``. DFTRACER_LIBRARY names dftracer's preload library if this Python does not have it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from iotide.archive.file.reader import ArchiveReader
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.trace_sizes import (
    TICK_NS,
    Size,
    as_dftracer,
    as_dxt,
    as_json_lines,
    as_recorder,
    dxt_of_a_log,
)
from iotide.benchmarks.tracer.preload_programs import MELT

PROGRAMS: Final = Path(__file__).parents[2] / "tests" / "programs"
WRITES: Final = 100_000
TURNS: Final = 200
RANKS: Final = (2, 4, 8)
WRITER: Final = """
import os, random, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
block = bytes(64)
for i in range({writes}):
    os.pwrite(fd, block, 64 * ({offset}))
"""
ROWS: Final = """
import sys, h5py, numpy
row = numpy.ones(512)
for step in range(3):
    with h5py.File(sys.argv[1], "w") as file:
        field = file.create_dataset("field", (4000, row.size), dtype="f8", chunks=(1, row.size))
        for number in range(4000):
            field[number] = row
"""
PATTERNS: Final = {
    "sequential offsets": "i",
    "a cycle of 4096 offsets": "i % 4096",
    "random offsets": "random.randrange(1 << 20)",
}
ROOT: Final = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Work:
    """A program: its name, and the command, which runs in a folder of its own."""

    name: str
    command: list[str | Path]


def works(folder: Path) -> Iterator[Work]:
    """Yield the installed programs, and print the missing ones."""
    for name, offset in PATTERNS.items():
        program = folder / f"{name}.py"
        program.write_text(WRITER.format(writes=WRITES, offset=offset))
        yield Work(name, [sys.executable, "-S", "-E", program, "out"])
    rows = folder / "rows.py"
    rows.write_text(ROWS)
    yield Work("h5py, rows of 4 KiB", [sys.executable, rows, "out.h5"])
    if all(map(shutil.which, ("mpirun", "lmp"))):
        (folder / "in.melt").write_text(MELT)
        yield Work(
            "LAMMPS with dumps, 2 ranks", ["mpirun", "-n", "2", "lmp", "-in", folder / "in.melt", "-log", "none"]
        )
    else:
        print("LAMMPS or mpirun is not installed: left out", file=sys.stderr)


def archived(command: list[str | Path], folder: Path, *options: str | Path) -> Path:
    """Run a command under ``iotide run`` and return its archive."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run: list[str | Path] = [sys.executable, "-m", "iotide", "run", "--quiet", *options, "-o", "run", "--", *command]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-500:]}")
    (archive,) = (folder / "run").glob("*.iotide")
    return archive


def ours(reader: ArchiveReader) -> Size:
    """Return the size of an archive."""
    calls = sum(len(part.batch) for number in reader.streams for part in reader.calls(number))
    return Size(sum(reader.bytes.values()) + 16, reader.bytes["times"], calls)


def compared(work: Work, folder: Path) -> list[Figure]:
    """Return the sizes of a program's calls, ours beside each other format's."""
    archive = archived(work.command, folder / "ours")
    coarser = folder / "coarser.iotide"
    create = [sys.executable, "-m", "iotide", "archive", "create", "--tick-ns", str(TICK_NS), "-o", coarser, archive]
    subprocess.run(create, check=True, capture_output=True)
    with coarser.open("rb") as file:
        coarse = ours(ArchiveReader(file, work.name))
    with archive.open("rb") as file:
        reader = ArchiveReader(file, work.name)
        whole = ours(reader)
        recorder = as_recorder(reader)
        others = {
            "Recorder's format with times of 1 ns": as_recorder(reader, tick_ns=1),
            "Darshan DXT": as_dxt(reader),
            "gzip of JSON lines": as_json_lines(reader),
        }
    (folder / "theirs").mkdir()
    if found := as_dftracer(work.command, folder / "theirs"):
        others["dftracer"] = found
    shutil.rmtree(folder)
    name = f"{work.name}, {whole.calls} calls, no times"
    rest, theirs = ((size.total - size.times) / size.calls for size in (whole, recorder))
    peer = "Recorder's format"
    figures = [
        Figure(name, rest, "bytes/call", "", peer, theirs, "lower"),
        Figure(f"{work.name}, times of 100 ns", coarse.per_call, "bytes/call", "", peer, recorder.per_call, "lower"),
    ]
    for peer, size in others.items():
        name = work.name if size.calls == whole.calls else f"{work.name} ({size.calls} there)"
        figures.append(Figure(name, whole.per_call, "bytes/call", "", peer, size.per_call, "lower"))
    return figures


def of_ranks(folder: Path) -> Iterator[Figure]:
    """Yield the bytes without times of an MPI program of 2, 4 and 8 ranks, with its start and without."""
    for kind in ("openmpi", "mpich"):
        compiler, launcher = shutil.which(f"mpicc.{kind}"), shutil.which(f"mpirun.{kind}")
        if compiler is None or launcher is None:
            print(f"{kind} is not installed: left out", file=sys.stderr)
            continue
        program = folder / f"strided.{kind}"
        subprocess.run([compiler, "-O1", "-o", program, PROGRAMS / "mpi_strided.c"], check=True)
        for ranks in RANKS:
            for name, options in (("data only", ["--only-paths", "data"]), ("with MPI's start", [])):
                command: list[str | Path] = [launcher, "-n", str(ranks), program, str(TURNS), "data/out"]
                run = folder / "ranks"
                with archived(["sh", "-c", 'mkdir data && exec "$@"', "sh", *command], run, *options).open(
                    "rb"
                ) as file:
                    size = ours(ArchiveReader(file, kind))
                yield Figure(
                    f"{kind}, {ranks} ranks, {name}: {size.calls} calls, no times", size.total - size.times, "bytes"
                )
                yield Figure(f"{kind}, {ranks} ranks, {name}: times", size.times, "bytes")
                shutil.rmtree(run)


def measure() -> list[Figure]:
    """Return bytes per call of our archives and other formats, then the bytes of archives of more ranks."""
    os.environ.update(ROOT)
    figures = []
    if (dxt := dxt_of_a_log()) is not None:
        computed, real = dxt
        figures.append(Figure("a segment of DXT, computed", computed, "bytes", "", "in a real log", real, "lower"))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for work in works(folder):
            figures += compared(work, folder / "run")
        figures += of_ranks(folder)
    return figures


if __name__ == "__main__":
    report(measure())
