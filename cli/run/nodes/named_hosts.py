"""Hosts that the command of a run names to an MPI launcher, without a batch system that starts collectors there."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

_LAUNCHERS: Final = frozenset({"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun"})
_HOSTS: Final = frozenset({"host", "hosts", "H"})
_FILES: Final = frozenset({"hostfile", "machinefile", "f"})
"""Options with a list of hosts, or with a file of them, of Open MPI, MPICH and Intel MPI, with one dash or two."""
_LARGEST: Final = 1 << 20


def other_hosts(command: Sequence[str], own: str) -> list[str]:
    """Return the hosts beside this one that a command names to mpirun or mpiexec.

    Args:
        command: program and arguments.
        own: name of this host.
    """
    if not command or Path(command[0]).name not in _LAUNCHERS:
        return []
    names = dict.fromkeys(_named(command))
    return [name for name in names if name and not _is_here(name, own)]


def _named(command: Sequence[str]) -> Iterator[str]:
    words = iter(command[1:])
    for word in words:
        if not word.startswith("-") and shutil.which(word):
            return  # the program, whose arguments are its own
        option, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-") or option not in _HOSTS | _FILES:
            continue
        value = value if equals else next(words, "")
        entries = value.split(",") if option in _HOSTS else _lines(Path(value))
        yield from (entry.strip().partition(":")[0] for entry in entries)


def _lines(file: Path) -> list[str]:
    """Return the first word of each line of a file of hosts; none if it cannot be read, which the launcher reports."""
    try:
        if not file.is_file():
            return []
        with file.open(errors="replace") as opened:
            text = opened.read(_LARGEST)
    except OSError:
        return []
    return [line.split()[0] for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def _is_here(name: str, own: str) -> bool:
    return name in ("localhost", "127.0.0.1", "::1", own) or name.partition(".")[0] == own.partition(".")[0]


def unseen_hosts(command: Sequence[str]) -> str:
    """Return a warning about hosts that the command names, which have no collector; "" if it names none."""
    if not (others := other_hosts(command, socket.gethostname())):
        return ""
    shown = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
    return (
        f"ranks on {shown} are not seen: outside a job of Slurm, collectors start on this node only; "
        "see `iotide collect`, or run it in a Slurm job"
    )
