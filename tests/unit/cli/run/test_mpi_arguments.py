"""Hosts and options in the arguments of MPI launchers."""

from __future__ import annotations

from pathlib import Path

import pytest
from iotide.cli.run.nodes.mpi_arguments import mpi_arguments

PATH = {"PATH": "/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("command", "others"),
    [
        ("mpirun --host n1,n2:4 -n 2 ./simulation", ["n2"]),
        ("/opt/mpi/bin/mpirun -H n1.cluster:2,n3 ./simulation", ["n3"]),
        ("mpiexec -hosts=n2,n2 ./simulation", ["n2"]),
        ("mpiexec.hydra -env A env -hosts n2 ./simulation", ["n2"]),
        ("mpiexec -n 2 ./simulation", []),
        ("mpirun --host localhost:4 ./simulation", []),
        ("mpirun --host", []),
        ("mpirun -n 2 sh --host n2", []),
        ("mpirun --mca plm_rsh_agent sh --wdir test --host n2 sh --host n4", ["n2"]),
        ("mpirun --host n2 sh -c : --host n3 sh : -H n4 sh", ["n2", "n3", "n4"]),
        ("mpirun --hostfile /gone ./simulation", []),
    ],
)
def test_hosts_of_arguments_are_found(command: str, others: list[str]) -> None:
    found = mpi_arguments(command.split(), PATH, "n1")
    assert found is not None
    assert list(found.hosts) == others


def test_other_commands_have_no_arguments_of_mpi() -> None:
    assert mpi_arguments(["./simulation", "--host", "n2"], PATH, "n1") is None
    assert mpi_arguments([], PATH, "n1") is None


@pytest.mark.parametrize("option", ["--hostfile", "-machinefile", "-f"])
def test_hosts_of_files_are_found(tmp_path: Path, option: str) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("# two nodes\nn1 slots=4\n\n  n2:4\nn3 slots=4\n")
    found = mpi_arguments(["mpirun", option, str(hosts), "./simulation"], PATH, "n1")
    assert found is not None
    assert found.hosts == ("n2", "n3")


def test_hosts_of_the_environment_apply_where_the_command_names_none(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("n1\nn2\n")
    environment = PATH | {"HYDRA_HOST_FILE": str(hosts)}
    for command, others in (("mpiexec ./simulation", ("n2",)), ("mpiexec -hosts n3 ./simulation", ("n3",))):
        found = mpi_arguments(command.split(), environment, "n1")
        assert found is not None
        assert found.hosts == others
