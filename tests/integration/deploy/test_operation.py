"""Operation of an aggregator: reload, watchdog, shutdown, and a log for programs."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.places import DATA
from support.servers.restarted_job import job_at
from support.servers.service_managers import managing
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.line_process import LineProcess
from support.system.waiting import DEADLINE_S, wait_for

SAMPLE = DATA / "tmio-8ranks.jsonl"


@contextmanager
def serving(folder: Path, *options: str, settings: str = "", **environment: str) -> Iterator[tuple[LineProcess, str]]:
    (folder / "serve.toml").write_text(settings)
    command = [*IOTIDE, "serve", "--config", str(folder / "serve.toml"), "--ingest", f"ipc://{folder}/in"]
    command += ["--publish", "none", "--http", "127.0.0.1:0", *options]
    given = [f"{name}={value}" for name, value in plain_environment(**environment).items()]
    with LineProcess(["env", "-i", *given, *command], output="stderr") as server:
        yield server, re.findall(r"http (http://[^,\"]+),", server.wait_for_line(lambda line: "ingest" in line))[0]


def test_service_manager_is_told_of_each_step_and_that_the_loop_turns(tmp_path: Path) -> None:
    with (
        managing(tmp_path / "notify", watchdog_s=0.3) as manager,
        serving(tmp_path, "--state", str(tmp_path / "state"), **manager.environment) as (server, url),
    ):
        assert f"http {url}" in manager.wait_for("READY=1")
        for _ in range(3):
            manager.wait_for("WATCHDOG=1")
        server.process.send_signal(signal.SIGHUP)
        assert "MONOTONIC_USEC=" in manager.wait_for("RELOADING=1")
        manager.wait_for("READY=1")
        server.process.send_signal(signal.SIGSTOP)  # its loop stalls, and feeds the watchdog after it
        stat = Path(f"/proc/{server.process.pid}/stat")
        wait_for(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", what="the stop of the aggregator")
        manager.forget_waiting()
        server.process.send_signal(signal.SIGCONT)
        manager.wait_for("WATCHDOG=1")
        assert server.end(signal.SIGTERM) == 0
        manager.wait_for("STOPPING=1")


def test_collector_tells_the_service_manager_likewise(tmp_path: Path) -> None:
    command = [*IOTIDE, "collect", "--socket", str(tmp_path / "t"), "--connect", f"ipc://{tmp_path}/in"]
    with managing(tmp_path / "notify", watchdog_s=0.3) as manager:
        environment = plain_environment(**manager.environment)
        with Program(command, env=environment, stderr=subprocess.PIPE) as collector:
            manager.wait_for("READY=1")
            assert (tmp_path / "t").exists()
            manager.wait_for("WATCHDOG=1")
            collector.send_signal(signal.SIGTERM)
            manager.wait_for("STOPPING=1")
            assert collector.wait(DEADLINE_S) == 0


def test_reload_takes_over_what_it_can_and_names_what_needs_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path, settings="retain_s = 600") as (server, url):
        (tmp_path / "serve.toml").write_text(
            'retain_s = 5\nlog_level = "info"\n[notify]\nwebhooks = ["http://127.0.0.1:9/secret"]\n'
        )
        server.process.send_signal(signal.SIGHUP)
        taken = server.wait_for_line(lambda line: "reloaded" in line)
        assert taken == "iotide: the settings were reloaded; changed: log_level, notify.webhooks"
        assert server.wait_for_line(lambda line: "restart" in line).endswith("take effect after a restart: retain_s")
        metrics = urllib.request.urlopen(f"{url}/metrics", timeout=DEADLINE_S).read().decode()
        assert "iotide_notifications_waiting{" in metrics
        done = iotide("collect", "--replay", "--connect", f"ipc://{tmp_path}/in", "--job", "j", SAMPLE, cwd=tmp_path)
        assert done.returncode == 0
        server.wait_for_line(lambda line: line == "iotide: job j: running")  # printed at the level info
        for bad in ("retain_s = ", "retain_s = -1", 'log_level = "loud"'):
            (tmp_path / "serve.toml").write_text(bad)
            server.process.send_signal(signal.SIGHUP)
            assert "the earlier ones stay in force" in server.wait_for_line(lambda line: "not reloaded" in line)
        assert job_at(url) is not None
        assert not any("secret" in line for line in server.lines)
        assert server.end(signal.SIGTERM) == 0


def test_log_is_one_json_object_a_line_where_that_is_wanted(tmp_path: Path) -> None:
    with serving(tmp_path, "--log-format", "json", "-v") as (server, _):
        done = iotide("collect", "--replay", "--connect", f"ipc://{tmp_path}/in", "--job", "j", SAMPLE, cwd=tmp_path)
        assert done.returncode == 0
        server.wait_for_line(lambda line: "job j" in line)
        rows = [json.loads(line) for line in server.lines]
        assert {"time", "level", "part", "message"} <= set(rows[0])
        assert rows[0]["message"].startswith("ingest ipc://")
        assert [row["level"] for row in rows if row["message"] == "job j: running"] == ["info"]
        assert server.end(signal.SIGTERM) == 0


def test_end_keeps_what_was_acknowledged_whether_it_has_time_to_write_jobs_down_or_not(tmp_path: Path) -> None:
    state = tmp_path / "state"
    told = []
    for stop_within_s in ("60", "1e-9", "60"):
        environment = {"IOTIDE_SERVE_STOP_WITHIN_S": stop_within_s, "IOTIDE_SERVE_JOURNAL__SNAPSHOT_S": "0.1"}
        with serving(tmp_path, "--state", str(state), **environment) as (server, url):
            if told:
                told.append(job_at(url))
            else:
                command = ["collect", "--replay", "--connect", f"ipc://{tmp_path}/in", "--job", "j", SAMPLE]
                assert iotide(*command, cwd=tmp_path).returncode == 0
                told.append(wait_for(lambda: job_at(url), what="the job"))
            metrics = f"{url}/metrics"

            def snapshots() -> float:
                text = urllib.request.urlopen(metrics, timeout=DEADLINE_S).read().decode()  # noqa: B023
                return float(re.findall(r"^iotide_snapshots_total (\S+)", text, re.MULTILINE)[0])

            wait_for(snapshots, what="a snapshot, which measures its duration")
            assert server.end(signal.SIGTERM) == 0
            has_time = not any("longer than stop_within_s" in line for line in server.all_lines())
            assert has_time or stop_within_s == "1e-9"
        assert not (has_time and list((state / "journal").glob("*.journal")))
    assert [(each.events, each.bytes_written, each.losses) for each in told] == 3 * [
        (told[0].events, told[0].bytes_written, told[0].losses)
    ]
