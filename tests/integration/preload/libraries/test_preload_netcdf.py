"""NetCDF calls: moved bytes and offsets, and the chain from them through HDF5 to the system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from iotide.events import Flag, Kind, Layer
from support.tracing.compiled_programs import built
from support.tracing.programs import need, need_header
from support.tracing.tracing import Row, Tracing

CELLS = 2 * 4 * 5
CALL_MAIN = """
import ctypes, sys
words = [word.encode() for word in sys.argv[1:]]
sys.exit(ctypes.CDLL(sys.argv[1]).main(len(words), (ctypes.c_char_p * len(words))(*words)))
"""
DATA = """netcdf small {
dimensions: row = 3 ; column = 4 ;
variables: double field(row, column) ; field:units = "m" ; int count(row) ;
data: field = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 ; count = 1, 2, 3 ;
}
"""


@pytest.fixture
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_header("netcdf.h")
    return built(tmp_path_factory, "netcdf_chain.c", "-lnetcdf")


def ncdump(path: Path) -> str:
    """Return a file's content as text."""
    return subprocess.run([need("ncdump"), path], capture_output=True, text=True, check=True).stdout


def moved(rows: list[Row]) -> list[tuple[str, int, int]]:
    """Return signature, requested bytes and moved bytes of the reads and writes."""
    return [(row.signature, row.requested, row.bytes) for row in rows if row.kind in (Kind.READ, Kind.WRITE)]


@pytest.mark.parametrize("form", ["classic", "netcdf4"])
def test_program_that_uses_netcdf_does_not_notice(program: Path, tracing: Tracing, tmp_path: Path, form: str) -> None:
    alone, traced = tmp_path / "alone" / "file.nc", tmp_path / "traced" / "file.nc"
    alone.parent.mkdir()
    traced.parent.mkdir()
    expected = subprocess.run([program, form, alone], capture_output=True, text=True, check=True)
    done = tracing.run([program, form, traced])
    assert (done.returncode, done.stdout, done.stderr) == (0, expected.stdout, "")
    assert ncdump(traced) == ncdump(alone)
    assert form == "netcdf4" or traced.read_bytes() == alone.read_bytes()
    assert not any(count for reason, count in tracing.source.counters.items() if "dropped" in reason)


@pytest.mark.parametrize("form", ["classic", "netcdf4"])
def test_calls_say_how_many_bytes_they_move_and_where(
    program: Path, tracing: Tracing, tmp_path: Path, form: str
) -> None:
    path = tmp_path / "file.nc"
    tracing.run([program, form, path])
    rows = tracing.rows(layer=Layer.NETCDF, path=path)
    written = [
        ("nc_put_att_text(ncid=65536, varid=0, name=units, len=6)", 6, 6),
        ("nc_put_vara_double(ncid=65536, varid=0, startp=[0, 0, 0], countp=[2, 4, 5])", CELLS * 8, CELLS * 8),
        ("nc_put_var1_double(ncid=65536, varid=0, indexp=[1, 2, 3])", 8, 8),
        ("nc_put_vars_float(ncid=65536, varid=0, startp=[0, 0, 0], countp=[1, 2, 5], stridep=[1, 2, 1])", 40, 40),
        ("nc_put_var_int(ncid=65536, varid=1)", 80, 80),
    ]
    read = [
        ("nc_get_vara_double(ncid=65536, varid=0, startp=[0, 0, 0], countp=[1, 4, 5])", 160, 160),
        ("nc_get_var_double(ncid=65536, varid=0)", CELLS * 8, CELLS * 8),
        ("nc_get_vara(ncid=65536, varid=1, startp=[1, 0], countp=[3, 5])", 60, 60),
        ("nc_get_att_text(ncid=65536, varid=0, name=units)", 6, 6),
        ("nc_get_vara_double(ncid=65536, varid=0, startp=[], countp=[])", 0, 0),  # beyond the end
    ]
    group_written = [("nc_put_vara_longlong(ncid=65537, varid=0, startp=[0], countp=[3])", 24, 24)]
    group_read = [("nc_get_var_longlong(ncid=65537, varid=0)", 24, 24)]
    in_groups = form == "netcdf4"
    assert moved(rows) == [*written, *group_written * in_groups, *read, *group_read * in_groups]
    assert [row.signature for row in rows if row.kind == Kind.SYNC] == ["nc_sync(ncid=65536)"]


