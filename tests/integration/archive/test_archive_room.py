"""Archives on a full disk, and of killed processes: stored data is readable, and the rest is counted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iotide.archive.file.reader import ArchiveReader
from iotide.events import InputError
from support.places import ROOT
from support.system.commands import IOTIDE, iotide, plain_environment
from support.system.small_file_systems import small_room
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.programs import need

RANDOM_WRITES = """
import os, random, sys, time
file = os.open("out", os.O_CREAT | os.O_WRONLY)
for number in range(int(sys.argv[1])):
    if number % 1000 == 999:
        time.sleep(float(sys.argv[2]))
    os.pwrite(file, b"x" * random.randrange(500), random.randrange(10**9))
"""
STEADY = """
import os, time
file = os.open("out", os.O_CREAT | os.O_WRONLY)
while os.path.exists("go on"):
    os.pwrite(file, b"x" * 64, 0)
    time.sleep(0.01)
"""


def calls_in(folder: Path, *, begun: bool = False) -> int:
    """Count the calls in the archives of a folder, as far as they are complete; each must be readable without a
    problem.
    """
    count = 0
    for path in folder.rglob("*.iotide"):
        with path.open("rb") as file:
            reader = ArchiveReader(file, path.name)
            assert begun or not reader.problems
            count += sum(len(each.batch) for number in reader.streams for each in reader.calls(number))
    return count


def begun_in(folder: Path) -> int:
    """Do the same while archives are written: one may still be empty."""
    try:
        return calls_in(folder, begun=True)
    except InputError:
        return 0


@contextmanager
def process(*command: str | Path, cwd: Path, **extra: str) -> Iterator[subprocess.Popen[str]]:
    running = subprocess.Popen(command, cwd=cwd, env=plain_environment(**extra), stderr=subprocess.PIPE, text=True)
    try:
        yield running
    finally:
        running.kill()
        (cwd / "go on").unlink(missing_ok=True)  # its child process keeps the standard error open
        running.communicate()


def test_run_on_a_full_disk_reports_it_and_counts_unstored_calls(tmp_path: Path) -> None:
    with small_room(tmp_path / "small", 500_000) as room:
        command = [sys.executable, "-c", RANDOM_WRITES, "150000", "0.05"]
        done = iotide("run", "-o", room / "report", "--json", "run.json", "--", *command, cwd=tmp_path)
        assert done.returncode == 0
        job = json.loads((tmp_path / "run.json").read_text())["job"]
        left_out = job["losses"]["events_not_archived:no_room"]
        assert calls_in(room) == job["events"] - left_out  # none, if the first checkpoint was late and too large
        assert re.search(r"job .*: its archive cannot be written to .*No space left on device", done.stderr)
        assert f"{left_out:,} calls not archived" in done.stderr
        assert f"{job['events'] - left_out:,} of {job['events']:,} calls: " in done.stderr
        assert all(path.stat().st_size for path in room.rglob("*") if path.is_file())


def test_aggregator_stores_all_once_there_is_room_again(tmp_path: Path) -> None:
    tracer, ingest = tmp_path / "tracer", f"ipc://{tmp_path}/in"
    told = iotide("collect", "--socket", tracer, "--print-environment", cwd=tmp_path).stdout.split()
    with small_room(tmp_path / "small", 200_000) as room:
        ballast = room / "ballast"
        ballast.write_bytes(bytes(120_000))
        settings = {"IOTIDE_SERVE_ARCHIVE__FOLDER": str(room), "IOTIDE_SERVE_LINGER_S": "0.2"}
        serve = [*IOTIDE, "serve", "--ingest", ingest, "--publish", "none", "--http", "127.0.0.1:0"]
        collect = [*IOTIDE, "collect", "--connect", ingest, "--socket", tracer, "--job", "job", "--until-unused"]
        with process(*serve, cwd=tmp_path, **settings) as server, process(*collect, cwd=tmp_path) as collector:
            assert server.stderr is not None
            (url,) = re.findall(r"http (http:\S+),", server.stderr.readline())

            def metric(name: str) -> float:
                text = urllib.request.urlopen(f"{url}/metrics", timeout=DEADLINE_S).read().decode()
                return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE))

            wait_for(tracer.exists, what="the tracer's socket")
            environment = plain_environment(**dict(each.split("=", 1) for each in told))
            command = [sys.executable, "-c", RANDOM_WRITES, "20000", "0"]
            subprocess.run(command, cwd=tmp_path, env=environment, check=True)
            wait_for(lambda: metric("iotide_archives_waiting") == 1, what="a waiting archive")
            assert "No space left on device" in server.stderr.readline()
            assert metric("iotide_archive_dropped_events_total") == 0
            assert collector.wait(DEADLINE_S) == 0  # all calls are acknowledged
            events = metric("iotide_job_events_total")
            ballast.unlink()
            subprocess.run(["mount", "-o", "remount,size=50m", str(room)], check=True)
            wait_for(lambda: metric("iotide_archives_waiting") == 0, what="a new write of the archive")
            server.send_signal(signal.SIGTERM)
            assert server.wait(DEADLINE_S) == 0
        assert calls_in(room) == events >= 20_000


def test_run_that_is_killed_leaves_what_was_seen(tmp_path: Path) -> None:
    (tmp_path / "go on").touch()
    command = [*IOTIDE, "run", "--quiet", "-o", "report", "--", sys.executable, "-c", STEADY]
    with process(*command, cwd=tmp_path) as running:
        # Long before the first of the checkpoints, which are made every minute.
        seen = wait_for(lambda: begun_in(tmp_path), what="a first checkpoint")
        running.send_signal(signal.SIGKILL)
        assert running.wait(DEADLINE_S) == -signal.SIGKILL
        (tmp_path / "go on").unlink()
    assert calls_in(tmp_path) >= seen
    assert all(path.stat().st_size for path in (tmp_path / "report").iterdir())


def test_aggregator_that_is_killed_leaves_what_was_seen(tmp_path: Path) -> None:
    tracer, ingest, folder = tmp_path / "tracer", f"ipc://{tmp_path}/in", tmp_path / "archives"
    told = iotide("collect", "--socket", tracer, "--print-environment", cwd=tmp_path).stdout.split()
    (tmp_path / "go on").touch()
    serve = [*IOTIDE, "serve", "--ingest", ingest, "--publish", "none", "--http", "none"]
    collect = [*IOTIDE, "collect", "--connect", ingest, "--socket", tracer, "--job", "job"]
    with (
        process(*serve, cwd=tmp_path, IOTIDE_SERVE_ARCHIVE__FOLDER=str(folder)) as server,
        process(*collect, cwd=tmp_path),
    ):
        wait_for(tracer.exists, what="the tracer's socket")
        variables = dict(each.split("=", 1) for each in told)
        with process(sys.executable, "-c", STEADY, cwd=tmp_path, **variables):
            wait_for(lambda: begun_in(folder), what="a first checkpoint")
            server.send_signal(signal.SIGKILL)
            assert server.wait(DEADLINE_S) == -signal.SIGKILL
            (tmp_path / "go on").unlink()
    assert calls_in(folder)


def test_alert_tells_of_an_archive_without_room(tmp_path: Path) -> None:
    promtool = need("promtool")
    rules = ROOT / "deploy" / "prometheus" / "rules.yml"
    (tmp_path / "test.yml").write_text(
        f"""
rule_files: [{os.path.relpath(rules, tmp_path)}]
evaluation_interval: 5s
tests:
  - interval: 5s
    input_series: [{{series: iotide_archives_waiting, values: "0 0 2 0"}}]
    alert_rule_test:
      - {{eval_time: 5s, alertname: IotideArchiveWithoutRoom, exp_alerts: []}}
      - eval_time: 10s
        alertname: IotideArchiveWithoutRoom
        exp_alerts:
          - exp_labels: {{severity: critical}}
            exp_annotations:
              runbook_url: runbooks.md#iotidearchivewithoutroom
              summary: "2 archives cannot be written and wait in memory: check the free space of archive.folder"
"""
    )
    done = subprocess.run([promtool, "test", "rules", "test.yml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
