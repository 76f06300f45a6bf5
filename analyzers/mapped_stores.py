"""Stores to mapped files: no calls, and so no bytes; what mappings and ``msync`` tell of them are upper bounds."""

from __future__ import annotations

import numpy as np

from ..events import EventBatch, Flag, Kind
from ..events.batch import occurring
from .file_groups import WRITES
from .signal.selection import ALL_COUNTS, LeftOut


def mapped_stores(batch: EventBatch, left_out: LeftOut = ALL_COUNTS) -> tuple[int, int]:
    """Returns the bytes that were mapped so that stores reach the file, and those that ``msync`` was to write back.

    Both are lengths; how much of them was stored to is not known. Calls that another traced layer made are left out, as
    its own call has their bytes, and files to which writes do not count.

    Args:
        batch: the events.
        left_out: what does not count, by file number.
    """
    if not (occurring(batch.flags) & int(Flag.STORES)).any():
        return 0, 0
    wanted = int(Flag.STORES)
    rows = ((batch.flags & (wanted | int(Flag.FAILED))) == wanted) & (batch.depth == 0)
    if left_out.any():
        missing = np.append(left_out, np.uint8(0))[np.minimum(batch.file, len(left_out))]
        rows &= (missing & WRITES) == 0
    asked = batch.requested[rows].astype(np.int64, copy=False)
    flushed = batch.kind[rows] == Kind.SYNC
    return sum(asked[~flushed].tolist()), sum(asked[flushed].tolist())
