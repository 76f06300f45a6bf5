"""Removal of a single burst that hides a period with little I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from ..estimator import SignalWindow
from ..tuning import TUNING
from .phases import runs

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
    if _continues(window, slice(before, after), kept):
        return None
    part = window[kept]
    return replace(
        view,
        bandwidth=part,
        start_s=view.window_start_s + kept.start * view.bin_s,
        begin=0,
        now_s=view.now_s if kept.start else view.window_start_s + before * view.bin_s,
        cut=view.cut or kept.start > 0,
    )


def _continues(window: npt.NDArray[np.float64], burst: slice, kept: slice) -> bool:
    """Return whether a burst consists of the same phases as the rest, which only follow more closely there."""
    level = float(window.sum()) / len(window)
    inside, outside = (_phase_volumes(window[part], level) for part in (burst, kept))
    if min(len(inside), len(outside)) < TUNING.intervals.min_intervals:
        return False
    one, other = float(inside[len(inside) // 2]), float(outside[len(outside) // 2])
    return abs(one - other) <= _SECONDARY_PERIODS.interval_tolerance * max(one, other)


def _phase_volumes(part: npt.NDArray[np.float64], level: float) -> npt.NDArray[np.float64]:
    """Return the volumes of the runs of bins above a level, in ascending order."""
    first, stop = runs(part > level)
    sums = np.append(0.0, np.cumsum(part))
    return np.sort(sums[stop] - sums[first])
