"""Quality of a segmentation of a signal into phases: similarity of intervals and volumes, and contrast."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from msgspec import Struct

from .. import compiled
from ..confidence import chance_in_time, chance_of, confidence_of_chance
from ..phases.phase_volumes import VolumeSimilarity, volume_similarity, with_trailing_requests
from ..phases.phases import Phases, Segmenter, median
from ..phases.regularity import Regularity
from ..phases.rhythm import no_walk_confidence, rhythm_confidence
from ..tuning import TUNING

_TOLERANCES: Final = TUNING.tolerances
_SEGMENTATION: Final = TUNING.segmentation
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
        mean_distance_confidence: confidence that intervals have a mean distance, however uneven.
        clear: whether the phases are both regular and alike, so that no other segmentation is tried.
        weight: rank among segmentations: higher for more similar intervals and volumes.
        by_pauses: whether the segmentation searched pauses instead of phases.
        segmenter: segmenter of the signal.
        uneven_phases: all phases of the segmenter, if a walk may hide in them; None otherwise.
    """

    phases: Phases
    period: float
    regularity: Regularity
    quality: float
    regular: float
    alike: float
    mean_distance_confidence: float
    clear: bool
    weight: float
    by_pauses: bool
    segmenter: Segmenter
    uneven_phases: Phases | None

    @property
    def sure(self) -> bool:
        """Whether these are certainly the phases, however regular."""
        return self.quality > _TOLERANCES.certain_confidence

    @property
    def is_final(self) -> bool:
        """Whether no alternative needs to be examined."""
        return self.clear and self.confidence > _TOLERANCES.certain_confidence

    @property
    def typical_rate(self) -> float:
        """Volume of a typical phase over the period, bytes/s."""
        return median(self.phases.volume) / self.period

    @property
    def busy_share(self) -> float:
        """Length of a typical phase over the period."""
        return median(self.phases.end - self.phases.start) / self.period

    def is_log_beside(self, other: PeriodCandidate) -> bool:
        """Return whether these phases have next to no bytes beside another's, as lines of a log beside checkpoints."""
        return is_log_beside(self.typical_rate, other.typical_rate, other.confidence)

    def is_within(self, other: PeriodCandidate) -> bool:
        """Return whether these are the requests within another's phases."""
        return is_within(self.busy_share, self.period, other.period, other.confidence)

    @property
    def periodic_share(self) -> float:
        """Share of the quality for which the phases have a period: similar phases may come at random times.

        Regular intervals count by the probability that the next two are as predicted.
        """
        spread, count = self.regularity.clock_spread, len(self.regularity.intervals)
        foreseen = max(self.regular * chance_in_time(spread, count) ** 2, self.mean_distance_confidence)
        steady = 1 - (1 - foreseen) * (1 - self.alike)
        # around a drift, intervals are more regular than ``chance`` assumes
        chance = self.regularity.chance
        if self.regularity.drift and self.regularity.pauses is None:
            chance = chance_of(spread, min(count, TUNING.intervals.drift_intervals))
        periodic_share = (
            confidence_of_chance(chance) * steady / max(1 - (1 - self.regular) * (1 - self.alike), _NOTHING)
        )
        # intervals that vary less come near the mean in any order
        if spread > _TOLERANCES.on_time and self.quality * periodic_share > _NOTHING:
            periodic_share *= rhythm_confidence(self.regularity.intervals)
        if self.uneven_phases is not None and self.quality * periodic_share > _NOTHING:
            start = self.segmenter.starts_of_bursts(self.uneven_phases)
            if len(start) > len(self.uneven_phases):
                periodic_share *= no_walk_confidence(start[1:] - start[:-1])
        return periodic_share

    @property
    def confidence(self) -> float:
        """Probability that these are the phases, and that the next one starts as the period predicts."""
        return self.quality * chance_in_time(self.regularity.clock_spread, len(self.regularity.intervals))


def is_log_beside(rate: float, other_rate: float, other_confidence: float) -> bool:
    """Return whether phases have next to no bytes beside those of another period.

    Args:
        rate: volume of a typical phase over the period, bytes/s; 0 if unknown.
        other_rate: same, of the other period.
        other_confidence: confidence of the other period.
    """
    return 0 < rate < TUNING.quality.log_rate_ratio * other_rate and other_confidence >= _TOLERANCES.min_confidence


