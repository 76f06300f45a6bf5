"""The I/O phases of a signal whose period is known, for pictures and for comparing predictions with what came."""

from __future__ import annotations

import math

import numpy as np

from ...results.traces.plot_data import PhaseColumns
from ..periodicity.phases.phases import Floats, Phases, Segmenter

_BUSY = 0.5


def list_phases(values: Floats, *, bin_s: float, start_s: float, period_s: float) -> PhaseColumns:
    """Cuts a signal into phases; a busy one by its pauses, where that comes nearer to the period.

    Args:
        values: bytes/s in each bin, at least 0.
        bin_s: length of a bin.
        start_s: start of the first bin.
        period_s: the period, from an estimator.
    """
    if not len(values) or not values.any():
        return no_phases()
    segmenter = Segmenter(values)
    period = period_s / bin_s
    phases = segmenter.refined(segmenter.segment(period))
    if segmenter.duty > _BUSY:
        phases = min(phases, segmenter.segment_by_pauses(period), key=lambda each: _off(each, period))
    return PhaseColumns(start_s + phases.start * bin_s, start_s + phases.end * bin_s, phases.volume * bin_s)


def no_phases() -> PhaseColumns:
    """Returns an empty list of phases."""
    return PhaseColumns(*(np.zeros(0) for _ in range(3)))


def _off(phases: Phases, period: float) -> float:
    """Returns how far the usual interval is from the period, as a logarithm."""
    usual = float(np.median(np.diff(phases.start))) if len(phases) > 1 else 0.0
    return abs(math.log(usual / period)) if usual > 0 else math.inf
