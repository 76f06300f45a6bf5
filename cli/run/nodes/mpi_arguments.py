"""Arguments of MPI launchers: hosts, and the program that starts something on a host."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

_LAUNCHERS: Final = ("mpirun", "mpiexec", "orterun", "prterun")
"""Beginnings of the launchers' names: `mpiexec.hydra` and `mpirun.openmpi` are others."""
_HOSTS: Final = frozenset({"host", "hosts", "H"})
_FILES: Final = frozenset({"hostfile", "machinefile", "machine", "f"})
"""Options with a list of hosts, or with a file of them, of Open MPI, MPICH and Intel MPI, with one dash or two."""
_FILE_VARIABLES: Final = (
    "HYDRA_HOST_FILE",
    "I_MPI_HYDRA_HOST_FILE",
    "OMPI_MCA_orte_default_hostfile",
    "PRTE_MCA_prte_default_hostfile",
)
_PAIRS: Final = frozenset({"mca", "omca", "gmca", "prtemca", "pmixmca", "env", "genv"})
"""Options with a name and a value."""
_SINGLE: Final = frozenset(
    {
        *("n", "np", "c", "N", "ppn", "perhost", "npernode", "npersocket", "x", "wdir", "wd", "path", "prefix"),
        *("map-by", "bind-to", "rank-by", "launcher", "launcher-exec", "bootstrap", "bootstrap-exec", "iface", "rmk"),
        *("envlist", "genvlist", "output-filename", "report-uri", "rankfile", "rf", "timeout", "tune", "am", "cpu-set"),
        *("personality", "stdin", "configfile", "app", "launch-agent", "localhost", "pmi-port"),
    }
)
"""Options whose value may have the name of a program, such as a folder or an agent."""
_LARGEST: Final = 1 << 20
"""Maximum bytes that are read of a file of hosts."""


class MpiArguments(Struct, frozen=True):
    """Arguments of mpirun or mpiexec before the programs.

    Attributes:
        hosts: the other hosts, in order, each once.
        options: the last value of each option, by name without dashes; of `--mca NAME VALUE`, by `mca NAME`.
    """

    hosts: tuple[str, ...]
    options: Mapping[str, str]


def mpi_arguments(command: Sequence[str], environment: Mapping[str, str], own: str) -> MpiArguments | None:
    """Return the arguments of an MPI launcher; None for other commands.

    Args:
        command: program and arguments.
        environment: its environment, whose file of hosts applies if the command names no hosts.
        own: name of this host.
    """
    if not command or not Path(command[0]).name.startswith(_LAUNCHERS):
        return None
    hosts: list[str] = []
    options: dict[str, str] = {}
    for option, value in _options(command[1:], environment.get("PATH")):
        options[option] = value
        if option in _HOSTS:
            hosts += value.split(",")
        elif option in _FILES:
            hosts += hosts_in(Path(value))
    if not hosts:
        hosts = next((hosts_in(Path(file)) for name in _FILE_VARIABLES if (file := environment.get(name))), [])
    names = dict.fromkeys(entry.strip().partition(":")[0] for entry in hosts)
    return MpiArguments(tuple(name for name in names if name and not is_named_like(name, own)), options)


def _options(words: Sequence[str], path: str | None) -> Iterator[tuple[str, str]]:
    """Yield the options of all programs that the launcher starts; `:` separates them."""
    left = iter(words)
    for word in left:
        if word.startswith("-"):
            option, equals, value = word.lstrip("-").partition("=")
            if option in _PAIRS:
                yield f"{option} {next(left, '')}", next(left, "")
            elif equals or option in _SINGLE | _HOSTS | _FILES:
                yield option, value if equals else next(left, "")
            else:
                yield option, ""
        elif shutil.which(word, path=path):  # else the value of another option
            while next(left, ":") != ":":
                pass  # the program's own arguments


def hosts_in(file: Path) -> list[str]:
    """Return the first word of each line of a file of hosts; none if it cannot be read, which the launcher reports."""
    try:
        if not file.is_file():
            return []
        with file.open(errors="replace", encoding="utf-8") as opened:
            text = opened.read(_LARGEST)
    except OSError:
        return []
    return [line.split()[0] for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def is_named_like(name: str, own: str) -> bool:
    """Return whether a name is that of this host, with or without its domain, or one for loopback."""
    return name in ("localhost", "127.0.0.1", "::1", own) or name.partition(".")[0] == own.partition(".")[0]
