"""Losses before the aggregator are reported for the right job: real programs, with bounds that are too small."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from iotide.collectors.tracer.preload_environment import traced_environment
from iotide.events.losses import LAST_CHARACTERS, LAST_CHARACTERS_BYTES, UNTRACED
from iotide.results.jobs.job import JobDetail, JobList, JobSummary
from iotide.results.jobs.run import RunSummary
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.line_process import LineProcess
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.compiled_programs import built
from support.tracing.programs import need

MANY = 200_000


def run_of_dd(folder: Path, count: int, *options: str) -> tuple[JobDetail, str]:
    done = iotide(
        "run", "-o", "report", *options, "--", "dd", "if=/dev/zero", "of=out", "bs=10", f"count={count}", "status=none",
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (report,) = folder.glob("report*/summary.json")
    return RunSummary.model_validate_json(report.read_text()).job, done.stderr


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "few").mkdir()
    (tmp_path / "many").mkdir()
    return tmp_path / "few", tmp_path / "many"


def test_calls_and_bytes_that_a_full_ring_drops_are_told_in_the_job(folders: tuple[Path, Path]) -> None:
    few, said = run_of_dd(folders[0], 100)
    assert (few.events_dropped, few.bytes_dropped, few.losses, few.complete) == (0, 0, {}, True)
    assert "dropped" not in said
    many, said = run_of_dd(folders[1], MANY, "--ring-records", "256")
    assert many.events_dropped > 0
    assert many.events + many.events_dropped == few.events + 2 * (MANY - 100)
    assert not many.complete
    assert many.losses["events_dropped:ring_full"] == many.events_dropped
    seen = many.bytes_written + many.not_counted.channel_read  # of /dev/zero
    assert seen + many.bytes_dropped == 2 * 10 * MANY
    assert "--ring-records" in said
    assert f"{many.events_dropped:,} calls dropped" in said
    page = next(folders[1].glob("report*/report.html")).read_text()
    assert "--ring-records" in page
    archive = next(folders[1].glob("report*/*.iotide"))
    told = iotide("archive", "info", archive, cwd=folders[1]).stdout
    assert f"{many.events_dropped:,} calls dropped" in told


UNREACHED = """
import os, subprocess, sys
hidden = sys.argv[1]
os.rename(hidden, hidden + ".away")
for _ in range({count}):
    subprocess.run(["cat", "/dev/null"], check=True)
