"""Start of collectors on the hosts of an MPI launcher, by the program with which it starts its own daemons there."""

from __future__ import annotations

import contextlib
import itertools
import shlex
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ....events import UnavailableError
from .launchers import Launcher, on_node_command, run_query
from .mpi_arguments import MpiArguments, hosts_in, is_named_like, mpi_arguments

_OPEN_MPI: Final = ("Open MPI", "OpenRTE", "PRRTE")
_MAX_HOSTS: Final = 128
"""Maximum number of hosts with a collector. Each one needs a process and four of our 1,024 descriptors."""
_AGENTS: Final = ("plm_rsh_agent", "plm_ssh_agent", "orte_rsh_agent")
_AGENT_PREFIXES: Final = ("OMPI_MCA_", "PRTE_MCA_")
_EXPORT_LIST: Final = "mca_base_env_list"
_EXPORT_LIST_VARIABLE: Final = f"OMPI_MCA_{_EXPORT_LIST}"
_HYDRA_LAUNCHERS: Final = ("HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP")
_HYDRA_AGENTS: Final = ("HYDRA_LAUNCHER_EXEC", "HYDRA_BOOTSTRAP_EXEC", "I_MPI_HYDRA_BOOTSTRAP_EXEC")
_REMOTE_SHELLS: Final = ("ssh", "rsh")
_NO_PROMPT: Final = ("-x", "-o", "BatchMode=yes")
"""Options of ssh: no X11, and an error where it would ask for a password, as nobody could type it."""
_INTERPRETER_VARIABLES: Final = ("LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH")
"""Variables that our Python may need on a host, whose shell has its own environment."""


def mpi_launcher(command: Sequence[str], environment: Mapping[str, str], say: Callable[[str], None]) -> Launcher | None:
    """Return the launcher for the other hosts that a command names to mpirun or mpiexec; None without other hosts.

    Args:
        command: program and arguments.
        environment: environment of the run.
        say: callback with the reason if other hosts are not accessible.
    """
    arguments = mpi_arguments(command, environment, socket.gethostname())
    if arguments is not None and not arguments.hosts and (others := _nodes_of_the_job(environment)):
        say(
            f"ranks on {_some_of(others)} are not seen: name the hosts to {command[0]} (--hostfile), "
            "or start it by with-iotide.sh; see docs/operations.md"
        )
    if arguments is None or not arguments.hosts or shutil.which(command[0], path=environment.get("PATH")) is None:
        return None
    hosts = tuple(host for host in arguments.hosts if not _is_local(host))
    if not hosts:
        return None
    try:
        is_open_mpi = _is_open_mpi(command[0], environment)
        agent = _agent_of_open_mpi(arguments, environment) if is_open_mpi else _agent_of_hydra(arguments, environment)
    except UnavailableError as error:
        say(f"ranks on {_some_of(hosts)} are not seen: {error}")
        return None
    if is_open_mpi and f"mca {_EXPORT_LIST}" in arguments.options:
        names = "LD_PRELOAD, IOTIDE_SOCKET and IOTIDE_JOB"
        say(f"ranks on {_some_of(hosts)} are not seen, unless {_EXPORT_LIST} contains {names}")
    if not agent:
        return None
    if Path(agent[0]).name == "ssh":
        agent += _NO_PROMPT
    kept = [f"{name}={environment[name]}" for name in _INTERPRETER_VARIABLES if environment.get(name)]
    commands = ((*agent, host, shlex.join(["env", *kept, *on_node_command(host)])) for host in hosts[:_MAX_HOSTS])
    return Launcher(hosts, hosts[0], tuple(commands), environment, exports_by_name=is_open_mpi)


