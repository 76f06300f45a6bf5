"""The best segmentation of a signal into phases, and how far its regularity can be trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from .line import SHORTEST_BINS, Line
from .phases import Floats, Phases, Regularity, Segmenter, regularity, shortest_interval
from .rhythm import View

AGREEMENT: Final = 0.1
"""Periods whose logarithms are nearer than this are the same."""
_FEWEST_PHASES: Final = 3
_EVEN: Final = 0.35
_ALIKE: Final = 0.4
_BACKED: Final = 1.5
_SURE: Final = 0.9
_TRIALS: Final = 10
_CHANCE_AT_HALF: Final = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Beat:
    """A segmentation into phases.

    Attributes:
        phases: times in bins of the view.
        period: mean interval between the phases within the window, bins.
        regularity: of all these phases, those of the history included.
        confidence: in [0, 1].
        by_pauses: whether pauses were sought, and not phases.
    """

    phases: Phases
    period: float
    regularity: Regularity
    confidence: float
    by_pauses: bool


def best_beat(view: View, segmenter: Segmenter, line: Line | None, peaks: list[float]) -> Beat | None:
    """Segments the window by several hypotheses of the period; returns the most regular outcome.

    The hypotheses are the line, the peaks of the spectrum, and the border between short and long pauses. An outcome
    that agrees with the line counts half as much again, one whose phases differ in volume counts less: of two phases
    run together one has twice the volume.
    """
    hypotheses = [*([] if line is None else [line.period]), *peaks, *_by_pauses(segmenter.pauses)]
    best: Beat | None = None
    best_weight = 0.0
    tried: list[float] = []
    for hypothesis in hypotheses:
        if hypothesis > len(view.window) or any(abs(math.log(hypothesis / other)) < AGREEMENT for other in tried):
            continue
        tried.append(hypothesis)
        for by_pauses in (False, True) if segmenter.duty > 0.5 else (False,):
            beat = find_beat(view, segmenter, view.begin, hypothesis, by_pauses=by_pauses)
            if beat is None:
                continue
            backed = line is not None and abs(math.log(beat.period / line.period)) < AGREEMENT
            weight = beat.confidence * _alike(beat.phases.volume) * (_BACKED if backed else 1.0)
            if weight > best_weight:
                best, best_weight = beat, weight
        if best_weight > _BACKED * _SURE:
            break
    return best


def with_history(view: View, segmenter: Segmenter, line: Line | None, peaks: list[float]) -> Beat | None:
    """Takes the phases before the window into account as well, unless they followed another rhythm.

    A window of three periods holds two whole intervals, which say little of regularity.
    """
    if not view.begin or not view.expected_s:
        return best_beat(view, segmenter, line, peaks)
    longer = Segmenter(view.bandwidth)
    known = find_beat(view, longer, 0, view.expected_s / view.bin_s)
    if known is not None and known.confidence > _SURE:
        return known
    beat = best_beat(view, segmenter, line, peaks)
    found = [beat, known]
    if beat is not None:
        found.append(find_beat(view, longer, 0, beat.period, by_pauses=beat.by_pauses))
    elif line is not None:
        found.append(find_beat(view, longer, 0, line.period))
    return max((each for each in found if each is not None), key=lambda each: each.confidence, default=None)


def _by_pauses(pauses: npt.NDArray[np.int64]) -> list[float]:
    """Splits the pauses at the largest ratio between neighbours by length; the period that merges the shorter ones."""
    if not len(pauses):
        return []
    pauses = np.sort(pauses)
    shortest = 3.6 * float(pauses[0])
    if len(pauses) == 1:
        return [shortest]
    widest = int((pauses[1:] / pauses[:-1]).argmax())
    return [4.0 * math.sqrt(float(pauses[widest]) * float(pauses[widest + 1])), shortest]


def find_beat(
    view: View, segmenter: Segmenter, begin: int, hypothesis: float, *, by_pauses: bool = False
) -> Beat | None:
    """Segments the signal from bin ``begin`` on; None where there are too few phases, or the latest differ."""
    phases = segmenter.segment_by_pauses(hypothesis) if by_pauses else segmenter.segment(hypothesis)
    if (view.cut or begin) and len(phases) and phases.first[0] == 0:
        phases = phases.select(slice(1, None))  # it may have begun before the first bin
    if len(phases) < _FEWEST_PHASES:
        return None
    if not by_pauses:
        phases = segmenter.refined(phases)
    measured = regularity(phases, shortest_interval(hypothesis))
    if measured is None or measured.period < SHORTEST_BINS:
        return None
    phases = phases.select(slice(measured.since, None))
    period = measured.period
    if begin < view.begin:
        recent = max(int((phases.start >= view.begin).sum()), 2)
        latest = measured.intervals[-recent:]
        period = float(latest.sum()) / len(latest)
        if abs(math.log(period / measured.period)) > AGREEMENT:
            return None
    confidence = _even(measured.spread) * certain(_TRIALS * measured.chance) * _contrast(segmenter, phases)
    return Beat(phases.shifted(begin), period, measured, confidence, by_pauses)


def _contrast(segmenter: Segmenter, phases: Phases) -> float:
    """Returns how much quieter it is between phases than within, in [0, 1]; each unrelated byte counts as between."""
    begin = int(phases.first[0])
    inside, length = float(phases.volume.sum()), float((phases.stop - phases.first).sum())
    outside = max(segmenter.total - float(segmenter.running[begin]) - inside, 0.0)
    rest = max(len(segmenter.values) - begin - length, 1.0)
    return max(1 - (outside / rest) / (inside / max(length, 1.0)), 0.0)


def _even(spread: float) -> float:
    return math.exp(-((spread / _EVEN) ** 2))


def _alike(volume: Floats) -> float:
    mean = float(volume.sum()) / len(volume)
    off = volume - mean
    return math.exp(-float(off @ off) / len(volume) / (_ALIKE * mean) ** 2)


def certain(chance: float) -> float:
    """Returns a factor of confidence: 1/2 where chance alone does as well in one case of a hundred."""
    return 1 / (1 + chance / _CHANCE_AT_HALF)
