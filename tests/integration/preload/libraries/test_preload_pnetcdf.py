"""PnetCDF calls on several ranks: moved bytes, completed requests, and the chain through MPI-IO."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iotide.events import Flag, Kind, Layer
from support.places import PROGRAMS
from support.tracing.mpi import dropped
from support.tracing.programs import need
from support.tracing.tracing import Row, Tracing

SOURCE = PROGRAMS / "pnetcdf_chain.c"
RANKS = 2
COLUMNS = 1000
DATA = """netcdf small {
dimensions: row = 3 ; column = 4 ;
variables: double field(row, column) ; field:units = "m" ;
data: field = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 ;
}
"""


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("programs") / "pnetcdf_chain"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror"]
    need("ncmpidump")  # installed with the library
    subprocess.run([need("mpicc.openmpi"), *flags, "-o", made, SOURCE, "-lpnetcdf"], check=True)
    return made


def mpirun(*command: str | Path, ranks: int = RANKS) -> list[str | Path]:
    return [need("mpirun.openmpi"), "--allow-run-as-root", "--oversubscribe", "-np", str(ranks), *command]


def rows_of(tracing: Tracing, rank: int) -> list[Row]:
    """Return a rank's calls of PnetCDF."""
    return [row for row in tracing.rows(layer=Layer.PNETCDF) if row.rank == rank]


def test_ranks_do_not_notice(program: Path, tracing: Tracing, tmp_path: Path) -> None:
    alone, traced = tmp_path / "alone.nc", tmp_path / "traced.nc"
    expected = subprocess.run(mpirun(program, alone), capture_output=True, text=True, check=True)
    done = tracing.run(mpirun(program, traced))
    assert (done.returncode, done.stdout, done.stderr) == (0, expected.stdout, "")
    assert traced.read_bytes() == alone.read_bytes()


def test_each_rank_says_what_it_moves_and_where(program: Path, tracing: Tracing, tmp_path: Path) -> None:
    path = tmp_path / "file.nc"
    tracing.run(mpirun(program, path))
    for rank in range(RANKS):
        rows = [row for row in rows_of(tracing, rank) if row.kind in (Kind.READ, Kind.WRITE)]
        assert {row.path for row in rows} == {str(path)}
        at, whole, half = f"start=[{rank}, 0]", f"count=[1, {COLUMNS}]", f"count=[1, {COLUMNS // 2}]"
        assert [(row.signature, row.requested, row.bytes) for row in rows] == [
            ("ncmpi_put_att_text(ncid=0, varid=0, name=units, len=5)", 5, 5),
            (f"ncmpi_put_vara_double_all(ncid=0, varid=0, {at}, {whole})", 8000, 8000),
            (f"ncmpi_put_var1_double(ncid=0, varid=0, {at})", 8, 8),
            (f"ncmpi_iput_vara_int(ncid=0, varid=1, {at}, {half}, req=1)", 2000, 0),
            (
                f"ncmpi_iput_vara(ncid=0, varid=1, start=[{rank}, {COLUMNS // 2}], {half}, "
                f"bufcount={COLUMNS // 2}, buftype=MPI_INT, req=2)",
                2000,
                0,
            ),
            (f"ncmpi_iput_var1_int(ncid=0, varid=1, {at}, req=3)", 4, 0),  # cancelled
            ("ncmpi_wait_all(ncid=0, count=2, completed=[1, 2])", 4000, 4000),
            (f"ncmpi_bput_var1_int(ncid=0, varid=1, {at}, req=1)", 4, 0),
            ("ncmpi_wait_all(ncid=0, count=-1, completed=[1])", 4, 4),
            (f"ncmpi_get_vara_all(ncid=0, varid=0, {at}, {whole}, bufcount={COLUMNS}, buftype=MPI_DOUBLE)", 8000, 8000),
            (f"ncmpi_get_vara_all(ncid=0, varid=0, {at}, {whole}, bufcount=0, buftype=MPI_DATATYPE_NULL)", 8000, 8000),
            ("ncmpi_get_varn_double_all(ncid=0, varid=0, num=2)", 16, 16),
            (f"ncmpi_iget_vara_int(ncid=0, varid=1, {at}, {whole}, req=1)", 4000, 0),
            ("ncmpi_wait_all(ncid=0, count=1, completed=[1])", 4000, 4000),
            ("ncmpi_get_att_text(ncid=0, varid=0, name=units)", 5, 5),
        ]


def test_calls_tell_whether_all_take_part_and_wait(program: Path, tracing: Tracing, tmp_path: Path) -> None:
    tracing.run(mpirun(program, tmp_path / "file.nc"))
    flags = {row.call: Flag(row.flags) for row in rows_of(tracing, 0)}
    both = Flag.BLOCKING | Flag.COLLECTIVE
    expected = {
        "ncmpi_create": both, "ncmpi_put_vara_double_all": both, "ncmpi_put_var1_double": Flag.BLOCKING,
        "ncmpi_iput_vara_int": Flag.NONE, "ncmpi_wait_all": both, "ncmpi_sync": both, "ncmpi_close": both,
    }  # fmt: skip
    assert {call: flags[call] for call in expected} == expected