def with_exports(
    command: Sequence[str], plain: Mapping[str, str], traced: Mapping[str, str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return a command of Open MPI, and its environment, that pass the tracer's variables to ranks on other hosts.

    Open MPI passes only the named ones. It refuses to be told names in both ways, `-x` and a list in the environment.

    Args:
        command: program and arguments.
        plain: environment without the tracer's variables.
        traced: environment with them.
    """
    names = [name for name in traced if name.startswith("IOTIDE_") or traced[name] != plain.get(name)]
    if listed := traced.get(_EXPORT_LIST_VARIABLE):
        return tuple(command), dict(traced) | {_EXPORT_LIST_VARIABLE: ";".join([listed, *names])}
    arguments = mpi_arguments(command, plain, "")
    if arguments is not None and f"mca {_EXPORT_LIST}" in arguments.options:
        return tuple(command), dict(traced)
    exports = [word for name in names for word in ("-x", name)]
    return tuple(_after_each_launch(command, exports)), dict(traced)


def _after_each_launch(command: Sequence[str], exports: Sequence[str]) -> Iterator[str]:
    """Insert options for each program; a `:` anywhere starts the options of the next one."""
    yield command[0]
    yield from exports
    for word in command[1:]:
        yield word
        if word == ":":
            yield from exports


def _nodes_of_the_job(environment: Mapping[str, str]) -> list[str]:
    """Return the other nodes of a job of PBS or LSF, whose launchers find them without a list of hosts."""
    files = filter(None, map(environment.get, ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE")))
    names = dict.fromkeys(name for file in files for name in hosts_in(Path(file)))
    own = socket.gethostname()
    return [name for name in names if not is_named_like(name, own) and not _is_local(name)]


def _is_local(host: str) -> bool:
    """Return whether a host is this one under another name, where launchers start no agent."""
    with contextlib.suppress(OSError):
        for family, kind, _, _, address in socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM):
            with socket.socket(family, kind) as tried, contextlib.suppress(OSError):
                tried.bind(address)  # only possible for addresses of this machine
                return True
    return False


def _is_open_mpi(program: str, environment: Mapping[str, str]) -> bool:
    version = run_query((program, "--version"), environment).stdout.decode(errors="replace")
    return any(name in version for name in _OPEN_MPI)


def _agent_of_open_mpi(arguments: MpiArguments, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words of the agent: the first installed one of a list such as `ssh : rsh`."""
    named = [arguments.options.get(f"{kind} {name}") for kind in ("mca", "prtemca") for name in _AGENTS]
    named += [environment.get(prefix + name) for prefix, name in itertools.product(_AGENT_PREFIXES, _AGENTS)]
    listed = next(filter(None, named), " : ".join(_REMOTE_SHELLS))
    return _installed([choice.split() for choice in listed.split(":")], environment)


def _agent_of_hydra(arguments: MpiArguments, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words of the agent; none if all ranks start on this host."""
    options = arguments.options
    launcher = options.get("launcher") or options.get("bootstrap") or _first(environment, _HYDRA_LAUNCHERS) or "ssh"
    if launcher == "fork":
        return ()
    if launcher not in _REMOTE_SHELLS:
        raise UnavailableError(f"the launcher {launcher} of MPI cannot start collectors; start `iotide collect` there")
    agent = options.get("launcher-exec") or options.get("bootstrap-exec") or _first(environment, _HYDRA_AGENTS)
    return _installed([[agent or launcher]], environment)


def _installed(choices: Sequence[Sequence[str]], environment: Mapping[str, str]) -> tuple[str, ...]:
    for words in choices:
        if words and shutil.which(words[0], path=environment.get("PATH")):
            return tuple(words)
    raise UnavailableError(f"{' or '.join(words[0] for words in choices if words)} is not installed")


def _first(environment: Mapping[str, str], names: Sequence[str]) -> str | None:
    return next(filter(None, map(environment.get, names)), None)


def _some_of(hosts: Sequence[str], most: int = 5) -> str:
    return ", ".join(hosts[:most]) + (f" and {len(hosts) - most} more" if len(hosts) > most else "")
