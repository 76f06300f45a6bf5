"""Secondary periods of a job. They are before the main one, within or between its phases, and around them.

A job may write two kinds of checkpoints, write a log between checkpoints, or change its period. The main period is
known here; what it does not explain is analyzed again.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from msgspec.structs import replace

from ....results.base import Estimate
from ....results.prediction import OtherPeriod, Relation
from ..estimator import SignalWindow
from ..phases.dominant_burst import without_bursts
from ..phases.phases import Floats, Phases, Segmenter, median
from ..phases.regularity import Regularity, regularity, shortest_interval
from ..spectrum.spectral_peak import dominant_peak
from ..tuning import TUNING
from ..upcoming.intervals import interval_of
from .segmentation_quality import PeriodCandidate
from .segmentation_search import best_candidate, score_candidates

_SECONDARY_PERIODS: Final = TUNING.secondary_periods


def other_periods(view: SignalWindow, period_s: float) -> list[OtherPeriod]:
    """Find further periods in a signal whose main period is known.

    Args:
        view: signal; all of it is analyzed.
        period_s: main period, s.

    Returns:
        At most one period around, one of bursts within phases, one between phases, and the earlier ones, latest first.
    """
    if not period_s > 0 or not view.bandwidth.any():
        return []
    whole = replace(view, begin=0)
    period = period_s / view.bin_s
    segmenter = Segmenter(view.bandwidth)
    main = score_candidates(whole, segmenter, 0, period)
    if main is None or abs(math.log(main.period / period)) > math.log(_SECONDARY_PERIODS.min_period_ratio):
        return []
    inside, between = _inside(whole, segmenter, main), _between(whole, segmenter, main)
    if inside is not None and between is not None and _same(inside, between):
        inside = None  # a period that continues through the phases
    found = [_around(view, main), inside, between, *_earlier(view, segmenter, main)]
    return [each for each in found if each is not None]


def ended_period(view: SignalWindow) -> OtherPeriod | None:
    """Find the former period of a job that has none now. It searches the part before or after its longest pause.

    A single burst that hides the rest is removed.

    Args:
        view: signal; all of it is analyzed.
    """
    whole = replace(view, begin=0)
    found = (_ended_period(each) for each in (whole, *without_bursts(whole)))
    return next((each for each in found if each is not None), None)


def _ended_period(view: SignalWindow) -> OtherPeriod | None:
    first, stop = Segmenter(view.bandwidth).busy
    if not len(first):
        return None
    without_cut_phase, ended = np.append(first, len(view.bandwidth)), np.append(0, stop)
    longest = int((without_cut_phase - ended).argmax())
    found = [
        _periodicity_of(view, int(first[0]), int(ended[longest])),
        _periodicity_of(view, int(without_cut_phase[longest]), len(view.bandwidth)),
    ]
    return max((each for each in found if each is not None), key=lambda each: each.confidence, default=None)


def _periodicity_of(view: SignalWindow, first: int, stop: int) -> OtherPeriod | None:
    """Find the period of the bins first .. stop - 1, if it is certain."""
    values = view.bandwidth[first:stop]
    if stop - first < TUNING.segmentation.min_window_bins:
        return None
    part = replace(view, bandwidth=values, begin=0, start_s=view.start_s + first * view.bin_s)
    candidate = best_candidate(part, Segmenter(values), *dominant_peak(values))
    if (
        candidate is None
        or candidate.confidence < TUNING.tolerances.certain_confidence
        or len(candidate.phases) <= _SECONDARY_PERIODS.min_intervals
    ):
        return None
    return _periodicity(
        part, "earlier", candidate.phases.start, confidence=candidate.confidence, period=candidate.period
    )


def _same(one: OtherPeriod, other: OtherPeriod) -> bool:
    return abs(math.log(one.period_s.value / other.period_s.value)) < TUNING.tolerances.equal_period_log


def _around(view: SignalWindow, main: PeriodCandidate) -> OtherPeriod | None:
    """Find the shortest pattern of phases with repeating volumes, such as every third one larger."""
    running = bool(main.phases.stop[-1] >= len(view.bandwidth))
    volume = main.phases.volume[: len(main.phases) - int(running)]
    n = len(volume)
    for length in range(2, min(n // 3, _SECONDARY_PERIODS.max_pattern_phases) + 1):
        place = np.arange(n) % length
        mean = np.bincount(place, volume) / np.bincount(place)
        total = volume - volume.sum() / n
        rest = volume - mean[place]
        # places explain some variance by chance: (length - 1) of n - 1 parts
        unexplained = float(rest @ rest) / (n - length) / max(float(total @ total) / (n - 1), 1e-300)
        even = float(np.std(mean)) < TUNING.tolerances.irregular_spread * float(mean.mean())
        if unexplained > 1 - _SECONDARY_PERIODS.min_explained_share or even:
            continue
        at = main.phases.start[:n][place == int(mean.argmax())]
        if len(at) < 2:
            return None
        return _periodicity(view, "around", at, confidence=1 - unexplained)
    return None


def _between(whole: SignalWindow, segmenter: Segmenter, main: PeriodCandidate) -> OtherPeriod | None:
    """Find bursts between main phases."""
    rest = segmenter.values.copy()
    rest[: main.phases.first[0]] = 0.0  # an earlier main period may precede the first phase
    for first, stop in zip(main.phases.first.tolist(), main.phases.stop.tolist(), strict=True):
        rest[max(first - 1, 0) : stop + 1] = 0.0  # the bins beside a phase contain its edges
    if float(rest.sum()) < _SECONDARY_PERIODS.min_volume_share * segmenter.total:
        return None
    line, peaks = dominant_peak(rest)
    candidate = best_candidate(replace(whole, bandwidth=rest), Segmenter(rest), line, peaks)
    if (
        candidate is None
        or candidate.confidence < TUNING.tolerances.min_confidence
        or candidate.period * _SECONDARY_PERIODS.min_period_ratio > main.period
    ):
        return None
    return _periodicity(
        whole, "within", candidate.phases.start, confidence=candidate.confidence, period=candidate.period
    )


def _inside(whole: SignalWindow, segmenter: Segmenter, main: PeriodCandidate) -> OtherPeriod | None:
    """Find the interval between bursts within a main phase."""
    pauses = segmenter.pauses
    if not len(pauses):
        return None
    hypothesis = (
        TUNING.segmentation.closed_gap_share
        / TUNING.segmentation.max_gap_periods
        * float(np.sort(pauses)[len(pauses) // 10])
    )
    fine = segmenter.refined(segmenter.segment(hypothesis))
    phase = np.searchsorted(main.phases.first, fine.first, side="right")
    inside = (phase > 0) & (fine.stop <= main.phases.stop[np.maximum(phase - 1, 0)])
    together = inside[1:] & inside[:-1] & (phase[1:] == phase[:-1])
    intervals = np.diff(fine.start)[together]
    if len(intervals) < max(_SECONDARY_PERIODS.min_intervals, len(main.phases)):
        return None
    period = median(intervals)
    near = np.abs(intervals / period - 1) < _SECONDARY_PERIODS.interval_tolerance
    if (
        near.mean() < _SECONDARY_PERIODS.min_explained_share
        or period * _SECONDARY_PERIODS.min_period_ratio > main.period
    ):
        return None
    at = fine.start[inside]
    return _periodicity(whole, "within", at, confidence=float(near.mean()), period=period, intervals=intervals[near])


def _earlier(view: SignalWindow, segmenter: Segmenter, main: PeriodCandidate) -> list[OtherPeriod]:
    """Find the periods before the last changes."""
    found: list[OtherPeriod] = []
    all_phases = segmenter.refined(segmenter.segment(main.period))
    before = _before(all_phases, float(main.phases.start[0]))
    while len(before) > _SECONDARY_PERIODS.min_intervals and len(found) < _SECONDARY_PERIODS.max_earlier_periods:
        measured = _most_regular(before, shortest_interval(main.period))
        own = before.select(slice(measured.since, measured.since + len(measured.intervals) + 1))
        if len(own) > _SECONDARY_PERIODS.min_intervals and measured.spread < 2 * _SECONDARY_PERIODS.interval_tolerance:
            confidence = math.exp(-((measured.spread / (2 * _SECONDARY_PERIODS.interval_tolerance)) ** 2))
            found.append(_periodicity(view, "earlier", own.start, confidence=confidence, period=measured.period))
        before = _before(before, float(own.start[0]))
    return found


def _most_regular(phases: Phases, shortest: float) -> Regularity:
    """Measure phases before a change of period. The last interval may lie between the two periods."""
    found = [regularity(some, shortest) for some in (phases, phases.select(slice(None, -1)))]
    all_of_them, rest = (each for each in found if each is not None)
    return rest if rest.spread < TUNING.tolerances.clearly_smaller_spread * all_of_them.spread else all_of_them


def _before(phases: Phases, start: float) -> Phases:
    """Return the phases up to the one that starts the next period. Returns none if that is the first."""
    rows = phases.start <= start + 0.5
    return phases.select(rows if rows.sum() > 1 else slice(0, 0))


def _periodicity(
    view: SignalWindow,
    relation: Relation,
    at: Floats,
    *,
    confidence: float,
    period: float | None = None,
    intervals: Floats | None = None,
) -> OtherPeriod:
    if intervals is None:
        intervals = np.diff(at)
    value = float(intervals.sum()) / len(intervals) if period is None else period
    reach = interval_of(intervals, of_mean=True, least=0.5 / len(intervals))
    return OtherPeriod(
        relation=relation,
        period_s=Estimate(
            value=value * view.bin_s, low=max(value - reach, 0.0) * view.bin_s, high=(value + reach) * view.bin_s
        ),
        confidence=min(max(confidence, 0.0), 1.0),
        start_s=view.start_s + float(at[0]) * view.bin_s,
        end_s=view.start_s + float(at[-1]) * view.bin_s,
        phases=len(at),
    )
