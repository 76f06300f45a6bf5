"""MPI-IO in real runs of Open MPI and MPICH: requested bytes, moved bytes, and nested calls of each rank."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iotide.collectors.tracer.preload_environment import layer_library
from iotide.collectors.wrappers.signature import read
from iotide.events import Flag, Kind, Layer
from support.places import ROOT
from support.system.commands import plain_environment
from support.system.waiting import DEADLINE_S
from support.tracing import mpi
from support.tracing.mpi import Run, brief, flags_of, handle_of, operation_of

SIGNATURES = ROOT / "collectors" / "preload" / "signatures"
RANKS = 2
SIZE = 4000
"""Bytes of most of the program's calls."""
SCENARIOS = (
    "blocking", "nonblocking", "many", "split", "shared", "views", "metadata", "errors", "again", "threads", "rest",
    "aggregated",
)  # fmt: skip
RACES = ("shared", "rest")
"""Ranks write to the same offset, or in arbitrary order."""


class Runs:
    """Run scenarios of the program with one implementation, each once."""

    def __init__(self, implementation: str, folders: pytest.TempPathFactory) -> None:
        self.implementation = implementation
        self._folders = folders
        self._program = mpi.build(implementation, "mpi_calls.c", folders.mktemp("programs"))
        self._known: dict[str, Run] = {}

    def __call__(self, scenario: str) -> Run:
        if scenario not in self._known:
            folder = self._folders.mktemp(f"{self.implementation}-{scenario}")
            ranks = 3 if scenario == "again" else RANKS
            self._known[scenario] = mpi.run(self.implementation, [self._program, scenario], folder, ranks=ranks)
        return self._known[scenario]


@pytest.fixture(scope="session", params=mpi.IMPLEMENTATIONS)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(str(request.param), tmp_path_factory)


def place(turn: int, rank: int) -> int:
    return (turn * RANKS + rank) * SIZE


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_programs_do_the_same_traced_and_untraced(runs: Runs, scenario: str) -> None:
    seen = runs(scenario)
    assert seen.output == seen.alone
    assert set(seen.files) == set(seen.files_alone)
    if scenario not in RACES:
        assert seen.files == seen.files_alone
    assert mpi.dropped(seen.counters) == {}


def test_blocking_calls_tell_what_was_asked_for_and_moved(runs: Runs) -> None:
    seen = runs("blocking")
    end = place(4, 0)
    for rank in range(RANKS):
        assert brief(seen.mpi(rank)) == [
            ("MPI_File_open", -1, 0, 0),
            ("MPI_File_write_at_all", place(0, rank), SIZE, SIZE),
            ("MPI_File_write_at", place(1, rank), SIZE, SIZE),
            ("MPI_File_seek", place(2, rank), 0, 0),
            ("MPI_File_write", -1, SIZE, SIZE),
            ("MPI_File_seek", place(3, rank), 0, 0),
            ("MPI_File_write_all", -1, SIZE, SIZE),
            ("MPI_File_sync", -1, 0, 0),
            ("MPI_File_read_at_all", place(0, rank), SIZE, SIZE),
            ("MPI_File_read_at", place(1, rank), SIZE, SIZE),
            ("MPI_File_seek", place(2, rank), 0, 0),
            ("MPI_File_read", -1, SIZE, SIZE),
            ("MPI_File_read_all", -1, SIZE, SIZE),
            ("MPI_File_read_at", end - 40, SIZE, 40),
            ("MPI_File_read_at", end + rank * SIZE, SIZE, 0),
            ("MPI_File_close", -1, 0, 0),
        ]


def test_collective_and_blocking_calls_are_marked(runs: Runs) -> None:
    for row in runs("blocking").mpi(0) + runs("nonblocking").mpi(0) + runs("split").mpi(0):
        begun = row.call.startswith(("MPI_File_i", "MPI_Wait", "MPI_Test")) or row.call.endswith(("_begin", "_end"))
        assert bool(flags_of(row) & Flag.BLOCKING) is not begun, row
        if not row.call.startswith(("MPI_Wait", "MPI_Test")):
            alike = ("open", "close", "sync")
            collective = "_all" in row.call or "_ordered" in row.call or row.call.endswith(alike)
            assert bool(flags_of(row) & Flag.COLLECTIVE) is collective, row


