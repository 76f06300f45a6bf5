"""Many very short processes: none is lost, all their bytes are counted, and their files are named correctly."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from iotide.events import Kind
from support.system.commands import iotide
from support.system.waiting import DEADLINE_S
from support.tracing.compiled_programs import built
from support.tracing.tracing import Tracing

COUNT = 2000
LINKS = 3 * (COUNT // 10)
WRITES = COUNT - COUNT // 10 + LINKS
BYTES = sum(1 + i % 7 for i in range(COUNT) if i % 10 != 9) + LINKS


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "short.c")


def test_two_thousand_processes_are_seen_to_the_call_and_the_byte(short: Path, tmp_path: Path) -> None:
    file = tmp_path / "out"
    command = [short, "swarm", str(COUNT), file]
    done = iotide("run", "-q", "-o", "report", "--", *command, cwd=tmp_path, timeout_s=400)
    assert (done.returncode, done.stderr) == (0, "")
    assert file.stat().st_size == BYTES
    job = json.loads((tmp_path / "report/summary.json").read_text())["job"]
    assert job["events_dropped"] == 0
    (row,) = [each for each in job["files"] if each["path"] == str(file)]
    assert row["bytes_written"] == BYTES
    (writes,) = [each for each in job["calls"] if each["call"] == "write"]
    assert (writes["calls"], writes["bytes"]) == (WRITES, BYTES)


def test_processes_that_end_before_anyone_takes_them_in_are_seen(short: Path, tracing: Tracing, tmp_path: Path) -> None:
    file = tmp_path / "out"
    subprocess.run([short, "swarm", "300", file], env=tracing.environment(), check=True, timeout=DEADLINE_S)
    tracing.settle()
    assert tracing.bytes_by_path(Kind.WRITE)[str(file)] == file.stat().st_size
    assert len(tracing.info) == 1 + 300 + 2 * 30  # a child that execs at once has recorded nothing


def test_generations_of_forked_processes_name_their_own_files_and_their_parents(
    short: Path, tracing: Tracing, tmp_path: Path
) -> None:
    file = tmp_path / "out"
    assert tracing.run([short, "line", "12", file]).returncode == 0
    expected = {str(file): 24} | {f"{file}.{depth}": 2 for depth in range(1, 13)}
    assert {path: count for path, count in tracing.bytes_by_path(Kind.WRITE).items() if path in expected} == expected
    for stream in tracing.info:
        own = {row.path for row in tracing.rows() if row.stream == stream and row.kind is Kind.WRITE}
        assert len(own) == 2, own
        assert str(file) in own
