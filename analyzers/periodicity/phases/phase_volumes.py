"""Volumes of phases, and their similarity."""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct

from .. import compiled
from ..tuning import TUNING
from .phases import Floats, Phases, Segmenter


class VolumeSimilarity(Struct, frozen=True):
    """Similarity of the volumes of phases.

    Attributes:
        spread: standard deviation of the volumes over their mean; 0 for a single one.
        count: number of volumes; a last phase that is still running is excluded.
        trailing: whether volume that trickles in after phases belongs to them.
    """

    spread: float
    count: int
    trailing: bool


def volume_similarity(segmenter: Segmenter, phases: Phases) -> VolumeSimilarity:
    """Compare the volumes of phases with and without the volume that trickles in after them."""
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
