"""Complete analysis of a finished trace for ``iotide detect``. The reconstruction of its signal is [FTIO], Eq. 4."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ...results.prediction import ModeName, Prediction
from ...results.traces.analysis import Analysis, Reconstruction, Wave
from ..common.sorting import Ordering, ordered
from ..periodicity.spectrum.spectrum import Floats, spectrum_of
from ..settings import DetectSettings
from . import autocorrelation
from .member_groups import MemberEvents, SecondaryResult, groups_wanted, with_groups
from .requests import Batches
from .trace import examine, examine_mode
from .wavelet import validity_of, wavelet_view

_ROUNDING: Final = 1e-12  # relative amplitude of rounding errors


def reconstruct(values: Floats, bin_s: float, start_s: float, count: int) -> Reconstruction:
    """Select the ``count`` strongest frequencies of a signal, and compute the residual.

    x_n = (1/N) [X_0 + sum_k 2 |X_k| cos(2 pi k n / N + arg X_k)], with the Nyquist term not doubled (Eq. 4).

    Args:
        values: bandwidth in bins of equal length, bytes/s.
        bin_s: length of a bin, s.
        start_s: start of the first bin, s.
        count: maximum number of waves; all waves together reproduce the signal.
    """
    spectrum = spectrum_of(values, 1 / bin_s)
    amplitude, frequency = spectrum.amplitude, spectrum.frequency_hz
    # Parseval: the variance of a cosine is half of its squared amplitude, at the Nyquist frequency all of it
    variance = 0.5 * np.square(amplitude)
    if len(values) % 2 == 0 and len(variance):
        variance[-1] *= 2
    total = float(variance.sum())
    order = np.argsort(-variance, kind="stable")[:count]
    order = order[variance[order] > (_ROUNDING * float(values.max(initial=0.0))) ** 2]
    return Reconstruction(
        start_s=start_s,
        mean=float(values.mean()) if len(values) else 0.0,
        waves=[
            Wave(
                frequency_hz=float(frequency[k]),
                period_s=float(1 / frequency[k]),
                amplitude=float(amplitude[k]),
                phase_rad=float(np.angle(spectrum.transform[k])),
                share=min(float(variance[k]) / total, 1.0),
            )
            for k in order
        ],
        relative_residual=math.sqrt(max(1 - float(variance[order].sum()) / total, 0.0)) if total > 0 else 0.0,
    )


_MODES: Final[tuple[ModeName, ...]] = ("read", "write", "both")


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """Optional analyses besides the period.

    Attributes:
        autocorrelation: separate result of the autocorrelation; with the method ``reference`` it is merged with the
            DFT's.
        strongest: number of waves for the reconstruction of the signal; 0 for none.
        wavelet: power over time and period.
        all_modes: separate results for reads, writes and both.
    """

    autocorrelation: bool = False
    strongest: int = 0
    wavelet: bool = False
    all_modes: bool = False


class Analysed(NamedTuple):
    """Result for a finished trace.

    Attributes:
        prediction: period of the trace.
        analysis: results of the optional analyses.
        own: events of the members with this period, as ``batches``; None if it is the period of all.
        beside: periods of other members, with their events.
    """

    prediction: Prediction
    analysis: Analysis
    own: Batches | None
    beside: tuple[SecondaryResult, ...] = ()


def analyse(
    batches: Batches,
    settings: DetectSettings,
    job: str,
    wanted: AnalysisOptions,
    apart: Callable[[], MemberEvents] | None = None,
    stamp_s: float = 0.0,
    ordering: Ordering = ordered,
) -> Analysed:
    """Find the period of a finished trace and its validity over time. It also runs the optional analyses.

    Args:
        batches: events of all streams, each batch with the mask of its stream's files.
        settings: method and limits; with ``wanted.all_modes`` the mode is that of the first result.
        job: job name in the result.
        wanted: optional analyses.
        apart: function that returns the same events with their members; if given, groups with separate periods are
            searched.
        stamp_s: resolution of the timestamps if it is coarse, s; 0 otherwise.
        ordering: function that sorts the requests for ``sampling="point"``; in memory by default.
    """

    def of_mode(mode: ModeName) -> Prediction:
        chosen = settings.model_copy(update={"mode": mode})
        return examine_mode(batches, chosen, job, ordering)[0].with_stamp_resolution(stamp_s)

    prediction, view = examine(batches, settings, job, ordering)
    own: Batches | None = None
    beside: tuple[SecondaryResult, ...] = ()
    if apart is not None and groups_wanted(settings):
        prediction, view, own, beside = with_groups(prediction, view, apart(), settings)
    if stamp_s:
        prediction = prediction.with_stamp_resolution(stamp_s)
        beside = tuple(each for each in beside if each.other in prediction.others)
    window, bin_s, start_s = view.window, view.bin_s, view.window_start_s
    answer = None
    if wanted.autocorrelation:
        as_reference = settings.method == "reference"
        answer = autocorrelation.find_period(window, bin_s, as_reference=as_reference)
        if as_reference:
            prediction = autocorrelation.merge(prediction, answer, window, bin_s)
            answer = answer.model_copy(update={"merged": True})
    modes = None
    if wanted.all_modes:
        modes = [prediction if mode == prediction.mode else of_mode(mode) for mode in _MODES]
    period = None if prediction.period_s is None else prediction.period_s.value
    analysis = Analysis(
        validity=None if period is None else validity_of(window, bin_s, start_s, period),
        wavelet=wavelet_view(window, bin_s, start_s, period) if wanted.wavelet else None,
        autocorrelation=answer,
        reconstruction=reconstruct(window, bin_s, start_s, wanted.strongest) if wanted.strongest else None,
        modes=modes,
    )
    return Analysed(prediction, analysis, own, beside)
