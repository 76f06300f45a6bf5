"""``iotide replay`` against an aggregator in a separate process."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from iotide.cli.main import group
from iotide.events import InputError
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.line_process import LineProcess
from support.system.waiting import DEADLINE_S, wait_for

PERIOD_S = 5.0
BEGIN_S = 1_700_000_000


@dataclass
class Served:
    ingest: str
    http: str

    def get(self, path: str) -> Any:
        with httpx.Client(base_url=self.http, timeout=DEADLINE_S) as client:
            return client.get(f"/api/v1/jobs/{path}").json()

    def job(self, job: str) -> Any:
        return wait_for(lambda: (found := self.get(job)) and found.get("events") and found, what=f"job {job}")


@pytest.fixture
def served() -> Iterator[Served]:
    options = ["--http", "127.0.0.1:0", "--publish", "none", "--ingest", "tcp://127.0.0.1:*", "--interval", "0.1"]
    with LineProcess([*IOTIDE, "serve", *options], output="stderr") as process:
        said = process.wait_for_line(lambda line: "ingest" in line and "http" in line)
        words = said.replace(",", "").split()
        yield Served(words[words.index("ingest") + 1], words[words.index("http") + 1])


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Two ranks on two nodes write 1 MB ten times in the first second of every five."""
    path = tmp_path / "old.jsonl"
    calls = [
        {"call": "write", "path": "/scratch/out", "rank": rank, "pid": 100 + rank, "host": f"n{rank}",
         "start": BEGIN_S + PERIOD_S * period + 0.1 * step, "dur": 0.08, "size": 1_000_000}
        for rank in range(2) for period in range(24) for step in range(10)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(call) + "\n" for call in calls))
    return path


def replay(served: Served, *arguments: str | Path, cwd: Path) -> Any:
    done = iotide("replay", "--to", served.ingest, "--json", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("archived", [False, True])
def test_aggregator_finds_in_a_replayed_trace_what_detect_finds(
    served: Served, trace: Path, tmp_path: Path, archived: bool
) -> None:
    detected = json.loads(iotide("detect", "--json", trace, cwd=tmp_path).stdout)
    if archived:
        made = iotide("archive", "create", "-o", tmp_path / "old.iotide", trace, cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        trace = tmp_path / "old.iotide"
    report = replay(served, "--speed", "max", "--job", "again", trace, cwd=tmp_path)
    assert (report["calls"], report["sent"], report["complete"], report["streams"]) == (480, 480, True, 2)
    assert report["jobs"] == ["again"]
    job = served.job("again")
    assert (job["events"], job["bytes_written"], job["hosts"]) == (480, 480_000_000, ["n0", "n1"])
    found = wait_for(
        lambda: (last := served.get("again/prediction")).get("period_s") and last["window"]["end_s"] > BEGIN_S + 115
        and last, what="the last prediction",
    )  # fmt: skip
    assert found["period_s"]["value"] == pytest.approx(detected["prediction"]["period_s"]["value"], rel=0.01)
    assert found["next_phase"] is None  # its streams have ended


def test_summary_of_many_jobs_is_one_short_line(served: Served, tmp_path: Path) -> None:
    lines = [json.dumps({"call": "write", "start": 1.0, "dur": 0.5, "size": 9, "job": f"j{job}"}) for job in range(300)]
    (path := tmp_path / "many.jsonl").write_text("\n".join(lines))
    done = iotide("replay", "--to", served.ingest, "--speed", "max", path, cwd=tmp_path)
    assert done.stdout.splitlines()[-1].endswith("as j0, j1, j10, j100, j101, j102, j103, j104 and 292 other jobs")


def test_times_are_moved_to_now_and_the_pace_is_kept(served: Served, trace: Path, tmp_path: Path) -> None:
    report = replay(served, "--speed", "100", "--shift-to-now", trace, cwd=tmp_path)
    assert report["took_s"] >= report["recorded_s"] / 100
    job = served.job(report["jobs"][0])
    assert job["events"] == 480
    assert job["last_event_at_s"] == pytest.approx(BEGIN_S + 115.98 + report["shift_s"], abs=0.01)


def test_interrupt_ends_the_replay_after_what_was_sent_has_arrived(served: Served, trace: Path, tmp_path: Path) -> None:
    command = [*IOTIDE, "replay", "--to", served.ingest, "--speed", "1", "--job", "cut", "--json", str(trace)]
    with Program(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=plain_environment()
    ) as running:
        try:
            served.job("cut")
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=DEADLINE_S)
        finally:
            running.kill()
    report = json.loads(out)
    assert running.returncode == 1
    assert "interrupted after" in err
    assert 0 < report["sent"] < 480
    assert served.job("cut")["events"] == report["sent"]


def test_absent_aggregator_is_waited_for_and_then_given_up(trace: Path, tmp_path: Path) -> None:
    done = iotide("replay", "--to", f"ipc://{tmp_path}/nobody", "--patience", "6", trace, cwd=tmp_path)
    assert done.returncode == 1
    assert "waiting for an aggregator at ipc://" in done.stderr
    assert "has not responded for" in done.stderr
    assert all(line.startswith("iotide: ") for line in done.stderr.splitlines())
    assert done.stdout.startswith("0 of 480 calls")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--speed", "0"], "neither a number above 0 nor 'max'"),
        (["--speed", "nan"], "neither a number above 0 nor 'max'"),
        (["missing.jsonl"], "missing.jsonl: cannot be read"),
        (["empty.xyz"], "the file is empty"),
        (["tmio.json"], "its times are relative"),
    ],
)
def test_bad_usage_and_input_are_named(
    trace: Path, tmp_path: Path, arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty.xyz").touch()
    (tmp_path / "tmio.json").write_text('{"b": [2], "ts": [1], "te": [2]}\n')
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(group, ["replay", "--to", f"ipc://{tmp_path}/nobody", str(trace), *arguments])
    assert isinstance(shown.exception, InputError | SystemExit)
    assert said in f"{shown.output}{shown.exception}"
    assert shown.exit_code == (2 if isinstance(shown.exception, SystemExit) else 1)
