"""NetCDF in parallel programs: files through PnetCDF or HDF5, MPI-IO and the system, in one handle tree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iotide.events import Flag, Kind, Layer
from support.places import PROGRAMS
from support.tracing.programs import need, need_header
from support.tracing.tracing import Row, Tracing

SOURCE = PROGRAMS / "netcdf_parallel.c"
INSTALLED = "/usr/lib/x86_64-linux-gnu/netcdf/pnetcdf/include"
RANKS = 2
BELOW = {
    "classic": [Layer.NETCDF, Layer.PNETCDF, Layer.MPIIO, Layer.POSIX],
    "netcdf4": [Layer.NETCDF, Layer.HDF5, Layer.MPIIO, Layer.POSIX],
}


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("programs") / "netcdf_parallel"
    need_header(f"{INSTALLED}/netcdf_meta.h")
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", f"-I{INSTALLED}"]
    subprocess.run([need("mpicc.openmpi"), *flags, "-o", made, SOURCE, "-lnetcdf_pnetcdf"], check=True)
    return made


def mpirun(*command: str | Path) -> list[str | Path]:
    return [need("mpirun.openmpi"), "--allow-run-as-root", "--oversubscribe", "-np", str(RANKS), *command]


def chain_to(row: Row, made: dict[int, Row]) -> list[Row]:
    """Return the calls that created a handle and its ancestors, the uppermost first."""
    chain = [row]
    while chain[0].parent:
        chain.insert(0, made[chain[0].parent])
    return chain


@pytest.mark.parametrize("form", BELOW)
def test_one_handle_tree_spans_four_layers(program: Path, tracing: Tracing, tmp_path: Path, form: str) -> None:
    path = tmp_path / "file.nc"
    alone = subprocess.run(mpirun(program, form, tmp_path / "alone.nc"), capture_output=True, text=True, check=True)
    done = tracing.run(mpirun(program, form, path))
    assert (done.returncode, done.stdout, done.stderr) == (0, alone.stdout, "")
    for rank in range(RANKS):
        rows = [row for row in tracing.rows() if row.rank == rank and row.path == str(path)]
        made = {row.handle: row for row in rows if row.kind == Kind.CREATE and not row.flags & Flag.FAILED}
        chains = [chain_to(row, made) for row in made.values() if row.layer == Layer.POSIX]
        for opening in ("nc_create_par", "nc_open_par"):
            found = [chain for chain in chains if chain[0].call == opening]
            assert BELOW[form] in [[row.layer for row in chain] for chain in found]
            assert all([row.depth for row in chain] == list(range(len(chain))) for chain in found)


@pytest.mark.parametrize("form", BELOW)
def test_calls_on_variables_that_all_ranks_access_together_say_so(
    program: Path, tracing: Tracing, tmp_path: Path, form: str
) -> None:
    tracing.run(mpirun(program, form, tmp_path / "file.nc"))
    rows = [row for row in tracing.rows(layer=Layer.NETCDF) if row.kind in (Kind.READ, Kind.WRITE) and row.rank == 1]
    place = "ncid=65536, varid=0, startp=[1, 0], countp=[1, 1000]"
    assert [(row.signature, row.bytes, Flag(row.flags)) for row in rows] == [
        (f"nc_put_vara_double({place})", 8000, Flag.BLOCKING | Flag.COLLECTIVE),
        (f"nc_get_vara_double({place})", 8000, Flag.BLOCKING),
    ]
