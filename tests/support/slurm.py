"""A real Slurm of two nodes on this machine, each with a folder that the other does not see."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .commands import plain_environment
from .programs import need
from .waiting import wait_for

_CONFIGURATION = """
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
"""


@dataclass(frozen=True, slots=True)
class Slurm:
    """What commands need that are to reach it."""

    environment: dict[str, str]
    node_folder: Path
    """Each node sees files of its own there, as in its /tmp."""


@contextlib.contextmanager
def slurm(folder: Path) -> Iterator[Slurm]:
    """Runs it; skips the test where Slurm is absent, or where this user may not run one."""
    munged, controller, daemon = need("munged"), need("slurmctld"), need("slurmd")
    if os.getuid() != 0:
        pytest.skip("Slurm's daemons start programs as their users, which takes root")
    nodes = ("node1", "node2")
    shared = folder / "node"
    of_nodes = [folder / f"{kind}.{node}" for kind in ("spool", "files") for node in nodes]
    for each in (folder / "state", shared, *of_nodes):
        each.mkdir(mode=0o755)
    bind = f'mount --bind "{folder}/files.$0" "{shared}"'
    tried = subprocess.run(["unshare", "-m", "sh", "-c", bind, nodes[0]], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"nodes with folders of their own need a mount, which is not allowed here: {tried.stderr.strip()}")
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    file = folder / "slurm.conf"
    file.write_text(_CONFIGURATION.format(host=socket.gethostname(), folder=folder, ports=_free_ports(3)))
    paths = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
    authentication = [munged, "--foreground", "--force", f"--socket={folder}/munge.socket", *paths]
    in_node = f'{bind} && exec {daemon} -D -N "$0" -f {file}'
    environment = plain_environment(SLURM_CONF=str(file))
    with contextlib.ExitStack() as stack:
        stack.enter_context(_daemon(authentication, folder / "munge.out", environment))
        wait_for((folder / "munge.socket").exists, what="munge")
        stack.enter_context(_daemon([controller, "-D", "-f", str(file)], folder / "controller.out", environment))
        for node in nodes:
            command = ["unshare", "-m", "sh", "-c", in_node, node]
            stack.enter_context(_daemon(command, folder / f"{node}.out", environment))

        def idle() -> bool:
            told = subprocess.run(
                [need("sinfo"), "-h", "-N", "-o", "%T"], env=environment, capture_output=True, text=True, check=False
            )
            return told.stdout.split() == ["idle", "idle"]

        wait_for(idle, what="Slurm's nodes")
        yield Slurm(environment, shared)


def _free_ports(count: int) -> list[int]:
    """Returns ports below those that the system gives to connections: nobody else comes by them by chance."""
    found: list[int] = []
    for port in random.sample(range(10_000, 30_000), 1000):
        with contextlib.suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            break
    return found


@contextlib.contextmanager
def _daemon(command: list[str], output: Path, environment: dict[str, str]) -> Iterator[None]:
    with output.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment)
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
