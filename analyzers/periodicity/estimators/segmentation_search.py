"""Search for the best segmentation of a signal into phases, and its quality."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..confidence import certain, chance_in_time, chance_of
from ..estimator import SignalWindow
from ..phases.changes import chance_to_wander
from ..phases.merged import split_merged
from ..phases.phase_volumes import likeness_of, with_stragglers
from ..phases.phases import Phases, Segmenter
from ..phases.regularity import Regularity, regularity, shortest_interval, without_extras
from ..spectrum.spectral_peak import SpectralPeak
from ..tuning import TUNING

_SAME: Final = TUNING.same
_CUTTING: Final = TUNING.cutting
_QUALITY: Final = TUNING.quality
_NOTHING: Final = 1e-9


class PeriodCandidate(Struct, frozen=True, eq=False):
    """A segmentation into phases.

    Attributes:
        phases: phases, times in bins of the view; stragglers belong to the phase before them.
        period: mean interval between the phases within the window, bins.
        regularity: regularity of all phases, including those of the history.
        quality: confidence that these are the phases, however irregular, in [0, 1].
        regular, alike: confidence from their intervals, and from their volumes.
        proven: confidence that intervals have a mean distance, however uneven.
        clear: whether the phases are both regular and alike, so that no other segmentation is tried.
        weight: rank among segmentations: higher for more similar intervals and volumes.
        by_pauses: whether the segmentation searched pauses instead of phases.
    """

    phases: Phases
    period: float
    regularity: Regularity
    quality: float
    regular: float
    alike: float
    proven: float
    clear: bool
    weight: float
    by_pauses: bool

    @property
    def sure(self) -> bool:
        """Whether these are certainly the phases, however regular."""
        return self.quality > _SAME.sure

    @property
    def settled(self) -> bool:
        """Whether no alternative needs to be examined."""
        return self.clear and self.confidence > _SAME.sure

    @property
    def periodic_ones(self) -> float:
        """Share of the quality for which the phases have a period: similar phases may come at random times.

        Regular intervals count by the probability that the next two are as predicted.
        """
        spread, count = self.regularity.clock_spread, len(self.regularity.intervals)
        foreseen = max(self.regular * chance_in_time(spread, count) ** 2, self.proven)
        steady = 1 - (1 - foreseen) * (1 - self.alike)
        # around a drift, intervals are more regular than ``chance`` assumes
        chance = self.regularity.chance
        if self.regularity.drift:
            chance = chance_of(spread, min(count, TUNING.regular.drift_over))
        periodic_ones = certain(chance) * steady / max(1 - (1 - self.regular) * (1 - self.alike), _NOTHING)
        if spread > _SAME.near:  # intervals that vary less come near the mean in any order
            periodic_ones *= certain(_QUALITY.accident**2 / max(chance_to_wander(self.regularity.intervals), _NOTHING))
        return periodic_ones

    @property
    def confidence(self) -> float:
        """Probability that these are the phases, and that the next one starts as the period predicts."""
        return self.quality * chance_in_time(self.regularity.clock_spread, len(self.regularity.intervals))


def best_candidate(
    view: SignalWindow, segmenter: Segmenter, line: SpectralPeak | None, peaks: list[float]
) -> PeriodCandidate | None:
    """Segments the window by several hypotheses of the period; returns the result with the highest weight.

    The hypotheses are the line, the peaks of the spectrum, and the border between short and long pauses.
    """
    best, weight = _heaviest(view, segmenter, line, peaks)
    for quantile, least_confidence in _levels():
        if best is not None and best.clear:
            break
        other, its_weight = _heaviest(view, segmenter.levelled(quantile), line, peaks)
        if other is not None and other.confidence >= least_confidence and its_weight > weight:
            best, weight = other, its_weight
    return best


def _levels() -> tuple[tuple[float, float], tuple[float, float]]:
    """Return quantiles of bandwidth for clipping the signal, and the minimum confidence of results from each.

    The lower the level, the more weight a log or noise has.
    """
    return (_CUTTING.half_level, _CUTTING.half_level_from), (_CUTTING.low_level, _CUTTING.low_level_from)


def _heaviest(
    view: SignalWindow, segmenter: Segmenter, line: SpectralPeak | None, peaks: list[float]
) -> tuple[PeriodCandidate | None, float]:
    hypotheses = [*([] if line is None else [line.period]), *peaks, *periods_by_pauses(segmenter.pauses)]
    best: PeriodCandidate | None = None
    best_weight = -math.inf
    tried: list[float] = []
    seen: set[bytes] = set()
    for hypothesis in hypotheses:
        if hypothesis > len(view.window) or any(abs(math.log(hypothesis / other)) < _SAME.period for other in tried):
            continue
        tried.append(hypothesis)
        for by_pauses in (False, True) if segmenter.duty > _CUTTING.busy else (False,):
            candidate = score_candidates(view, segmenter, view.begin, hypothesis, by_pauses=by_pauses, seen=seen)
            if candidate is not None and (weight := candidate.weight + _backing(candidate, line)) > best_weight:
                best, best_weight = candidate, weight
        if best is not None and best.clear:
            break
    return best, best_weight


def candidate_at_known_period(view: SignalWindow) -> PeriodCandidate | None:
    """Search for the last period in the window and its history; None if unknown or gone.

    A window of three periods has only two complete intervals, which is too few to measure regularity.
    """
    if not view.expected_s:
        return None
    return _surer_candidate(view, Segmenter(view.bandwidth), view.expected_s / view.bin_s)


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
        found.append(_surer_candidate(view, Segmenter(view.bandwidth), period, by_pauses=by_pauses))
    return max((each for each in found if each is not None), key=lambda each: each.confidence, default=None)


def _surer_candidate(
    view: SignalWindow, segmenter: Segmenter, hypothesis: float, *, by_pauses: bool = False
) -> PeriodCandidate | None:
    """Measures the phases of the whole view; uses pauses or a clipped signal if that is more certain."""
    best = score_candidates(view, segmenter, 0, hypothesis, by_pauses=by_pauses)
    if segmenter.duty > _CUTTING.busy and not by_pauses and (best is None or not best.settled):
        other = score_candidates(view, segmenter, 0, hypothesis, by_pauses=True)
        if other is not None and (best is None or other.confidence > best.confidence):
            best = other
    for quantile, least_confidence in _levels():
        if best is not None and (best.settled or (best.sure and view.followed)):
            break
        other = score_candidates(view, segmenter.levelled(quantile), 0, hypothesis, by_pauses=by_pauses)
        if other is not None and other.confidence >= max(least_confidence, 0.0 if best is None else best.confidence):
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
) -> PeriodCandidate | None:
    """Segments the signal from bin ``begin`` on and measures the phases.

    Args:
        view: signal, for its window and whether it was cut.
        segmenter: segmenter of the signal from ``begin`` on.
        begin: number of bins of the view before it.
        hypothesis: period that guides the segmentation, bins.
        by_pauses: whether to search pauses instead of phases.
        seen: segmentations already measured; this one is added.

    Returns:
        None if there are too few phases, the latest differ from those before, or the segmentation was seen before.
    """
    phases = segmenter.segment_by_pauses(hypothesis) if by_pauses else segmenter.segment(hypothesis)
    if seen is not None:
        edges = phases.first.tobytes() + phases.stop.tobytes()
        if edges in seen:
            return None
        seen.add(edges)
    cut = view.cut or begin > 0
    if by_pauses:
        phases = begun(phases, cut)
        measured = regularity(phases, shortest_interval(hypothesis))
    else:
        phases = segmenter.refined(begun(phases, cut))
        phases, measured = _measured(segmenter, phases, hypothesis, cut)
        if measured is not None and (measured.missed or measured.astray) and _unseen(segmenter, phases):
            measured = regularity(phases, shortest_interval(hypothesis), held_up=False)
    if measured is None or measured.period < TUNING.lines.shortest:
        return None
    phases = phases.select(slice(measured.since, None))
    period = measured.period
    if begin < view.begin:
        recent = max(int((phases.start >= view.begin).sum()), 2)
        latest = measured.intervals[-recent:]
        mean = float(latest.sum()) / len(latest)
        if measured.drift:
            period = mean
        elif abs(mean / period - 1) > TUNING.regular.drifted * measured.spread / math.sqrt(len(latest)):
            if abs(math.log(mean / period)) > _SAME.period:
                return None
            period = mean
    return _judged(segmenter, begin, Segmentation(phases, period, measured, by_pauses))


def begun(phases: Phases, cut: bool) -> Phases:
    """Drop a first phase that may have begun before the first bin."""
    return phases.select(slice(1, None)) if cut and len(phases) and phases.first[0] == 0 else phases


def _measured(segmenter: Segmenter, phases: Phases, hypothesis: float, cut: bool) -> tuple[Phases, Regularity | None]:
    """Measures phases; irregular ones are corrected if that makes them regular.

    Some may have merged, some may be extra, and some may be missing because they are far smaller than usual.
    """
    shortest = shortest_interval(hypothesis)
    measured = regularity(phases, shortest)
    if measured is None or measured.clock_spread <= _SAME.irregular:
        return phases, measured
    if (split := split_merged(segmenter, phases)) is not None:
        phases, measured = split, regularity(split)
        if measured is None or measured.clock_spread <= _SAME.irregular:
            return phases, measured
    if (fewer := without_extras(phases, measured, shortest)) is not None:
        return fewer
    if split is not None:
        return phases, measured
    more = segmenter.refined(begun(segmenter.segment(hypothesis, _CUTTING.faint), cut))
    others = regularity(more, shortest) if len(more) > len(phases) else None
    if others is not None and others.spread < TUNING.regular.small_phases * measured.spread:
        return more, others
    return phases, measured


def _unseen(segmenter: Segmenter, phases: Phases) -> bool:
    """Return whether most long pauses contain a volume as large as a phase, so that none was missed there."""
    running = segmenter.origin.running
    pauses = phases.first[1:] - phases.stop[:-1]
    moved = running[phases.first[1:]] - running[phases.stop[:-1]]
    usual = float(np.sort(pauses)[(len(pauses) - 1) // 2])
    longer = pauses > 1.5 * usual
    if not longer.any() or longer.all():
        return False
    background = float(moved[~longer].sum()) / max(float(pauses[~longer].sum()), 1.0)
    inside = running[phases.stop] - running[phases.first]
    least = _CUTTING.small * float(np.sort(inside)[len(inside) // 2])
    return 2 * int((moved[longer] - background * pauses[longer] > least).sum()) > int(longer.sum())


class Segmentation(Struct, frozen=True, eq=False):
    """Phases in bins of their segmenter, their regularity, and the resulting period."""

    phases: Phases
    period: float
    regularity: Regularity
    by_pauses: bool


def _judged(segmenter: Segmenter, begin: int, found: Segmentation) -> PeriodCandidate:
    """Compute the quality of a segmentation.

    Phases are certain if their intervals, or their volumes, are more alike than by chance. A few phases that stand out
    clearly and are alike have some confidence, too.
    """
    measured = found.regularity
    contrast = _contrast(segmenter, found.phases)
    proven = _stands_out(contrast) * _proven(measured)
    even = math.exp(-((measured.clock_spread / _QUALITY.even) ** 2)) * certain(_QUALITY.trials * measured.chance)
    phases = segmenter.measured(found.phases)
    volumes = likeness_of(segmenter, found.phases)
    if segmenter.origin is not segmenter:
        # phases that others delay have similar volumes; phases that write for a fixed time have similar lengths
        volumes = min(volumes, likeness_of(segmenter.origin, phases), key=lambda each: each.spread)
    likeness = math.exp(-((volumes.spread / _QUALITY.alike) ** 2))
    # by construction, each phase has at least a fifth of the usual volume
    alike = likeness * certain(
        _QUALITY.trials * chance_of(max(volumes.spread, _QUALITY.resolved) / (1 - _CUTTING.small), volumes.count)
    )
    regular = max(even, proven)
    found_by = 1 - (1 - regular) * (1 - alike)
    # Very even phases need no quiet between them, since pauses shorter than a bin are never empty. But bins with
    # alternately one request more or less are as even.
    evident = (
        (contrast > _CUTTING.small)
        * math.exp(-((measured.clock_spread / TUNING.same.irregular) ** 2))
        * certain(chance_of(max(measured.clock_spread, TUNING.same.even), len(measured.intervals)))
    )
    quiet, contrast = contrast, 1 - (1 - contrast) * (1 - evident)
    # merging k phases divides both spreads by the root of k, which must not increase the weight
    spreads = _shrunk(measured.clock_spread, len(measured.intervals)) * _shrunk(volumes.spread, volumes.count)
    if measured.clock_spread > 1:
        spreads *= measured.clock_spread**2  # wilder than chance: these are parts of phases
    return PeriodCandidate(
        phases=(with_stragglers(segmenter.origin, phases) if volumes.straggling else phases).shifted(begin),
        period=found.period,
        regularity=measured,
        quality=contrast * max(found_by, _QUALITY.prior * likeness * _stands_out(contrast)),
        regular=regular,
        alike=alike,
        proven=proven,
        clear=quiet * min(even, alike) > _SAME.sure,
        weight=math.log(max(contrast, 1e-3) * len(found.phases) * _share_told(found) / spreads)
        - (_QUALITY.change_costs if measured.since else 0.0),
        by_pauses=found.by_pauses,
    )


def _share_told(found: Segmentation) -> float:
    """Return the share of the time in intervals on time or across missed phases."""
    measured = found.regularity
    if not measured.astray:
        return 1.0
    whole = float(found.phases.start[-1] - found.phases.start[0])
    return min(measured.period * (len(measured.intervals) + measured.missed) / max(whole, 1.0), 1.0)


def _proven(measured: Regularity) -> float:
    """Return the confidence that uneven intervals have a mean distance, since they are too many for chance."""
    accident = certain(_QUALITY.accident * measured.chance / _QUALITY.proven)
    return accident * math.exp(-((measured.spread / _QUALITY.uneven) ** 8))


def _stands_out(contrast: float) -> float:
    return min(max((contrast - _QUALITY.blurred) / (_QUALITY.clear - _QUALITY.blurred), 0.0), 1.0)


def _backing(candidate: PeriodCandidate, line: SpectralPeak | None) -> float:
    if line is None or abs(math.log(candidate.period / line.period)) >= _SAME.period:
        return 0.0
    return _QUALITY.backed * certain(line.chance) * line.support


def periods_by_pauses(pauses: npt.NDArray[np.int64]) -> list[float]:
    """Return the period that merges the shorter pauses, split from longer ones at the largest ratio of neighbours."""
    if not len(pauses):
        return []
    pauses = np.sort(pauses)
    shortest = _CUTTING.within / _CUTTING.gap * float(pauses[0])
    if len(pauses) == 1:
        return [shortest]
    widest = int((pauses[1:] / pauses[:-1]).argmax())
    return [math.sqrt(float(pauses[widest]) * float(pauses[widest + 1])) / _CUTTING.gap, shortest]


def _contrast(segmenter: Segmenter, phases: Phases) -> float:
    """Return how much quieter the time between phases is, in [0, 1]; each byte outside counts as between."""
    begin = int(phases.first[0])
    inside, length = float(phases.volume.sum()), float((phases.stop - phases.first).sum())
    outside = max(segmenter.total - float(segmenter.running[begin]) - inside, 0.0)
    rest = max(len(segmenter.values) - begin - length, 1.0)
    level = inside / max(length, 1.0)
    gaps = phases.first[1:] - phases.stop[:-1]
    if 2 * int((gaps <= _CUTTING.edges).sum()) > len(gaps):
        # volumes include the bins at both edges of a phase, which here are all bins between two phases
        quiet = np.minimum(segmenter.values[phases.stop[:-1]], segmenter.values[phases.first[1:] - 1])
        outside = max(outside, float(quiet.sum()) / len(quiet) * rest)
        within = segmenter.running[phases.stop] - segmenter.running[phases.first]
        level = float(within.sum()) / max(length, 1.0)
    return max(1 - (outside / rest) / level, 0.0)


def _shrunk(spread: float, count: int) -> float:
    """Return a spread with one additional value that is off by a quarter, since a few may be alike by chance."""
    return math.sqrt(((count - 1) * spread**2 + _QUALITY.believed**2) / count)
