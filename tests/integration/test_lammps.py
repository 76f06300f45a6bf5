"""LAMMPS under mpirun with a dump every 20 of 300 steps: its own log says how long a step took."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from iotide.events.models import RunSummary
from support.commands import iotide
from support.programs import need

MELT = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {size} 0 {size} 0 {size}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
fix 1 all nve
dump d all atom 20 dump.melt
run 300
"""
DUMPS = 300 / 20


def test_period_of_the_dumps_is_that_of_the_programs_own_log(tmp_path: Path) -> None:
    (tmp_path / "in.melt").write_text(MELT.format(size=28))
    program = [need("mpirun"), "-n", "2", need("lmp"), "-in", "in.melt", "-log", "none"]
    done = iotide("run", "-o", "report", "-f", "20", "--mode", "write", "--", *program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    loop = re.search(r"^Loop time of ([\d.]+) on 2 procs for 300 steps", done.stdout, re.MULTILINE)
    assert loop is not None
    summary = RunSummary.model_validate_json((tmp_path / "report/summary.json").read_text())
    assert summary.job.ranks == 2
    assert summary.job.events_dropped == 0
    dumped = {row.path: row.bytes_written for row in summary.job.files}
    assert dumped[str(tmp_path / "dump.melt")] == (tmp_path / "dump.melt").stat().st_size
    assert summary.prediction is not None
    assert summary.prediction.period_s is not None
    assert summary.prediction.period_s.value == pytest.approx(float(loop[1]) / DUMPS, rel=0.1)
