"""Complete analysis of a finished trace for ``iotide detect``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from ...results.prediction import ModeName, Prediction
from ...results.traces.analysis import Analysis
from ..common.sorting import Ordering, ordered
from ..settings import DetectSettings
from . import autocorrelation
from .member_groups import MemberEvents, SecondaryResult, groups_wanted, with_groups
from .reconstruction import reconstruct
from .requests import Batches
from .trace import examine, examine_mode
from .wavelet import validity_of, wavelet_view

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
