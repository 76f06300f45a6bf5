"""Number of functions that other tracers wrap, by layer, with sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Peer:
    """Another tracer. functions: layer -> wrapped functions, counted by symbol (open and open64 are two)."""

    name: str
    source: str
    functions: dict[str, int]


RECORDER: Final = Peer(
    "Recorder",
    "POSIX, STDIO, MPI-IO: bindings in lib/recorder-gotcha.c of uiuc-hpc/Recorder at 6a1bc17 (MPI_File_* alone); HDF5,"
    " NetCDF, PnetCDF: as its authors state for version 3",
    {"POSIX": 56, "STDIO": 13, "MPIIO": 32, "HDF5": 749, "NETCDF": 300, "PNETCDF": 915},
)
DARSHAN: Final = Peer(
    "Darshan",
    "POSIX: DARSHAN_FORWARD_DECL of darshan-runtime/lib/darshan-posix.c at cb98fda; STDIO, MPI-IO: its linker options"
    " at 76d33b2 and 910486f (PMPI_* not counted again); HDF5: darshan-hdf5.c; PnetCDF: what darshan-pnetcdf-api.m4 at"
    " 5cab3ef expands to",
    {"POSIX": 53, "STDIO": 30, "MPIIO": 28, "HDF5": 12, "NETCDF": 0, "PNETCDF": 560},
)
PEERS: Final = (RECORDER, DARSHAN)
