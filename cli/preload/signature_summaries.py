"""Summaries of signature files: functions by library, class and layer (also of other tracers), and likely omissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from ...collectors.wrappers.build import CORE_LIBRARY, layer_files
from ...collectors.wrappers.model import CLASSES, SignatureFile, Statement
from ...collectors.wrappers.signature import read
from ...collectors.wrappers.sources import CORE, PRELOAD


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


def own_files() -> list[SignatureFile]:
    """Read iotide's own signature files, the core's first."""
    return [read(path) for path in [*(PRELOAD / "signatures" / f"{name}.sig" for name in CORE), *layer_files()]]


def count_classes(files: Iterable[SignatureFile]) -> dict[str, int]:
    """Count functions by class, in the order of the classes; empty classes are omitted."""
    counted = Counter(statement.group for file in files for statement in file.statements for _ in statement.symbols)
    return {name: counted[name] for name in CLASSES if counted[name]}


def libraries() -> list[dict[str, Any]]:
    """Return a row per library and layer. It has file, layer, functions, classes, and whether the library is built."""
    return [
        {
            "file": name,
            "layer": file.layer,
            "functions": len(file.symbols()),
            "classes": count_classes([file]),
            "built": (PRELOAD / name).is_file(),
        }
        for file in own_files()
        for name in [CORE_LIBRARY if file.is_libc else f"libiotide_{file.library}.so"]
    ]


def coverage_by_layer() -> list[dict[str, Any]]:
    """Return a row per layer: number of functions traced by iotide and by each peer."""
    ours: Counter[str] = Counter()
    for file in own_files():
        ours[file.layer] += len(file.symbols())
    return [
        {"layer": layer, "iotide": count, **{peer.name: peer.functions.get(layer, 0) for peer in PEERS}}
        for layer, count in ours.items()
    ]


def likely_omissions(file: SignatureFile) -> list[tuple[int, str]]:
    """Return line and text of likely omissions in a file. They do not prevent a build."""
    found: list[tuple[int, str]] = []
    for statement in file.statements:
        if statement.custom:
            continue
        name = statement.symbols[0]
        if (
            statement.kind in ("READ", "WRITE")
            and statement.result_role != "bytes"
            and not _has_expression(statement, "bytes")
        ):
            found.append((statement.line, f"{name} moves data, but nothing says how many bytes"))
        makes = statement.result_role in ("fd", "stream", "handle") or statement.with_roles("new_handle")
        if statement.kind in ("CREATE", "DUPLICATE") and not makes and not _has_expression(statement, "handle"):
            found.append((statement.line, f"{name} makes a handle, but no result or parameter is one"))
        if statement.kind == "DESTROY" and not statement.with_roles("fd", "stream", "handle"):
            found.append((statement.line, f"{name} ends a handle, but no parameter is one"))
    return found


def _has_expression(statement: Statement, name: str) -> bool:
    return name in statement.expressions
