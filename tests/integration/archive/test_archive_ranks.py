"""Archives of real MPI programs: more ranks hardly increase the size, except for times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.system.commands import iotide, plain_environment
from support.tracing.mpi import IMPLEMENTATIONS, build
from support.tracing.programs import need

TIMES = 100


def traced(program: Path, launcher: str, ranks: int, folder: Path) -> Path:
    """Run the program and return its archive."""
    data = folder / "data"
    data.mkdir(parents=True)
    command = ["--", launcher, "-n", ranks, program, TIMES, data / "out"]
    done = iotide("run", "--quiet", "--only-paths", data, "-o", "run", *command, cwd=folder)
    assert done.returncode == 0, done.stderr
    (archive,) = (folder / "run").glob("*.iotide")
    return archive


def about(archive: Path) -> dict[str, Any]:
    done = iotide("archive", "info", "--json", archive, cwd=archive.parent, env=plain_environment())
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert (found["complete"], found["problems"]) == (True, [])
    return found


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_archive_of_more_ranks_is_hardly_larger_but_for_times(implementation: str, tmp_path: Path) -> None:
    launcher = need(f"mpirun.{implementation}")
    program = build(implementation, "mpi_strided.c", tmp_path)
    found = {ranks: about(traced(program, launcher, ranks, tmp_path / str(ranks))) for ranks in (2, 8)}
    for ranks, report in found.items():
        streams = [stream for stream in report["streams"] if stream["calls"] >= 2 * TIMES]
        assert [stream["rank"] for stream in streams] == list(range(ranks))
        archive = tmp_path / str(ranks) / "run" / Path(report["archive"]).name
        rows = [json.loads(line) for line in iotide("archive", "dump", archive, cwd=tmp_path).stdout.splitlines()]
        shared = [row for row in rows if row["call"] == "MPI_File_write_at"]
        offsets = {rank: [row["offset"] for row in shared if row["rank"] == rank] for rank in range(ranks)}
        assert offsets == {rank: [4096 * (turn * ranks + rank) for turn in range(TIMES)] for rank in range(ranks)}
    sizes = {ranks: report["bytes"] - report["bytes_of_times"] for ranks, report in found.items()}
    # The launcher's own processes, and process numbers, differ.
    assert (sizes[8] - sizes[2]) / 6 < 400, sizes
    assert found[8]["merged"]["names"]["groups"] <= found[2]["merged"]["names"]["groups"] + 2
