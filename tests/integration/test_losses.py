"""What is lost on the way reaches the job that lost it: on real programs, with bounds that are too small."""

from __future__ import annotations

from pathlib import Path

import pytest
from iotide.events.models import JobDetail, RunSummary
from support.commands import iotide

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