def test_signatures_are_the_same_on_all_ranks(runs: Runs) -> None:
    for scenario in ("blocking", "split", "shared"):
        seen = runs(scenario)
        assert [row.signature for row in seen.mpi(0)] == [row.signature for row in seen.mpi(1)]
    handle = handle_of(runs("blocking").mpi(0)[0])
    assert [row.signature for row in runs("blocking").mpi(0)[:2]] == [
        f"MPI_File_open(fh=@{handle}, comm=MPI_COMM_WORLD, amode=MPI_MODE_CREATE|MPI_MODE_RDWR, info=MPI_INFO_NULL)",
        f"MPI_File_write_at_all(fh=@{handle}, count=1000, datatype=MPI_INT)",
    ]


def test_calls_below_stand_in_the_tree_under_the_file_of_mpi(runs: Runs) -> None:
    seen = runs("blocking")
    for rank in range(RANKS):
        calls = seen.mpi(rank)
        assert {(row.depth, row.parent, row.path) for row in calls} == {(0, 0, seen.path)}
        (handle,) = {row.handle for row in calls}
        below = seen.posix(rank)
        assert {row.depth for row in below} == {1}
        assert {row.parent for row in below} == {handle}
        writes = [row for row in below if row.kind is Kind.WRITE]
        assert sorted(row.offset for row in writes) == [place(turn, rank) for turn in range(4)]
        for row in writes:
            (above,) = [call for call in calls if call.start <= row.start and row.end <= call.end]
            assert above.kind is Kind.WRITE
            assert above.offset in (-1, row.offset)


def test_operations_end_once_with_what_they_moved(runs: Runs) -> None:
    seen = runs("nonblocking")
    for rank in range(RANKS):
        under_way: dict[int, mpi.Row] = {}
        completed_by = []
        for row in seen.mpi(rank):
            if row.call.startswith("MPI_File_i"):
                assert (row.requested, row.bytes) == (SIZE, 0)
                assert operation_of(row) not in under_way
                under_way[operation_of(row)] = row
            elif row.call.startswith(("MPI_Wait", "MPI_Test")):
                begun = under_way.pop(operation_of(row))
                assert (row.kind, row.handle, row.path, row.offset) == (
                    begun.kind, begun.handle, begun.path, begun.offset,
                )  # fmt: skip
                assert (row.requested, row.bytes) == (0, SIZE)
                assert row.start >= begun.end
                completed_by.append(row.call)
        assert not under_way
        assert completed_by == [
            "MPI_Wait", *["MPI_Waitall"] * 3, "MPI_Waitany", *["MPI_Waitsome"] * 2, "MPI_Test", "MPI_Testall",
            "MPI_Testany", "MPI_Testsome", "MPI_Waitall",
        ]  # fmt: skip


def test_numbers_of_operations_are_used_again(runs: Runs) -> None:
    for row in runs("nonblocking").mpi(0):
        if "operation" in row.signature:
            assert 1 <= operation_of(row) <= 3


def test_one_wait_for_many_tells_of_each(runs: Runs) -> None:
    seen = runs("many")
    for rank in range(RANKS):
        ends = seen.mpi(rank, "MPI_Waitall")
        assert [row.bytes for row in ends] == [40] * 50
        assert sorted(row.offset for row in ends) == [rank * SIZE + 40 * i for i in range(50)]
        assert sorted(map(operation_of, ends)) == list(range(1, 51))
        assert len({row.start for row in ends}) == 1


def test_split_collectives_are_joined_by_a_number(runs: Runs) -> None:
    for rank in range(RANKS):
        halves = [row for row in runs("split").mpi(rank) if row.call.endswith(("_begin", "_end"))]
        assert len(halves) == 8
        for begin, end in zip(halves[::2], halves[1::2], strict=True):
            assert begin.call.removesuffix("_begin") == end.call.removesuffix("_end")
            assert operation_of(begin) == operation_of(end) == 1
            assert (begin.bytes, end.bytes) == (0, begin.requested)
            assert begin.offset == end.offset


def test_shared_pointers_move_what_each_rank_asked_for(runs: Runs) -> None:
    for rank in range(RANKS):
        moved = [row for row in runs("shared").mpi(rank) if row.kind in (Kind.READ, Kind.WRITE)]
        assert brief(moved) == [
            ("MPI_File_write_shared", -1, SIZE, SIZE),
            ("MPI_File_write_ordered", -1, SIZE, SIZE),
            ("MPI_File_read_ordered", -1, SIZE, SIZE),
        ]