def is_back_to_back(busy_share: float) -> bool:
    """Return whether phases follow each other with hardly a pause, as requests within a phase do.

    Args:
        busy_share: length of a typical phase over the period; 0 if unknown.
    """
    return busy_share > 1 - TUNING.next_phase.min_end_clock_pause


def is_within(busy_share: float, period: float, other_period: float, other_confidence: float) -> bool:
    """Return whether a period is the distance of the requests within the phases of another one.

    Args:
        busy_share: length of a typical phase of the first over its period; 0 if unknown.
        period: first period.
        other_period: other period.
        other_confidence: confidence of the other period.
    """
    longer = other_period >= TUNING.live.period_order_ratio * period
    return longer and is_back_to_back(busy_share) and other_confidence >= _TOLERANCES.min_confidence


class Segmentation(Struct, frozen=True, eq=False):
    """Phases in bins of their segmenter, their regularity, and the resulting period.

    ``uneven_phases`` are all phases, also those before a change, if a walk may hide in them.
    """

    phases: Phases
    period: float
    regularity: Regularity
    by_pauses: bool
    uneven_phases: Phases | None


def rated_candidate(segmenter: Segmenter, begin: int, found: Segmentation) -> PeriodCandidate:
    """Compute the quality of a segmentation.

    Phases are certain if their intervals, or their volumes, are more alike than by chance. A few phases that stand out
    clearly and are alike have some confidence, too.
    """
    measured = found.regularity
    contrast = _contrast(segmenter, found.phases)
    mean_distance = _contrast_confidence(contrast) * _mean_distance_confidence(measured)
    even = _evenness_confidence(measured)
    phases = segmenter.measured(found.phases)
    # missing phases shift the places of a pattern, and ripples of bins have patterns of requests
    may_repeat = not measured.missed and contrast > _QUALITY.min_contrast
    volumes = _volumes(segmenter, found.phases, phases, may_repeat=may_repeat)
    alike, similarity = _alike(volumes)
    if measured.since and found.uneven_phases is not None:
        # the phases before a change show that these are phases
        alike = max(alike, _alike(volume_similarity(segmenter, found.uneven_phases))[0])
    regular = max(even, mean_distance)
    quiet, contrast = contrast, 1 - (1 - contrast) * (1 - _unneeded_contrast(measured, contrast))
    return PeriodCandidate(
        phases=(with_trailing_requests(segmenter.origin, phases) if volumes.trailing else phases).shifted(begin),
        period=found.period,
        regularity=measured,
        quality=contrast
        * max(
            1 - (1 - regular) * (1 - alike),
            _QUALITY.few_phases_confidence * similarity * _contrast_confidence(contrast),
        ),
        regular=regular,
        alike=alike,
        mean_distance_confidence=mean_distance,
        clear=quiet * min(even, alike) > _TOLERANCES.certain_confidence,
        weight=_weight(found, volumes, contrast),
        by_pauses=found.by_pauses,
        segmenter=segmenter,
        uneven_phases=found.uneven_phases,
    )


def _alike(volumes: VolumeSimilarity) -> tuple[float, float]:
    """Return the confidence that phases are alike, and the similarity of their volumes."""
    similarity = math.exp(-((volumes.spread / _QUALITY.volume_spread_scale) ** 2))
    return similarity * _volume_confidence(volumes), similarity


def _evenness_confidence(measured: Regularity) -> float:
    """Return the confidence that intervals are more even than by chance."""
    return math.exp(-((measured.clock_spread / _QUALITY.interval_spread_scale) ** 2)) * confidence_of_chance(
        _QUALITY.tried_segmentations * measured.chance
    )


def _volumes(segmenter: Segmenter, found: Phases, phases: Phases, *, may_repeat: bool) -> VolumeSimilarity:
    """Compare the volumes of phases in a clipped signal and in the original.

    Phases that others delay have similar volumes. Phases that write for a fixed time have similar lengths.
    """
    volumes = volume_similarity(segmenter, found, may_repeat=may_repeat)
    if segmenter.origin is segmenter:
        return volumes
    others = volume_similarity(segmenter.origin, phases, may_repeat=may_repeat)
    return min(volumes, others, key=lambda each: each.spread)


