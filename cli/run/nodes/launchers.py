"""Start of programs on the other nodes of a command."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from ....events import UnavailableError
from ....events.files import readable

_TIMEOUT_S: Final = 10.0
"""Timeout of commands such as scontrol, which waits for Slurm's controller, s."""
_STEP_PREFIXES: Final = ("SLURM_", "SLURMD_")
_KEPT_VARIABLES: Final = ("SLURM_CONF", "SLURM_CLUSTER_NAME")
_EXPORTED: Final = "SLURM_EXPORT_ENV"
_MODULE: Final = "iotide.cli.run.nodes.on_node"


class Launcher(Struct, frozen=True):
    """Starts a collector on each of several nodes.

    Attributes:
        nodes: their names.
        address: address of one of them, used to find our address in the same network.
        commands: one for all nodes, or one for each of the first nodes. It passes its standard input to the programs
            that it starts.
        environment: environment of the commands.
        exports_by_name: whether the run's command passes its environment to other nodes only by name.
    """

    nodes: tuple[str, ...]
    address: str
    commands: tuple[tuple[str, ...], ...]
    environment: Mapping[str, str]
    exports_by_name: bool = False


def launcher_of(environment: Mapping[str, str], say: Callable[[str], None]) -> Launcher | None:
    """Return the launcher for the other nodes of the batch job; None without other nodes.

    Args:
        environment: environment of the run.
        say: callback with the reason if other nodes are not accessible.
    """
    try:
        launcher = _of_slurm(environment)
        exported = environment.get(_EXPORTED, "ALL")
        if launcher is not None and exported.split(",")[0] != "ALL":
            say(f"{_EXPORTED} is {exported}: tasks of srun are not seen, except with `srun --export=ALL`")
        return launcher
    except UnavailableError as error:
        say(f"programs on other nodes are not seen: {error}")
        return None


def on_node_command(*arguments: str) -> tuple[str, ...]:
    """Return the command of a collector on a node."""
    return (sys.executable, "-P", "-m", _MODULE, *arguments)


def own_node(environment: Mapping[str, str]) -> str:
    """Return the name of this node in Slurm, or else its host name."""
    return readable(environment.get("SLURMD_NODENAME") or socket.gethostname())


def address_towards(host: str) -> str:
    """Return the local address from which packets to a host are sent.

    Raises:
        UnavailableError: the host is unknown, or there is no route to it.
    """
    try:
        for family, kind, _, _, address in socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM):
            with socket.socket(family, kind) as tried:
                tried.connect(address)  # a UDP connect sends nothing
                return str(tried.getsockname()[0])
    except OSError as error:
        raise UnavailableError(f"no route to {host}: {error.strerror or error}") from None
    raise UnavailableError(f"no route to {host}")


def _of_slurm(environment: Mapping[str, str]) -> Launcher | None:
    job, listed = environment.get("SLURM_JOB_ID", ""), environment.get("SLURM_JOB_NODELIST", "")
    if not job or not listed or environment.get("SLURM_JOB_NUM_NODES", "") in ("", "1"):
        return None
    if environment.get("SLURM_STEP_NUM_TASKS", "1") != "1":
        return None  # one of several tasks, each of which has a run of its own
    if (srun := shutil.which("srun", path=environment.get("PATH"))) is None:
        raise UnavailableError("srun is not installed")
    own, found = own_node(environment), _nodes_of_slurm(listed, environment)
    others = {name: address for name, address in found.items() if own not in (name, address)}
    if not others:
        return None
    count = len(others)
    command = [
        *(srun, f"--jobid={job}", "--overlap", f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1"),
        *(f"--nodelist={','.join(others)}", "--cpus-per-task=1", "--mpi=none", "--export=ALL"),
        *("--kill-on-bad-exit=0", "--wait=0", "--quiet", "--job-name=iotide"),
        *on_node_command(),
    ]
    # Requests of the job (tasks, cores, placement) must not apply to our step.
    plain = {
        name: value
        for name, value in environment.items()
        if name in _KEPT_VARIABLES or not name.startswith(_STEP_PREFIXES)
    }
    return Launcher(tuple(others), next(iter(others.values())), (tuple(command),), plain)


def _nodes_of_slurm(listed: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the address of each node in a Slurm node list."""
    node_lines = _output_of(("scontrol", "--oneliner", "show", "node", listed), environment)
    nodes = {}
    for line in node_lines.splitlines():
        facts = dict(word.split("=", 1) for word in line.split() if "=" in word)
        if name := facts.get("NodeName"):
            nodes[name] = facts.get("NodeAddr") or name
    if not nodes:
        raise UnavailableError(f"scontrol knows none of the nodes {listed[:80]}")
    return nodes


def run_query(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Run a short command without input, and capture its output.

    Raises:
        UnavailableError: the command cannot be started, or takes too long.
    """
    try:
        return subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{command[0]} does not answer: {error}") from None


def _output_of(command: Sequence[str], environment: Mapping[str, str]) -> str:
    done = run_query(command, environment)
    if done.returncode:
        raise UnavailableError(f"{command[0]}: {done.stderr.decode(errors='replace').strip()[:200]}")
    return done.stdout.decode(errors="replace")