def test_offsets_are_bytes_of_the_file_through_views(runs: Runs) -> None:
    seen = runs("views")
    for rank in range(RANKS):
        writes = [row for row in seen.mpi(rank) if row.kind is Kind.WRITE]
        assert [(row.offset, row.requested) for row in writes] == [
            (100_000 + rank * SIZE, SIZE),
            (rank * 16, 160),
            ((RANKS + rank) * 16, 160),  # the third number of a view with two of four numbers
        ]
        assert [row.bytes for row in writes] == [row.requested for row in writes]
    handle = handle_of(seen.mpi(0)[0])
    assert [row.signature.partition("datatype=")[2] for row in seen.mpi(0) if row.kind is Kind.WRITE] == [
        '"four ints")', "MPI_DOUBLE)", "resized:160)",
    ]  # fmt: skip
    assert seen.mpi(0, "MPI_File_set_view")[1].signature == (
        f"MPI_File_set_view(fh=@{handle}, etype=MPI_DOUBLE, filetype=resized:160, datarep=native, info=MPI_INFO_NULL)"
    )


def test_metadata_tells_modes_hints_and_sizes(runs: Runs) -> None:
    seen = runs("metadata")
    opened = seen.mpi(0, "MPI_File_open")[0]
    assert opened.signature == (
        f"MPI_File_open(fh=@{handle_of(opened)}, comm=MPI_COMM_WORLD, "
        'amode=MPI_MODE_CREATE|MPI_MODE_WRONLY|MPI_MODE_APPEND, info="cb_nodes=1")'
    )
    assert flags_of(opened) & Flag.APPEND
    assert flags_of(seen.mpi(0, "MPI_File_write")[0]) & Flag.APPEND
    assert seen.mpi(0, "MPI_File_set_size")[0].offset == 4096
    assert "size=8192" in seen.mpi(0, "MPI_File_preallocate")[0].signature
    kinds = {row.call: row.kind for row in seen.mpi(0)}
    assert kinds["MPI_File_set_atomicity"] is Kind.CHANGE_FLAGS
    assert kinds["MPI_File_delete"] is Kind.DELETE
    assert seen.mpi(0, "MPI_File_delete")[0].path == seen.path
    assert not seen.mpi(1, "MPI_File_delete")


def test_errors_have_their_class_and_move_nothing(runs: Runs) -> None:
    seen = runs("errors")
    no_such_file = {"openmpi": 42, "mpich": 37}[runs.implementation]
    for rank in range(RANKS):
        failed = [row for row in seen.mpi(rank) if flags_of(row) & Flag.FAILED]
        assert [(row.call, row.errno) for row in failed] == [
            ("MPI_File_open", no_such_file),
            ("MPI_File_delete", no_such_file),
            ("MPI_File_write_at", 2),  # MPI_ERR_COUNT
            ("MPI_File_write_at", 3),  # MPI_ERR_TYPE
        ]
        assert [row.path for row in failed] == [f"{seen.path}.missing"] * 2 + [seen.path] * 2
        assert not any(row.bytes for row in failed)


def test_each_open_has_a_number_that_its_ranks_share(runs: Runs) -> None:
    seen = runs("again")
    opens = [seen.mpi(rank, "MPI_File_open") for rank in range(3)]
    assert [len(rows) for rows in opens] == [7, 7, 7]
    for turn in range(5):
        assert len({handle_of(rows[turn]) for rows in opens}) == 1
    numbers = [handle_of(row) for row in opens[0]]
    assert len(set(numbers)) == 7
    assert len({handle_of(rows[5]) for rows in opens}) == 3, "MPI_COMM_SELF: a file each"
    halves = [handle_of(rows[6]) for rows in opens]
    assert halves[0] == halves[2] != halves[1]
    assert "comm=MPI_COMM_SELF" in opens[0][5].signature
    assert '"size 2"' in opens[0][6].signature
    for rank in range(3):
        assert len({row.handle for row in opens[rank]}) == 7
        for row in seen.mpi(rank):
            (opened,) = [each for each in opens[rank] if each.handle == row.handle]
            assert (row.path, handle_of(row)) == (opened.path, handle_of(opened))


def test_threads_write_at_once_and_another_waits(runs: Runs) -> None:
    seen = runs("threads")
    for rank in range(RANKS):
        writes = seen.mpi(rank, "MPI_File_write_at")
        assert len(writes) == 400
        assert {row.bytes for row in writes} == {40}
        begun, ends = seen.mpi(rank, "MPI_File_iwrite_at"), seen.mpi(rank, "MPI_Wait")
        assert len({row.tid for row in begun}) == 4
        assert {row.tid for row in ends} & {row.tid for row in begun} == set()
        assert sorted(map(operation_of, ends)) == sorted(map(operation_of, begun)) == [1, 2, 3, 4]
        assert sorted(row.offset for row in ends) == sorted(row.offset for row in begun)
        assert {row.bytes for row in ends} == {40}


