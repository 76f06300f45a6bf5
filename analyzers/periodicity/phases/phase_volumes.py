"""Volumes of phases, and their similarity."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from msgspec import Struct

from .. import compiled
from ..tuning import TUNING
from .phases import Floats, Phases, Segmenter
from .trend import cycle_of, deviation_from_cycle

EQUAL_VOLUMES: Final = 1e-6
"""Variance of equal volumes over their squared mean."""


class VolumeSimilarity(Struct, frozen=True):
    """Similarity of the volumes of phases.

    Attributes:
        spread: standard deviation of the volumes over their mean, or around a pattern that they repeat; 0 for a single
            one.
        count: number of volumes, less one for each further place of a pattern; a last phase that is still running is
            excluded.
        trailing: whether volume that trickles in after phases belongs to them.
    """

    spread: float
    count: int
    trailing: bool


def volume_similarity(segmenter: Segmenter, phases: Phases, *, may_repeat: bool = False) -> VolumeSimilarity:
    """Compare the volumes of phases with and without the volume that trickles in after them.

    Args:
        segmenter: segmenter of the signal.
        phases: phases, at least one.
        may_repeat: whether phases are as similar as those at the same place of a pattern, if each n-th is larger.
    """
    found = _around_mean(segmenter, phases)
    if not may_repeat or found.spread <= TUNING.tolerances.irregular_spread:
        return found
    running = bool(phases.stop[-1] >= len(segmenter.values))
    return _around_pattern(phases.volume[: len(phases) - int(running)], found)


def _around_pattern(volume: Floats, found: VolumeSimilarity) -> VolumeSimilarity:
    if len(volume) < TUNING.intervals.min_intervals:
        return found
    mean = float(volume.sum()) / len(volume)
    if not (cycle := cycle_of(volume, EQUAL_VOLUMES * mean * mean)):
        return found
    spread = deviation_from_cycle(volume, cycle) / mean
    return VolumeSimilarity(spread, len(volume) - cycle + 1, False) if spread < found.spread else found


def _around_mean(segmenter: Segmenter, phases: Phases) -> VolumeSimilarity:
    running = bool(phases.stop[-1] >= len(segmenter.values))
    complete = len(phases) - int(running)
    spreads = compiled.spreads(segmenter.running, phases.first, phases.volume, complete)
    if spreads is None:
        plain = _spread(phases.volume[:complete])
        whole = _spread(with_background_volume(segmenter, phases)[:-1])
    else:
        plain, whole = (
            None if count < 2 else VolumeSimilarity(spread, count, False)
            for spread, count in zip(spreads, (complete, len(phases) - 1), strict=True)
        )
    if whole is None or (plain is not None and plain.spread <= whole.spread):
        return plain or VolumeSimilarity(0.0, 1, False)
    trailing = (
        plain is not None
        and plain.spread > TUNING.quality.volume_spread_resolution
        and whole.spread < TUNING.tolerances.clearly_smaller_spread * plain.spread
    )
    return VolumeSimilarity(whole.spread, whole.count, trailing)


def with_background_volume(segmenter: Segmenter, phases: Phases) -> Floats:
    """Return the volume from the start of each phase to the start of the next."""
    before = np.empty(len(phases) + 1)
    segmenter.running.take(phases.first, out=before[:-1])
    before[-1] = segmenter.total
    return before[1:] - before[:-1]


def with_trailing_requests(segmenter: Segmenter, phases: Phases) -> Phases:
    """Extend each phase to the last non-empty bin before the next one.

    The bin right before a phase may contain its beginning, and does not extend the phase before.
    """
    busy = np.flatnonzero(segmenter.values > TUNING.segmentation.empty_bin_share * segmenter.threshold)
    after = np.append(phases.first[1:] - 1, len(segmenter.values))
    last = busy[np.maximum(np.searchsorted(busy, after) - 1, 0)] + 1
    stop = np.maximum(last, phases.stop)
    end = np.where(stop > phases.stop, stop.astype(np.float64), phases.end)
    return Phases(phases.start, end, with_background_volume(segmenter, phases), phases.first, stop)


def _spread(volume: Floats) -> VolumeSimilarity | None:
    n = len(volume)
    if n < 2:
        return None
    mean = float(volume.sum()) / n
    off = volume - mean
    return VolumeSimilarity(math.sqrt(float(off @ off) / (n - 1)) / mean, n, False)
