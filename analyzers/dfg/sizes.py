"""Which events have a size, and what it is."""

from __future__ import annotations

import numpy as np

from ...events import EventBatch, Flag, Kind
from .state import Ints


def sizes_of(batch: EventBatch) -> Ints:
    """Returns the bytes that each event moved, int64[n]; -1 for those that are no read or write or that failed."""
    moves = ((batch.kind == Kind.READ) | (batch.kind == Kind.WRITE)) & (batch.flags & int(Flag.FAILED) == 0)
    return np.where(moves, batch.bytes, -1).astype(np.int64, copy=False)
