"""All that ``iotide detect`` computes of a finished trace, put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from ...results.prediction import ModeName, Prediction
from ...results.traces.analysis import Analysis
from ..settings import DetectSettings
from . import autocorrelation
from .members import Apart, Beside, groups_wanted, with_groups
from .reconstruction import reconstruct
from .requests import Batches
from .trace import examine, examine_mode
from .wavelet import validity_of, wavelet_view

_MODES: Final[tuple[ModeName, ...]] = ("read", "write", "both")


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """What is computed beyond the period.

    Attributes:
        autocorrelation: the autocorrelation's own answer; with the method ``reference`` it is merged with the DFT's.
        strongest: number of waves that the signal is rebuilt from; 0 for none.
        wavelet: power over time and period.
        all_modes: reads, writes and both apart.
    """

    autocorrelation: bool = False
    strongest: int = 0
    wavelet: bool = False
    all_modes: bool = False


class Analysed(NamedTuple):
    """What was found in a finished trace.

    Attributes:
        prediction: its period.
        analysis: what else was wanted.
        own: the events of those who have the period, as ``batches``; None: it is the period of all.
        beside: the periods of others, with their events.
    """

    prediction: Prediction
    analysis: Analysis
    own: Batches | None
    beside: tuple[Beside, ...] = ()


def analyse(
    batches: Batches,
    settings: DetectSettings,
    job: str,
    wanted: AnalysisOptions,
    apart: Callable[[], Apart] | None = None,
    stamp_s: float = 0.0,
) -> Analysed:
    """Finds the period of a finished trace, when it was valid, and what else is wanted.

    Args:
        batches: the events of all streams, each batch with what does not count of its stream's files.
        settings: method and limits; with ``wanted.all_modes`` the mode is that of the first answer.
        job: the job's name in the result.
        wanted: what is computed beyond the period.
        apart: makes the same events with whose they are; where it is given, groups with periods of their own are
            found.
        stamp_s: resolution of the stamps where it is coarse, s; 0 elsewhere.
    """
    prediction, view = examine(batches, settings, job)
    own: Batches | None = None
    beside: tuple[Beside, ...] = ()
    if apart is not None and groups_wanted(settings):
        prediction, view, own, beside = with_groups(prediction, view, apart(), settings)
    if stamp_s:
        prediction = prediction.held_to_stamps(stamp_s)
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
        modes = [
            prediction
            if mode == prediction.mode
            else examine_mode(batches, settings.model_copy(update={"mode": mode}), job)[0].held_to_stamps(stamp_s)
            for mode in _MODES
        ]
    period = None if prediction.period_s is None else prediction.period_s.value
    told = Analysis(
        validity=None if period is None else validity_of(window, bin_s, start_s, period),
        wavelet=wavelet_view(window, bin_s, start_s, period) if wanted.wavelet else None,
        autocorrelation=answer,
        reconstruction=reconstruct(window, bin_s, start_s, wanted.strongest) if wanted.strongest else None,
        modes=modes,
    )
    return Analysed(prediction, told, own, beside)
