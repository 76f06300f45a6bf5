"""The experiments of [DFG] on this machine: ``ls -l`` against ``ls``, a shared file against one per process, MPI-IO
against POSIX.

``python benchmarks/analyzers/dfg_experiments.py --images docs/images`` draws the images of the docs. The files are in
memory (/dev/shm if present): the speed of a disk would hide that writers of one file wait for each other.
"""

from __future__ import annotations

import argparse
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iotide.benchmarks.common.figures import Figure, report
from iotide.results.dfg import ActivityStats, Graph, GraphReport

PROGRAM = Path(__file__).parents[1] / "programs/ssf_fpp.c"
RANKS = 4
REPEATS = 3
PROCESSES = 3
SEGMENTS, BLOCK, TRANSFER = 3, 16 << 20, 1 << 20
IO_CALLS = "openat,read,write,readv,writev,preadv,pwritev,pread64,pwrite64"
IOTIDE = [sys.executable, "-m", "iotide"]
_STRACE = ["strace", "-f", "-ttt", "-T", "-y"]
_OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl": "self,vader,tcp",
    "OMPI_MCA_btl_tcp_if_include": "lo",
    "OMPI_MCA_oob_tcp_if_include": "lo",
}


@dataclass(frozen=True)
class Traces:
    """Paths of the traces of an experiment."""

    folder: Path
    scratch: Path

    def dfg(self, *arguments: str) -> GraphReport:
        """Return the output of ``iotide dfg`` for the traces."""
        command = [*IOTIDE, "dfg", "--json", "--site", f"SCRATCH={self.scratch}", *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return GraphReport.model_validate_json(done.stdout)


def record_ls(folder: Path) -> Traces:
    """Trace read and write of three concurrent ``ls`` and three ``ls -l``, each on its own terminal."""
    listed = folder / "listed"
    listed.mkdir()
    for name in ("one", "two"):
        (listed / name).touch()
    running = []
    terminals = []
    for name, command in (("ls", ["ls"]), ("ls-l", ["ls", "-l"])):
        for number in range(PROCESSES):
            ours, theirs = pty.openpty()
            terminals.append(ours)
            trace = folder / f"{name}_host1_{number}.st"
            full = [*_STRACE, "-e", "trace=read,write", "-o", str(trace), *command]
            running.append(subprocess.Popen(full, cwd=listed, stdin=theirs, stdout=theirs, stderr=theirs))
            os.close(theirs)
    try:
        for process in running:
            if process.wait(timeout=60):
                raise RuntimeError(f"{process.args} ended with {process.returncode}")
    finally:
        for terminal in terminals:
            os.close(terminal)
    return Traces(folder, listed)


def record_mpi(
    folder: Path,
    scratch: Path,
    *,
    repeats: int = REPEATS,
    segments: int = SEGMENTS,
    block: int = BLOCK,
    transfer: int = TRANSFER,
) -> Traces:
    """Trace four ranks that write and read back: one file per process, one shared file, and the same with MPI-IO.

    The four kinds of runs alternate, after an untraced run as warm-up.
    """
    run(["mpicc", "-O2", "-o", "ssf_fpp", str(PROGRAM)], folder)
    sizes = ["-s", str(segments), "-b", str(block), "-t", str(transfer)]
    for below in ("fpp", "ssf"):
        (scratch / below).mkdir()
    start = ["mpirun", "-n", str(RANKS)]
    run([*start, "./ssf_fpp", "-o", str(scratch / "ssf/data"), *sizes], folder)
    for repeat in range(repeats):
        for name, below, calls, arguments in (
            ("fpp", "fpp", IO_CALLS, ["-F"]),
            ("ssf", "ssf", IO_CALLS, []),
            ("posix", "ssf", f"{IO_CALLS},lseek", []),
            ("mpiio", "ssf", f"{IO_CALLS},lseek", ["-a", "mpiio"]),
        ):
            for written in (scratch / below).iterdir():
                written.unlink()
            # The shell execs strace, so that each rank has a trace named after it.
            trace = f"{name}_run{repeat}_$OMPI_COMM_WORLD_RANK.st"
            traced = f'exec {" ".join(_STRACE)} -e trace={calls} -o {trace} ./ssf_fpp "$@"'
            run([*start, "sh", "-c", traced, "sh", "-o", str(scratch / below / "data"), *sizes, *arguments], folder)
    return Traces(folder, scratch)


def run(command: Sequence[str], folder: Path) -> None:
    """Run a program to its end; raise an error with its messages if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"} | _OPEN_MPI
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")


def named(graph: Graph) -> dict[str, ActivityStats]:
    """Return the activities by name."""
    return {row.name: row for row in graph.activities}


def draw(folder: Path, images: Path | None) -> list[Figure]:
    """Record everything, draw the images if a folder is given, and return the figures in the documentation."""
    (folder / "ls").mkdir()
    ls = record_ls(folder / "ls")
    both = ls.dfg("--compare", "command=ls", "command=ls-l", *_matching_names(ls, "ls*.st"))
    figures = [Figure("distance of ls and ls -l", _distance(both), "of 1")]
    (folder / "mpi").mkdir()
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else folder) as scratch:
        mpi = record_mpi(folder / "mpi", Path(scratch))
        site = ["--map", "call+site:1"]
        only = ["--filter", "path=$SCRATCH/*"]
        files = named(mpi.dfg(*site, *only, *_matching_names(mpi, "ssf*.st", "fpp*.st")).graph)
        for call in ("openat", "write", "read"):
            one, own = files[f"{call}:$SCRATCH/ssf"], files[f"{call}:$SCRATCH/fpp"]
            figures.append(Figure(f"load of {call}, one shared file", one.load, "of all"))
            figures.append(Figure(f"load of {call}, a file per process", own.load, "of all"))
        sides = ["--compare", "command=mpiio", "command=posix"]
        calls = {}
        for name in ("mpiio", "posix"):
            rows = named(mpi.dfg(*site, *only, *_matching_names(mpi, f"{name}*.st")).graph).values()
            calls[name] = {row.name.partition(":")[0]: row for row in rows}
            figures.append(Figure(f"calls on the file, {name}", sum(row.events for row in rows), "calls"))
            figures.append(Figure(f"time in these calls, {name}", 1e3 * sum(row.seconds for row in rows), "ms"))
        if images is not None:
            pictures = [
                (ls, "ls", ["--filter", "command=ls", *_matching_names(ls, "ls*.st")]),
                (ls, "ls-l", ["--filter", "command=ls-l", *_matching_names(ls, "ls*.st")]),
                (ls, "ls-both", _matching_names(ls, "ls*.st")),
                (ls, "ls-partition", ["--compare", "command=ls", "command=ls-l", *_matching_names(ls, "ls*.st")]),
                (mpi, "ssf-fpp", [*site, *only, *_matching_names(mpi, "ssf*.st", "fpp*.st")]),
                (mpi, "mpiio-posix", [*site, *only, *sides, *_matching_names(mpi, "mpiio*.st", "posix*.st")]),
            ]
            for traces, name, arguments in pictures:
                traces.dfg("-o", str(images.resolve() / f"dfg-{name}.svg"), *arguments)
    return figures


def measure() -> list[Figure]:
    """Record and measure in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        return draw(Path(folder), None)


def _distance(found: GraphReport) -> float:
    if found.comparison is None:
        raise RuntimeError("no comparison was possible")
    return found.comparison.distance


def _matching_names(traces: Traces, *patterns: str) -> list[str]:
    return sorted(path.name for pattern in patterns for path in traces.folder.glob(pattern))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=Path, help="folder for the images")
    with tempfile.TemporaryDirectory() as place:
        report(draw(Path(place), parser.parse_args().images))
