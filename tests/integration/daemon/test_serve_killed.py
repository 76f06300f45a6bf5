"""Real processes: ``iotide serve`` is killed and restarted while a traced program writes; the totals are exact."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from iotide.daemon.state.saved_state import NAME
from support.places import DATA
from support.servers.restarted_job import job_at
from support.servers.served_process import served
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.line_process import LineProcess
from support.system.waiting import DEADLINE_S, wait_for

WRITER = """
import sys
out = open("out", "wb", buffering=0)
for line in sys.stdin:
    for _ in range(int(line)):
        out.write(bytes(1000))
    print("written", flush=True)
"""
OFTEN = {"IOTIDE_SERVE_JOURNAL__SNAPSHOT_S": "0.3"}


@contextmanager
def tracing(folder: Path, endpoint: str) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    tracer = folder / "t"
    command = [*IOTIDE, "collect", "--socket", str(tracer), "--connect", endpoint, "--job", "j"]
    with Program(command, env=plain_environment(), stderr=subprocess.PIPE) as collector:
        wait_for(lambda: tracer.exists() or collector.poll() is not None, what="the tracer's socket")
        yield tracer, collector


@contextmanager
def writer(folder: Path, tracer: Path) -> Iterator[LineProcess]:
    said = iotide("collect", "--socket", tracer, "--job", "j", "--print-environment", cwd=folder).stdout.split()
    with LineProcess(["env", "-C", str(folder), *said, sys.executable, "-c", WRITER]) as program:
        yield program


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{}, OFTEN], ids=["journal", "snapshots"])
def test_serve_that_is_killed_again_and_again_has_each_byte_once(tmp_path: Path, environment: dict[str, str]) -> None:
    with (
        served(tmp_path, **environment) as server,
        tracing(tmp_path, server.endpoint) as (tracer, collector),
        writer(tmp_path, tracer) as program,
    ):
        total = 0
        for count, waits in ((700, True), (3000, False), (11, False), (20_000, True)):
            program.write_line(str(count))
            total += 1000 * count
            if waits:
                wait_for(lambda: server.written() == total, what="all bytes")  # noqa: B023
            elif environment:
                wait_for((server.state / NAME).exists, what="a snapshot")
            server.kill()
            server.start()
        program.process.stdin.close()
        program.process.wait(DEADLINE_S)
        assert iotide("collect", "--stop", tracer, cwd=tmp_path).returncode == 0
        assert collector.wait(timeout=DEADLINE_S) == 0
        server.kill()
        server.start()
        found = wait_for(partial(job_at, server.url), what="the job")
        assert found.bytes_written == total
        assert found.losses == {}


def test_serve_without_a_journal_knows_nothing_when_it_was_killed(tmp_path: Path) -> None:
    sample = DATA / "tmio-8ranks.jsonl"
    with served(tmp_path, IOTIDE_SERVE_JOURNAL__ON="false") as server:
        done = iotide("collect", "--replay", "--connect", server.endpoint, "--job", "j", sample, cwd=tmp_path)
        assert done.returncode == 0
        assert job_at(server.url) is not None
        server.kill()
        server.start()
        assert job_at(server.url) is None


def test_files_are_for_their_user_alone(tmp_path: Path) -> None:
    with served(tmp_path, **OFTEN) as server:
        folder = server.state / "journal"
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_snapshots_leave_no_process_behind(tmp_path: Path) -> None:
    sample = DATA / "tmio-8ranks.jsonl"
    with served(tmp_path, **OFTEN) as server:
        iotide("collect", "--replay", "--connect", server.endpoint, "--job", "j", sample, cwd=tmp_path)
        wait_for((server.state / NAME).exists, what="a snapshot")
        assert server._process is not None
        children = Path(f"/proc/{server._process.process.pid}/task/{server._process.process.pid}/children")
        wait_for(lambda: not children.read_text(), what="end of all copies")
        os.kill(server._process.process.pid, signal.SIGTERM)
        assert server._process.process.wait(DEADLINE_S) == 0
        assert not list((server.state / "journal").iterdir())
