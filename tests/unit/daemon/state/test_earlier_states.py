"""The state of an aggregator of 23 November 2026 (``tests/data/state``): a job of 500 writes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from iotide.archive.file.reader import ArchiveReader
from support.servers.running_aggregator import serving

LEFT = Path(__file__).parents[3] / "data" / "state"
CALLS = 500
WRITTEN = 2 * sum(range(100)) + sum(range(300))


@pytest.mark.slow
async def test_journal_of_a_killed_one_is_read(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    shutil.copy(LEFT / "2026-11-23.journal", tmp_path / "journal" / "00000001-0000000000000001.journal")
    async with serving(state=tmp_path) as server:
        session = server.aggregator.jobs["j"]
        assert (session.analyzers.events, session.bytes_written, session.user) == (CALLS, WRITTEN, "u")
        assert server.aggregator.counters["journal_damaged"] == 0


@pytest.mark.slow
async def test_state_of_one_that_ended_is_set_aside_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Its attributes differ; the journal after an orderly restart is empty, so the jobs start anew."""
    shutil.copy(LEFT / "2026-11-23.state", tmp_path / "jobs.state")
    async with serving(state=tmp_path) as server:
        assert "j" not in server.aggregator.jobs
        assert (tmp_path / "jobs.unreadable").read_bytes() == (LEFT / "2026-11-23.state").read_bytes()
    assert "renamed to" in caplog.text


def test_archive_is_read() -> None:
    path = LEFT / "2026-11-23.iotide"
    with path.open("rb") as file:
        archive = ArchiveReader(file, str(path))
        assert sum(len(each.batch) for stream in archive.streams for each in archive.calls(stream)) == CALLS
        assert not archive.problems
