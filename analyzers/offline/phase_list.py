"""List of I/O phases of a signal with known period. Pictures and the evaluation of predictions use it."""

from __future__ import annotations

import math

import numpy as np

from ...results.traces.plot_data import PhaseColumns
from ..periodicity.phases.phases import Floats, Phases, Segmenter

_BUSY = 0.5  # duty from which on pauses are searched, too


def list_phases(values: Floats, *, bin_s: float, start_s: float, period_s: float) -> PhaseColumns:
    """Segments a signal into phases. A busy one by its pauses, if the result is closer to the period.

    Args:
        values: bytes/s in each bin, at least 0.
        bin_s: length of a bin, s.
        start_s: start of the first bin, s.
        period_s: period from an estimator, s.
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
    """Return an empty list of phases."""
    return PhaseColumns(*(np.zeros(0) for _ in range(3)))


def _off(phases: Phases, period: float) -> float:
    """Return the difference of the logarithms of the usual interval and the period."""
    usual = float(np.median(np.diff(phases.start))) if len(phases) > 1 else 0.0
    return abs(math.log(usual / period)) if usual > 0 else math.inf
