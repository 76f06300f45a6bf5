"""MPI programs, built and run with one of several MPI implementations, traced and untraced."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iotide.events import Flag, Layer, StreamInfo
from support.places import PROGRAMS
from support.system.commands import plain_environment
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need
from support.tracing.tracing import Row, Tracing

IMPLEMENTATIONS = ("openmpi", "mpich")
FILE = "data"
_MOST_SIGNALS = 10


@dataclass(frozen=True)
class Run:
    """Recorded events of a traced run, and the results with and without the tracer.

    Attributes:
        rows: all events, by start.
        output: the lines that the program printed, sorted; ``alone`` those of the untraced run.
        files: bytes of each file in its folder, by name; ``files_alone`` those of the untraced run.
    """

    folder: Path
    rows: list[Row]
    info: dict[str, StreamInfo]
    counters: dict[str, int]
    output: list[str]
    alone: list[str]
    files: dict[str, bytes]
    files_alone: dict[str, bytes]

    @property
    def path(self) -> str:
        return str(self.folder / FILE)

    def mpi(self, rank: int, call: str = "") -> list[Row]:
        """Return the MPI-IO events of one rank by start, or of one call of it by end."""
        of_rank = [row for row in self.rows if row.layer is Layer.MPIIO and row.rank == rank and call in ("", row.call)]
        return sorted(of_rank, key=lambda row: (row.start, row.end))

    def posix(self, rank: int, name: str = FILE) -> list[Row]:
        """Return the POSIX events of one rank on a file."""
        wanted = str(self.folder / name)
        return [row for row in self.rows if row.layer is Layer.POSIX and row.rank == rank and row.path == wanted]


def build(implementation: str, source: str, to: Path, *flags: str) -> Path:
    """Compile a C or Fortran program; return its path."""
    compiler = need(f"{'mpicc' if source.endswith('.c') else 'mpif90'}.{implementation}")
    program = to / "-".join([Path(source).stem, implementation, *flags])
    # gcc takes MPICH's MPI_STATUSES_IGNORE for an empty array.
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-stringop-overflow"] if source.endswith(".c") else ["-w"]
    command = [compiler, "-O1", "-pthread", *warnings, *flags, str(PROGRAMS / source), "-o", str(program)]
    subprocess.run(command, check=True, cwd=to, timeout=DEADLINE_S)
    return program


def run(implementation: str, command: Sequence[str | Path], folder: Path, *, ranks: int, **environment: str) -> Run:
    """Run a program untraced and traced, with a file of its own as last argument; ranks 0: without mpirun.

    environment: the tracer's switches.
    """
    launcher = [need(f"mpirun.{implementation}"), "-n", str(ranks)] if ranks else []
    alone, traced = folder / "alone", folder / "traced"
    alone.mkdir()
    traced.mkdir()
    whole = [*launcher, *map(str, command)]
    plain = subprocess.run(
        [*whole, str(alone / FILE)],
        cwd=alone, env=plain_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert plain.returncode == 0, plain.stderr
    with Tracing(folder) as tracing:
        env = tracing.environment(**environment)
        done = tracing.run([*whole, str(traced / FILE)], cwd=traced, env=env)
        assert done.returncode == 0, done.stderr
        assert done.stderr == plain.stderr
        return Run(
            traced, tracing.rows(), tracing.info, dict(tracing.source.counters), sorted(done.stdout.splitlines()),
            sorted(plain.stdout.splitlines()), contents(traced), contents(alone),
        )  # fmt: skip


def dropped(counters: Mapping[str, int]) -> dict[str, int]:
    """Return the dropped calls, without a few bytes by which mpirun wakes itself in its SIGCHLD handler.

    A signal that arrives inside a record, on the first touch of its page, has its call counted as reentrant.
    """
    found = {name: count for name, count in counters.items() if "dropped" in name and count}
    woken = found.get("events_dropped:reentrant", 0)
    if 0 < woken <= _MOST_SIGNALS and found.get("bytes_dropped:reentrant", 0) <= woken:
        found = {name: count for name, count in found.items() if not name.endswith(":reentrant")}
    return found


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def handle_of(row: Row) -> str:
    """Return the group-wide number in an event's signature."""
    match = re.search(r"fh=@([0-9a-f]+)", row.signature)
    assert match, row.signature
    return match.group(1)


def operation_of(row: Row) -> int:
    """Return the number of the operation that an event begins or completes."""
    match = re.search(r"operation=(\d+)", row.signature)
    assert match, row.signature
    return int(match.group(1))


def flags_of(row: Row) -> Flag:
    return Flag(row.flags)


def brief(rows: Iterable[Row]) -> list[tuple[str, int, int, int]]:
    """Return call, offset, requested bytes and moved bytes of each event."""
    return [(row.call, row.offset, row.requested, row.bytes) for row in rows]