def test_a_collective_reports_the_ranks_that_wrote(runs: Runs) -> None:
    seen = runs("aggregated")
    asked = [row for rank in range(RANKS) for row in seen.mpi(rank, "MPI_File_write_all")]
    assert [row.bytes for row in asked] == [SIZE] * RANKS
    below = {rank: sum(row.bytes for row in seen.posix(rank) if row.kind is Kind.WRITE) for rank in range(RANKS)}
    assert sum(below.values()) == RANKS * SIZE
    if runs.implementation == "mpich":
        assert below == {0: RANKS * SIZE, 1: 0}


def test_every_function_is_called_and_seen(runs: Runs) -> None:
    called = {row.call for scenario in SCENARIOS for row in runs(scenario).mpi(0)}
    listed = read(SIGNATURES / "mpiio.sig").statements
    names = {statement.shown for statement in listed} - {"MPI_Init", "MPI_Init_thread"}
    assert names - called == set()


def test_freed_operations_are_told(runs: Runs) -> None:
    (freed,) = runs("rest").mpi(0, "MPI_Request_free")
    (cancelled,) = runs("rest").mpi(0, "MPI_Cancel")
    assert operation_of(freed) == operation_of(cancelled) == 1
    assert freed.kind is Kind.WRITE


def test_ranks_are_those_of_the_world(runs: Runs) -> None:
    for scenario, ranks in (("blocking", 2), ("again", 3)):
        seen = runs(scenario)
        mpi_streams = {row.stream: row.rank for row in seen.rows if row.layer is Layer.MPIIO}
        assert sorted(mpi_streams.values()) == list(range(ranks))
        for stream, rank in mpi_streams.items():
            assert (seen.info[stream].rank, seen.info[stream].ranks) == (rank, ranks)


@pytest.mark.parametrize("implementation", mpi.IMPLEMENTATIONS)
def test_a_program_started_by_itself_is_rank_0_of_1(implementation: str, tmp_path: Path) -> None:
    program = mpi.build(implementation, "mpi_calls.c", tmp_path)
    seen = mpi.run(implementation, [program, "many"], tmp_path, ranks=0)
    assert seen.files == seen.files_alone
    (stream,) = {row.stream for row in seen.rows if row.layer is Layer.MPIIO}
    assert (seen.info[stream].rank, seen.info[stream].ranks) == (0, 1)
    assert len(seen.mpi(0, "MPI_Waitall")) == 50


@pytest.mark.parametrize("implementation", mpi.IMPLEMENTATIONS)
def test_moved_bytes_have_file_and_offset_where_only_they_are_asked_for(implementation: str, tmp_path: Path) -> None:
    program = mpi.build(implementation, "mpi_calls.c", tmp_path)
    seen = mpi.run(implementation, [program, "views"], tmp_path, ranks=0, IOTIDE_CALLS="data")
    calls = seen.mpi(0)
    assert [(row.call, row.path, row.offset, row.bytes) for row in calls] == [
        ("MPI_File_write_at", seen.path, 100_000, SIZE),
        ("MPI_File_write_at_all", seen.path, 0, 160),
        ("MPI_File_write_at_all", seen.path, 16, 160),
    ]
    assert len({handle_of(row) for row in calls} - {"0"}) == 1
    assert {row.parent for row in seen.posix(0)} == {row.handle for row in calls}


@pytest.mark.parametrize("implementation", mpi.IMPLEMENTATIONS)
def test_files_that_are_left_out_stay_out_to_their_last_operation(implementation: str, tmp_path: Path) -> None:
    program = mpi.build(implementation, "mpi_calls.c", tmp_path)
    seen = mpi.run(implementation, [program, "nonblocking"], tmp_path, ranks=0, IOTIDE_SKIP=str(tmp_path / "traced"))
    assert seen.files == seen.files_alone
    assert not seen.mpi(0)
    assert not seen.posix(0)


@pytest.mark.parametrize("implementation", mpi.IMPLEMENTATIONS)
def test_without_the_core_all_calls_are_passed_on(implementation: str, tmp_path: Path) -> None:
    library = layer_library("mpiio")
    assert library
    program = mpi.build(implementation, "mpi_calls.c", tmp_path)
    env = plain_environment(LD_PRELOAD=str(library))
    for scenario in ("blocking", "nonblocking"):
        command = [str(program), scenario, str(tmp_path / mpi.FILE)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=DEADLINE_S)
        assert (done.returncode, done.stderr) == (0, "")
