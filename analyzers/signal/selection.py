"""Which events make up a job's bandwidth signal."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Kind
from ...events.batch import occurring
from ...results.prediction import ModeName
from ..file_groups import READS, WRITES

LeftOut = npt.NDArray[np.uint8]
"""What does not count of each file, by its number; bits of ``CountRule.left_out``. All counts of files beyond it."""
ALL_COUNTS: Final[LeftOut] = np.zeros(0, np.uint8)
Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_EVERY: Final = READS | WRITES


_WAYS: Final[dict[int, int]] = {int(Kind.READ): READS, int(Kind.WRITE): WRITES}
FEW: Final = 64
"""Events that are looked at one by one."""


def _bits(reads: int, writes: int) -> npt.NDArray[np.uint8]:
    """Returns a table of bits by Kind: which of READS and WRITES an event of it is, as far as these are wanted."""
    table = np.zeros(256, np.uint8)
    table[Kind.READ], table[Kind.WRITE] = reads, writes
    return table


_BITS: Final[dict[ModeName, npt.NDArray[np.uint8]]] = {
    "read": _bits(READS, 0),
    "write": _bits(0, WRITES),
    "both": _bits(READS, WRITES),
}


def counted(batch: EventBatch, left_out: LeftOut, mode: ModeName) -> Flags:
    """Tells which events count towards the bandwidth signal.

    These are reads or writes (as ``mode`` says) of more than 0 bytes at depth 0, on files that count that way. A call
    that another traced layer made is deeper than 0 and would be counted twice.

    Args:
        batch: the events.
        left_out: what does not count, by file number.
        mode: direction of data movement.

    Returns:
        bool[len(batch)]
    """
    wanted = _wanted(batch, left_out, mode)
    return wanted if len(wanted) == len(batch) else np.broadcast_to(wanted, (len(batch),))


def _wanted(batch: EventBatch, left_out: LeftOut, mode: ModeName) -> Flags:
    """Returns the same, bool[1] where all that it depends on has one value throughout."""
    bits = _BITS[mode].take(occurring(batch.kind))
    if left_out.any():
        bits = bits & (_of_files(left_out, 0, batch) ^ np.uint8(_EVERY))
    wanted: Flags = (bits != 0) & (occurring(batch.bytes) > 0)
    depth = occurring(batch.depth)
    return wanted & (depth == 0) if depth.any() else wanted


def is_left_out(batch: EventBatch, left_out: LeftOut) -> Flags:
    """Tells which events are reads or writes of files that do not count that way, bool[len(batch)]."""
    result: Flags = (_of_files(left_out, 0, batch) & _BITS["both"].take(occurring(batch.kind))) != 0
    return result if len(result) == len(batch) else np.broadcast_to(result, (len(batch),))


def _of_files(table: npt.NDArray[np.uint8], beyond: int, batch: EventBatch) -> npt.NDArray[np.uint8]:
    """Looks the files of events up; numbers beyond the table share one last entry."""
    files = occurring(batch.file)
    if int(files.max(initial=0)) < len(table):
        return table.take(files)
    return np.append(table, np.uint8(beyond)).take(files, mode="clip")


def counted_of_few(batch: EventBatch, left_out: LeftOut) -> list[int]:
    """Returns the rows of the events that count in both directions, of so few that arrays take longer."""
    columns = (batch.kind, batch.bytes, batch.depth, batch.file)
    files = len(left_out)
    return [
        row
        for row, (kind, moved, depth, file) in enumerate(zip(*(each.tolist() for each in columns), strict=True))
        if moved > 0 and depth == 0 and (way := _WAYS.get(kind)) and not (file < files and left_out.item(file) & way)
    ]


def counted_columns(batch: EventBatch, left_out: LeftOut, mode: ModeName) -> tuple[Times, Times, Times, Flags]:
    """Returns start, end, bytes, and whether it is a read (bool[1] if one is for all), of the events that count."""
    rows = _wanted(batch, left_out, mode)
    start, end, volume, is_read = batch.start, batch.end, batch.bytes, occurring(batch.kind) == Kind.READ
    if not rows.all():
        kept = np.flatnonzero(np.broadcast_to(rows, (len(batch),)))
        start, end, volume = start[kept], end[kept], volume[kept]
        is_read = is_read[kept] if len(is_read) == len(batch) else is_read
    return start.astype(np.int64, copy=False), end, volume.astype(np.int64, copy=False), is_read
