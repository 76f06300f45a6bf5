"""Convert Darshan's segments to rows, and define the rows of segments and counters."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....events import Kind, Layer

SEGMENT: Final = np.dtype([("offset", "<i8"), ("length", "<i8"), ("start", "<f8"), ("end", "<f8")])
"""Segment of DXT: one read or write; times in seconds since the job's start."""
THREADED_SEGMENT: Final = np.dtype([*SEGMENT.descr, ("thread", "<u8")])
"""The same since version 2 of DXT_POSIX and version 3 of DXT_MPIIO."""
LATEST_S: Final = 4_000_000_000.0
LAYERS: Final = {"POSIX": Layer.POSIX, "MPI-IO": Layer.MPIIO, "STDIO": Layer.STDIO}
TRACED: Final = {"DXT_POSIX": "POSIX", "DXT_MPIIO": "MPI-IO"}
CALLS: Final = (
    "read", "write", "MPI_File_read", "MPI_File_write", "fread", "fwrite", "open", "fileno", "dup", "lseek", "stat",
    "mmap", "rename", "fsync", "close", "MPI_File_open", "MPI_File_set_view", "MPI_File_sync", "MPI_File_close",
    "fopen", "fdopen", "fseek", "fflush", "fclose",
)  # fmt: skip
"""Each name represents all functions that do the same, because Darshan does not distinguish them."""
_OF_SEGMENTS: Final = {Layer.POSIX: ("read", "write"), Layer.MPIIO: ("MPI_File_read", "MPI_File_write")}
ROW: Final = np.dtype(
    [
        ("start", "<i8"),
        ("duration", "<i8"),
        ("offset", "<i8"),
        ("requested", "<i8"),
        ("bytes", "<i8"),
        ("file", "<u4"),
        ("rank", "<i4"),
        ("tid", "<i4"),
        ("signature", "<u4"),
        ("layer", "u1"),
        ("kind", "u1"),
        ("call", "u1"),
        ("depth", "u1"),
        ("flags", "<u2"),
    ]
)
"""Column of an event -> type. ``call`` is an index into CALLS, ``file`` and ``signature`` are numbers of the log."""
Rows = npt.NDArray[Any]


def rows_of_segments(
    segments: Rows, writes: int, layer: Layer, file: int, rank: int, begin_ns: int
) -> tuple[Rows, npt.NDArray[np.bool_]]:
    """Convert one record's segments, writes first, to rows.

    Returns:
        The rows, and a mask of the segments that they contain; the others have impossible numbers.
    """
    start, end = segments["start"], segments["end"]
    with np.errstate(invalid="ignore"):
        good = (start >= 0) & (end >= start) & (end <= LATEST_S)  # false for NaN
    good &= (segments["length"] >= 0) & (segments["length"] < 2**62)
    written = np.arange(len(segments)) < writes
    picked = segments[good]
    rows = np.zeros(len(picked), ROW)
    rows["start"] = np.rint(picked["start"] * 1e9).astype(np.int64)
    rows["duration"] = np.rint(picked["end"] * 1e9).astype(np.int64) - rows["start"]
    rows["start"] += begin_ns
    rows["offset"] = np.clip(picked["offset"], -1, 2**62)
    rows["bytes"] = rows["requested"] = picked["length"]
    rows["file"], rows["rank"], rows["layer"] = file, rank, layer
    rows["kind"] = np.where(written[good], int(Kind.WRITE), int(Kind.READ))
    read, write = (CALLS.index(call) for call in _OF_SEGMENTS[layer])
    rows["call"] = np.where(written[good], write, read)
    return rows, good


def in_order(rows: Rows, through_mpi: set[int]) -> Rows:
    """Sorts rows by rank and start, and marks the calls that were made by MPI-IO.

    Args:
        rows: any number of rows.
        through_mpi: files that the job used through MPI-IO; POSIX calls on them count as made by MPI-IO. Times cannot
            show this, because the stamps of both layers come from a coarse clock.
    """
    rows = rows[np.lexsort((-rows["layer"].astype(np.int64), rows["start"], rows["rank"]))]
    rows["depth"] = (rows["layer"] == Layer.POSIX) & np.isin(rows["file"], np.array(sorted(through_mpi), np.uint32))
    return rows
