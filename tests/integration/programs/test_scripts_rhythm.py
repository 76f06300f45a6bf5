"""Scripts with little I/O after a large start-up: their period is detected, by any tracer."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.jobs.own_log import assert_period, even_run
from support.jobs.phased_scripts import KINDS, Phases, command_of, starts_of
from support.system.commands import IOTIDE, iotide, plain_environment
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need

NEAR = 0.02
Run = Callable[[list[str], Path], tuple[str, dict[str, Any]]]


def traced(command: list[str], folder: Path) -> tuple[str, dict[str, Any]]:
    """Run a command under iotide; return its output, and the summary."""
    done = subprocess.run(
        [*IOTIDE, "run", "-q", "-o", "report", "--json", "summary.json", "--", *command],
        cwd=folder, env=plain_environment(), capture_output=True, text=True, timeout=DEADLINE_S, check=True,
    )  # fmt: skip
    return done.stdout, json.loads((folder / "summary.json").read_text())


def straced(command: list[str], folder: Path) -> tuple[str, dict[str, Any]]:
    """Run a command under strace; return its output."""
    traced = [need("strace"), "-f", "-ttt", "-T", "-y", "-s", "0", "-o", "calls.st", *command]
    done = subprocess.run(traced, cwd=folder, env=plain_environment(), capture_output=True, text=True, check=True)
    return done.stdout, {}


def detection(folder: Path, *arguments: str | Path) -> dict[str, Any]:
    done = iotide("detect", "--json", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def even(kind: str, phases: Phases, folder: Path, run: Run) -> tuple[dict[str, Any], Path, list[float]]:
    """Run a script evenly; return the summary, its folder, and the starts of its phases."""

    def once(inside: Path) -> tuple[str, dict[str, Any], Path]:
        return *run(command_of(kind, phases, inside), inside), inside

    (_, summary, inside), starts = even_run(once, lambda done: starts_of(done[0]), folder, NEAR)
    return summary, inside, starts


def assert_near(prediction: dict[str, Any], starts: list[float]) -> None:
    """Compare the period with the log; of an ended job, if the interpreter took long to end after it."""
    earlier = [each["period_s"] for each in prediction["others"] if each["relation"] == "earlier"]
    (period, *_) = [each for each in (prediction["period_s"], *earlier) if each is not None] or [None]
    assert_period(period and period["value"], starts, NEAR)


@pytest.mark.parametrize("kind", KINDS)
def test_a_script_of_small_phases_has_its_period_live_and_from_the_archive(tmp_path: Path, kind: str) -> None:
    phases = Phases()
    summary, folder, starts = even(kind, phases, tmp_path, traced)
    assert_near(summary["prediction"], starts)
    report = detection(folder, summary["archive"])
    assert_near(report["prediction"], starts)
    job = summary["job"]
    written = {row["path"]: row["bytes_written"] for row in job["files"]}
    assert written[str((folder / "phases").resolve())] == phases.count * phases.size
    if kind != "sh":  # a shell's programs are in system folders, and are not read
        assert job["not_counted"]["system_read"] > 0
    assert report["not_counted"] == job["not_counted"]
    assert not any(row["path"].startswith(("/usr/", "/lib/", "/etc/", "pipe:")) for row in job["files"])


@pytest.mark.parametrize("kind", ["python-imports", "perl"])
def test_strace_of_such_a_script_has_the_same_period(tmp_path: Path, kind: str) -> None:
    _, folder, starts = even(kind, Phases(way="read"), tmp_path, straced)
    report = detection(folder, "calls.st")
    assert_near(report["prediction"], starts)
    assert report["not_counted"]["system_read"] > 0
    everything = detection(folder, "--count", "everything", "calls.st")
    counted = report["bytes_read"] + report["bytes_written"]
    assert everything["bytes_read"] + everything["bytes_written"] == counted + _moved(report["not_counted"])
    assert _moved(everything["not_counted"]) == 0


def _moved(left_out: dict[str, int]) -> int:
    """Return the bytes of calls, without the lengths of mapped files."""
    return sum(left_out[f"{what}_{way}"] for what in ("system", "channel") for way in ("read", "written"))


@pytest.mark.parametrize("way", ["read", "write"])
def test_input_that_is_read_once_hides_no_period(tmp_path: Path, way: str) -> None:
    summary, folder, starts = even("python", Phases(way=way, burst=100_000_000), tmp_path, traced)
    assert_near(summary["prediction"], starts)
    assert_near(detection(folder, summary["archive"])["prediction"], starts)


def test_command_line_defines_the_counted_files(tmp_path: Path) -> None:
    (tmp_path / "lib" / "python3.11").mkdir(parents=True)
    (tmp_path / "lib" / "python3.11" / "set.bin").write_bytes(bytes(70_000))
    command = ["od", "lib/python3.11/set.bin"]  # which may execute it, as far as is known
    for options, read in (((), 0), (("--data", str(tmp_path.resolve())), 70_000), (("--count", "files"), 70_000)):
        done = iotide("run", *options, "--json", "s.json", "--no-report", "--", *command, cwd=tmp_path)
        job = json.loads((tmp_path / "s.json").read_text())["job"]
        assert [row["bytes_read"] for row in job["files"] if row["path"].endswith("set.bin")] == [read] * bool(read)
        assert ("70.0 kB of imports and system files" in done.stderr) == (not read)
