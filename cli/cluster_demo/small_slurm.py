"""A real Slurm with two nodes on this machine, each with a private folder and the scripts. It listens on loopback."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...events import UnavailableError
from ..slurm.scripts import write_scripts
from ..slurm.settings import SlurmSettings
from .processes import program, run_process, wait_for

NODES: Final = ("node1", "node2")
_JOBS_END_S: Final = 10.0
_CONFIGURATION: Final = """
ClusterName=iotide
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={ports[0]}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/controller.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 RealMemory=1000 State=UNKNOWN
NodeName=node2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=node[1-2] Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
PrologFlags=Alloc
MessageTimeout=100
TCPTimeout=60
BatchStartTimeout=600
SlurmdTimeout=600
UnkillableStepTimeout=600
"""
"""The timeouts outlast the stalls of a busy machine. By default a job whose prolog takes 10 s is requeued."""


@dataclass(frozen=True, slots=True)
class Slurm:
    """Data that commands need to reach this Slurm."""

    environment: dict[str, str]
    node_folder: Path
    """A path with separate files on each node, like /tmp."""

    def output_of(self, *command: str) -> str:
        """Return the output of one of its commands."""
        name, *arguments = command
        done = subprocess.run(
            [program(name), *arguments],
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        return done.stdout


@contextlib.contextmanager
def small_slurm(folder: Path, *lines: str, environment: Mapping[str, str], deadline_s: float) -> Iterator[Slurm]:
    """Run Slurm with its own authentication service.

    Args:
        folder: an empty folder for all of its files.
        lines: further lines for slurm.conf.
        environment: environment of daemons and commands.
        deadline_s: maximum time until its nodes are idle, s.

    Raises:
        UnavailableError: it is not installed, this user may not run it, or it does not start.
    """
    munged, controller, daemon = program("munged"), program("slurmctld"), program("slurmd")
    if os.getuid() != 0:
        raise UnavailableError("Slurm's daemons start programs as other users: run this as root")
    shared = folder / "node"
    of_nodes = [folder / f"{kind}.{node}" for kind in ("spool", "files") for node in NODES]
    for each in (folder / "state", shared, *of_nodes):
        each.mkdir(mode=0o755)
    bind = f'mount --bind "{folder}/files.$0" "{shared}"'
    tried = subprocess.run(
        ["unshare", "-m", "sh", "-c", bind, NODES[0]],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if tried.returncode:
        raise UnavailableError(f"nodes with folders of their own need a mount: {tried.stderr.strip()}")
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    file = folder / "slurm.conf"
    made = _CONFIGURATION.format(host=socket.gethostname(), folder=folder, ports=_free_ports(3))
    file.write_text("\n".join([made, *lines, ""]), encoding="utf-8")
    paths = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
    authentication = [munged, "--foreground", "--force", f"--socket={folder}/munge.socket", *paths]
    in_node = f'{bind} && exec {daemon} -D -N "$0" -f {file}'
    made_environment = dict(environment) | {"SLURM_CONF": str(file)}
    with contextlib.ExitStack() as stack:
        stack.enter_context(run_process(authentication, folder / "munge.out", made_environment))
        wait_for((folder / "munge.socket").exists, "munge", deadline_s)
        stack.enter_context(
            run_process([controller, "-D", "-f", str(file)], folder / "controller.out", made_environment)
        )
        nodes = []
        for node in NODES:
            command = ["unshare", "-m", "sh", "-c", in_node, node]
            nodes.append(stack.enter_context(run_process(command, folder / f"{node}.out", made_environment)).pid)
        slurm = Slurm(made_environment, shared)
        wait_for(lambda: slurm.output_of("sinfo", "-h", "-N", "-o", "%T").split() == ["idle"] * 2, "Slurm", deadline_s)
        spaces = {Path(f"/proc/{pid}/ns/mnt").readlink() for pid in nodes}
        try:
            yield slurm
        finally:
            _cancel_all(slurm)
            _kill_remaining(spaces, nodes)


def _cancel_all(slurm: Slurm) -> None:
    """End all jobs: the processes of a step outlive the daemons that started it."""
    if jobs := slurm.output_of("squeue", "-h", "-o", "%A").split():
        slurm.output_of("scancel", *jobs)
        with contextlib.suppress(UnavailableError):  # a node that went away never reports the end of its jobs
            wait_for(lambda: not slurm.output_of("squeue", "-h").strip(), "the end of the jobs", _JOBS_END_S)


def _kill_remaining(spaces: Collection[Path], daemons: Collection[int]) -> None:
    """Kill what still runs on the nodes: on a busy machine, jobs outlast the time for their end.

    Args:
        spaces: mount namespaces of the nodes. Each job has that of its node.
        daemons: slurmd of each node, which ends later.
    """
    own = Path("/proc/self/ns/mnt").readlink()
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (space := (place / "ns/mnt").readlink()) in spaces and space != own and int(place.name) not in daemons:
                os.kill(int(place.name), signal.SIGKILL)


def _free_ports(count: int) -> list[int]:
    """Return ports below the ephemeral range, so that no other program gets them by chance."""
    found: list[int] = []
    for port in random.sample(range(10_000, 30_000), 1000):
        with contextlib.suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            break
    return found


def install_scripts(folder: Path, node_folder: Path, endpoint: str, **settings: str) -> list[str]:
    """Write them to the folder of slurm.conf; return its further lines.

    Args:
        folder: folder of slurm.conf.
        node_folder: folder on each node, for sockets and the log.
        endpoint: endpoint of the aggregator.
        settings: further settings of slurm.toml, as TOML.

    Raises:
        UnavailableError: iotide was installed without its scripts.
    """
    chosen = tomllib.loads("".join(f"{name} = {value}\n" for name, value in settings.items()))
    places = {"connect": endpoint, "folder": node_folder / "iotide", "log": node_folder / "log"}
    program = Path(sys.executable).parent / "iotide"
    made = SlurmSettings.model_validate(places | chosen)
    lines = write_scripts(folder, program, folder / "slurm.toml", made)
    return [*lines[:-1], "CliFilterPlugins=cli_filter/lua"]
