"""Programs in ``tests/programs/pairs`` with a slow and a mended form, and the expected findings.

A program takes ``slow`` or ``mended`` and a folder, and prints the duration of its work, without its start.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from iotide.results.advice import Cause
from support.places import PROGRAMS
from support.system.commands import iotide, plain_environment
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need

Way = Literal["slow", "mended"]
_SOURCES = PROGRAMS / "pairs"


@dataclass(frozen=True)
class Pair:
    """A program, and the expected finding for its slow form.

    Attributes:
        name: of the program, without its extension.
        cause: of the first finding.
        ranks: number of MPI ranks; 0: no MPI.
        advise: further options of ``iotide advise``.
        flags: of the compiler.
        costs_time: false if the cause costs no time and only endangers data.
    """

    name: str
    cause: Cause
    ranks: int = 0
    advise: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    costs_time: bool = True

    def command(self, to: Path) -> list[str]:
        """Return its command; a C program is compiled into a folder."""
        source = next(_SOURCES.glob(f"{self.name}.*"))
        if source.suffix == ".py":
            return [sys.executable, str(source)]
        if source.suffix == ".sh":
            return ["bash", str(source)]
        program = to / f"{self.name}-program"
        if not program.exists():
            compiler = need("mpicc.openmpi" if self.ranks else "gcc")
            build = [compiler, "-O1", "-Wall", source, *self.flags, "-o", program]
            subprocess.run(build, check=True, timeout=DEADLINE_S)
        return [*self._launcher(), str(program)]

    def _launcher(self) -> Sequence[str]:
        return [need("mpirun.openmpi"), "-n", str(self.ranks)] if self.ranks else []

    def judged(self, way: Way, folder: Path, to: Path) -> tuple[dict[str, Any], float]:
        """Run it traced, in a new folder below the given one.

        Returns:
            The output of ``iotide advise --json``, and the duration of the work, s.
        """
        (folder / way).mkdir()
        self.alone(way, folder / way, to)  # creates the files that the traced run reads
        traced = iotide("run", "-o", folder / f"traced-{way}", "--", *self.command(to), way, folder / way, cwd=folder)
        assert traced.returncode == 0, traced.stderr
        archives = sorted((folder / f"traced-{way}").glob("*.iotide"))
        judged = iotide("advise", "--json", *self.advise, *archives, cwd=folder)
        assert judged.returncode == 0, judged.stderr
        return json.loads(judged.stdout), float(traced.stdout.split()[-1])

    def alone(self, way: Way, folder: Path, to: Path) -> float:
        """Run it untraced; return the duration that it printed, s."""
        done = subprocess.run(
            [*self.command(to), way, str(folder)],
            env=plain_environment(), capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return float(done.stdout.split()[-1])


PAIRS = (
    Pair("small_writes", "small_requests"),
    Pair("small_reads", "small_requests"),
    Pair("unbuffered", "small_requests"),
    Pair("flushed_lines", "small_requests"),
    Pair("synced_records", "fsync"),
    Pair("sqlite_commits", "fsync"),
    Pair("reopened_log", "reopened"),
    Pair("small_files", "many_files"),
    Pair("looked_at_again", "metadata"),
    Pair("random_reads", "random"),
    Pair("read_again", "read_again"),
    Pair("header_again", "rewritten"),
    Pair("read_back", "read_back"),
    Pair("chunks", "chunks"),
    Pair("single_rows", "small_requests", flags=("-I/usr/include/hdf5/serial", "-lhdf5_serial")),
    Pair("checkpoints", "checkpoints", advise=("--mtbf", "60")),
    Pair("shared_file", "small_shared", ranks=2),
    Pair("one_rank", "imbalance", ranks=2),
    Pair("overlapping", "conflict", ranks=2, costs_time=False),
)

HELD_OUT = (
    Pair("tiles_by_rows", "chunks"),
    Pair("lookups", "random"),
    Pair("files_in_folders", "many_files"),
    Pair("looked_for", "metadata"),
    Pair("index_again", "rewritten"),
    Pair("scratch_passes", "read_back"),
    Pair("table_each_step", "read_again"),
    Pair("appended_lines", "reopened"),
    Pair("synchronous", "small_requests"),
    Pair("many_datasets", "many_objects"),
    Pair("restarts", "checkpoints", advise=("--mtbf", "20")),
    Pair("one_reader", "imbalance", ranks=2),
    Pair("particles", "small_shared", ranks=2),
)
"""Pairs written after the rules; the rules were not changed before these were judged."""

LATER = (
    Pair("candidates", "metadata"),
    Pair("attributes", "many_objects"),
    Pair("queries", "metadata"),
    Pair("computed_records", "small_requests"),
    Pair("sought_records", "rewritten"),
    Pair("rank_logs", "reopened", ranks=2),
    Pair("thumbnails", "many_files"),
)
"""Pairs written after the estimate of the time between calls."""

LAST = (
    Pair("parsed_text", "small_requests"),
    Pair("flushed_table", "small_requests"),
    Pair("growing_dataset", "small_requests"),
    Pair("picked_rows", "small_requests"),
    Pair("task_files", "many_files"),
    Pair("unsynced_commits", "reopened"),
    Pair("redirections", "reopened"),
    Pair("strided_rows", "small_shared", ranks=2),
)
"""Pairs written after its change for interpreters and libraries; it was not changed since."""