VARIOUS = {
    "version2": [
        ("ncattput(ncid=65536, varid=0, name=scale, xtype=NC_DOUBLE, len=2)", 16),
        ("ncvarput(ncid=65536, varid=0, startp=[0], countp=[4])", 8),
        ("ncvarput1(ncid=65536, varid=0, indexp=[0])", 2),
        ("ncvarput(ncid=65536, varid=1, startp=[0, 0], countp=[2, 4])", 32),
        ("ncvarputs(ncid=65536, varid=1, startp=[0, 0], countp=[1, 2], stridep=[1, 2])", 8),
        ("ncrecput(ncid=65536, recnum=2)", 16),
        ("ncvarget(ncid=65536, varid=1, startp=[0, 0], countp=[2, 4])", 32),
        ("ncrecget(ncid=65536, recnum=2)", 16),
        ("ncattget(ncid=65536, varid=0, name=scale)", 16),
        ("ncvarget1(ncid=65536, varid=99, indexp=[])", 0),
    ],
    "odd": [
        ("nc_put_att(ncid=65536, varid=-1, name=pair, xtype=32, len=2)", 2 * 16),
        ("nc_put_att_text(ncid=65536, varid=-1, name=title, len=3)", 3),
        ("nc_put_vara_int(ncid=65536, varid=0, startp=[0, 0], countp=[])", 12 * 4),  # to the end
        ("nc_put_vars_int(ncid=65536, varid=0, startp=[0, 0], countp=[], stridep=[])", 12 * 4),
        ("nc_put_varm_int(ncid=65536, varid=0, startp=[1, 0], countp=[2, 2], stridep=[1, 2], imapp=[1, 2])", 4 * 4),
        ("nc_put_var_string(ncid=65536, varid=1)", 4 * 8),
        ("nc_put_var(ncid=65536, varid=2)", 4 * 16),
        ("nc_put_vara(ncid=65536, varid=2, startp=[1], countp=[2])", 2 * 16),
        ("nc_put_var_uchar(ncid=65536, varid=3)", 1),
        ("nc_put_vara_uchar(ncid=65536, varid=3, startp=[], countp=[])", 1),
        ("nc_put_var1_longlong(ncid=65536, varid=0, indexp=[1, 0])", 8),  # did not fit, and was moved nevertheless
        ("nc_copy_var(ncid_in=65536, varid=0, ncid_out=131072)", 12 * 4),
        ("nc_get_var_int(ncid=65536, varid=0)", 12 * 4),
        ("nc_get_var_string(ncid=65536, varid=1)", 4 * 8),
        ("nc_get_att(ncid=65536, varid=-1, name=pair)", 2 * 16),
    ],
}


@pytest.mark.parametrize("form", VARIOUS)
def test_rarer_calls_have_parameters_too(
    tmp_path_factory: pytest.TempPathFactory, tracing: Tracing, tmp_path: Path, form: str
) -> None:
    need_header("netcdf.h")
    various = built(tmp_path_factory, "netcdf_various.c", "-lnetcdf")
    alone = subprocess.run([various, form, tmp_path / "alone.nc"], capture_output=True, text=True, check=True)
    done = tracing.run([various, form, tmp_path / "file.nc"])
    assert (done.returncode, done.stdout, done.stderr) == (0, alone.stdout, "")
    assert ncdump(tmp_path / "file.nc").splitlines()[1:] == ncdump(tmp_path / "alone.nc").splitlines()[1:]
    rows = tracing.rows(layer=Layer.NETCDF)
    assert [(signature, size) for signature, _, size in moved(rows)] == VARIOUS[form]
    failed = [(row.call, row.errno) for row in rows if row.flags & Flag.FAILED]
    assert failed == ([("ncvarget1", 49)] if form == "version2" else [])


def test_failed_calls_have_the_librarys_error(program: Path, tracing: Tracing, tmp_path: Path) -> None:
    path = tmp_path / "file.nc"
    tracing.run([program, "classic", path])
    failed = [row for row in tracing.rows(layer=Layer.NETCDF) if row.flags & Flag.FAILED]
    assert [(row.call, row.path, row.errno) for row in failed] == [
        ("nc_get_vara_double", str(path), 40),
        ("nc_inq_vartype", str(path), 49),
        ("nc_open", f"{path}.absent", 2),
    ]


def test_a_classic_file_is_followed_from_netcdf_to_the_system(program: Path, tracing: Tracing, tmp_path: Path) -> None:
    path = tmp_path / "file.nc"
    tracing.run([program, "classic", path])
    opened = [row for row in tracing.rows(layer=Layer.NETCDF, path=path) if row.kind == Kind.CREATE]
    assert [(row.call, row.depth, row.parent) for row in opened] == [("nc_create", 0, 0), ("nc_open", 0, 0)]
    below = tracing.rows(layer=Layer.POSIX, path=path)
    assert below
    for row in below:
        (above,) = [each for each in opened if each.start <= row.start][-1:]
        assert (row.depth, row.parent) == (1, above.handle)


def test_internal_calls_of_the_library_are_left_out(program: Path, tracing: Tracing, tmp_path: Path) -> None:
    tracing.run([program, "netcdf4", tmp_path / "file.nc"])
    assert {row.depth for row in tracing.rows(layer=Layer.NETCDF)} == {0}


