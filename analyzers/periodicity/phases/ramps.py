"""Starts of phases whose bandwidth rises slowly, so that they exceed the noise threshold late."""

from __future__ import annotations

from typing import Final

import numpy as np
from msgspec.structs import replace

from ..tuning import TUNING
from .phases import Floats, Phases, Segmenter, edges_of
from .regularity import Regularity, regularity

_FEWEST: Final = 3  # phases from which on a common rise can be confirmed
_EDGE: Final = 1  # bins before a phase that belong to its edge anyway


def with_ramps(
    segmenter: Segmenter, phases: Phases, measured: Regularity, shortest: float
) -> tuple[Phases, Regularity]:
    """Move starts back to where the bandwidth began to rise, if most phases have such a rise.

    The noise threshold is the mean of the signal, which a phase with rising bandwidth exceeds late. The rise consists
    of the non-empty bins directly before, and its length must be similar in most phases: other I/O between phases is no
    rise. If the starts are then less regular, all move by the median length, so that the intervals do not change.

    Args:
        segmenter: segmenter of the signal.
        phases: its phases; ``first`` remains the first bin above the threshold.
        measured: their regularity.
        shortest: shortest interval that the segmentation allows, bins.
    """
    risen = _risen(segmenter, phases)
    if risen is None:
        return phases, measured
    if _scatter(risen.start) <= _scatter(phases.start):
        again = regularity(risen, shortest)
        return (phases, measured) if again is None else (risen, again)
    earlier = np.sort(phases.start - risen.start)
    rise = float(earlier[len(earlier) // 2])
    pauses = None if measured.pauses is None else measured.pauses - rise
    return replace(risen, start=phases.start - rise), replace(measured, pauses=pauses)


def _scatter(start: Floats) -> float:
    """Return the sum of squares of the intervals around their mean."""
    off = start[1:] - start[:-1]
    off = off - float(start[-1] - start[0]) / len(off)
    return float(off @ off)


def _risen(segmenter: Segmenter, phases: Phases) -> Phases | None:
    """Return the phases with the non-empty bins directly before them; None if these are no rises."""
    origin = segmenter.origin
    values, empty_below = (
        origin.values,
        segmenter.least_background + TUNING.segmentation.empty_bin_share * origin.threshold,
    )
    if len(phases) < _FEWEST or 2 * int((values[np.maximum(phases.first - 2, 0)] > empty_below).sum()) <= len(phases):
        return None
    empty = np.flatnonzero(values <= empty_below)
    if not len(empty):
        return None
    before = np.searchsorted(empty, phases.first) - 1
    begin = np.where(before >= 0, empty[before] + 1, phases.first)
    # without an empty bin in between, these bins may as well be the end of the phase before
    begin[1:] = np.where(begin[1:] > phases.stop[:-1], begin[1:], phases.first[1:])
    length = phases.first - begin
    rise = int(np.sort(length)[len(length) // 2])
    off = np.sort(np.abs(length - rise))
    if rise <= _EDGE or float(off[len(off) // 2]) > TUNING.secondary_periods.interval_tolerance * rise + 0.5:
        return None
    start, _ = edges_of(values, begin, phases.stop, segmenter.least_background)
    running = segmenter.running  # phases of a clipped signal have its volumes
    volume = running[np.minimum(phases.stop + 1, len(values))] - running[np.maximum(begin - 1, 0)]
    return replace(phases, start=np.where(length > 0, np.minimum(start, phases.start), phases.start), volume=volume)
