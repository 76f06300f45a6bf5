"""``iotide serve`` without an option for its state folder."""

from __future__ import annotations

import re
import socket
import subprocess
from functools import partial
from pathlib import Path

import pytest
from support.places import DATA
from support.servers.restarted_job import job_at
from support.system.commands import IOTIDE, iotide, plain_environment
from support.system.line_process import LineProcess
from support.system.small_file_systems import fill, small_room
from support.system.waiting import DEADLINE_S, wait_for

SAMPLE = DATA / "tmio-8ranks.jsonl"


def command(state_home: Path, ingest: str, *options: str) -> list[str]:
    environment = ["env", f"XDG_STATE_HOME={state_home}"]
    listens = ["--ingest", ingest, "--publish", "none", "--http", "127.0.0.1:0"]
    return [*environment, *IOTIDE, "serve", *listens, *options]


def started(process: LineProcess) -> str:
    return str(re.findall(r"http (\S+),", process.wait_for_line(lambda line: "ingest" in line))[0])


def test_killed_daemon_leaves_its_jobs_to_the_next_one(tmp_path: Path) -> None:
    ingest = f"ipc://{tmp_path}/in"
    with LineProcess(command(tmp_path / "home", ingest), output="stderr") as first:
        started(first)
        done = iotide("collect", "--replay", "--connect", ingest, "--job", "j", SAMPLE, cwd=tmp_path)
        assert done.returncode == 0
        first.process.kill()
    with LineProcess(command(tmp_path / "home", ingest), output="stderr") as second:
        found = wait_for(partial(job_at, started(second)), what="the job")
    assert found.events > 0
    folder = tmp_path / "home" / "iotide" / "serve" / socket.gethostname()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_second_daemon_gets_the_owner_of_the_folder_and_a_remedy(tmp_path: Path) -> None:
    with LineProcess(command(tmp_path / "home", f"ipc://{tmp_path}/in"), output="stderr") as first:
        started(first)
        second = subprocess.run(
            command(tmp_path / "home", f"ipc://{tmp_path}/other"),
            env=plain_environment(),
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert second.returncode == 2
        assert "used by another aggregator" in second.stderr
        assert f"process {first.process.pid} on {socket.gethostname()}" in second.stderr
        assert "--state DIR" in second.stderr
        assert "--state none" in second.stderr


@pytest.mark.parametrize("options", [["--state", "none"], ["--state", "{}/mine"]], ids=["none", "another"])
def test_default_folder_is_left_alone_where_another_one_or_none_is_named(tmp_path: Path, options: list[str]) -> None:
    given = [option.format(tmp_path) for option in options]
    with LineProcess(command(tmp_path / "home", f"ipc://{tmp_path}/in", *given), output="stderr") as process:
        started(process)
    assert not (tmp_path / "home").exists()
    assert not (tmp_path / "none").exists()


def test_folder_that_cannot_be_made_is_told_and_the_daemon_serves(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    with LineProcess(command(in_the_way, f"ipc://{tmp_path}/in"), output="stderr") as process:
        started(process)
        assert any("jobs are lost at a restart" in line and "--state DIR" in line for line in process.lines)


@pytest.mark.parametrize("kind", ["full", "read_only"])
@pytest.mark.parametrize("named", [False, True])
def test_disk_that_takes_nothing_ends_the_start_with_one_line(tmp_path: Path, kind: str, named: bool) -> None:
    with small_room(tmp_path / "small", 64 << 10) as room:
        state = room / "home" / "iotide" / "serve" / socket.gethostname()
        state.mkdir(parents=True)
        fill(room)
        if kind == "read_only":
            subprocess.run(["mount", "-o", "remount,ro", str(room)], check=True)
        options = ["--state", str(state)] if named else []
        done = subprocess.run(
            command(room / "home", f"ipc://{tmp_path}/in", *options),
            env=plain_environment(),
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"state = {state}: " in line
    assert {"full": "No space left on device", "read_only": "Read-only file system"}[kind] in line
    assert "--state DIR" in line
    assert "--state none" in line
