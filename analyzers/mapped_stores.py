"""Upper bounds for stores to mapped files, which make no calls. The bounds are lengths of mappings and of ``msync``."""

from __future__ import annotations

import numpy as np

from ..events import EventBatch, Flag, Kind
from ..events.batch import representatives
from .file_groups import WRITES
from .signal.selection import ALL_COUNTS, LeftOut


def mapped_stores(batch: EventBatch, left_out: LeftOut = ALL_COUNTS) -> tuple[int, int]:
    """Return the bytes mapped with stores that reach the file. It also returns the bytes passed to ``msync``.

    Both are lengths; how many of these bytes were stored to is unknown. Nested calls (depth > 0) are excluded, since
    the outer call has the same bytes. Files to which writes do not count are excluded, too.

    Args:
        batch: events.
        left_out: mask of directions that do not count, by file number.
    """
    if not (representatives(batch.flags) & int(Flag.STORES)).any():
        return 0, 0
    wanted = int(Flag.STORES)
    rows = ((batch.flags & (wanted | int(Flag.FAILED))) == wanted) & (batch.depth == 0)
    if left_out.any():
        missing = np.append(left_out, np.uint8(0))[np.minimum(batch.file, len(left_out))]
        rows &= (missing & WRITES) == 0
    asked = batch.requested[rows].astype(np.int64, copy=False)
    flushed = batch.kind[rows] == Kind.SYNC
    return sum(asked[~flushed].tolist()), sum(asked[flushed].tolist())
