"""Parallel HDF5: from the library through MPI-IO to the kernel, in one tree of handles per rank."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from iotide.events import Flag, Kind, Layer
from support.system.commands import plain_environment
from support.tracing.compiled_programs import PROGRAMS
from support.tracing.programs import need, need_file
from support.tracing.tracing import Row, Tracing

RANKS = {"h5py": 2, "mpich": 4}
ROW = 1024 * 8
PYTHON = Path("/usr/bin/python3")
H5PY = Path("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi")
"""Debian's h5py with parallel HDF5, on Open MPI; wheels have the serial one."""
INCLUDED, LINKED = Path("/usr/include/hdf5/mpich"), Path("/usr/lib/x86_64-linux-gnu/hdf5/mpich")


@dataclass(frozen=True)
class Run:
    """Recorded events of a traced run on its file."""

    command: list[str | Path]
    ranks: int
    file: Path
    rows: list[Row]

    def each(self) -> list[list[Row]]:
        """Return each rank's calls on the file, by start."""
        return [[row for row in self.rows if row.rank == rank] for rank in range(self.ranks)]


def with_h5py() -> list[str | Path]:
    need_file(H5PY)
    launcher = need("mpirun.openmpi")
    return [launcher, "--oversubscribe", "-n", str(RANKS["h5py"]), need_file(PYTHON), PROGRAMS / "hdf5_parallel.py"]


def with_mpich(folder: Path) -> list[str | Path]:
    program = folder / "hdf5_parallel"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", f"-I{need_file(INCLUDED)}", f"-L{LINKED}", "-lhdf5"]
    compile_it = [need("mpicc.mpich"), PROGRAMS / "hdf5_parallel.c", "-o", program, *flags]
    subprocess.run(compile_it, check=True)
    return [need("mpirun.mpich"), "-n", str(RANKS["mpich"]), program]


@pytest.fixture(scope="module", params=RANKS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("parallel")
    file, ranks = folder / "rows.h5", RANKS[request.param]
    command = with_h5py() if request.param == "h5py" else with_mpich(folder)
    with Tracing(folder, ring_records=1 << 16) as tracing:
        done = tracing.run([*command, file])
        totals = [4 * 7 + 1020 * float((rank + 1) % ranks) for rank in range(ranks)]
        assert (done.returncode, done.stdout) == (0, str(totals)), done.stderr
        return Run(command, ranks, file, tracing.rows(path=file))


def below(rows: list[Row], upper: Row) -> list[Row]:
    return [
        row
        for row in rows
        if row.tid == upper.tid and upper.start <= row.start and row.end <= upper.end and row.depth > upper.depth
    ]


def test_file_is_the_one_that_is_written_untraced(run: Run, tmp_path: Path) -> None:
    plain = tmp_path / "plain.h5"
    subprocess.run([*run.command, plain], env=plain_environment(), capture_output=True, text=True, check=True)
    assert plain.read_bytes() == run.file.read_bytes()


def test_each_rank_has_one_tree_from_dataset_to_descriptor(run: Run) -> None:
    for rows in run.each():
        created, dataset = (next(row for row in rows if row.call == name) for name in ("H5Fcreate", "H5Dcreate2"))
        opened = next(row for row in rows if row.call == "MPI_File_open")
        descriptor = [row for row in below(rows, opened) if row.call == "open"][-1]
        assert [(row.depth, row.parent) for row in (created, opened, descriptor)] == [
            (0, 0),
            (1, created.handle),
            (2, opened.handle),
        ]
        assert dataset.parent == created.handle
        together, alone = [row for row in rows if row.call == "H5Dwrite"]
        for upper, transfer in ((together, "MPI_File_write_at_all"), (alone, "MPI_File_write_at")):
            (moved,) = [row for row in below(rows, upper) if row.call == transfer]
            (stored,) = [row for row in below(rows, moved) if row.kind is Kind.WRITE and row.layer is Layer.POSIX]
            assert (upper.handle, upper.depth) == (dataset.handle, 0)
            assert (moved.handle, moved.parent, moved.depth) == (opened.handle, dataset.handle, 1)
            assert (stored.handle, stored.parent, stored.depth) == (descriptor.handle, opened.handle, 2)
            assert upper.bytes == moved.bytes == stored.bytes
            assert moved.offset == stored.offset


def test_transfers_are_collective_as_their_property_list_says(run: Run) -> None:
    for rank, rows in enumerate(run.each()):
        together, alone = [row for row in rows if row.call == "H5Dwrite"]
        assert bool(together.flags & Flag.COLLECTIVE), together
        assert not alone.flags & Flag.COLLECTIVE
        assert [(row.offset, row.bytes) for row in (together, alone)] == [(rank * ROW, ROW), (rank * ROW, 4 * 8)]


def test_row_of_the_other_rank_is_read_through_all_layers(run: Run) -> None:
    for rank, rows in enumerate(run.each()):
        (read,) = [row for row in rows if row.call == "H5Dread"]
        assert (read.offset, read.bytes) == ((rank + 1) % run.ranks * ROW, ROW)
        layers = {row.layer: row.bytes for row in below(rows, read) if row.kind is Kind.READ}
        assert layers == {Layer.MPIIO: ROW, Layer.POSIX: ROW}
