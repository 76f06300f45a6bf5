"""Sizes of events."""

from __future__ import annotations

import numpy as np

from ...events import EventBatch, Flag, Kind
from ...events.batch import representatives
from ..common.state import Ints


def sizes_of(batch: EventBatch) -> Ints:
    """Return the bytes moved by each event, int64[n].

    Returns -1 for failed calls and calls other than reads and writes.
    """
    kind, flags = representatives(batch.kind), representatives(batch.flags)
    moves = ((kind == Kind.READ) | (kind == Kind.WRITE)) & (flags & int(Flag.FAILED) == 0)
    return np.where(moves, batch.bytes, -1).astype(np.int64, copy=False)
