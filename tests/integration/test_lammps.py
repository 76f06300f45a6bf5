"""LAMMPS under mpirun with a dump every 20 of 300 steps: its own log says when each of them was."""

from __future__ import annotations

import itertools
import re
import statistics
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
thermo 20
thermo_style custom step cpu
run 300
"""


def between_dumps(log: str) -> list[float]:
    """Returns the seconds between dumps, from the thermodynamic output at the same steps."""
    clock = [float(cpu) for _, cpu in re.findall(r"^\s+(\d+)\s+([\d.]+)\s*$", log, re.MULTILINE)]
    assert len(clock) == 300 // 20 + 1
    return [later - earlier for earlier, later in itertools.pairwise(clock)]


def test_period_of_the_dumps_is_that_of_the_programs_own_log(tmp_path: Path) -> None:
    (tmp_path / "in.melt").write_text(MELT.format(size=28))
    program = [need("mpirun"), "-n", "2", need("lmp"), "-in", "in.melt", "-log", "none"]
    done = iotide("run", "-o", "report", "-f", "20", "--mode", "write", "--", *program, cwd=tmp_path, timeout_s=300)
    assert done.returncode == 0, done.stderr
    summary = RunSummary.model_validate_json((tmp_path / "report/summary.json").read_text())
    assert summary.job.ranks == 2
    assert summary.job.events_dropped == 0
    dumped = {row.path: row.bytes_written for row in summary.job.files}
    assert dumped[str(tmp_path / "dump.melt")] == (tmp_path / "dump.melt").stat().st_size
    assert summary.prediction is not None
    assert summary.prediction.period_s is not None
    period_s, truth = summary.prediction.period_s.value, between_dumps(done.stdout)
    # A busy machine makes some of the distances longer; the period lies among them all the same.
    assert min(truth) * 0.95 <= period_s <= max(truth) * 1.05
    if max(truth) < 1.2 * min(truth):
        assert period_s == pytest.approx(statistics.mean(truth), rel=0.05)
