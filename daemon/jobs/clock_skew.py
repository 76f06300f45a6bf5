"""Calls of nodes whose clocks are ahead."""

from __future__ import annotations

import numpy as np

from ...events import EventBatch


def shifted_to_arrival(batch: EventBatch, now_ns: int, skew_ns: int) -> tuple[EventBatch, int]:
    """Shift calls that are too far ahead, like their node's clock. The last of them then ends now.

    Args:
        batch: calls, at least one of which ends more than ``skew_ns`` after ``now_ns``.
        now_ns: time of day, Unix time in ns.
        skew_ns: tolerated offset of a node's clock, ns.

    Returns:
        The calls, and the number of shifted ones.
    """
    ahead = batch.end > now_ns + skew_ns
    by_ns = int(batch.end[ahead].max()) - now_ns
    start = np.maximum(np.where(ahead, batch.start - by_ns, batch.start), 0)
    return batch.replace(start=start), int(np.count_nonzero(ahead))