def test_a_netcdf4_file_is_followed_through_hdf5(program: Path, tracing: Tracing, tmp_path: Path) -> None:
    path = tmp_path / "file.nc"
    tracing.run([program, "netcdf4", path])
    made = {row.handle: row for row in tracing.rows() if row.kind == Kind.CREATE and not row.flags & Flag.FAILED}
    descriptors = [row for row in tracing.rows(layer=Layer.POSIX, path=path) if row.kind == Kind.CREATE]
    chains = []
    for row in descriptors:
        chain = [row]
        while chain[-1].parent:
            chain.append(made[chain[-1].parent])
        chains.append([(each.layer, each.call, each.depth) for each in reversed(chain)])
    assert [(Layer.NETCDF, "nc_create", 0), (Layer.HDF5, "H5Fcreate", 1), (Layer.POSIX, "open", 2)] in chains
    assert [(Layer.NETCDF, "nc_open", 0), (Layer.HDF5, "H5Fopen", 1), (Layer.POSIX, "open", 2)] in chains
    writes = [row for row in tracing.rows("H5Dwrite") if row.bytes]
    assert sum(row.bytes for row in writes) == CELLS * 8 + 8 + 10 * 8 + 80 + 24
    assert {row.depth for row in writes} == {1}


def test_a_group_is_a_handle_of_its_file(program: Path, tracing: Tracing, tmp_path: Path) -> None:
    path = tmp_path / "file.nc"
    tracing.run([program, "netcdf4", path])
    rows = tracing.rows(layer=Layer.NETCDF, path=path)
    handle = {row.call: row.handle for row in rows if row.kind == Kind.CREATE}
    parent = {row.call: row.parent for row in rows if row.kind == Kind.CREATE}
    assert parent == {
        "nc_create": 0, "nc_def_grp": handle["nc_create"], "nc_open": 0, "nc_inq_grp_ncid": handle["nc_open"],
    }  # fmt: skip
    users = {row.call: row.handle for row in rows if row.call.endswith("longlong")}
    assert users == {"nc_put_vara_longlong": handle["nc_def_grp"], "nc_get_var_longlong": handle["nc_inq_grp_ncid"]}


def test_a_library_that_came_with_a_plugin_is_seen_alike(
    program: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    plugin = built(tmp_path_factory, "netcdf_chain.c", "-shared", "-fPIC", "-lnetcdf")
    path = tmp_path / "file.nc"
    seen, shown = [], []
    for command in ([program], [sys.executable, "-c", CALL_MAIN, plugin]):
        with Tracing(tmp_path) as tracing:
            shown.append(tracing.run([*command, "netcdf4", path]).stdout)
            seen.append([(row.call, row.bytes, row.depth) for row in tracing.rows(layer=Layer.NETCDF, path=path)])
    assert seen[1] == seen[0] != []
    assert shown[1] == shown[0]


def test_a_url_of_files_names_them_by_their_path(tracing: Tracing, tmp_path: Path) -> None:
    text, store = tmp_path / "small.cdl", tmp_path / "small.zarr"
    text.write_text(DATA)
    tracing.run([need("ncgen"), "-4", "-lb", "-o", f"file://{store}#mode=nczarr,file", text])
    rows = tracing.rows(layer=Layer.NETCDF, path=store)
    assert [(row.call, row.depth) for row in rows if row.kind == Kind.CREATE] == [("nc_create", 0)]
    assert sum(row.bytes for row in rows if row.call == "nc_put_vara") == 12 * 8 + 3 * 4
    below = {row.handle for row in rows}
    assert {row.parent for row in tracing.rows(layer=Layer.POSIX) if row.path.startswith(f"{store}/")} <= below


def test_ncgen_nccopy_and_ncdump_are_seen_and_do_not_notice(tracing: Tracing, tmp_path: Path) -> None:
    text, classic, newer = tmp_path / "small.cdl", tmp_path / "small.nc", tmp_path / "small.nc4"
    text.write_text(DATA)
    for command in ([need("ncgen"), "-o", classic, text], [need("nccopy"), "-k", "nc4", classic, newer]):
        done = tracing.run(command)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    shown = tracing.run([need("ncdump"), "-n", "small", newer])
    assert (shown.returncode, shown.stdout) == (0, ncdump(classic))
    amounts = {
        (path.name, kind): sum(
            row.bytes for row in tracing.rows(layer=Layer.NETCDF, path=path) if row.kind == kind and "_var" in row.call
        )
        for path, kind in ((classic, Kind.WRITE), (classic, Kind.READ), (newer, Kind.WRITE), (newer, Kind.READ))
    }
    assert set(amounts.values()) == {12 * 8 + 3 * 4}