def test_a_wait_is_what_it_completes(program: Path, tracing: Tracing, tmp_path: Path) -> None:
    tracing.run(mpirun(program, tmp_path / "file.nc"))
    waits = [row for row in rows_of(tracing, 0) if row.call == "ncmpi_wait_all"]
    assert [row.kind for row in waits] == [Kind.WRITE, Kind.WRITE, Kind.READ]


def test_no_byte_is_lost_when_more_requests_are_under_way_than_are_remembered(
    program: Path, tracing: Tracing, tmp_path: Path
) -> None:
    done = tracing.run(mpirun(program, tmp_path / "file.nc", "many", ranks=1))
    assert (done.returncode, done.stderr) == (0, "")
    rows = rows_of(tracing, 0)
    begun = [row for row in rows if row.call == "ncmpi_iput_var1_int"]
    waits = [row for row in rows if row.call == "ncmpi_wait_all"]
    assert len(begun) == 20001
    assert sum(row.requested for row in begun) == 20001 * 4
    assert sum(row.bytes for row in begun) == (20000 - 16384) * 4
    assert (waits[0].kind, waits[0].bytes) == (Kind.WRITE, 16384 * 4)
    both = {row.kind: (row.signature, row.bytes) for row in waits[1:]}
    assert both == {
        Kind.WRITE: ("ncmpi_wait_all(ncid=0, count=2, completed=[1])", 4),
        Kind.READ: ("ncmpi_wait_all(ncid=0, count=2, completed=[2])", 4),
    }
    assert dropped(tracing.source.counters) == {"details_dropped:operations": 20_000 - 16_384}


def test_fortran_programs_are_seen_by_the_calls_below_their_interface(
    program: Path, tracing: Tracing, tmp_path: Path
) -> None:
    done = tracing.run(mpirun(program, tmp_path / "file.nc", "fortran", ranks=1))
    assert (done.returncode, done.stderr) == (0, "")
    rows = rows_of(tracing, 0)
    assert {row.depth for row in rows} == {0}
    assert [(row.signature, row.requested, row.bytes) for row in rows if row.kind == Kind.WRITE] == [
        (f"ncmpi_put_vara_double_all(ncid=0, varid=0, start=[0], count=[{COLUMNS}])", 8000, 8000),
        (f"ncmpi_iput_vara_int(ncid=0, varid=1, start=[0], count=[{COLUMNS}], req=1)", 4000, 0),
        ("ncmpi_wait_all(ncid=0, count=1, completed=[1])", 4000, 4000),
    ]


def test_a_file_is_followed_through_mpi_io_to_the_system(program: Path, tracing: Tracing, tmp_path: Path) -> None:
    path = tmp_path / "file.nc"
    tracing.run(mpirun(program, path))
    for rank in range(RANKS):
        rows = [row for row in tracing.rows(path=path) if row.rank == rank]
        made = {row.handle: row for row in rows if row.kind == Kind.CREATE and not row.flags & Flag.FAILED}
        for opening in ("ncmpi_create", "ncmpi_open"):
            (top,) = [row for row in made.values() if row.call == opening]
            opened = [row for row in made.values() if row.call == "MPI_File_open" and row.parent == top.handle]
            handles = {row.handle for row in opened}
            below = [row for row in made.values() if row.layer == Layer.POSIX and row.parent in handles]
            depths = [{row.depth for row in each} for each in ([top], opened, below)]
            assert depths == [{0}, {1}, {2}]
        collective = [row for row in rows if row.call == "MPI_File_write_at_all" and row.depth == 1]
        assert sum(row.bytes for row in collective) >= 8000 + 4000


def test_programs_that_have_the_library_in_them_do_not_notice(tracing: Tracing, tmp_path: Path) -> None:
    """Debian links its tools statically with PnetCDF: their calls are recorded from MPI-IO down."""
    text, alone, traced = tmp_path / "small.cdl", tmp_path / "alone.nc", tmp_path / "traced.nc"
    text.write_text(DATA)
    subprocess.run(mpirun(need("ncmpigen"), "-o", alone, text, ranks=1), check=True)
    made = tracing.run(mpirun(need("ncmpigen"), "-o", traced, text, ranks=1))
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    assert traced.read_bytes() == alone.read_bytes()
    plain = subprocess.run(mpirun(need("ncmpidump"), traced, ranks=1), capture_output=True, text=True, check=True)
    shown = tracing.run(mpirun(need("ncmpidump"), traced, ranks=1))
    assert (shown.returncode, shown.stdout) == (0, plain.stdout)
    compared = tracing.run(mpirun(need("ncmpidiff"), traced, alone))
    assert (compared.returncode, compared.stderr) == (0, "")
    written = [row.requested for row in tracing.rows(layer=Layer.MPIIO, path=traced) if row.kind == Kind.WRITE]
    assert 12 * 8 in written
