"""Removal of a single burst that hides a period with little I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from msgspec.structs import replace

from ..estimator import SignalWindow
from ..tuning import TUNING

_SECONDARY_PERIODS: Final = TUNING.secondary_periods


def without_bursts(view: SignalWindow) -> Iterator[SignalWindow]:
    """Yield shorter windows. Each leaves out the burst that has most of the remaining volume.

    A burst at the start may be input that is read once, and one at the end a result that is written once. The longer
    side of the burst is the new window. Bursts that leave less than half of the window's bins are ignored.
    """
    least = _SECONDARY_PERIODS.min_left_share * len(view.window)
    for _ in range(_SECONDARY_PERIODS.max_earlier_periods):
        shorter = _without_burst(view)
        if shorter is None or len(shorter.window) < max(least, TUNING.segmentation.min_window_bins):
            return
        yield shorter
        view = shorter


def _without_burst(view: SignalWindow) -> SignalWindow | None:
    window = view.window
    total = float(window.sum())
    busy = np.flatnonzero(window > total / max(len(window), 1))
    if not len(busy) or not total > 0:
        return None
    breaks = np.flatnonzero(np.diff(busy) > max(len(window) // _SECONDARY_PERIODS.window_parts, 1))
    first, last = busy[np.append(0, breaks + 1)], busy[np.append(breaks, len(busy) - 1)]
    sums = np.append(0.0, np.cumsum(window))
    volumes = sums[last + 1] - sums[first]
    heaviest = int(volumes.argmax())
    if volumes[heaviest] < _SECONDARY_PERIODS.min_burst_share * total:
        return None
    # the bins beside the burst may contain its edges
    before, after = max(int(first[heaviest]) - 1, 0), min(int(last[heaviest]) + 2, len(window))
    kept = slice(0, before) if before > len(window) - after else slice(after, len(window))
    part = window[kept]
    return replace(
        view,
        bandwidth=part,
        start_s=view.window_start_s + kept.start * view.bin_s,
        begin=0,
        now_s=view.now_s if kept.start else view.window_start_s + before * view.bin_s,
        cut=view.cut or kept.start > 0,
    )
