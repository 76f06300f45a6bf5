"""Collectors on hosts of mpirun: the agent of each kind of MPI, and the variables of ranks on other hosts."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from iotide.cli.run.nodes.launchers import Launcher
from iotide.cli.run.nodes.mpi_launcher import mpi_launcher, with_exports

HOSTS = "--host 192.0.2.7:2,127.0.0.3,192.0.2.8"
"""Two addresses for documentation, which no machine has, and one of this machine."""
MpiOfKind = Callable[[str], None]


@pytest.fixture
def mpi(tmp_path: Path) -> MpiOfKind:
    """Make a launcher that prints a version, and agents."""

    def make(version: str) -> None:
        for name, text in (("mpirun", f"echo '{version}'"), ("ssh", ""), ("oarsh", "")):
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / name).chmod(0o755)

    make("mpirun (Open MPI) 4.1.4")
    return make


def found(tmp_path: Path, command: str, said: list[str], **environment: str) -> Launcher | None:
    return mpi_launcher(command.split(), {"PATH": str(tmp_path), **environment}, said.append)


def test_each_other_host_gets_a_collector_by_ssh(tmp_path: Path, mpi: MpiOfKind) -> None:
    said: list[str] = []
    launcher = found(tmp_path, f"mpirun {HOSTS} ./simulation", said, LD_LIBRARY_PATH="/opt/a b/lib")
    assert launcher is not None
    assert (launcher.nodes, launcher.exports_by_name, said) == (("192.0.2.7", "192.0.2.8"), True, [])
    *agent, host, remote = launcher.commands[1]
    assert (agent, host) == (["ssh", "-x", "-o", "BatchMode=yes"], "192.0.2.8")
    words = shlex.split(remote)
    assert words[:2] == ["env", "LD_LIBRARY_PATH=/opt/a b/lib"]
    assert words[-3:] == ["-m", "iotide.cli.run.nodes.on_node", "192.0.2.8"]


@pytest.mark.parametrize(
    ("version", "options", "environment", "agent"),
    [
        ("Open MPI", "--mca plm_rsh_agent oarsh", {}, ["oarsh"]),
        ("Open MPI", "--mca plm_rsh_agent /gone:oarsh", {}, ["oarsh"]),
        ("Open MPI", "", {"OMPI_MCA_plm_rsh_agent": "oarsh -t 5"}, ["oarsh", "-t", "5"]),
        ("PRRTE", "", {"PRTE_MCA_plm_ssh_agent": "oarsh"}, ["oarsh"]),
        ("HYDRA", "-launcher-exec oarsh", {}, ["oarsh"]),
        ("HYDRA", "-bootstrap rsh -bootstrap-exec oarsh", {}, ["oarsh"]),
        ("HYDRA", "", {"HYDRA_LAUNCHER_EXEC": "oarsh"}, ["oarsh"]),
        ("Intel(R) MPI", "", {"I_MPI_HYDRA_BOOTSTRAP_EXEC": "oarsh"}, ["oarsh"]),
    ],
)
def test_agent_of_the_launcher_starts_them(
    tmp_path: Path, mpi: MpiOfKind, version: str, options: str, environment: dict[str, str], agent: list[str]
) -> None:
    mpi(version)
    launcher = found(tmp_path, f"mpirun {options} {HOSTS} ./simulation", [], **environment)
    assert launcher is not None
    assert list(launcher.commands[0][:-2]) == agent
    assert launcher.exports_by_name == (version in ("Open MPI", "PRRTE"))


@pytest.mark.parametrize(
    ("version", "command", "told"),
    [
        ("Open MPI", "mpirun -n 2 ./simulation", ""),
        ("Open MPI", "mpirun --host localhost,127.0.0.5 ./simulation", ""),
        ("Open MPI", f"prterun {HOSTS} ./simulation", ""),
        ("HYDRA", f"mpirun -launcher fork {HOSTS} ./simulation", ""),
        ("HYDRA", f"mpirun -launcher pbs {HOSTS} ./simulation", "the launcher pbs of MPI cannot start collectors"),
        ("Open MPI", f"mpirun --mca plm_rsh_agent no1:no2 {HOSTS} ./simulation", "no1 or no2 is not installed"),
    ],
    ids=["no hosts", "this host", "not installed", "one host", "another launcher", "no agent"],
)
def test_no_launcher_where_none_can_be(tmp_path: Path, mpi: MpiOfKind, version: str, command: str, told: str) -> None:
    mpi(version)
    said: list[str] = []
    assert found(tmp_path, command, said) is None
    assert len(said) == bool(told)
    assert all(line.startswith("ranks on 192.0.2.7, 192.0.2.8 are not seen: ") and told in line for line in said)


@pytest.mark.usefixtures("mpi")
def test_other_nodes_of_a_job_of_pbs_or_lsf_are_told(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    nodes.write_text(f"{socket.gethostname()}\n192.0.2.7\n192.0.2.7\n")
    for variable in ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE"):
        said: list[str] = []
        assert found(tmp_path, "mpirun -n 2 ./simulation", said, **{variable: str(nodes)}) is None
        assert said[0].startswith("ranks on 192.0.2.7 are not seen: name the hosts to mpirun (--hostfile), or start it")
        nodes_named = found(tmp_path, f"mpirun --hostfile {nodes} ./simulation", said[:0], **{variable: str(nodes)})
        assert nodes_named is not None


@pytest.mark.usefixtures("mpi")
def test_list_of_exports_on_the_command_line_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    command = f"mpirun --mca mca_base_env_list A;B {HOSTS} ./simulation"
    assert found(tmp_path, command, said) is not None
    assert "unless mca_base_env_list contains LD_PRELOAD, IOTIDE_SOCKET and IOTIDE_JOB" in said[0]
    assert with_exports(command.split(), {}, {"IOTIDE_JOB": "1"}) == (tuple(command.split()), {"IOTIDE_JOB": "1"})


PLAIN = {"PATH": "/usr/bin:/bin", "HOME": "/h", "IOTIDE_LAYERS": "posix"}
TRACED = PLAIN | {"LD_PRELOAD": "/l.so", "IOTIDE_SOCKET": "/s"}


def test_exports_are_named_for_each_program() -> None:
    command, environment = with_exports(["mpirun", "-x", "A", "-n", "1", "sh", ":", "-n", "1", "sh"], PLAIN, TRACED)
    ours = "-x IOTIDE_LAYERS -x LD_PRELOAD -x IOTIDE_SOCKET"
    assert " ".join(command) == f"mpirun {ours} -x A -n 1 sh : {ours} -n 1 sh"
    assert environment == TRACED


def test_list_of_exports_in_the_environment_is_extended() -> None:
    listed = {"OMPI_MCA_mca_base_env_list": "A=1;B"}
    command, environment = with_exports(["mpirun", "sh"], PLAIN | listed, TRACED | listed)
    assert command == ("mpirun", "sh")
    assert environment["OMPI_MCA_mca_base_env_list"] == "A=1;B;IOTIDE_LAYERS;LD_PRELOAD;IOTIDE_SOCKET"
