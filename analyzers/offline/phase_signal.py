"""The signal that a prediction of a finished trace was made of, and its phases."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Kind
from ...results.prediction import ModeName, Prediction
from ...results.traces.plot_data import PhaseColumns, TraceSignal
from ..settings import DetectSettings
from ..signal.bandwidth import BandwidthSignal
from ..signal.selection import counted
from .phase_list import list_phases, no_phases
from .requests import Batches


def signal_of(batches: Batches, settings: DetectSettings, prediction: Prediction) -> TraceSignal:
    """Bins the volume of the window that a prediction used, at its sampling frequency, reads and writes apart."""
    bin_ns = max(1, round(1e9 / prediction.sampling_frequency_hz))
    window = prediction.window
    parts = []
    for kind in (Kind.READ, Kind.WRITE):
        signal = BandwidthSignal(bin_ns, settings.trace_bins)
        columns = [_moved(batch, left_out, prediction.mode, kind) for batch, left_out in batches if len(batch)]
        if columns:
            start, end, volume = (np.concatenate(rows) for rows in zip(*columns, strict=True))
            signal.add(start, end, volume)
        parts.append(signal.read(round(window.start_s * 1e9), round(window.end_s * 1e9)))
    bins = min(len(part.volume) for part in parts)
    read, written = (part.bandwidth[len(part.volume) - bins :] for part in parts)
    return TraceSignal(max(part.first_ns for part in parts) / 1e9, bin_ns / 1e9, read, written)


def phases_of(signal: TraceSignal, prediction: Prediction) -> PhaseColumns:
    """Finds the phases of a trace with the period that was found; none where none was."""
    if prediction.period_s is None:
        return no_phases()
    return list_phases(signal.total, bin_s=signal.bin_s, start_s=signal.start_s, period_s=prediction.period_s.value)


def _moved(
    batch: EventBatch, left_out: npt.NDArray[np.uint8], mode: ModeName, kind: Kind
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    rows = counted(batch, left_out, mode) & (batch.kind == kind)
    return batch.start[rows].astype(np.int64), batch.end[rows], batch.bytes[rows].astype(np.int64)
