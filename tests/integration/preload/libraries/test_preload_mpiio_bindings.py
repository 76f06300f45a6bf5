"""MPI-IO through other bindings than C's: each call is one event, with the name and the parameters of the C
function.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from iotide.events import Kind, Layer
from support.tracing import mpi
from support.tracing.mpi import Run, brief, handle_of
from support.tracing.programs import need_module

BINDINGS = {"mpif.h": (), "mpi": ("-DUSE_MPI",), "mpi_f08": ("-DUSE_MPI_F08",)}
RANKS = 2
SIZE = 4000
IN_ANY_ORDER = ("MPI_Waitany", "MPI_Waitsome")
"""The library decides which of several reads completes first."""


@pytest.fixture(scope="session", params=mpi.IMPLEMENTATIONS)
def implementation(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session", params=BINDINGS)
def fortran(implementation: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("fortran")
    flags = ("-fallow-argument-mismatch", *BINDINGS[str(request.param)])
    program = mpi.build(implementation, "mpi_fortran.F90", folder, *flags)
    return mpi.run(implementation, [program], folder, ranks=RANKS)


def place(turn: int, rank: int) -> int:
    return (turn * RANKS + rank) * SIZE


def expected(rank: int) -> list[tuple[str, int, int, int]]:
    begun = [("MPI_File_iwrite_at", place(4 + turn, rank), SIZE, 0) for turn in (1, 2, 3)]
    read = [("MPI_File_iread_at", place(turn, rank), SIZE, 0) for turn in (1, 2, 3)]
    return [
        ("MPI_File_open", -1, 0, 0),
        ("MPI_File_write_at_all", place(0, rank), SIZE, SIZE),
        ("MPI_File_write_at", place(1, rank), SIZE, SIZE),
        ("MPI_File_seek", place(2, rank), 0, 0),
        ("MPI_File_write", -1, SIZE, SIZE),
        ("MPI_File_seek", place(3, rank), 0, 0),
        ("MPI_File_write_all", -1, SIZE, SIZE),
        ("MPI_File_iwrite_at", place(4, rank), SIZE, 0),
        ("MPI_Wait", place(4, rank), 0, SIZE),
        *begun,
        *[("MPI_Waitall", offset, 0, SIZE) for _, offset, _, _ in begun],
        *read,
        ("MPI_Waitany", 0, 0, SIZE),
        ("MPI_Waitsome", 0, 0, SIZE),
        ("MPI_Waitsome", 0, 0, SIZE),
        ("MPI_File_iread", -1, 0, 0),
        ("MPI_Test", -1, 0, 0),
        ("MPI_File_write_at_all_begin", place(8, rank), SIZE, 0),
        ("MPI_File_write_at_all_end", place(8, rank), 0, SIZE),
        ("MPI_File_set_view", 0, 0, 0),
        ("MPI_File_read_at", rank * SIZE, SIZE, SIZE),
        ("MPI_File_get_size", -1, 0, 0),
        ("MPI_File_get_position", -1, 0, 0),
        ("MPI_File_sync", -1, 0, 0),
        ("MPI_File_close", -1, 0, 0),
        *([("MPI_File_delete", -1, 0, 0)] if rank == 0 else []),
        ("MPI_File_open", -1, 0, 0),
    ]


def test_fortran_programs_do_the_same_traced_and_untraced(fortran: Run) -> None:
    assert fortran.output == fortran.alone
    assert fortran.files == fortran.files_alone == {}


def test_a_call_from_fortran_is_one_event(fortran: Run) -> None:
    for rank in range(RANKS):
        seen = [
            (call, 0 if call in IN_ANY_ORDER else offset, requested, moved)
            for call, offset, requested, moved in brief(fortran.mpi(rank))
        ]
        assert seen == expected(rank)
        ends = [row for row in fortran.mpi(rank) if row.call in IN_ANY_ORDER]
        assert sorted(row.offset for row in ends) == [place(turn, rank) for turn in (1, 2, 3)]


def test_signatures_from_fortran_are_those_of_c(fortran: Run) -> None:
    calls = fortran.mpi(0)
    handle = handle_of(calls[0])
    assert handle != "0"
    assert {handle_of(row) for row in calls[:-2]} == {handle}
    told = {row.call: row.signature for row in calls[:-2]}
    assert told["MPI_File_open"] == (
        f"MPI_File_open(fh=@{handle}, comm=MPI_COMM_WORLD, amode=MPI_MODE_CREATE|MPI_MODE_RDWR, info=MPI_INFO_NULL)"
    )
    assert told["MPI_File_write_at_all"] == f"MPI_File_write_at_all(fh=@{handle}, count=1000, datatype=MPI_INTEGER)"
    assert (
        told["MPI_File_iwrite_at"] == f"MPI_File_iwrite_at(fh=@{handle}, count=1000, datatype=MPI_INTEGER, operation=3)"
    )
    assert told["MPI_Wait"] == f"MPI_Wait(fh=@{handle}, operation=1)"
    assert told["MPI_File_set_view"] == (
        f"MPI_File_set_view(fh=@{handle}, etype=MPI_INTEGER, filetype=MPI_INTEGER, datarep=native, info=MPI_INFO_NULL)"
    )
    assert told["MPI_File_seek"] == f"MPI_File_seek(fh=@{handle}, whence=MPI_SEEK_SET)"
    told_by_ranks = [
        [row.signature for row in fortran.mpi(rank) if row.call not in (*IN_ANY_ORDER, "MPI_File_delete")]
        for rank in range(RANKS)
    ]
    assert told_by_ranks[0] == told_by_ranks[1]


def test_files_of_fortran_programs_stand_in_the_tree(fortran: Run) -> None:
    for rank in range(RANKS):
        (handle,) = {row.handle for row in fortran.mpi(rank)[:-2]}
        assert {row.depth for row in fortran.posix(rank)} == {1}
        moved = [row for row in fortran.posix(rank) if row.kind in (Kind.READ, Kind.WRITE)]
        assert {row.parent for row in moved} == {handle}
        assert {row.path for row in fortran.mpi(rank)} == {fortran.path}
        failed = fortran.mpi(rank)[-1]
        assert failed.errno in (37, 42)


def test_ranks_of_fortran_programs_are_those_of_the_world(fortran: Run) -> None:
    streams = {row.stream: row.rank for row in fortran.rows if row.layer is Layer.MPIIO}
    assert sorted(streams.values()) == [0, 1]
    assert [fortran.info[stream].ranks for stream in streams] == [RANKS] * RANKS


def test_python_reaches_mpi_that_only_its_extension_knows(tmp_path: Path) -> None:
    python = "/usr/bin/python3"  # Debian's Python has mpi4py
    vendor = need_module(python, "mpi4py", "import mpi4py.rc, mpi4py.MPI as mpi; print(mpi.get_vendor()[0])")
    implementation = "openmpi" if "Open MPI" in vendor else "mpich"
    program = [python, mpi.PROGRAMS / "mpi_python.py"]
    seen = mpi.run(implementation, program, tmp_path, ranks=RANKS)
    assert seen.output == seen.alone == ["same [True, True]"]
    assert seen.files == seen.files_alone
    for rank in range(RANKS):
        moved = [row for row in seen.mpi(rank) if row.kind in (Kind.READ, Kind.WRITE)]
        assert brief(moved) == [
            ("MPI_File_write_at_all", rank * 1000, 1000, 1000),
            ("MPI_File_iwrite_at", (2 + rank) * 1000, 1000, 0),
            ("MPI_File_iwrite_at", (4 + rank) * 1000, 1000, 0),
            ("MPI_Waitall", (2 + rank) * 1000, 0, 1000),
            ("MPI_Waitall", (4 + rank) * 1000, 0, 1000),
            ("MPI_File_read_at", rank * 1000, 1000, 1000),
        ]
        assert {row.depth for row in seen.posix(rank)} == {1}
    assert {row.rank for row in seen.rows if row.layer is Layer.MPIIO} == {0, 1}


@pytest.mark.parametrize("implementation", mpi.IMPLEMENTATIONS)
def test_program_that_looks_for_large_counts_by_weak_references_behaves_as_untraced(
    implementation: str, tmp_path: Path
) -> None:
    program = mpi.build(implementation, "mpi_weak.c", tmp_path)
    seen = mpi.run(implementation, [program], tmp_path, ranks=RANKS)
    size = 4000
    assert seen.output == seen.alone == [f"rank {rank}: 1000 moved, extent 4, same 1 1" for rank in range(RANKS)]
    assert seen.files == seen.files_alone
    for rank in range(RANKS):
        moved = [row for row in seen.mpi(rank) if row.bytes > 0]
        assert [(row.call, row.offset, row.bytes) for row in moved] == [
            ("MPI_File_write_at_all", rank * size, size),
            ("MPI_Wait", rank * size, size),
            ("MPI_File_read_all_end", -1, size),
        ]
        assert all("count=1000" in row.signature for row in seen.mpi(rank, "MPI_File_write_at_all"))
        assert {row.depth for row in seen.posix(rank) if row.kind in (Kind.READ, Kind.WRITE)} == {1}
