"""Signal from which a prediction for a finished trace was made, and its phases."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Kind
from ...results.prediction import Prediction
from ...results.traces.plot_data import PhaseColumns, TraceSignal
from ..periodicity.phases.phases import Floats, Phases, Segmenter
from ..periodicity.tuning import TUNING
from ..settings import DetectSettings
from ..signal.bandwidth import BandwidthSignal
from ..signal.selection import counted
from .requests import Batches

_BUSY = 0.5  # duty from which on pauses are searched, too


def signal_of(batches: Batches, settings: DetectSettings, prediction: Prediction) -> TraceSignal:
    """Bin the volume of a prediction's window at its sampling frequency, reads and writes separately."""
    bin_ns = max(1, round(1e9 / prediction.sampling_frequency_hz))
    first_ns, last_ns = round(prediction.window.start_s * 1e9), round(prediction.window.end_s * 1e9)
    signals = {kind: BandwidthSignal(bin_ns, settings.trace_bins) for kind in (Kind.READ, Kind.WRITE)}
    for batch, left_out in batches:
        if len(batch):
            rows = counted(batch, left_out, prediction.mode) & (batch.start <= last_ns) & (batch.end >= first_ns)
            for kind, signal in signals.items():
                signal.add(*_moved(batch, rows & (batch.kind == kind)))
    parts = [signal.read(first_ns, last_ns) for signal in signals.values()]
    bins = min(len(part.volume) for part in parts)
    read, written = (part.bandwidth[len(part.volume) - bins :] for part in parts)
    return TraceSignal(max(part.first_ns for part in parts) / 1e9, bin_ns / 1e9, read, written)


def phases_of(signal: TraceSignal, prediction: Prediction) -> PhaseColumns:
    """Find the phases of a trace with a known period; none without a period."""
    if prediction.period_s is None:
        return _no_phases()
    return _segmented(signal.total, bin_s=signal.bin_s, start_s=signal.start_s, period_s=prediction.period_s.value)


def _moved(
    batch: EventBatch, rows: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return batch.start[rows].astype(np.int64), batch.end[rows], batch.bytes[rows].astype(np.int64)


def _segmented(values: Floats, *, bin_s: float, start_s: float, period_s: float) -> PhaseColumns:
    """Segment a signal into phases.

    A busy signal is segmented by its pauses, and one with phases that hide others is clipped, if the result is closer
    to the period.

    Args:
        values: bytes/s in each bin, at least 0.
        bin_s: length of a bin, s.
        start_s: start of the first bin, s.
        period_s: period from an estimator, s.
    """
    if not len(values) or not values.any():
        return _no_phases()
    segmenter = Segmenter(values)
    period = period_s / bin_s
    found = [segmenter.refined(segmenter.segment(period))]
    if segmenter.duty > _BUSY:
        found.append(segmenter.segment_by_pauses(period))
    if min(_off(each, period) for each in found) > TUNING.tolerances.equal_period_log:
        for quantile in (TUNING.segmentation.first_clip_quantile, TUNING.segmentation.second_clip_quantile):
            clipped = segmenter.levelled(quantile)
            found.append(clipped.measured(clipped.refined(clipped.segment(period))))
    phases = min(found, key=lambda each: _off(each, period))
    return PhaseColumns(start_s + phases.start * bin_s, start_s + phases.end * bin_s, phases.volume * bin_s)


def _no_phases() -> PhaseColumns:
    """Return an empty list of phases."""
    return PhaseColumns(*(np.zeros(0) for _ in range(3)))


def _off(phases: Phases, period: float) -> float:
    """Return the difference of the logarithms of the usual interval and the period."""
    usual = float(np.median(np.diff(phases.start))) if len(phases) > 1 else 0.0
    return abs(math.log(usual / period)) if usual > 0 else math.inf
