"""The Slurm of ``make demo-cluster`` ends its jobs when it ends, here with fake commands that print their arguments."""

from __future__ import annotations

import os
import select
import subprocess
from pathlib import Path

import pytest
from iotide.cli.cluster_demo.small_slurm import _CONFIGURATION, Slurm, _cancel_all, _kill_remaining
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need

SQUEUE = """#!/bin/sh
test -e "$JOBS" && cat "$JOBS"
exit 0
"""
SCANCEL = """#!/bin/sh
echo "$@" >> "$ASKED"
rm -f "$JOBS"
"""


@pytest.mark.parametrize(("jobs", "cancelled"), [("7\n9\n", "7 9\n"), ("", "")])
def test_all_jobs_are_cancelled_and_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: str, cancelled: str
) -> None:
    """The processes of a step are not children of the daemons: they continued after these had ended."""
    for name, text in (("squeue", SQUEUE), ("scancel", SCANCEL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    running, asked = tmp_path / "jobs", tmp_path / "asked"
    running.write_text(jobs)
    asked.touch()
    _cancel_all(Slurm(os.environ | {"JOBS": str(running), "ASKED": str(asked)}, tmp_path))
    assert asked.read_text() == cancelled
    assert not jobs or not running.exists()


def test_what_still_runs_on_a_node_is_killed_but_for_its_daemon() -> None:
    command = [need("unshare"), "-m", "sh", "-c", "sleep 600 & echo $!; exec sleep 600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL) as daemon:
        assert daemon.stdout is not None
        if not (said := daemon.stdout.readline()):
            pytest.skip("this user may not make a mount namespace")
        job = os.pidfd_open(int(said))
        _kill_remaining({Path(f"/proc/{daemon.pid}/ns/mnt").readlink()}, [daemon.pid])
        assert select.select([job], [], [], DEADLINE_S)[0]
        os.close(job)
        assert daemon.poll() is None
        daemon.kill()


def test_timeouts_outlast_the_stalls_of_a_busy_machine() -> None:
    """By default Slurm requeues a job after ten seconds in its prolog, and marks a silent node as down."""
    lines = dict(
        line.split("=", 1) for line in _CONFIGURATION.splitlines() if line.partition("=")[0].endswith("Timeout")
    )
    assert {name: int(value) >= 60 for name, value in lines.items()} == dict.fromkeys(
        ("MessageTimeout", "TCPTimeout", "BatchStartTimeout", "SlurmdTimeout", "UnkillableStepTimeout"), True
    )
