"""How programs are started on the other nodes that a command will use."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ....events import UnavailableError

_ASKED_S: Final = 10.0
"""How long Slurm's controller may take to answer."""
_OF_STEPS: Final = ("SLURM_", "SLURMD_")
_KEPT: Final = ("SLURM_CONF", "SLURM_CLUSTER_NAME")
_EXPORTED: Final = "SLURM_EXPORT_ENV"
_MODULE: Final = "iotide.cli.run.nodes.on_node"


@dataclass(frozen=True, slots=True)
class Launcher:
    """Starts a collector on each of some nodes.

    Attributes:
        nodes: their names.
        address: of one of them, by which it is found from where they can reach us.
        commands: one or several; each hands its standard input on to all that it starts.
        environment: of the commands.
    """

    nodes: tuple[str, ...]
    address: str
    commands: tuple[tuple[str, ...], ...]
    environment: Mapping[str, str]


def launcher_of(environment: Mapping[str, str], say: Callable[[str], None]) -> Launcher | None:
    """Returns what reaches the other nodes of the batch system's job; None where there are none.

    Args:
        environment: of the run.
        say: is told why other nodes cannot be reached.
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


def own_node(environment: Mapping[str, str]) -> str:
    """Returns what Slurm, or else the system, calls the node that we are on."""
    return environment.get("SLURMD_NODENAME") or socket.gethostname()


def address_towards(host: str) -> str:
    """Returns the address of this machine from which packets to a host leave.

    Raises:
        UnavailableError: nobody knows the host, or no way leads there.
    """
    try:
        for family, kind, _, _, address in socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM):
            with socket.socket(family, kind) as tried:
                tried.connect(address)  # which sends nothing
                return str(tried.getsockname()[0])
    except OSError as error:
        raise UnavailableError(f"no way leads to {host}: {error.strerror or error}") from None
    raise UnavailableError(f"no way leads to {host}")


def _of_slurm(environment: Mapping[str, str]) -> Launcher | None:
    job, listed = environment.get("SLURM_JOB_ID", ""), environment.get("SLURM_JOB_NODELIST", "")
    if not job or not listed or environment.get("SLURM_JOB_NUM_NODES", "") in ("", "1"):
        return None
    if environment.get("SLURM_STEP_NUM_TASKS", "1") != "1":
        return None  # one of several tasks, each of which has a run of its own
    if (srun := shutil.which("srun", path=environment.get("PATH"))) is None:
        raise UnavailableError("there is no srun")
    own, found = own_node(environment), _nodes_of_slurm(listed, environment)
    others = {name: address for name, address in found.items() if own not in (name, address)}
    if not others:
        return None
    count = len(others)
    command = [
        *(srun, f"--jobid={job}", "--overlap", f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1"),
        *(f"--nodelist={','.join(others)}", "--cpus-per-task=1", "--mpi=none", "--export=ALL"),
        *("--kill-on-bad-exit=0", "--wait=0", "--quiet", "--job-name=iotide"),
        *(sys.executable, "-m", _MODULE),
    ]
    # What was asked for the job (tasks, cores, their places) is not meant for a step of ours.
    plain = {name: value for name, value in environment.items() if name in _KEPT or not name.startswith(_OF_STEPS)}
    return Launcher(tuple(others), next(iter(others.values())), (tuple(command),), plain)


def _nodes_of_slurm(listed: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the address of each node of a list as Slurm writes it."""
    said = _said(("scontrol", "--oneliner", "show", "node", listed), environment)
    nodes = {}
    for line in said.splitlines():
        facts = dict(word.split("=", 1) for word in line.split() if "=" in word)
        if name := facts.get("NodeName"):
            nodes[name] = facts.get("NodeAddr") or name
    if not nodes:
        raise UnavailableError(f"scontrol knows none of the nodes {listed[:80]}")
    return nodes


def _said(command: Sequence[str], environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASKED_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{command[0]} does not answer: {error}") from None
    if done.returncode:
        raise UnavailableError(f"{command[0]}: {done.stderr.decode(errors='replace').strip()[:200]}")
    return done.stdout.decode(errors="replace")
