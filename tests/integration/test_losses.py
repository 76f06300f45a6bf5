"""What is lost on the way reaches the job that lost it: on real programs, with bounds that are too small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from iotide.events.models import JobDetail, RunSummary
from support.commands import iotide
from support.programs import need

MANY = 200_000


def run_of_dd(folder: Path, count: int, *options: str) -> tuple[JobDetail, str]:
    done = iotide(
        "run", "-o", "report", *options, "--", "dd", "if=/dev/zero", "of=out", "bs=10", f"count={count}", "status=none",
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (report,) = folder.glob("report*/summary.json")
    return RunSummary.model_validate_json(report.read_text()).job, done.stderr


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "few").mkdir()
    (tmp_path / "many").mkdir()
    return tmp_path / "few", tmp_path / "many"


def test_calls_and_bytes_that_a_full_ring_drops_are_told_in_the_job(folders: tuple[Path, Path]) -> None:
    few, said = run_of_dd(folders[0], 100)
    assert (few.events_dropped, few.bytes_dropped, few.losses, few.complete) == (0, 0, {}, True)
    assert "dropped" not in said
    many, said = run_of_dd(folders[1], MANY, "--ring-records", "256")
    assert many.events_dropped > 0
    assert many.events + many.events_dropped == few.events + 2 * (MANY - 100)
    assert not many.complete
    assert many.losses["events_dropped:ring_full"] == many.events_dropped
    seen = many.bytes_written + many.not_counted.channel_read  # of /dev/zero
    assert seen + many.bytes_dropped == 2 * 10 * MANY
    assert "--ring-records" in said
    assert f"{many.events_dropped:,} calls dropped" in said
    page = next(folders[1].glob("report*/report.html")).read_text()
    assert "--ring-records" in page
    archive = next(folders[1].glob("report*/*.iotide"))
    told = iotide("archive", "info", archive, cwd=folders[1]).stdout
    assert f"{many.events_dropped:,} calls dropped" in told


UNREACHED = """
import os, sys
hidden = sys.argv[1]
os.rename(hidden, hidden + ".away")
pid = os.fork()
if not pid:
    open("out", "w").write("x")
    os._exit(0)
os.waitpid(pid, 0)
{again}
os.rename(hidden + ".away", hidden)
"""


@pytest.mark.parametrize(
    ("again", "count"), [("", 1), ("import subprocess; subprocess.run(['cat', '/dev/null'], check=True)", 2)]
)
def test_processes_that_cannot_reach_the_socket_are_told(tmp_path: Path, again: str, count: int) -> None:
    script = 'exec "$0" -c "$1" "$(dirname "$IOTIDE_SOCKET")/tracer.sock"'
    done = iotide(
        "run", "-o", "report", "--", "sh", "-c", script, sys.executable, UNREACHED.format(again=again), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    summary = RunSummary.model_validate_json(next(tmp_path.glob("report*/summary.json")).read_text())
    assert summary.job.losses["processes_unheard"] == count
    assert not summary.job.complete
    assert f"lost: {count} processes that could not reach the collector" in done.stderr
    assert sum(row.times for row in summary.unseen if "could not reach the collector" in row.reason) == count


def test_programs_in_a_mount_namespace_of_their_own_are_told(tmp_path: Path) -> None:
    need("unshare")
    need("mount")
    probe = subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True)
    if probe.returncode:
        pytest.skip("no mount namespace may be made here")
    script = 'mount -t tmpfs none "$(dirname "$IOTIDE_SOCKET")" && cat /dev/null && exec cat /dev/null'
    done = iotide("run", "-o", "report", "--", "unshare", "-m", "sh", "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = RunSummary.model_validate_json(next(tmp_path.glob("report*/summary.json")).read_text())
    assert summary.job.losses["processes_unheard"] == 2
    assert "cat /dev/null (2 times), which could not reach the collector (No such file or directory)" in done.stderr
