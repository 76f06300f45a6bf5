"""Parallel HDF5: from the library through MPI-IO to the kernel, in one tree of handles a rank."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from iotide.events import Flag, Kind, Layer
from support.building import PROGRAMS
from support.commands import plain_environment
from support.programs import need, need_file
from support.tracing import Row, Tracing

RANKS = 2
ROW = 1024 * 8
PYTHON = Path("/usr/bin/python3")
H5PY = Path("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi")
"""Debian's h5py with parallel HDF5; wheels have the serial one."""


@pytest.fixture(scope="module")
def command() -> list[str | Path]:
    need_file(H5PY)
    launcher = need("mpirun.openmpi")
    return [launcher, "--oversubscribe", "-n", str(RANKS), need_file(PYTHON), PROGRAMS / "hdf5_parallel.py"]


@pytest.fixture(scope="module")
def traced(command: list[str | Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tracing, Path]]:
    folder = tmp_path_factory.mktemp("parallel")
    file = folder / "rows.h5"
    with Tracing(folder, ring_records=1 << 16) as tracing:
        done = tracing.run([*command, file])
        assert (done.returncode, done.stdout) == (0, "[1048.0, 28.0]"), done.stderr
        yield tracing, file


def ranks(traced: tuple[Tracing, Path]) -> list[list[Row]]:
    """Returns what each rank did with the file, by start."""
    tracing, file = traced
    return [[row for row in tracing.rows(path=file) if row.rank == rank] for rank in range(RANKS)]


def below(rows: list[Row], upper: Row) -> list[Row]:
    return [
        row
        for row in rows
        if row.tid == upper.tid and upper.start <= row.start and row.end <= upper.end and row.depth > upper.depth
    ]


def test_file_is_the_one_that_is_written_untraced(
    traced: tuple[Tracing, Path], command: list[str | Path], tmp_path: Path
) -> None:
    plain = tmp_path / "plain.h5"
    bare = subprocess.run([*command, plain], env=plain_environment(), capture_output=True, text=True, check=True)
    assert bare.stdout == "[1048.0, 28.0]"
    assert plain.read_bytes() == traced[1].read_bytes()


def test_each_rank_has_one_tree_from_dataset_to_descriptor(traced: tuple[Tracing, Path]) -> None:
    for rows in ranks(traced):
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


def test_transfers_are_collective_as_their_property_list_says(traced: tuple[Tracing, Path]) -> None:
    for rank, rows in enumerate(ranks(traced)):
        together, alone = [row for row in rows if row.call == "H5Dwrite"]
        assert bool(together.flags & Flag.COLLECTIVE), together
        assert not alone.flags & Flag.COLLECTIVE
        assert [(row.offset, row.bytes) for row in (together, alone)] == [(rank * ROW, ROW), (rank * ROW, 4 * 8)]


def test_row_of_the_other_rank_is_read_through_all_layers(traced: tuple[Tracing, Path]) -> None:
    for rank, rows in enumerate(ranks(traced)):
        (read,) = [row for row in rows if row.call == "H5Dread"]
        assert (read.offset, read.bytes) == ((rank + 1) % RANKS * ROW, ROW)
        layers = {row.layer: row.bytes for row in below(rows, read) if row.kind is Kind.READ}
        assert layers == {Layer.MPIIO: ROW, Layer.POSIX: ROW}
