"""Members of a cluster as real processes, with real NATS servers."""

from __future__ import annotations

import json
import os
import signal
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from iotide.daemon.cluster.partitions import partition_of
from support.servers.nats_servers import NatsServers
from support.servers.served_process import Served

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


def quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def asked(url: str, path: str) -> Any:
    with urllib.request.urlopen(f"{url}{path}", timeout=30) as answer:
        return json.load(answer)


def written(url: str, job: str) -> int:
    """Return the bytes that a job wrote, as reported by any member; 0 if no member reports it."""
    try:
        return int(asked(url, f"/api/v1/jobs/{job}")["bytes_written"])
    except (urllib.error.HTTPError, TimeoutError):
        return 0


def unserved(url: str) -> list[int]:
    found: list[int] = asked(url, "/api/v1/cluster")["unserved"]
    return found


def serves(url: str) -> dict[str, list[int]]:
    """Return the partitions of each member, by its address."""
    members = asked(url, "/api/v1/cluster")["members"].values()
    return {member["http"]: member["serves"] for member in members}


def jobs_in_all_partitions(count: int) -> list[str]:
    """Return one job for each partition."""
    found: dict[int, str] = {}
    for number in range(1000):
        found.setdefault(partition_of(f"job-{number}", count), f"job-{number}")
    return [found[number] for number in range(count)]


def members_of(folder: Path, servers: NatsServers, names: str, partitions: int, more: str = "") -> list[Served]:
    """Return members that are not started, with folders of their own; ``more`` is added to their settings."""
    config = folder / "serve.toml"
    replicas = 3 if servers.count > 1 else 1
    monitors = "" if servers.count > 1 else quoted(servers.monitors)
    places = {"servers": quoted(servers.urls), "replicas": replicas, "monitors": monitors}
    config.write_text(CONFIG.format(**places, partitions=partitions) + more)
    found = []
    for name in names:
        (folder / name).mkdir()
        found.append(Served(folder / name, "--config", str(config)))
    return found


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def lose(member: Served) -> None:
    """Kill a member and its processes as if the machine was lost."""
    processes = [member.pid, *children(member.pid)]
    for process in processes:
        os.kill(process, signal.SIGSTOP)  # so that no process shuts down in order when its parent is gone
    for process in reversed(processes):
        os.kill(process, signal.SIGKILL)
    member.wait()


def close(member: Served) -> None:
    with suppress(AssertionError, ProcessLookupError, FileNotFoundError):
        lose(member)
    with suppress(AssertionError):
        member.kill()
