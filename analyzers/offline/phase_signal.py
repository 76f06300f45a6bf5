"""Signal from which a prediction for a finished trace was made, and its phases."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Kind
from ...results.prediction import Prediction
from ...results.traces.plot_data import PhaseColumns, TraceSignal
from ..settings import DetectSettings
from ..signal.bandwidth import BandwidthSignal
from ..signal.selection import counted
from .phase_list import list_phases, no_phases
from .requests import Batches


def signal_of(batches: Batches, settings: DetectSettings, prediction: Prediction) -> TraceSignal:
    """Bins the volume of a prediction's window at its sampling frequency, reads and writes separately."""
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
        return no_phases()
    return list_phases(signal.total, bin_s=signal.bin_s, start_s=signal.start_s, period_s=prediction.period_s.value)


def _moved(
    batch: EventBatch, rows: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return batch.start[rows].astype(np.int64), batch.end[rows], batch.bytes[rows].astype(np.int64)