os.rename(hidden + ".away", hidden)
"""


@pytest.mark.parametrize("count", [1, 2])
def test_processes_that_cannot_reach_the_socket_are_told(tmp_path: Path, count: int) -> None:
    script = 'exec "$0" -c "$1" "$(dirname "$IOTIDE_SOCKET")/tracer.sock"'
    done = iotide(
        "run", "-o", "report", "--", "sh", "-c", script, sys.executable, UNREACHED.format(count=count), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    summary = RunSummary.model_validate_json(next(tmp_path.glob("report*/summary.json")).read_text())
    assert summary.job.losses["processes_unheard"] == count
    assert not summary.job.complete
    assert (
        f"lost: {'1 process' if count == 1 else f'{count} processes'} that could not reach the collector" in done.stderr
    )
    assert sum(row.times for row in summary.unseen if "could not reach the collector" in row.reason) == count


def test_programs_in_a_mount_namespace_of_their_own_are_told(tmp_path: Path) -> None:
    need("unshare")
    need("mount")
    probe = subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True)
    if probe.returncode:
        pytest.skip("no mount namespace can be created here")
    script = 'mount -t tmpfs none "$(dirname "$IOTIDE_SOCKET")" && cat /dev/null && exec cat /dev/null'
    done = iotide("run", "-o", "report", "--", "unshare", "-m", "sh", "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = RunSummary.model_validate_json(next(tmp_path.glob("report*/summary.json")).read_text())
    assert summary.job.losses["processes_unheard"] == 2
    assert "cat /dev/null (2 times), which could not reach the collector (No such file or directory)" in done.stderr


@contextmanager
def background(*arguments: str | Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    command = [*IOTIDE, *map(str, arguments)]
    with Program(
        command, env=plain_environment(**environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def test_calls_lost_with_a_killed_collector_are_told_exactly(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program, gate, ingest = built(tmp_path_factory, "steady.c"), tmp_path / "tracer.sock", f"ipc://{tmp_path}/ingest"
    stop, environment = tmp_path / "stop", traced_environment(plain_environment(), gate, "steady")
    bounds = {"IOTIDE_SERVE_BOUNDS__LOST_AFTER_S": "1", "IOTIDE_SERVE_BOUNDS__FORGET_AFTER_S": "8"}
    collect = ("collect", "--socket", gate, "--connect", ingest)

    with background("serve", "--ingest", ingest, "--http", "127.0.0.1:0", "--publish", "none", **bounds) as serve:
        assert serve.stdout is not None
        url = next(found[0] for line in serve.stdout if (found := re.findall(r"http://[\d.:]+", line)))

        def job() -> JobSummary | None:
            with urllib.request.urlopen(f"{url}/api/v1/jobs") as answer:
                return next(iter(JobList.model_validate_json(answer.read()).jobs), None)

        def summary() -> dict[str, int]:
            found = job()
            return {} if found is None else found.losses

        def seen() -> int:
            found = job()
            return 0 if found is None else found.events

        with background(*collect) as first:
            wait_for(gate.exists, what="the first collector")
            with Program(
                [program, tmp_path / "out", stop], env=environment, stdout=subprocess.PIPE, text=True
            ) as running:
                wait_for(lambda: seen() > 100, what="events of the first collector")
                first.kill()
                first.wait()
                wait_for(lambda: "streams_silent" in summary(), what="the silent stream")
                before = seen()
                with background(*collect):
                    wait_for(lambda: seen() > before + 100, what="events of the second collector")
                    stop.touch()
                    running.communicate(timeout=DEADLINE_S)
                    assert running.returncode == 7
                    wait_for(
                        lambda: (found := job()) is not None and found.streams == 0, what="the end of both streams"
                    )
                    found = job()
        assert found is not None
        assert found.complete == (not found.events_dropped)
        assert found.events + found.events_dropped == int(np.fromfile(tmp_path / "out.made", np.uint64).sum())


def test_lines_that_a_collector_cannot_read_are_told_in_the_job(tmp_path: Path) -> None:
    trace, ingest = tmp_path / "trace.st", f"ipc://{tmp_path}/ingest"
    traced = [
        "strace",
        "-f",
        "-ttt",
        "-T",
        "-y",
        "-o",
        trace,
        "dd",
        "if=/dev/zero",
        f"of={tmp_path}/out",
        "bs=10",
        "count=50",
    ]
    subprocess.run([need("strace"), *traced[1:]], check=True, capture_output=True)
    whole = trace.read_text().splitlines(keepends=True)
    writes = [at for at, line in enumerate(whole) if "write(1<" in line][:40:8]
    trace.write_text("".join(line[: len(line) // 2] + "\n" if at in writes else line for at, line in enumerate(whole)))

    with background("serve", "--ingest", ingest, "--http", "127.0.0.1:0", "--publish", "none") as serve:
        assert serve.stdout is not None
        url = next(found[0] for line in serve.stdout if (found := re.findall(r"http://[\d.:]+", line)))
        done = iotide("collect", "--replay", "--job", "torn", "--connect", ingest, trace, cwd=tmp_path)
        assert done.returncode == 1, done.stderr  # not the whole file was readable

        def job() -> JobSummary | None:
            with urllib.request.urlopen(f"{url}/api/v1/jobs") as answer:
                return next(iter(JobList.model_validate_json(answer.read()).jobs), None)

        wait_for(lambda: (found := job()) is not None and found.losses, what="the losses")
        found = job()
        with urllib.request.urlopen(f"{url}/metrics") as answer:
            metrics = answer.read().decode()
    assert found is not None
    assert (found.job, found.losses, found.events_dropped) == ("torn", {"lines_malformed": len(writes)}, len(writes))
    assert not found.complete
    assert re.search(r'reason="lines_malformed"[^\n]* 5\.0|lines_malformed[^\n]* 5\.0', metrics)


def test_last_characters_of_a_killed_program_are_told_in_its_job_alone(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program, gate, ingest = (
        built(tmp_path_factory, "ended_characters.c"),
        tmp_path / "gate.sock",
        f"ipc://{tmp_path}/in",
    )
    (tmp_path / "file").write_text("x" * 10_000)
    collect = ("collect", "--socket", gate, "--connect", ingest)
    with background("serve", "--ingest", ingest, "--http", "127.0.0.1:0", "--publish", "none") as serve:
        assert serve.stdout is not None
        url = next(found[0] for line in serve.stdout if (found := re.findall(r"http://[\d.:]+", line)))

        def jobs() -> dict[str, JobSummary]:
            with urllib.request.urlopen(f"{url}/api/v1/jobs") as answer:
                return {job.job: job for job in JobList.model_validate_json(answer.read()).jobs}

        with background(*collect):
            wait_for(gate.exists, what="the collector")
            for job, end in (("killed", "kill"), ("ended", "return")):
                environment = traced_environment(plain_environment(), gate, job)
                subprocess.run([program, tmp_path / "file", "getc", "2", end], env=environment, check=False)
            wait_for(
                lambda: {job.job for job in jobs().values() if job.streams == 0} == {"killed", "ended"}, what="ends"
            )
            found = jobs()
    assert found["killed"].losses == {LAST_CHARACTERS: 2, LAST_CHARACTERS_BYTES: 2 * 4096}
    assert (found["killed"].complete, found["ended"].complete) == (False, True)
    assert found["ended"].losses == {}


def test_run_with_a_killed_collecting_process_reports_it(tmp_path: Path) -> None:
    script = """
