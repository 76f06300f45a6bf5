"""The Slurm of ``make demo-cluster`` leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.servers.slurm import slurm
from support.system.waiting import wait_for

pytestmark = pytest.mark.slow


def test_jobs_end_with_their_slurm(tmp_path: Path) -> None:
    """A step's processes are not children of the daemons: they ran on when these had ended."""
    told = tmp_path / "pid"
    folder = tmp_path / "slurm"
    folder.mkdir()
    with slurm(folder) as running:
        wrapped = f"srun sh -c 'echo $$ > {told}.part; mv {told}.part {told}; exec sleep 600'"
        running.said("sbatch", "--parsable", "-o", str(tmp_path / "out"), "--wrap", wrapped)
        wait_for(told.exists)
        process = Path("/proc", told.read_text().strip())
        assert process.exists()
    assert not process.exists()
