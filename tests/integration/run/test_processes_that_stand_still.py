"""Each of our processes stalls in turn while a program writes: the program does not wait, and losses are reported."""

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
from iotide.results.jobs.job import JobDetail
from iotide.results.jobs.run import RunSummary
from support.servers.restarted_job import job_at
from support.servers.served_process import served
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.writers import collecting, writer

FEW, MANY = 2_000, 150_000
"""Numbers of writes: within the capacity of a thread's ring, and above it."""
PROGRAM = """
import os, sys, time
out = os.open("out", os.O_CREAT | os.O_WRONLY)
def write(count):
    for _ in range(count):
        os.write(out, bytes(1000))
write(100)
open("began", "w").close()
while not os.path.exists("go on"):
    time.sleep(0.005)
write(int(sys.argv[1]))
os.rename("began", "done")
"""


def children_of(pid: int) -> list[int]:
    threads = (Path("/proc") / str(pid) / "task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]


def is_traced(pid: int) -> bool:
    return b"IOTIDE_SOCKET" in Path(f"/proc/{pid}/environ").read_bytes()


@contextmanager
def standing_still(pid: int) -> Iterator[None]:
    """Stop a process during the block."""
    os.kill(pid, signal.SIGSTOP)
    try:
        state = Path("/proc") / str(pid) / "stat"
        wait_for(lambda: state.read_text().rpartition(")")[2].split()[0] == "T", what="the stop")
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def is_whole(job: JobDetail, writes: int, *, has_room: bool) -> None:
    """Check that each of the given number of writes of 1,000 bytes was recorded or reported as lost, like some of
    pipes.
    """
    lost = sum(count for name, count in job.losses.items() if name.startswith("bytes_dropped"))
    assert 0 <= job.bytes_written + lost - 1000 * writes < 1000, job.losses
    assert not has_room or not job.losses


@pytest.mark.slow
@pytest.mark.parametrize("writes", [FEW, MANY])
@pytest.mark.parametrize("which", ["run", "the one that empties rings"])
def test_no_process_of_run_holds_up_the_program(tmp_path: Path, which: str, writes: int) -> None:
    command = [*IOTIDE, "run", "-o", "report", "--", sys.executable, "-c", PROGRAM, str(writes)]
    with Program(command, cwd=tmp_path, env=plain_environment(), stderr=subprocess.PIPE, text=True) as run:
        wait_for((tmp_path / "began").exists, what="the program's beginning")
        (emptying,) = [pid for pid in children_of(run.pid) if not is_traced(pid)]
        with standing_still(run.pid if which == "run" else emptying):
            (tmp_path / "go on").touch()
            wait_for((tmp_path / "done").exists, what="the program's end without a listener")
        said = run.communicate(timeout=DEADLINE_S)[1]
    assert run.returncode == 0, said
    summary = RunSummary.model_validate_json((tmp_path / "report" / "summary.json").read_text())
    is_whole(summary.job, 100 + writes, has_room=which == "run" or writes == FEW)
    assert ("lost: " in said) == bool(summary.job.losses)


@pytest.mark.slow
@pytest.mark.parametrize("writes", [FEW, MANY])
@pytest.mark.parametrize("which", ["serve", "collect"])
def test_neither_collector_nor_aggregator_holds_up_the_program(tmp_path: Path, which: str, writes: int) -> None:
    with (
        served(tmp_path) as server,
        collecting(tmp_path, server.endpoint) as (tracer, collector),
        writer(tmp_path, tracer) as program,
    ):
        program.write(100)
        wait_for(lambda: server.written() == 100_000, what="the first part")
        with standing_still(collector.pid if which == "collect" else server.pid):
            program.write(writes)
        program.end()
        assert iotide("collect", "--stop", tracer, cwd=tmp_path).returncode == 0
        assert collector.wait(DEADLINE_S) == 0
        job = wait_for(partial(job_at, server.url), what="the job")
    is_whole(job, sum(program.counts), has_room=which == "serve" or writes == FEW)
