"""Hosts beside this one in the arguments of MPI launchers, where no collector is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from iotide.cli.run.nodes.named_hosts import other_hosts


@pytest.mark.parametrize(
    ("command", "others"),
    [
        ("mpirun --host n1,n2:4 -n 2 ./simulation", ["n2"]),
        ("/opt/mpi/bin/mpirun -H n1.cluster:2,n3 ./simulation", ["n3"]),
        ("mpiexec -hosts=n2,n2 ./simulation", ["n2"]),
        ("mpiexec -n 2 ./simulation", []),
        ("mpirun --host localhost:4 ./simulation", []),
        ("mpirun --host", []),
        ("mpirun -n 2 sh --host n2", []),
        ("./simulation --host n2", []),
        ("mpirun --hostfile /gone ./simulation", []),
    ],
)
def test_hosts_of_arguments_are_found(command: str, others: list[str]) -> None:
    assert other_hosts(command.split(), "n1") == others


@pytest.mark.parametrize("option", ["--hostfile", "-machinefile", "-f"])
def test_hosts_of_files_are_found(tmp_path: Path, option: str) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("# two nodes\nn1 slots=4\n\n  n2:4\nn3 slots=4\n")
    assert other_hosts(["mpirun", option, str(hosts), "./simulation"], "n1") == ["n2", "n3"]
