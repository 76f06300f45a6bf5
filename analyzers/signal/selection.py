"""Selection of the events that form a job's bandwidth signal, and clipping of events to a time window."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Kind
from ...events.batch import representatives
from ...events.summaries import summary_rows
from ...results.prediction import ModeName
from ..file_groups import READS, WRITES

LeftOut = npt.NDArray[np.uint8]
"""Mask of directions that do not count, by file number; bits of ``CountRule.left_out``. Files beyond it count fully."""
ALL_COUNTS: Final[LeftOut] = np.zeros(0, np.uint8)
Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_EVERY: Final = READS | WRITES


_WAYS: Final[dict[int, int]] = {int(Kind.READ): READS, int(Kind.WRITE): WRITES}
FEW: Final = 64
"""Maximum number of events that are processed one by one."""


def _bits(reads: int, writes: int) -> npt.NDArray[np.uint8]:
    """Return a table by Kind with READS or WRITES for the wanted directions."""
    table = np.zeros(256, np.uint8)
    table[Kind.READ], table[Kind.WRITE] = reads, writes
    return table


_BITS: Final[dict[ModeName, npt.NDArray[np.uint8]]] = {
    "read": _bits(READS, 0),
    "write": _bits(0, WRITES),
    "both": _bits(READS, WRITES),
}


def counted(batch: EventBatch, left_out: LeftOut, mode: ModeName) -> Flags:
    """Return which events count towards the bandwidth signal.

    These are reads or writes (according to ``mode``) of more than 0 bytes at depth 0, on files that count in that
    direction. A call made by another traced layer has a greater depth and would be counted twice.

    Args:
        batch: events.
        left_out: mask of directions that do not count, by file number.
        mode: direction of data movement.

    Returns:
        bool[len(batch)]
    """
    wanted = _counted(batch, left_out, mode)
    return wanted if len(wanted) == len(batch) else np.broadcast_to(wanted, (len(batch),))


def _counted(batch: EventBatch, left_out: LeftOut, mode: ModeName) -> Flags:
    """Return the result of ``counted``, as bool[1] if all columns involved are constant."""
    bits = _BITS[mode].take(representatives(batch.kind))
    if left_out.any():
        bits = bits & (_of_files(left_out, 0, batch) ^ np.uint8(_EVERY))
    wanted: Flags = (bits != 0) & (representatives(batch.bytes) > 0)
    depth = representatives(batch.depth)
    return wanted & (depth == 0) if depth.any() else wanted


def is_left_out(batch: EventBatch, left_out: LeftOut) -> Flags:
    """Return which events are reads or writes that do not count for their file, bool[len(batch)]."""
    result: Flags = (_of_files(left_out, 0, batch) & _BITS["both"].take(representatives(batch.kind))) != 0
    return result if len(result) == len(batch) else np.broadcast_to(result, (len(batch),))


def _of_files(table: npt.NDArray[np.uint8], beyond: int, batch: EventBatch) -> npt.NDArray[np.uint8]:
    """Look up the files of events; numbers beyond the table share one last entry."""
    files = representatives(batch.file)
    if int(files.max(initial=0)) < len(table):
        return table.take(files)
    return np.append(table, np.uint8(beyond)).take(files, mode="clip")


def counted_of_few(batch: EventBatch, left_out: LeftOut) -> list[int]:
    """Return the rows that count in both directions. It is for so few events that arrays are slower."""
    columns = (batch.kind, batch.bytes, batch.depth, batch.file)
    files = len(left_out)
    return [
        row
        for row, (kind, moved, depth, file) in enumerate(zip(*(each.tolist() for each in columns), strict=True))
        if moved > 0 and depth == 0 and (way := _WAYS.get(kind)) and not (file < files and left_out.item(file) & way)
    ]


def counted_columns(batch: EventBatch, left_out: LeftOut, mode: ModeName) -> tuple[Times, Times, Times, Flags]:
    """Return start, end, bytes and direction of the events that count.

    Direction is whether it is a read (bool[1] if constant).
    """
    rows = _counted(batch, left_out, mode)
    start, end, volume, is_read = batch.start, batch.end, batch.bytes, representatives(batch.kind) == Kind.READ
    if not rows.all():
        kept = np.flatnonzero(np.broadcast_to(rows, (len(batch),)))
        start, end, volume = start[kept], end[kept], volume[kept]
        is_read = is_read[kept] if len(is_read) == len(batch) else is_read
    return start.astype(np.int64, copy=False), end, volume.astype(np.int64, copy=False), is_read


def clip(batch: EventBatch, from_ns: int, to_ns: int) -> EventBatch:
    """Return the events within [from, to). Events that cross an edge are cut, with their share of the bytes.

    An event moves its bytes at a constant rate. Shares are rounded so that those of adjacent windows add up to the
    total. An event of zero duration belongs to the window that contains its start.
    """
    start, end = batch.start.astype(np.int64, copy=False), batch.end
    touching = (start < to_ns) & ((end > from_ns) | (start >= from_ns))
    if not touching.all():
        batch, start, end = batch.select(touching), start[touching], end[touching]
    crossing = (start < from_ns) | (end > to_ns)
    if not crossing.any():
        return batch
    low, high = np.maximum(start, from_ns), np.minimum(end, to_ns)
    volume = batch.bytes.astype(np.int64, copy=False)
    cut = np.flatnonzero(crossing)
    shared = volume.copy()
    shared[cut] = _moved(start, end, volume, high, cut) - _moved(start, end, volume, low, cut)
    columns: dict[str, npt.NDArray[np.int64]] = {"start": low, "duration": high - low, "bytes": shared}
    if (rows := summary_rows(batch)) is not None:
        for name in ("offset", "requested"):  # of a summary: the time that its calls took, and their number
            whole = getattr(batch, name).astype(np.int64)
            parts = whole.copy()
            parts[cut] = _moved(start, end, whole, high, cut) - _moved(start, end, whole, low, cut)
            columns[name] = np.where(rows, parts, whole)
    return batch.replace(**columns)


def _moved(
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    volume: npt.NDArray[np.int64],
    until: npt.NDArray[np.int64],
    rows: npt.NDArray[np.intp],
) -> npt.NDArray[np.int64]:
    """Return the bytes that events have moved by a time each. They are integers that depend on nothing else."""
    begin, stop, moved = start[rows], end[rows], volume[rows]
    part = (until[rows] - begin) / np.maximum(stop - begin, 1)
    done: npt.NDArray[np.int64] = np.rint(moved * part).astype(np.int64)
    return np.where(until[rows] >= stop, moved, done)
