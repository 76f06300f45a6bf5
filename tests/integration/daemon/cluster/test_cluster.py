"""Real processes: members of a cluster share the jobs out, lead to their owners, and go on when one is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from support.servers.clusters import asked, close, jobs_in_all_partitions, lose, members_of, serves, unserved, written
from support.servers.nats_servers import nats_servers
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.conversations import Talking
from support.system.waiting import wait_for

WRITER = """
import sys
out = open("out", "wb", buffering=0)
for line in sys.stdin:
    for _ in range(int(line)):
        out.write(bytes(1000))
    print("written", flush=True)
"""
PARTITIONS = 3


@contextmanager
def writers(folder: Path, endpoints: list[str], jobs: list[str]) -> Iterator[list[Talking]]:
    """Runs a program of each job, traced by one collector each, as on nodes of their own."""
    connect = [word for endpoint in endpoints for word in ("--connect", endpoint)]
    with ExitStack() as stack:
        programs = []
        for number, job in enumerate(jobs):
            tracer, place = folder / f"t{number}", folder / job
            place.mkdir()
            command = [*IOTIDE, "collect", "--socket", str(tracer), *connect, "--job", job]
            collector: subprocess.Popen[bytes] = stack.enter_context(Program(command, env=plain_environment()))
            wait_for(lambda: tracer.exists() or collector.poll() is not None, what="the socket")  # noqa: B023
            said = iotide("collect", "--socket", tracer, "--job", job, "--print-environment", cwd=place).stdout.split()
            traced = ["env", "-C", str(place), *said, sys.executable, "-c", WRITER]
            stack.callback(collector.terminate)  # it goes on until it is asked to end, and is waited for
            programs.append(stack.enter_context(Talking(traced)))
        yield programs


@pytest.mark.slow
def test_jobs_of_all_partitions_go_on_when_a_member_is_lost_and_another_one_joins(tmp_path: Path) -> None:
    jobs = jobs_in_all_partitions(PARTITIONS)
    with ExitStack() as stack:
        servers = stack.enter_context(nats_servers(tmp_path / "nats"))
        first, second = members = members_of(tmp_path, servers, "ab", PARTITIONS)
        for each in members:
            stack.callback(close, each)
        first.start()
        wait_for(lambda: not unserved(first.url), what="all partitions at one")
        second.start()
        wait_for(lambda: sorted(map(len, serves(second.url).values())) == [1, 2], what="the partitions at two")
        programs = stack.enter_context(writers(tmp_path, [each.endpoint for each in members], jobs))
        for number, program in enumerate(programs):
            program.say(f"{1000 + number}")
        for url in (first.url, second.url):  # any member leads to any job
            for number, job in enumerate(jobs):
                wait_for(lambda: written(url, job) == 1000 * (1000 + number), what=f"{job} at {url}")  # noqa: B023
            assert sorted(job["job"] for job in asked(url, "/api/v1/jobs")["jobs"]) == sorted(jobs)
        lose(second)
        for program in programs:
            program.say("500")
        for number, job in enumerate(jobs):
            wait_for(lambda: written(first.url, job) == 1000 * (1500 + number), what=f"{job} at the first")  # noqa: B023
        assert not unserved(first.url)
