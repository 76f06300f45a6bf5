"""Events of Darshan's segments, and of its counters where a layer was not traced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....events import Flag, Kind, Layer

SEGMENT: Final = np.dtype([("offset", "<i8"), ("length", "<i8"), ("start", "<f8"), ("end", "<f8")])
"""Of DXT: a read or a write; seconds since the job's start."""
LATEST_S: Final = 4_000_000_000.0
LAYERS: Final = {"POSIX": Layer.POSIX, "MPI-IO": Layer.MPIIO, "STDIO": Layer.STDIO}
TRACED: Final = {"DXT_POSIX": "POSIX", "DXT_MPIIO": "MPI-IO"}
CALLS: Final = {
    (Layer.POSIX, Kind.READ): "read",
    (Layer.POSIX, Kind.WRITE): "write",
    (Layer.MPIIO, Kind.READ): "MPI_File_read",
    (Layer.MPIIO, Kind.WRITE): "MPI_File_write",
    (Layer.STDIO, Kind.READ): "fread",
    (Layer.STDIO, Kind.WRITE): "fwrite",
}
"""What moved the bytes stands for all functions that do: Darshan does not say which it was."""
ROW: Final = np.dtype(
    [
        ("start", "<i8"),
        ("duration", "<i8"),
        ("offset", "<i8"),
        ("bytes", "<i8"),
        ("file", "<u4"),
        ("rank", "<i4"),
        ("layer", "u1"),
        ("kind", "u1"),
        ("depth", "u1"),
        ("flags", "<u2"),
    ]
)
Rows = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Moved:
    """Counters of one direction."""

    bytes: int
    start_s: float
    end_s: float


def rows_of_segments(raw: bytes, writes: int, layer: Layer, file: int, rank: int, begin_ns: int) -> tuple[Rows, int]:
    """Makes rows of one record's segments, writes first.

    Returns:
        The rows, and how many segments were left out as their numbers cannot be.
    """
    segments = np.frombuffer(raw, SEGMENT)
    start, end = segments["start"], segments["end"]
    with np.errstate(invalid="ignore"):
        good = (start >= 0) & (end >= start) & (end <= LATEST_S)  # false for NaN
    good &= (segments["length"] >= 0) & (segments["length"] < 2**62)
    kinds = np.where(np.arange(len(segments)) < writes, int(Kind.WRITE), int(Kind.READ))
    picked = segments[good]
    rows = np.zeros(len(picked), ROW)
    rows["start"] = np.rint(picked["start"] * 1e9).astype(np.int64)
    rows["duration"] = np.rint(picked["end"] * 1e9).astype(np.int64) - rows["start"]
    rows["start"] += begin_ns
    rows["offset"] = np.clip(picked["offset"], -1, 2**62)
    rows["bytes"] = picked["length"]
    rows["file"], rows["rank"], rows["layer"], rows["kind"] = file, rank, layer, kinds[good]
    return rows, len(segments) - len(picked)


def row_of_counters(moved: Moved, layer: Layer, kind: Kind, file: int, rank: int, begin_ns: int) -> Rows:
    """Makes the row of all that one direction moved, from the first such call's start to the last one's end."""
    rows = np.zeros(1, ROW)
    start, end = round(moved.start_s * 1e9), round(moved.end_s * 1e9)
    rows[0] = (begin_ns + start, end - start, -1, moved.bytes, file, rank, layer, kind, 0, Flag.AGGREGATE)
    return rows


def moved(values: Mapping[str, Any], direction: str) -> Moved | None:
    """Returns what counters say of a direction, READ or WRITE; None where nothing moved or the times cannot be."""
    size = values.get("BYTES_READ" if direction == "READ" else "BYTES_WRITTEN", 0)
    start, end = values.get(f"F_{direction}_START_TIMESTAMP", 0.0), values.get(f"F_{direction}_END_TIMESTAMP", 0.0)
    if not (0 < size < 2**62 and 0 <= start <= end <= LATEST_S):
        return None
    return Moved(size, start, end)


def in_order(rows: Rows, through_mpi: set[int]) -> Rows:
    """Sorts rows by rank and start, and marks the calls that were made by MPI-IO.

    Args:
        rows: any number.
        through_mpi: files that the job used by MPI-IO; what POSIX did to them is taken as made by it. Times do not
            tell that, as both layers' stamps come from a clock that ticks slowly.
    """
    rows = rows[np.lexsort((-rows["layer"].astype(np.int64), rows["start"], rows["rank"]))]
    rows["depth"] = (rows["layer"] == Layer.POSIX) & np.isin(rows["file"], np.array(sorted(through_mpi), np.uint32))
    return rows
