"""Members of a cluster as real processes, with real NATS servers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from iotide.daemon.cluster.partitions import partition_of
from support.servers.nats_servers import NatsServers
from support.servers.served_process import Served
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.line_process import LineProcess
from support.system.waiting import wait_for

CONFIG = """
[journal]
servers = [{servers}]
replicas = {replicas}
monitors = [{monitors}]
lease_s = 2.0
[cluster]
on = true
partitions = {partitions}
"""
WRITER = """
import sys
out = open("out", "wb", buffering=0)
for line in sys.stdin:
    for _ in range(int(line)):
        out.write(bytes(1000))
    print("written", flush=True)
"""


def quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def json_of(url: str, path: str, token: Mapping[str, str] | None = None) -> Any:
    """Return the JSON of a member's response; ``token`` is the header of a user."""
    return json.loads(text_of(url, path, token))


def text_of(url: str, path: str, token: Mapping[str, str] | None = None) -> str:
    request = urllib.request.Request(f"{url}{path}", headers=dict(token or {}))
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(answer.read().decode())


def bytes_written_of(url: str, job: str, token: Mapping[str, str] | None = None) -> int:
    """Return the bytes that a job wrote, as reported by any member; 0 if no member reports it."""
    try:
        return int(json_of(url, f"/api/v1/jobs/{job}", token)["bytes_written"])
    except (urllib.error.HTTPError, TimeoutError):
        return 0


def unserved_partitions(url: str, token: Mapping[str, str] | None = None) -> list[int]:
    found: list[int] = json_of(url, "/api/v1/cluster", token)["unserved"]
    return found


def served_partitions(url: str, token: Mapping[str, str] | None = None) -> dict[str, list[int]]:
    """Return the partitions of each member, by its address."""
    members = json_of(url, "/api/v1/cluster", token)["members"].values()
    return {member["http"]: member["serves"] for member in members}


def jobs_in_all_partitions(count: int) -> list[str]:
    """Return one job for each partition."""
    found: dict[int, str] = {}
    for number in range(1000):
        found.setdefault(partition_of(f"job-{number}", count), f"job-{number}")
    return [found[number] for number in range(count)]


def members_of(
    folder: Path, servers: NatsServers, names: str, partitions: int, more: str = "", *, publish: bool = False
) -> list[Served]:
    """Return members that are not started, with folders of their own; ``more`` is added to their settings."""
    config = folder / "serve.toml"
    replicas = 3 if servers.count > 1 else 1
    monitors = "" if servers.count > 1 else quoted(servers.monitors)
    places = {"servers": quoted(servers.urls), "replicas": replicas, "monitors": monitors}
    config.write_text(CONFIG.format(**places, partitions=partitions) + more)
    found = []
    for name in names:
        (folder / name).mkdir()
        out = ("--publish", f"ipc://{folder / name}/out") if publish else ()
        found.append(Served(folder / name, "--config", str(config), *out))
    return found


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def kill_machine(member: Served) -> None:
    """Kill a member and its processes as if the machine was lost."""
    processes = [member.pid, *children(member.pid)]
    for process in processes:
        os.kill(process, signal.SIGSTOP)  # so that no process shuts down in order when its parent is gone
    for process in reversed(processes):
        os.kill(process, signal.SIGKILL)
    member.wait()


def stop_member(member: Served) -> None:
    with suppress(AssertionError, ProcessLookupError, FileNotFoundError):
        kill_machine(member)
    with suppress(AssertionError):
        member.kill()


@contextmanager
def writers(
    folder: Path, endpoints: Sequence[str], jobs: Sequence[str], keys: Mapping[str, tuple[Path, Path]] | None = None
) -> Iterator[list[LineProcess]]:
    """Run a traced program per job, each with its own collector (and its keys), as on separate nodes."""
    connect = [word for endpoint in endpoints for word in ("--connect", endpoint)]
    with ExitStack() as stack:
        programs = []
        for number, job in enumerate(jobs):
            tracer, place = folder / f"t{number}", folder / job
            place.mkdir()
            command = [*IOTIDE, "collect", "--socket", str(tracer), *connect, "--job", job]
            if keys is not None:
                secret, server = keys[job]
                command += ["--key", str(secret), "--server-key", str(server)]
            collector: subprocess.Popen[bytes] = stack.enter_context(Program(command, env=plain_environment()))
            wait_for(lambda: tracer.exists() or collector.poll() is not None, what="the socket")  # noqa: B023
            environment_lines = iotide(
                "collect", "--socket", tracer, "--job", job, "--print-environment", cwd=place
            ).stdout.split()
            traced = ["env", "-C", str(place), *environment_lines, sys.executable, "-c", WRITER]
            stack.callback(collector.terminate)  # it continues until it is requested to end, and the test waits for it
            programs.append(stack.enter_context(LineProcess(traced)))
        yield programs
