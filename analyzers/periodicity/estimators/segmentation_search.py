"""Search for the best segmentation of a signal into phases."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from ..confidence import chance_in_time, confidence_of_chance
from ..estimator import SignalWindow
from ..phases.merged import split_merged
from ..phases.phases import Phases, Segmenter
from ..phases.ramps import with_ramps
from ..phases.regularity import Regularity, regularity, shortest_interval, with_closed_gaps, without_extras
from ..spectrum.spectral_peak import SpectralPeak
from ..tuning import TUNING
from .segmentation_quality import PeriodCandidate, Segmentation, is_back_to_back, rated_candidate

_TOLERANCES: Final = TUNING.tolerances
_SEGMENTATION: Final = TUNING.segmentation
_QUALITY: Final = TUNING.quality


def best_candidate(
    view: SignalWindow, segmenter: Segmenter, line: SpectralPeak | None, peaks: list[float]
) -> PeriodCandidate | None:
    """Segment the window by several hypotheses of the period; return the result with the highest weight.

    The hypotheses are the line, the peaks of the spectrum, and the border between short and long pauses.
    """
    best, weight = _best_of_hypotheses(view, segmenter, line, peaks)
    similar = None if best is None or not _hides_no_phases(segmenter, best, view.begin) else best
    for quantile, least_confidence in _clip_levels():
        if best is not None and best.clear:
            break
        other, its_weight = _best_of_hypotheses(view, segmenter.levelled(quantile), line, peaks)
        if other is None or other.confidence < least_confidence or its_weight <= weight:
            continue
        if best is not None and other.is_log_beside(best):
            continue
        if similar is None or _reveals_phases(other, similar):
            best, weight = other, its_weight
    return best


def _hides_no_phases(segmenter: Segmenter, found: PeriodCandidate, begin: int) -> bool:
    """Return whether the phases of a signal have similar volumes, and none seems to be missing."""
    similar = found.alike > TUNING.tolerances.min_confidence
    return similar and not _misses_phases(segmenter, found.phases.shifted(-begin))


def _reveals_phases(clipped: PeriodCandidate, similar: PeriodCandidate) -> bool:
    """Return whether a clipped signal shows more phases than the similar ones of the unclipped signal.

    Clipped, other I/O has as much weight as the phases, but differs in volume.
    """
    volume = clipped.phases.volume
    if len(volume) <= len(similar.phases):
        return False
    return float(volume.std()) <= TUNING.quality.volume_spread_scale * float(volume.mean())


def _clip_levels() -> tuple[tuple[float, float], tuple[float, float]]:
    """Return quantiles of bandwidth for clipping the signal, and the minimum confidence of results from each.

    The lower the level, the more weight a log or noise has.
    """
    return (_SEGMENTATION.first_clip_quantile, _SEGMENTATION.first_clip_confidence), (
        _SEGMENTATION.second_clip_quantile,
        _SEGMENTATION.second_clip_confidence,
    )


def _best_of_hypotheses(
    view: SignalWindow, segmenter: Segmenter, line: SpectralPeak | None, peaks: list[float]
) -> tuple[PeriodCandidate | None, float]:
    hypotheses = [*([] if line is None else [line.period]), *peaks, *periods_by_pauses(segmenter.pauses)]
    best: PeriodCandidate | None = None
    best_weight = -math.inf
    tried: list[float] = []
    seen: set[bytes] = set()
    for hypothesis in hypotheses:
        if hypothesis > len(view.window) or any(
            abs(math.log(hypothesis / other)) < _TOLERANCES.equal_period_log for other in tried
        ):
            continue
        tried.append(hypothesis)
        clear = best if best is not None and best.clear else None
        if clear is not None and hypothesis > clear.period and not is_back_to_back(clear.busy_share):
            continue
        for by_pauses in (False, True) if segmenter.duty > _SEGMENTATION.busy_share else (False,):
            candidate = score_candidates(view, segmenter, view.begin, hypothesis, by_pauses=by_pauses, seen=seen)
            if candidate is None:
                continue
            if clear is not None and not (_is_inside(candidate, clear) or clear.is_within(candidate)):
                continue
            weight = candidate.weight + _spectral_weight(candidate, line)
            if best is not None and best.is_within(candidate):
                best, best_weight = candidate, max(weight, best_weight)
            elif weight > best_weight and (best is None or not candidate.is_within(best)):
                best, best_weight = candidate, weight
        if best is not None and best.clear and not (is_back_to_back(best.busy_share) or _may_be_shifts(best)):
            break
    return best, best_weight


def _may_be_shifts(found: PeriodCandidate) -> bool:
    """Return whether phases may be shifts of a program: of two or more bursts on average, with short rests between.

    After many bursts, which show that shifts are equal, rests may be longer.
    """
    count = len(found.phases)
    busy, bursts = float((found.phases.stop - found.phases.first).sum()), len(found.segmenter.busy[0]) / count
    whole = found.period * count
    if busy >= (1 - TUNING.intervals.max_paused_time_share) * whole:
        return bursts >= 2
    few = bursts * TUNING.intervals.max_rest_share < 1
    return not few and whole - busy <= TUNING.intervals.max_rest_periods * busy / (bursts - 1)


def _is_inside(bursts: PeriodCandidate, clear: PeriodCandidate) -> bool:
    """Return whether clear phases consist of bursts that are as clear."""
    return bursts.clear and bursts.period * TUNING.secondary_periods.min_period_ratio <= clear.period


def candidate_at_known_period(view: SignalWindow) -> PeriodCandidate | None:
    """Search for the last period in the window and its history; None if unknown or gone.

    A window of three periods has only two complete intervals, which is too few to measure regularity.
    """
    if not view.expected_s:
        return None
    return _most_certain_measurement(view, Segmenter(view.bandwidth), view.expected_s / view.bin_s)


def may_end_in_shorter_phases(known: PeriodCandidate) -> bool:
    """Return whether the last phase is so long that it may consist of phases of a new, shorter period."""
    length = known.phases.end - known.phases.start
    return float(length[-1]) > TUNING.live.longer_phase_ratio * float(length[:-1].max())


def _divides_last_phase(known: PeriodCandidate, other: PeriodCandidate | None) -> bool:
    """Return whether another measurement shows a change to a new period, whose phases were the last one before."""
    if other is None:
        return False
    inside = int((other.phases.start >= known.phases.start[-1] - 1).sum())
    return other.regularity.since > 0 and inside >= TUNING.live.min_changed_intervals


def with_history(
    view: SignalWindow, line: SpectralPeak | None, peaks: list[float], known: PeriodCandidate | None
) -> PeriodCandidate | None:
    """Find the best segmentation of the window, including the phases before it.

    Earlier phases are excluded if they had another period.

    Args:
        view: signal.
        line: strongest line of its window.
        peaks: periods of the peaks of its spectrum, bins.
        known: result of ``candidate_at_known_period``.
    """
    candidate = best_candidate(view, Segmenter(view.window), line, peaks)
    if not view.begin or not view.expected_s:
        return candidate
    found = [candidate, known]
    period = candidate.period if candidate is not None else line.period if line is not None else 0.0
    if period:
        by_pauses = candidate is not None and candidate.by_pauses
        found.append(_most_certain_measurement(view, Segmenter(view.bandwidth), period, by_pauses=by_pauses))
    if (
        known is not None
        and may_end_in_shorter_phases(known)
        and any(_divides_last_phase(known, each) for each in found)
    ):
        found.remove(known)
    measured = [each for each in found if each is not None]
    measured = [each for each in measured if not any(map(each.is_log_beside, measured))]
    measured = [each for each in measured if not any(map(each.is_within, measured))]
    return max(measured, key=lambda each: each.confidence, default=None)


def _most_certain_measurement(
    view: SignalWindow, segmenter: Segmenter, hypothesis: float, *, by_pauses: bool = False
) -> PeriodCandidate | None:
    """Measure the phases of the whole view.

    Pauses or a clipped signal are used if the result is more certain.
    """
    best = score_candidates(view, segmenter, 0, hypothesis, by_pauses=by_pauses)
    if segmenter.duty > _SEGMENTATION.busy_share and not by_pauses and (best is None or not best.is_final):
        other = score_candidates(view, segmenter, 0, hypothesis, by_pauses=True)
        if other is not None and (best is None or other.confidence > best.confidence):
            best = other
    followed = best if best is not None and best.sure and view.followed else None
    if followed is not None and not _hides_delayed_phases(followed):
        return best
    for quantile, least_confidence in _clip_levels():
        if best is not None and (best.is_final or (best.sure and best is not followed and view.followed)):
            break
        least = max(least_confidence, 0.0 if best is None else best.confidence)
        other = score_candidates(
            view, segmenter.levelled(quantile), 0, hypothesis, by_pauses=by_pauses, least_confidence=least
        )
        if other is None or other.confidence < least:
            continue
        if followed is not None and not _reveals_phases(other, followed):
            continue
        if best is None or not other.is_log_beside(best):
            best = other
    return best


def score_candidates(
    view: SignalWindow,
    segmenter: Segmenter,
    begin: int,
    hypothesis: float,
    *,
    by_pauses: bool = False,
    seen: set[bytes] | None = None,
    least_confidence: float = 0.0,
) -> PeriodCandidate | None:
    """Segment the signal from bin ``begin`` on and measure the phases.

    Args:
        view: signal, for its window and whether it was cut.
        segmenter: segmenter of the signal from ``begin`` on.
        begin: number of bins of the view before it.
        hypothesis: period that guides the segmentation, bins.
        by_pauses: whether to search pauses instead of phases.
        seen: segmentations already measured; this one is added.
        least_confidence: minimum confidence of a candidate that the caller uses.

    Returns:
        None if there are too few phases, the latest differ from those before, the segmentation was seen before, or the
        intervals exclude the minimum confidence.
    """
    phases = segmenter.segment_by_pauses(hypothesis) if by_pauses else segmenter.segment(hypothesis)
    if seen is not None:
        edges = phases.first.tobytes() + phases.stop.tobytes()
        if edges in seen:
            return None
        seen.add(edges)
    cut = view.cut or begin > 0
    if by_pauses:
        phases = without_cut_phase(phases, cut)
        measured = regularity(phases, shortest_interval(hypothesis))
    else:
        phases = segmenter.refined(without_cut_phase(phases, cut))
        phases, measured = _measured(segmenter, phases, hypothesis, cut)
        has_longer = measured is not None and (measured.missed or measured.stray or measured.cycle)
        if has_longer and _misses_phases(segmenter, phases):
            measured = regularity(phases, shortest_interval(hypothesis), allow_missed=False)
        elif measured is not None:
            phases, measured = with_ramps(segmenter, phases, measured, shortest_interval(hypothesis))
    if measured is None or measured.period < TUNING.spectral_lines.min_period_bins:
        return None
    if least_confidence and chance_in_time(measured.clock_spread, len(measured.intervals)) < least_confidence:
        return None
    # of uneven intervals, and of those before a change, the hypothesis may have closed short ones
    uneven = measured.since > 0 or measured.clock_spread > _TOLERANCES.irregular_spread
    all_phases = phases if uneven and not by_pauses else None
    phases = phases.select(slice(measured.since, None))
    period: float | None = measured.period
    if begin < view.begin:
        period = _recent_period(measured, max(int((phases.start >= view.begin).sum()), 2))
    if period is None or period > len(view.window):
        return None  # phases before and after a pause that is longer than the window are no period of it
    return rated_candidate(segmenter, begin, Segmentation(phases, period, measured, by_pauses, all_phases))


def _recent_period(measured: Regularity, recent: int) -> float | None:
    """Return the period, bins, as the latest phases have it; None if they differ from those before.

    Args:
        measured: regularity of all phases.
        recent: number of the latest phases.
    """
    period = measured.period
    if measured.cycle:
        return period  # of whole patterns; the latest few intervals may be the shorter ones
    latest = measured.intervals[-recent:]
    mean = float(latest.sum()) / len(latest)
    if measured.drift:
        return mean
    if abs(mean / period - 1) <= TUNING.intervals.drift_standard_errors * measured.spread / math.sqrt(len(latest)):
        return period
    return mean if abs(math.log(mean / period)) <= _TOLERANCES.equal_period_log else None


def without_cut_phase(phases: Phases, cut: bool) -> Phases:
    """Drop a first phase that may have begun before the first bin."""
    return phases.select(slice(1, None)) if cut and len(phases) and phases.first[0] == 0 else phases


def _measured(segmenter: Segmenter, phases: Phases, hypothesis: float, cut: bool) -> tuple[Phases, Regularity | None]:
    """Measure phases; irregular ones are corrected if that makes them regular.

    Some may have merged, some may be extra, and some may be missing because they are far smaller than usual.
    """
    shortest = shortest_interval(hypothesis)
    measured = regularity(phases, shortest)
    if measured is None or measured.clock_spread <= _TOLERANCES.irregular_spread:
        return phases, measured
    if (split := split_merged(segmenter, phases)) is not None:
        phases, measured = split, regularity(split)
        if measured is None or measured.clock_spread <= _TOLERANCES.irregular_spread:
            return phases, measured
    fewer = without_extras(phases, measured, shortest) or with_closed_gaps(phases, measured, shortest)
    if fewer is not None:
        return fewer
    if split is not None:
        return phases, measured
    more = without_cut_phase(segmenter.segment(hypothesis, _SEGMENTATION.min_unequal_volume_share), cut)
    if len(more) <= len(phases):
        return phases, measured
    more = segmenter.refined(more)
    others = regularity(more, shortest)
    if others is not None and others.spread < TUNING.intervals.small_phase_spread_ratio * measured.spread:
        return more, others
    return phases, measured


def _hides_delayed_phases(found: PeriodCandidate) -> bool:
    """Return whether intervals are uneven because phases are below the noise threshold.

    A delayed phase moves the usual volume, but takes so long that its bandwidth may be below the mean.
    """
    uneven = found.regularity.clock_spread > _TOLERANCES.irregular_spread
    return uneven and not found.by_pauses and _misses_phases(found.segmenter, found.phases)


def _misses_phases(segmenter: Segmenter, phases: Phases) -> bool:
    """Return whether most long pauses contain the volume of a phase.

    The program then missed no phase there: the segmentation did.
    """
    running = segmenter.origin.running
    pauses = phases.first[1:] - phases.stop[:-1]
    moved = running[phases.first[1:]] - running[phases.stop[:-1]]
    usual = float(np.sort(pauses)[(len(pauses) - 1) // 2])
    longer = pauses > 1.5 * usual
    if not longer.any() or longer.all():
        return False
    background = float(moved[~longer].sum()) / max(float(pauses[~longer].sum()), 1.0)
    inside = running[phases.stop] - running[phases.first]
    least = _SEGMENTATION.min_volume_share * float(np.sort(inside)[len(inside) // 2])
    return 2 * int((moved[longer] - background * pauses[longer] > least).sum()) > int(longer.sum())


def _spectral_weight(candidate: PeriodCandidate, line: SpectralPeak | None) -> float:
    if line is None or abs(math.log(candidate.period / line.period)) >= _TOLERANCES.equal_period_log:
        return 0.0
    return _QUALITY.line_weight * confidence_of_chance(line.chance) * line.support


def periods_by_pauses(pauses: npt.NDArray[np.int64]) -> list[float]:
    """Return the period that merges the shorter pauses, and the shortest one.

    Shorter and longer pauses are split at the largest ratio of neighbours.
    """
    if not len(pauses):
        return []
    pauses = np.sort(pauses)
    shortest = _SEGMENTATION.closed_gap_share / _SEGMENTATION.max_gap_periods * float(pauses[0])
    if len(pauses) == 1:
        return [shortest]
    widest = int((pauses[1:] / pauses[:-1]).argmax())
    return [math.sqrt(float(pauses[widest]) * float(pauses[widest + 1])) / _SEGMENTATION.max_gap_periods, shortest]