import glob, os, signal, time
run = os.getppid()
children = [int(pid) for pid in open(f"/proc/{run}/task/{run}/children").read().split()]
(other,) = [pid for pid in children if pid != os.getpid()]
os.write(os.open("before", os.O_CREAT | os.O_WRONLY), b"x")
while not any(map(os.path.getsize, glob.glob("report/*.iotide"))):  # until it has handed on that there is a stream
    time.sleep(0.01)
os.kill(other, signal.SIGKILL)
for _ in range(1000):
    os.write(os.open("after", os.O_CREAT | os.O_WRONLY), b"x")
"""
    done = iotide("run", "-o", "report", "--", sys.executable, "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = RunSummary.model_validate_json(next(tmp_path.glob("report*/summary.json")).read_text())
    assert summary.job.losses["streams_cut_off"] == 1
    assert "lost: 1 stream cut off" in done.stderr


@pytest.mark.slow
def test_programs_that_are_not_traced_are_a_loss_of_their_job_and_named_by_the_collector(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """``iotide run`` names them at its end. Otherwise their job would be called complete, whatever they write."""
    static = built(tmp_path_factory, "nothing.c", "-static", name="static")
    gate, ingest = tmp_path / "t", f"ipc://{tmp_path}/in"
    serve = [*IOTIDE, "serve", "--ingest", ingest, "--http", "127.0.0.1:0", "--publish", "none", "--state", "none"]
    collect = [*IOTIDE, "collect", "--socket", str(gate), "--connect", ingest]
    with LineProcess(serve, output="stderr") as server, LineProcess(collect, output="stderr") as collector:
        url = server.wait_for_line(lambda line: "http://" in line).partition("http http")[2].partition(",")[0]
        wait_for(gate.exists, what="the collector's socket")
        said = iotide(*collect[len(IOTIDE) :], "--print-environment", cwd=tmp_path).stdout
        traced = plain_environment(**dict(line.split("=", 1) for line in said.split()))
        for job, command in (("some", f"{static}; {static}; /nowhere; true"), ("none", "cat /dev/null")):
            words = ["sh", "-c", command]
            subprocess.run(words, env=traced | {"IOTIDE_JOB": job}, check=True, stderr=subprocess.DEVNULL)
        line = collector.wait_for_line(lambda line: "of job some" in line)
        assert f"{static} of job some, which is statically linked, is not traced" in line

        def losses(job: str) -> dict[str, int] | None:
            with urllib.request.urlopen(f"http{url}/api/v1/jobs") as answer:
                found = {each.job: each for each in JobList.model_validate_json(answer.read()).jobs}
            return found[job].losses if job in found else None

        wait_for(lambda: losses("some") == {UNTRACED: 2}, what="the loss")
        assert losses("none") == {}
