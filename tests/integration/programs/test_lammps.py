"""LAMMPS under mpirun with a dump every 20 of 300 steps; its own log contains the time of each dump.

It sleeps between dumps, so its period depends on a clock and not on the load by other programs.
"""

from __future__ import annotations

import re
from pathlib import Path

from iotide.results.jobs.run import RunSummary
from support.jobs.own_log import assert_period, even_run
from support.places import PROGRAMS
from support.system.commands import iotide
from support.tracing.mpi import dropped
from support.tracing.programs import need

MELT = f"""
variable cells equal 8
include {PROGRAMS / "melt.lammps"}
dump d all atom 20 dump.melt
run 300 every 20 "shell date +phase:%s.%N" "shell sleep 0.4"
"""
NEAR = 0.05


def dumps(log: str) -> list[float]:
    """Return the time of each dump, s."""
    clock = [float(at) for at in re.findall(r"^phase:(\d+\.\d+)$", log, re.MULTILINE)]
    assert len(clock) == 300 // 20
    return clock


def run(folder: Path) -> tuple[RunSummary, str]:
    (folder / "in.melt").write_text(MELT)
    program = [
        need("mpirun"),
        "-n",
        "2",
        "--mca",
        "mpi_yield_when_idle",
        "1",
        need("lmp"),
        "-in",
        "in.melt",
        "-log",
        "none",
    ]
    done = iotide("run", "-o", "report", "-f", "20", "--mode", "write", "--", *program, cwd=folder, timeout_s=300)
    assert done.returncode == 0, done.stderr
    summary = RunSummary.model_validate_json((folder / "report/summary.json").read_text())
    assert summary.job.ranks == 2
    assert dropped(summary.job.losses) == {}
    dumped = {row.path: row.bytes_written for row in summary.job.files}
    assert dumped[str(folder / "dump.melt")] == (folder / "dump.melt").stat().st_size
    return summary, done.stdout


def test_period_of_the_dumps_is_that_of_the_programs_own_log(tmp_path: Path) -> None:
    (summary, _), log = even_run(run, lambda done: dumps(done[1]), tmp_path, NEAR)
    assert summary.prediction is not None
    assert summary.prediction.period_s is not None
    assert_period(summary.prediction.period_s.value, log, NEAR)