def _volume_confidence(volumes: VolumeSimilarity) -> float:
    """Return the confidence that volumes are more alike than by chance.

    By construction, each phase has at least a fifth of the usual volume.
    """
    spread = max(volumes.spread, _QUALITY.volume_spread_resolution) / (1 - _SEGMENTATION.min_volume_share)
    return confidence_of_chance(_QUALITY.tried_segmentations * chance_of(spread, volumes.count))


def _unneeded_contrast(measured: Regularity, contrast: float) -> float:
    """Return the share of missing contrast that very even phases do not need.

    Pauses shorter than a bin are never empty. But bins with alternately one request more or less are as even.
    """
    return (
        (contrast > _SEGMENTATION.min_volume_share)
        * math.exp(-((measured.clock_spread / _TOLERANCES.irregular_spread) ** 2))
        * confidence_of_chance(chance_of(max(measured.clock_spread, _TOLERANCES.equal_spread), len(measured.intervals)))
    )


def _weight(found: Segmentation, volumes: VolumeSimilarity, contrast: float) -> float:
    """Return the rank of a segmentation.

    Merging k phases divides both spreads by the root of k, which must not increase the weight.
    """
    measured = found.regularity
    spreads = _with_prior_value(measured.clock_spread, len(measured.intervals)) * _with_prior_value(
        volumes.spread, volumes.count
    )
    if measured.clock_spread > 1:
        spreads *= measured.clock_spread**2  # wilder than chance: these are parts of phases
    return math.log(max(contrast, 1e-3) * len(found.phases) * _explained_time_share(found) / spreads) - (
        _QUALITY.change_weight_loss if measured.since else 0.0
    )


def _explained_time_share(found: Segmentation) -> float:
    """Return the share of the time in intervals on time or across missed phases."""
    measured = found.regularity
    if not measured.stray:
        return 1.0
    whole = float(found.phases.start[-1] - found.phases.start[0])
    return min(measured.period * (len(measured.intervals) + measured.missed) / max(whole, 1.0), 1.0)


def _mean_distance_confidence(measured: Regularity) -> float:
    """Return the confidence that uneven intervals have a mean distance.

    Many intervals are unlikely to be that even by chance.
    """
    accident = confidence_of_chance(_QUALITY.half_confidence_chance * measured.chance / _QUALITY.mean_distance_chance)
    return accident * math.exp(-((measured.spread / _QUALITY.uneven_spread_scale) ** 8))


def _contrast_confidence(contrast: float) -> float:
    return min(max((contrast - _QUALITY.min_contrast) / (_QUALITY.full_contrast - _QUALITY.min_contrast), 0.0), 1.0)


def _contrast(segmenter: Segmenter, phases: Phases) -> float:
    """Return how much quieter the time between phases is, in [0, 1].

    Each byte outside of phases counts as between them.
    """
    found = compiled.contrast(segmenter.values, segmenter.running, phases.first, phases.stop, phases.volume)
    if found is not None:
        return found
    begin = int(phases.first[0])
    inside, length = float(phases.volume.sum()), float((phases.stop - phases.first).sum())
    outside = max(segmenter.total - float(segmenter.running[begin]) - inside, 0.0)
    rest = max(len(segmenter.values) - begin - length, 1.0)
    level = inside / max(length, 1.0)
    gaps = phases.first[1:] - phases.stop[:-1]
    if 2 * int((gaps <= _SEGMENTATION.edge_bins).sum()) > len(gaps):
        # volumes include the bins at both edges of a phase, which here are all bins between two phases
        quiet = np.minimum(segmenter.values[phases.stop[:-1]], segmenter.values[phases.first[1:] - 1])
        outside = max(outside, float(quiet.sum()) / len(quiet) * rest)
        within = segmenter.running[phases.stop] - segmenter.running[phases.first]
        level = float(within.sum()) / max(length, 1.0)
    return max(1 - (outside / rest) / level, 0.0)


def _with_prior_value(spread: float, count: int) -> float:
    """Return a spread with one additional value that is off by a quarter.

    Without it, a few values that are alike by chance would have no spread.
    """
    return math.sqrt(((count - 1) * spread**2 + _QUALITY.added_value_deviation**2) / count)
