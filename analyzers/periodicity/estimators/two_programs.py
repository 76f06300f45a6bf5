"""Periods of two programs whose phases share one signal, if nothing else separates the programs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....results.base import Estimate
from ....results.prediction import NextPhase, OtherPeriod
from ..confidence import (
    chance_of_mean,
    confidence_of_chance,
    finished_job_confidence,
    overdue_factor,
    phases_confidence,
)
from ..estimator import PeriodEstimate, SignalWindow
from ..phases.interleaved import Train, interleaved, with_hidden
from ..phases.phases import Phases, Segmenter, median
from ..phases.regularity import Regularity, regularity
from ..tuning import TUNING
from ..upcoming.clock import clock_of, clock_of_starts
from ..upcoming.intervals import interval_of
from ..upcoming.next_phase import following_of, next_phase, phase_sizes
from ..upcoming.next_start import next_start_of
from .segmentation_search import periods_by_pauses, without_cut_phase


class _Program(NamedTuple):
    """Phases of a program, and its results."""

    phases: Phases
    period_s: Estimate
    confidence: float
    next_phase: NextPhase


def find_two_programs(view: SignalWindow) -> PeriodEstimate | None:
    """Find two programs with separate periods; None if there are not two.

    The program with more bytes has the main period; the other period and its next phase are listed beside it.

    Args:
        view: signal; the history before the window is included.
    """
    segmenter = Segmenter(view.bandwidth)
    for hypothesis in sorted(periods_by_pauses(segmenter.pauses)):
        phases = segmenter.segment(hypothesis, TUNING.segmentation.min_unequal_volume_share)
        phases = segmenter.refined(without_cut_phase(phases, view.cut or view.begin > 0))
        if (trains := interleaved(phases)) is not None:
            made = [_program(view, phases, train) for train in trains]
            programs = [each for each in made if each is not None]
            if len(programs) == len(trains):
                return _estimate_of(view, programs)
    return None


def _program(view: SignalWindow, phases: Phases, train: Train) -> _Program | None:
    mine = np.zeros(len(phases), bool)
    mine[train.members] = True
    own = with_hidden(phases.select(mine), phases, train.period)
    measured = regularity(own)
    if measured is None or abs(measured.period / train.period - 1) > TUNING.tolerances.correct_period:
        return None
    clock, now = clock_of(measured, own.start), (view.now_s - view.start_s) / view.bin_s
    expected = next_start_of(own, measured, clock, measured.period, now)
    sure = confidence_of_chance(TUNING.quality.tried_segmentations * train.chance)
    starts = clock_of_starts(clock, measured)
    following = following_of(expected, starts, measured.intervals, measured.drift, measured.period)
    next_confidence = min(phases_confidence(sure) * expected.in_time, 1.0)
    return _Program(
        own,
        _period(view, measured),
        _confidence(view, len(view.bandwidth) - float(own.start[-1]), measured, sure),
        next_phase(view, phase_sizes(view, own, measured.period), expected, following, next_confidence),
    )


def _confidence(view: SignalWindow, silence: float, measured: Regularity, sure: float) -> float:
    sure *= overdue_factor(silence, measured.period)
    count = len(measured.intervals)
    if view.ended:
        return finished_job_confidence(sure, measured.spread, count)
    return sure * chance_of_mean(measured.spread, count)


def _period(view: SignalWindow, measured: Regularity) -> Estimate:
    count = len(measured.intervals)
    reach = interval_of(measured.intervals, of_mean=True, least=0.5 / count)
    low, high = max(measured.period - reach, 0.0), measured.period + reach
    return Estimate(value=measured.period * view.bin_s, low=low * view.bin_s, high=high * view.bin_s)


def _estimate_of(view: SignalWindow, programs: list[_Program]) -> PeriodEstimate:
    # a merged phase has the volumes of both programs, so sums would depend on which of them it belongs to
    main, other = sorted(programs, key=lambda each: median(each.phases.volume) / each.period_s.value, reverse=True)
    at = other.phases.start
    beside = OtherPeriod(
        relation="beside",
        period_s=other.period_s,
        confidence=other.confidence,
        start_s=view.start_s + float(at[0]) * view.bin_s,
        end_s=view.start_s + float(at[-1]) * view.bin_s,
        phases=len(at),
        next_phase=other.next_phase,
        bytes_per_phase=median(other.phases.volume) * view.bin_s,
    )
    return PeriodEstimate(
        period_s=main.period_s,
        confidence=min(main.confidence, other.confidence),
        next_confidence=main.next_phase.confidence,
        next_phase=main.next_phase,
        others=[beside],
    )
