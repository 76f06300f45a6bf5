"""CPU time of an aggregator by part: gateway, owners of jobs, snapshots and NATS server, and the threads of each."""

from __future__ import annotations

import contextlib
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from .processes import children_of, used_ns

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_ENDED_CHILDREN: Final = slice(13, 15)
"""cutime and cstime of /proc/PID/stat, counted from the state."""
_ZEROMQ: Final = "ZMQbg"
"""Beginning of the names of ZeroMQ's threads."""


def cpu_account(pid: int, *, in_cluster: bool) -> dict[str, float]:
    """Return the CPU time of an aggregator until now by part, s.

    Parts are ``gateway`` and ``owners``, each followed by the thread (``loop``, ``sockets``, ``journal``), and
    ``snapshots`` and ``nats``.

    Args:
        pid: process of ``iotide serve``.
        in_cluster: whether it is a member of a cluster; otherwise it owns all jobs.
    """
    spent: dict[str, float] = defaultdict(float)
    if not in_cluster:
        _add_owner(pid, spent)
        return spent
    _add_threads(pid, "gateway", spent)
    for child in children_of(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if b"nats-server" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0]:
                spent["nats"] += used_ns(child) / 1e9
            else:
                _add_owner(child, spent)
    return spent


def owners_of(pid: int) -> list[int]:
    """Return the processes of the partitions of a cluster's member."""
    commands = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children_of(pid)}
    return [child for child, command in commands.items() if b"--behind-gateways" in command]


def _add_owner(pid: int, spent: dict[str, float]) -> None:
    _add_threads(pid, "owners", spent)
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    spent["snapshots"] += sum(map(int, fields[_ENDED_CHILDREN])) / _TICKS
    for child in children_of(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            spent["snapshots"] += used_ns(child) / 1e9


def _add_threads(pid: int, part: str, spent: dict[str, float]) -> None:
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            name = "loop" if int(thread.name) == pid else "journal"
            if (thread / "comm").read_text().startswith(_ZEROMQ):
                name = "sockets"
            spent[f"{part}: {name}"] += int((thread / "schedstat").read_text().split()[0]) / 1e9


def grown(after: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """Return the growth of each value."""
    return {name: value - before.get(name, 0.0) for name, value in after.items()}
