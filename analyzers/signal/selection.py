"""Which events make up a job's bandwidth signal."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, FileType, Kind, is_constant
from ...events.batch import occurring
from ...events.models import ModeName

FileTypes = npt.NDArray[np.uint8]
Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_KINDS: Final[dict[ModeName, tuple[Kind, ...]]] = {
    "read": (Kind.READ,),
    "write": (Kind.WRITE,),
    "both": (Kind.READ, Kind.WRITE),
}


def counted(batch: EventBatch, file_types: npt.NDArray[np.uint8], mode: ModeName) -> npt.NDArray[np.bool_]:
    """Tells which events count towards the bandwidth signal.

    These are reads or writes (as ``mode`` says) of more than 0 bytes at depth 0, on regular files and on files of
    unknown type. A call that another traced layer made is deeper than 0 and would be counted twice.

    Args:
        batch: the events.
        file_types: FileType of each file number, uint8; a number beyond the array is a file of unknown type.
        mode: direction of data movement.

    Returns:
        bool[len(batch)]
    """
    kinds = occurring(batch.kind)
    wanted = kinds == _KINDS[mode][0]
    for kind in _KINDS[mode][1:]:
        wanted |= kinds == kind
    wanted = wanted & (batch.bytes > 0)
    if not (is_constant(batch.depth) and batch.depth[0] == 0):
        wanted &= batch.depth == 0
    known = (file_types == FileType.UNKNOWN) | (file_types == FileType.REGULAR)
    if not known.all():
        # numbers beyond the table share one last entry, which says "unknown"
        wanted &= np.append(known, True)[np.minimum(batch.file, len(known))]
    result: npt.NDArray[np.bool_] = wanted
    return result


def counted_columns(batch: EventBatch, file_types: FileTypes, mode: ModeName) -> tuple[Times, Times, Times, Flags]:
    """Returns start, end, bytes, and whether it is a read, of the events that count."""
    rows = counted(batch, file_types, mode)
    start, end, volume, is_read = batch.start, batch.end, batch.bytes, batch.kind == Kind.READ
    if not rows.all():
        start, end, volume, is_read = start[rows], end[rows], volume[rows], is_read[rows]
    return start.astype(np.int64, copy=False), end, volume.astype(np.int64, copy=False), is_read
