"""A command whose processes outlive it: the summary names what was not recorded completely."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from iotide.results.jobs.run import RunSummary
from support.system.commands import iotide


def test_process_that_outlives_the_command_is_named(tmp_path: Path) -> None:
    script = "sleep 1000 > /dev/null 2>&1 & echo $! > pid; exit 3"
    try:
        done = iotide("run", "-o", "report", "--", "sh", "-c", script, cwd=tmp_path)
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert done.returncode == 3
    assert "iotide: not seen: sleep 1000, which still ran after the command's end" in done.stderr
    assert "iotide: complete" not in done.stderr
    summary = RunSummary.model_validate_json((tmp_path / "report/summary.json").read_text())
    assert [(row.program, row.times) for row in summary.unseen] == [("sleep 1000", 1)]


def test_no_process_outlives_a_command_that_waits(tmp_path: Path) -> None:
    done = iotide("run", "--no-report", "--", "sh", "-c", "sleep 0.1 & wait; exec true", cwd=tmp_path)
    assert (done.returncode, "iotide: complete" in done.stderr) == (0, True), done.stderr
