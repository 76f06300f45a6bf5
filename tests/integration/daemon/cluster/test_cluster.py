"""Real processes: members of a cluster share the jobs out, lead to their owners, and go on when one is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from iotide.daemon.cluster.partitions import partition_of
from support.servers.nats_servers import NatsServers, nats_servers
from support.servers.served_process import Served
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
CONFIG = """
[journal]
servers = [{servers}]
replicas = 1
monitors = [{monitors}]
lease_s = 2.0
[cluster]
on = true
partitions = {partitions}
"""
PARTITIONS = 3


def asked(url: str, path: str) -> Any:
    with urllib.request.urlopen(f"{url}{path}", timeout=30) as answer:
        return json.load(answer)


def written(url: str, job: str) -> int:
    """Returns what a job wrote, as any member says; 0 where none can say."""
    try:
        return int(asked(url, f"/api/v1/jobs/{job}")["bytes_written"])
    except (urllib.error.HTTPError, TimeoutError):
        return 0


def unserved(url: str) -> list[int]:
    found: list[int] = asked(url, "/api/v1/cluster")["unserved"]
    return found


def serves(url: str) -> dict[str, list[int]]:
    """Returns the partitions of each member, by its address."""
    members = asked(url, "/api/v1/cluster")["members"].values()
    return {member["http"]: member["serves"] for member in members}


def jobs_in_all_partitions(count: int) -> list[str]:
    """Returns a job for each partition."""
    found: dict[int, str] = {}
    for number in range(1000):
        found.setdefault(partition_of(f"job-{number}", count), f"job-{number}")
    return [found[number] for number in range(count)]


def members_of(folder: Path, servers: NatsServers, names: str, partitions: int = PARTITIONS) -> list[Served]:
    config = folder / "serve.toml"
    quoted = [", ".join(f'"{each}"' for each in these) for these in (servers.urls, servers.monitors)]
    config.write_text(CONFIG.format(servers=quoted[0], monitors=quoted[1], partitions=partitions))
    found = []
    for name in names:
        (folder / name).mkdir()
        found.append(Served(folder / name, "--config", str(config)))
    return found


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def lose(member: Served) -> None:
    """Ends a member and its processes as if the machine were lost."""
    processes = [member.pid, *children(member.pid)]
    for process in processes:
        os.kill(process, signal.SIGSTOP)  # so that none ends in order because its parent is gone
    for process in reversed(processes):
        os.kill(process, signal.SIGKILL)
    member.wait()


def close(member: Served) -> None:
    with suppress(AssertionError, ProcessLookupError, FileNotFoundError):
        lose(member)
    with suppress(AssertionError):
        member.kill()


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
        first, second = members = members_of(tmp_path, servers, "ab")
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
