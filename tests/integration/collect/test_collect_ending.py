"""The end of collectors: everything is acknowledged, for any cause of the end."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from iotide.daemon.jobs.job_summary import summary_of
from support.places import ROOT
from support.servers.running_aggregator import serving, until
from support.servers.slurm import slurm
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.signals import handles
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.programs import need

DOCS = ROOT / "docs"
WRITER = """
import os
out = open("out.%d" % os.getpid(), "wb", buffering=0)
for _ in range({count}):
    out.write(bytes(1000))
"""


@contextmanager
def collector(tracer: Path, endpoint: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    command = [*IOTIDE, "collect", "--socket", str(tracer), "--connect", endpoint, "--job", "job", *options]
    process = subprocess.Popen(command, env=plain_environment(), stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: tracer.exists() or process.poll() is not None, what="the tracer's socket")
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def following(path: Path, endpoint: str) -> Iterator[subprocess.Popen[str]]:
    command = [*IOTIDE, "collect", "--connect", endpoint, "--job", "job", str(path)]
    with Program(command, env=plain_environment(), stderr=subprocess.PIPE, text=True) as process:
        yield process


def traced(tracer: Path, cwd: Path, count: int, times: int = 1) -> None:
    """Run a program that writes the given number of times, repeatedly, with the environment that the collector
    prints.
    """
    told = iotide("collect", "--socket", tracer, "--job", "job", "--print-environment", cwd=cwd).stdout.split()
    variables = dict(each.split("=", 1) for each in told)
    command = [sys.executable, "-c", WRITER.format(count=count)]
    for _ in range(times):
        subprocess.run(command, cwd=cwd, env=plain_environment(**variables), check=True, timeout=DEADLINE_S)


async def run_traced(tracer: Path, cwd: Path, count: int, times: int = 1) -> None:
    await asyncio.to_thread(traced, tracer, cwd, count, times)


async def test_collector_ends_when_its_programs_have(tmp_path: Path) -> None:
    tracer, grace_s = tmp_path / "t", 6
    async with serving(ingest=f"ipc://{tmp_path}/in") as server:
        with collector(tracer, server.ingest_endpoint, "--until-unused", "--grace", str(grace_s)) as running:
            began_s = time.monotonic()
            await run_traced(tracer, tmp_path, 500, times=2)
            if time.monotonic() - began_s >= grace_s:
                pytest.skip("the machine stalled: the second program started after the grace period of the first")
            assert await asyncio.to_thread(running.wait, DEADLINE_S) == 0
            assert running.stderr is not None
            assert running.stderr.read() == ""
        written = server.aggregator.jobs["job"].bytes_written
    assert written == 2 * 500 * 1000
    assert not tracer.exists()


async def test_collector_is_stopped_through_its_socket_and_waited_for(tmp_path: Path) -> None:
    tracer = tmp_path / "t"
    async with serving(ingest=f"ipc://{tmp_path}/in") as server:
        with collector(tracer, server.ingest_endpoint) as running:
            await run_traced(tracer, tmp_path, 5000)
            stopped = await asyncio.to_thread(iotide, "collect", "--stop", tracer, cwd=tmp_path)
            assert (stopped.returncode, stopped.stdout, stopped.stderr) == (0, "", "")
            assert running.wait(5) == 0  # it has ended, and can only be a zombie
            assert running.stderr is not None
            assert running.stderr.read() == ""
        assert server.aggregator.jobs["job"].bytes_written == 5000 * 1000


async def test_stopping_waits_for_what_is_yet_to_be_acknowledged(tmp_path: Path) -> None:
    tracer, endpoint = tmp_path / "t", f"ipc://{tmp_path}/in"
    with collector(tracer, endpoint) as running:
        await run_traced(tracer, tmp_path, 100)
        stopping = asyncio.create_task(asyncio.to_thread(iotide, "collect", "--stop", tracer, cwd=tmp_path))
        await asyncio.to_thread(wait_for, lambda: not tracer.exists(), what="end of listening")
        assert running.poll() is None
        async with serving(ingest=endpoint) as server:  # which was absent until now
            assert (await stopping).returncode == 0
            assert running.wait(5) == 0
            assert server.aggregator.jobs["job"].bytes_written == 100_000


def test_stop_without_a_listener_is_reported(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        done = iotide("collect", "--stop", path, cwd=tmp_path)
        assert done.returncode == 1
        assert f"no collector listens on {path}" in done.stderr


def test_signal_that_comes_as_soon_as_the_socket_is_there_is_not_lost(tmp_path: Path) -> None:
    for turn in range(3):
        tracer = tmp_path / f"t{turn}"
        with collector(tracer, f"ipc://{tmp_path}/in") as running:
            running.send_signal(signal.SIGTERM)
            assert running.wait(DEADLINE_S) == 0
        assert not tracer.exists()


@pytest.mark.parametrize(
    "options",
    [["--until-unused", "trace.jsonl"], ["--grace", "1", "--socket", "t"], ["--stop", "t", "--socket", "u"]],
)
def test_options_that_mean_nothing_are_refused(tmp_path: Path, options: list[str]) -> None:
    done = iotide("collect", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert "Usage" in done.stderr


def left_on_nodes(folder: Path) -> list[Path]:
    return list(folder.glob("files.node*/*"))


def printed_by_jobs(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.glob("*.out") if path.stem.isdecimal())


@pytest.mark.parametrize(
    ("request_line", "jobs", "tasks", "status"),
    [
        ("--nodes=2", 1, 2, 0),
        ("--nodes=2 --ntasks-per-node=2", 1, 4, 3),
        ("--ntasks=5", 1, 5, 0),
        ("--nodes=2 --array=0-2", 3, 2, 0),
    ],
    ids=["nodes", "tasks per node", "tasks", "array"],
)
async def test_recipe_for_slurm_ends_with_everything_acknowledged(
    tmp_path: Path, request_line: str, jobs: int, tasks: int, status: int
) -> None:
    (recipe,) = re.findall(r"```\n(#!/bin/sh\n#SBATCH.*?)```", (DOCS / "operations.md").read_text(), re.DOTALL)
    (tmp_path / "simulation").write_text(
        f"#!{sys.executable}\n{WRITER.format(count=5000)}\nraise SystemExit({status})\n"
    )
    (tmp_path / "simulation").chmod(0o755)
    with slurm(tmp_path) as cluster:
        async with serving(linger_s=0.2) as server:
            script = recipe.replace("--nodes=4", request_line).replace("/tmp/", f"{cluster.node_folder}/")
            script = script.replace("tcp://10.1.0.1:9787", server.ingest_endpoint)
            (tmp_path / "job.sh").write_text(script)
            environment = cluster.environment | {"USER": "root"}
            environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
            batch = [need("sbatch"), "--wait", "--time=7", "--output=%j.out", "job.sh"]
            began_s = time.time()
            done = await asyncio.to_thread(
                subprocess.run, batch, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
            )
            told = await asyncio.to_thread(printed_by_jobs, tmp_path)
            assert done.returncode == status, told
            assert len(server.aggregator.jobs) == jobs
            for job in server.aggregator.jobs.values():
                assert job.bytes_written == tasks * 5000 * 1000
                assert summary_of(job, 0).ranks == tasks
                assert began_s - 1 <= job.ends_at_s - 7 * 60 <= time.time()  # it counts whole seconds
            assert not server.aggregator.counters["events_dropped"]
            assert not await asyncio.to_thread(left_on_nodes, tmp_path)
            assert [line for line in told.splitlines() if not line.startswith("srun: error: node")] == []


@pytest.mark.parametrize(
    ("kind", "status", "told"),
    [
        ("folder", 1, "not a regular file"),
        ("pipe", 1, "not a regular file"),
        ("loop", 1, "symbolic links"),
        ("absent", 1, "was never there"),
        ("binary", 1, "the format is not recognised"),
        ("empty", 0, ""),
        ("lines", 0, ""),
    ],
)
async def test_status_tells_whether_a_followed_file_could_be_read(
    tmp_path: Path, kind: str, status: int, told: str
) -> None:
    path = tmp_path / "input"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path)
        case "binary":
            path.write_bytes(b"\xc1" * 1000)  # which is invalid in MessagePack
        case "empty":
            path.touch()
        case "lines":
            path.write_text('{"call": "write", "path": "/x", "start": 1, "dur": 1, "size": 5}\n')
    async with serving(ingest=f"ipc://{tmp_path}/in") as server:
        with following(path, server.ingest_endpoint) as process:
            await until(lambda: kind != "lines" or "job" in server.aggregator.jobs)
            await asyncio.to_thread(wait_for, lambda: handles(process.pid, signal.SIGTERM), what="its handler")
            process.send_signal(signal.SIGTERM)
            _, said = await asyncio.to_thread(process.communicate, timeout=DEADLINE_S)
    assert (process.returncode, told in said, bool(said)) == (status, True, bool(told)), said
