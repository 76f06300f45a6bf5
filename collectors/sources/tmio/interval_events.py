"""Convert intervals of bandwidth to events, and find malformed ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ....events import EventBatch, Flag, Layer, make_batch
from .intervals import Intervals

LATEST_S: Final = 4_600_000_000
"""Latest end of an interval, s; close to the bound of the wire."""
_NS: Final = 1e9

Positions: TypeAlias = npt.NDArray[np.intp]
EXPECTED_INTERVALS: Final = "finite numbers, times from 0 on, an end that is not before the start"


@dataclass(frozen=True, slots=True)
class IntervalEvents:
    """Result of converting a section's intervals."""

    batch: EventBatch
    """One event for each interval with bytes, flagged AGGREGATE."""
    wrong: Positions
    """Indices of intervals whose values are not finite, negative, or end before they begin."""
    empty: int
    """Number of intervals that moved nothing."""


def events_of(
    intervals: Intervals, call: int, layer: Layer, possible: npt.NDArray[np.bool_] | None = None
) -> IntervalEvents:
    """Convert intervals to events: bytes = bandwidth x length. Times are nanoseconds from the trace's own zero.

    Args:
        intervals: intervals of one section.
        call: number of the section's name.
        layer: layer of all events.
        possible: False for intervals that the caller rejects, bool[n].
    """
    start, end, rate = intervals.start_s, intervals.end_s, intervals.bandwidth
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.rint(rate * (end - start))
        good = (start >= 0) & (end >= start) & (end <= LATEST_S) & (size >= 0) & (size < 2**62)
    if possible is not None:
        good &= possible
    used = good & (size > 0)
    begin = np.rint(start[used] * _NS).astype(np.int64)
    finish = np.rint(end[used] * _NS).astype(np.int64)
    columns: dict[str, npt.ArrayLike] = {
        "start": begin,
        "duration": finish - begin,
        "call": call,
        "layer": int(layer),
        "kind": int(intervals.kind),
        "bytes": size[used].astype(np.int64),
        "flags": int(Flag.AGGREGATE),
    }
    batch = make_batch(len(begin), columns)
    return IntervalEvents(batch, np.flatnonzero(~good), int(np.count_nonzero(good)) - len(batch))


def described(intervals: Intervals, at: int) -> str:
    """Describe one interval in words."""
    start, end, rate = (float(values[at]) for values in (intervals.start_s, intervals.end_s, intervals.bandwidth))
    return f"bandwidth {rate:g} from {start:g} s to {end:g} s"
