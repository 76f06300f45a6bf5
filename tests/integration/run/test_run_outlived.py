"""A command whose processes outlive it: the summary names what was not recorded completely."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from iotide.results.jobs.run import RunSummary
from support.system.commands import iotide, plain_environment
from support.system.waiting import DEADLINE_S

LATE_ANALYSIS = """
import sys, time
from importlib.abc import MetaPathFinder
from pathlib import Path

class Late(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "iotide.cli.run.run_session":
            until_s = time.monotonic() + 60
            while not Path("unheard").exists() and time.monotonic() < until_s:
                time.sleep(0.01)
            Path("imported").write_text(str(Path("unheard").exists()))

sys.meta_path.insert(0, Late())
from iotide.cli.main import main
main()
"""
"""iotide that imports its analyses only when a process of the command has no collector any more, or after a minute."""
OUTLIVING = """
mkfifo a b
(: < a; : < b; while [ -e "$IOTIDE_SOCKET" ]; do sleep 0.05; done; touch unheard; exec sleep 1000) > /dev/null 2>&1 &
echo $! > pid
: > a
: > b
"""
"""A command that ends once its child has recorded a call: the child may wait long for a core."""


def test_process_that_outlives_the_command_is_named(tmp_path: Path) -> None:
    # The shell ends once its child has recorded a call: the child may wait long for a core.
    script = "mkfifo a b c; cat a b c > /dev/null 2>&1 & echo $! > pid; : > a; : > b; exit 3"
    try:
        done = iotide("run", "-o", "report", "--", "sh", "-c", script, cwd=tmp_path)
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert done.returncode == 3
    assert "iotide: not seen: cat a b c, which still ran half a second after the command's end" in done.stderr
    assert "iotide: complete" not in done.stderr
    summary = RunSummary.model_validate_json((tmp_path / "report/summary.json").read_text())
    assert [(row.program, row.times) for row in summary.unseen] == [("cat a b c", 1)]


def test_recording_ends_with_the_command_and_not_with_the_import_of_the_analyses(tmp_path: Path) -> None:
    try:
        done = subprocess.run(
            [sys.executable, "-c", LATE_ANALYSIS, "run", "--no-report", "--", "sh", "-c", OUTLIVING],
            cwd=tmp_path,
            env=plain_environment(),
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert (done.returncode, (tmp_path / "imported").read_text()) == (0, "True"), done.stderr
    assert "still ran half a second after the command's end" in done.stderr


def test_no_process_outlives_a_command_that_waits(tmp_path: Path) -> None:
    done = iotide("run", "--no-report", "--", "sh", "-c", "sleep 0.1 & wait; exec true", cwd=tmp_path)
    assert (done.returncode, "iotide: complete" in done.stderr) == (0, True), done.stderr
