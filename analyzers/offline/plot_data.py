"""Data for the pictures of a finished trace."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import numpy as np

from ...events.errors import ConfigError
from ...results.prediction import Prediction
from ...results.traces.plot_data import PeriodPanel, PhaseColumns, PlotData, SpectrumColumns, TraceSignal
from ...results.traces.replay import Replay
from ..common.sorting import Ordering, ordered
from ..periodicity.spectrum.spectrum import find_candidates, spectrum_of
from ..settings import DetectSettings
from .autocorrelation import autocorrelation
from .member_groups import SecondaryResult
from .phase_signal import phases_of, signal_of
from .replay import replay
from .requests import Batches
from .wavelet import validity_of, wavelet_view


def panels_of(
    batches: Batches,
    settings: DetectSettings,
    prediction: Prediction,
    *,
    every_s: float | None = None,
    replayed: Replay | None = None,
    own: Batches | None = None,
    beside: Sequence[SecondaryResult] = (),
    ordering: Ordering = ordered,
) -> PlotData:
    """Compute all panels of a trace.

    Args:
        batches: events of all streams, each batch with the mask of its stream's files.
        settings: settings of the prediction.
        prediction: result for the whole trace.
        every_s: time between the replay's predictions, s; None for one per phase.
        replayed: replay, if already known.
        own: events of the members with the period; None if all have it.
        beside: periods of other members.
        ordering: function that sorts events by time; in memory by default.
    """
    whole = None if own is None else signal_of(batches, settings, prediction)
    batches = batches if own is None else own
    signal = signal_of(batches, settings, prediction)
    phases = phases_of(signal, prediction)
    notes: list[str] = []
    if replayed is None:
        try:
            replayed = replay_of(batches, settings, prediction, phases, every_s=every_s, ordering=ordering)
        except ConfigError as error:
            notes.append(f"No replay: {error}")
    values, period = signal.total, prediction.period_s
    return PlotData(
        prediction,
        signal,
        phases,
        spectrum_columns(signal, settings),
        replayed,
        wavelet_view(values, signal.bin_s, signal.start_s),
        None if period is None else validity_of(values, signal.bin_s, signal.start_s, period.value),
        tuple(notes),
        whole,
        tuple(_panel_of_other_period(each, settings, every_s, ordering) for each in beside),
    )


def _panel_of_other_period(
    periodicity: SecondaryResult, settings: DetectSettings, every_s: float | None, ordering: Ordering
) -> PeriodPanel:
    """Compute the panel of a period beside the main one."""
    other, prediction, own = periodicity
    phases = phases_of(signal_of(own, settings, prediction), prediction)
    replayed = None
    with contextlib.suppress(ConfigError):  # the main period's replay reports the error
        replayed = replay_of(own, settings, prediction, phases, every_s=every_s, ordering=ordering)
    return PeriodPanel(other, phases, replayed)


def replay_of(
    batches: Batches,
    settings: DetectSettings,
    prediction: Prediction,
    phases: PhaseColumns | None = None,
    *,
    every_s: float | None = None,
    ordering: Ordering = ordered,
) -> Replay:
    """Replay a trace whose complete result is known.

    Args:
        batches: events of all streams, each batch with the mask of its stream's files.
        settings: settings of the prediction.
        prediction: result for the whole trace.
        phases: phases of the whole trace; None to find them.
        every_s: time between predictions, s; None for one per phase.
        ordering: function that sorts events by time; in memory by default.

    Raises:
        ConfigError: the settings are suitable for finished traces only.
    """
    if phases is None:
        phases = phases_of(signal_of(batches, settings, prediction), prediction)
    period_s = None if prediction.period_s is None else prediction.period_s.value
    bin_s = 1 / prediction.sampling_frequency_hz
    settings = settings.model_copy(update={"mode": prediction.mode})  # use the same direction for both
    return replay(
        batches, settings, prediction.job,
        phases=phases, period_s=period_s, bin_s=bin_s, every_s=every_s, ordering=ordering,
    )  # fmt: skip


def spectrum_columns(signal: TraceSignal, settings: DetectSettings) -> SpectrumColumns:
    """Compute the spectrum with its candidates, and the autocorrelation, of a whole trace."""
    values = signal.total
    spectrum = spectrum_of(values, 1 / signal.bin_s)
    candidates = find_candidates(spectrum, settings)
    similar = autocorrelation(values)[: len(values) // 2 + 1] if values.any() else values[:0]
    by_score = settings.outlier == "zscore" and len(spectrum.transform)
    strength = spectrum.power if settings.spectrum == "power" else np.abs(spectrum.transform)
    threshold = float(strength.mean() + settings.z_threshold * strength.std()) if by_score else None
    if threshold is not None and settings.spectrum == "amplitude":
        threshold = threshold**2 / spectrum.samples
    near = (candidates.z > settings.tolerance * candidates.z.max(initial=0.0)) & (candidates.z > settings.z_threshold)
    outlying = np.flatnonzero(near) if by_score else candidates.bins
    return SpectrumColumns(
        frequency_hz=spectrum.frequency_hz,
        power=spectrum.power,
        threshold=threshold,
        candidates=candidates.bins,
        harmonics=np.setdiff1d(outlying, candidates.bins),
        lag_s=np.arange(len(similar), dtype=np.float64) * signal.bin_s,
        autocorrelation=similar,
    )
