"""``iotide archive`` on real traces."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path

import pytest
from iotide.api import traces
from iotide.archive.file.writer import ArchiveWriter
from iotide.events import Definitions, StreamInfo, make_batch
from support.system.commands import iotide as run_iotide
from support.tracing.programs import need


def iotide(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_iotide(*arguments, cwd=Path.cwd())


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    strace = need("strace")
    path = tmp_path / "ls.st"
    subprocess.run(
        [strace, "-f", "-tt", "-T", "-y", "-o", str(path), "ls", "-l", "/usr/lib"], check=True, capture_output=True
    )
    return path


def test_calls_of_a_real_trace_are_dumped_as_they_were(trace: Path, tmp_path: Path) -> None:
    archive = tmp_path / "a.iotide"
    made = iotide("archive", "create", "-o", str(archive), "--job", "ls", str(trace))
    assert made.returncode == 0, made.stderr
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    dumped = iotide("archive", "dump", str(archive))
    again = tmp_path / "again.jsonl"
    again.write_text(dumped.stdout)
    rows = [json.loads(line) for line in dumped.stdout.splitlines()]
    assert {"openat", "read", "close"} <= {row["call"] for row in rows}
    # Read back and written again: the same calls.
    second = tmp_path / "b.iotide"
    assert iotide("archive", "create", "-o", str(second), str(again)).returncode == 0
    keys = ("call", "path", "start_ns", "dur_ns", "size", "errno", "pid")
    once_more = [json.loads(line) for line in iotide("archive", "dump", str(second)).stdout.splitlines()]
    assert [[row[key] for key in keys] for row in once_more] == [[row[key] for key in keys] for row in rows]


def test_info_and_verify_report_the_content(trace: Path, tmp_path: Path) -> None:
    archive = tmp_path / "a.iotide"
    iotide("archive", "create", "-o", str(archive), str(trace))
    report = json.loads(iotide("archive", "info", "--json", str(archive)).stdout)
    assert report["complete"]
    assert report["calls"] == report["streams"][0]["calls"] > 20
    assert "bytes a call" in iotide("archive", "info", str(archive)).stdout
    verified = iotide("archive", "verify", str(archive))
    assert (verified.returncode, "intact to its end" in verified.stdout) == (0, True)
    told = json.loads(iotide("archive", "verify", "--json", str(archive)).stdout)
    assert told == {
        "archive": str(archive), "whole": True, "complete": True, "calls": report["calls"], "streams": 1,
        "problems": [], "missing": [],
    }  # fmt: skip
    assert len(iotide("archive", "dump", "-n", "3", str(archive)).stdout.splitlines()) == 3


def test_info_of_many_streams_shows_those_with_most_calls(tmp_path: Path) -> None:
    writer, archive = ArchiveWriter(), tmp_path / "a.iotide"
    data = writer.begin({})
    for rank in range(60):
        data += writer.opened(str(rank), StreamInfo(job="job", source="preload", rank=rank, command=f"rank{rank}"))
        data += writer.batch(str(rank), make_batch(rank + 1, {}), Definitions())
    archive.write_bytes(data + writer.end())
    shown = iotide("archive", "info", str(archive)).stdout
    assert "rank59" in shown
    assert "rank20" in shown
    assert "rank19" not in shown
    assert "and 20 streams" in shown


def test_calls_lost_before_they_were_archived_are_told_with_it(tmp_path: Path) -> None:
    writer, archive = ArchiveWriter(), tmp_path / "a.iotide"
    data = writer.begin({}) + writer.opened("a", StreamInfo(job="job", source="preload"))
    data += writer.batch("a", make_batch(5, {}), Definitions())
    archive.write_bytes(data + writer.closed("a", {"events_dropped:shipper_full": 7}) + writer.end())
    missing = "missing: 7 calls dropped as the collector's backlog was full: raise backlog_bytes of the collector"
    assert iotide("archive", "verify", str(archive)).stdout.splitlines()[1:] == [missing]
    assert json.loads(iotide("archive", "verify", "--json", str(archive)).stdout)["missing"] == [missing]
    found = traces.open(archive)
    assert (found.calls, found.problems) == (5, [])
    assert found.not_imported == ["7 calls that were lost while they were recorded (shipper_full)"]


def test_damaged_archive_is_named_and_what_is_left_is_read(trace: Path, tmp_path: Path) -> None:
    archive = tmp_path / "a.iotide"
    iotide("archive", "create", "-o", str(archive), str(trace))
    data = bytearray(archive.read_bytes())
    data[-40] ^= 1
    archive.write_bytes(data)
    verified = iotide("archive", "verify", str(archive))
    assert verified.returncode == 1
    assert "damaged" in verified.stdout
    assert "at byte" in verified.stderr
    told = json.loads(iotide("archive", "verify", "--json", str(archive)).stdout)
    assert (told["whole"], told["streams"]) == (False, 1)
    assert "at byte" in told["problems"][0]
    dumped = iotide("archive", "dump", str(archive))
    assert (dumped.returncode, len(dumped.stdout.splitlines())) == (1, told["calls"])


def test_file_that_is_no_archive_is_a_usage_error(trace: Path, tmp_path: Path) -> None:
    refused = iotide("archive", "info", str(trace))
    assert (refused.returncode, "no archive" in refused.stderr) == (2, True)
    missing = iotide("archive", "create", "-o", str(tmp_path / "x"), str(tmp_path / "nowhere"))
    assert missing.returncode == 2
    assert not (tmp_path / "x").exists()


def test_archive_without_times_is_smaller_and_has_the_same_calls_in_order(trace: Path, tmp_path: Path) -> None:
    whole, small = str(tmp_path / "whole.iotide"), str(tmp_path / "small.iotide")
    assert iotide("archive", "create", "-o", whole, str(trace)).returncode == 0
    assert iotide("archive", "create", "--no-times", "-o", small, whole).returncode == 0
    about = [json.loads(iotide("archive", "info", "--json", each).stdout) for each in (whole, small)]
    assert [each["has_times"] for each in about] == [True, False]
    assert about[0]["bytes_of_times"] > about[1]["bytes_of_times"] == 0
    assert about[1]["bytes"] < about[0]["bytes"]
    assert about[1]["merged"]["section"]["parts"] == len(about[1]["streams"])
    rows = [list(map(json.loads, iotide("archive", "dump", each).stdout.splitlines())) for each in (whole, small)]
    assert {row["start_ns"] for row in rows[1]} == {row["dur_ns"] for row in rows[1]} == {0}
    for row in (*rows[0], *rows[1]):
        del row["start_ns"], row["dur_ns"], row["stream"]  # named after their source
    assert rows[0] == rows[1]
    assert "times were left out" in iotide("archive", "info", small).stdout


def test_input_is_not_replaced_by_its_archive(trace: Path, tmp_path: Path) -> None:
    archive = tmp_path / "a.iotide"
    assert iotide("archive", "create", "-o", str(archive), str(trace)).returncode == 0
    before = archive.read_bytes()
    done = iotide("archive", "create", "--no-times", "-o", str(archive), str(archive))
    assert done.returncode == 2
    assert "that is an input, which is not overwritten" in done.stderr
    assert archive.read_bytes() == before


def test_stream_that_the_archive_lacks_is_named(trace: Path, tmp_path: Path) -> None:
    archive = tmp_path / "a.iotide"
    assert iotide("archive", "create", "-o", str(archive), str(trace)).returncode == 0
    done = iotide("archive", "dump", "--stream", "no such", str(archive))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"iotide: {archive} has no stream 'no such'; `iotide archive info` lists them\n"
