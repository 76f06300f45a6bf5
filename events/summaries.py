"""The calls, the time and the bytes of events, each of which is a call or a summary of calls anywhere in a span."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .batch import EventBatch, representatives
from .schema import Flag, Kind

_BOTH: Final = int(Flag.AGGREGATE | Flag.SPREAD)
Ints = npt.NDArray[np.integer[Any]]


def summary_rows(batch: EventBatch) -> npt.NDArray[np.bool_] | None:
    """Return which events are such summaries, bool[n]; None if there are none."""
    if not ((representatives(batch.flags) & _BOTH) == _BOTH).any():
        return None
    found: npt.NDArray[np.bool_] = (batch.flags & _BOTH) == _BOTH
    return found


def busy_ns(batch: EventBatch) -> Ints:
    """Return the time that each event's calls took, ns.

    It is the duration, or for a summary the sum over its calls.
    """
    rows = summary_rows(batch)
    return batch.duration if rows is None else np.where(rows, np.maximum(batch.offset, 0), batch.duration)


def calls_in(batch: EventBatch) -> npt.NDArray[np.int64]:
    """Return the number of calls that each event represents, int64[n]."""
    rows = summary_rows(batch)
    if rows is None:
        return np.ones(len(batch), np.int64)
    return np.where(rows, np.maximum(batch.requested, 0), 1).astype(np.int64, copy=False)


def requested_bytes(batch: EventBatch) -> Ints:
    """Return the bytes that each event's calls requested. For a summary the bytes that it moved."""
    rows = summary_rows(batch)
    return batch.requested if rows is None else np.where(rows, batch.bytes, batch.requested)


def sizes_of(batch: EventBatch) -> npt.NDArray[np.int64]:
    """Return the bytes moved by each event, int64[n].

    Returns -1 for failed calls and calls other than reads and writes.
    """
    kind, flags = representatives(batch.kind), representatives(batch.flags)
    moves = ((kind == Kind.READ) | (kind == Kind.WRITE)) & (flags & int(Flag.FAILED) == 0)
    return np.where(moves, batch.bytes, -1).astype(np.int64, copy=False)
