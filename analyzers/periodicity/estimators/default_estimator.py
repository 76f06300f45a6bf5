"""Default estimator (tide). The spectrum finds the period, the phases measure it, and each is checked by the other."""

from __future__ import annotations

import cmath
import math
from typing import Final, NamedTuple

from msgspec.structs import replace

from ....results.base import Estimate
from ....results.prediction import Drift, Frequency
from ...settings import DetectSettings
from ..confidence import (
    calibrated,
    chance_in_time,
    chance_of_mean,
    confidence_of_chance,
    finished_job_confidence,
    overdue_factor,
    phases_confidence,
)
from ..estimator import KnownPhases, PeriodEstimate, SignalWindow
from ..phases.phases import Segmenter
from ..spectrum.spectral_peak import SpectralPeak, component, dominant_peak, refined
from ..spectrum.spectrum import Candidates, Floats, describe, find_candidates, spectrum_of
from ..tuning import TUNING
from ..upcoming.clock import Clock, clock_of, clock_of_starts
from ..upcoming.intervals import interval_of
from ..upcoming.next_phase import (
    Following,
    following_of,
    interruptions_of,
    next_phase,
    patterns_of,
    phase_sizes,
    work_shifts,
)
from ..upcoming.next_start import NextStart, next_start_of
from ..upcoming.shifts import Shifts, shifts_of, with_earlier
from .segmentation_quality import PeriodCandidate
from .segmentation_search import candidate_at_known_period, may_end_in_shorter_phases, score_candidates, with_history
from .two_programs import find_two_programs

_TOLERANCES: Final = TUNING.tolerances
_SPECTRAL_LINES: Final = TUNING.spectral_lines
_NONE: Final = 0.005
"""Minimum confidence of a reported period; lower values would be displayed as 0 %."""


def estimate(view: SignalWindow, settings: DetectSettings) -> PeriodEstimate:
    """Find the period of a signal, or none. It also finds the periods of two programs in it.

    Two programs are searched if one program does not predict the next phase with certainty, or if intervals repeat a
    pattern. They are the result if their predictions are better, or nearly as good as those by a pattern.

    If only the last period is followed, no other number of programs is tried while it holds.
    """
    if (
        view.followed > 1
        and (two := find_two_programs(view)) is not None
        and two.confidence >= _TOLERANCES.min_confidence
    ):
        candidates, listed = _spectral_candidates(view, settings)
        return replace(two, dominant=listed, harmonics_dropped=candidates.dropped)
    one = _of_one_program(view, settings)
    certain = one.next_confidence >= _TOLERANCES.certain_confidence and not one.repeats
    if certain or len(view.window) < TUNING.segmentation.min_window_bins:
        return one
    if view.followed == 1 and one.period_s is not None:
        return one
    two = find_two_programs(view)
    if two is None or two.confidence < _TOLERANCES.min_confidence:
        return one
    if two.next_confidence <= one.next_confidence - (_TOLERANCES.confidence_gain if one.repeats else 0.0):
        return one
    # the result for one program is no candidate of the spectrum
    return replace(two, dominant=one.dominant[one.period_s is not None :], harmonics_dropped=one.harmonics_dropped)


def _of_one_program(view: SignalWindow, settings: DetectSettings) -> PeriodEstimate:
    """Find the period of a signal with the phases of one program, or none.

    1. If the last period still holds with certainty, it is the result.
    2. Hypotheses are the strongest lines of the zero-padded spectrum, and the border between short and long pauses.
    3. Each hypothesis guides a segmentation into phases (``phases.Segmenter``), whose intervals and volumes are
    measured.
    4. If phases and line agree, or the phases are more certain, the period is the mean interval between starts.
    Otherwise it is that of the line, refined below a bin.

    If phases and line agree, quality is 1 - (1 - q_phases)(1 - q_line). Otherwise it is the larger quality less half
    the smaller one; for phases, only to the extent that they do not predict the next one and differ in volume.

    Confidence is the probability that the period is the mean distance of phases to 5 %. It is the quality times the
    probability of a steady period (``PeriodCandidate.periodic_share``). For a finished job it is raised to a power that
    increases for few intervals, since a few random intervals are alike by chance.

    ``next_confidence`` is the probability that the next phase starts within a fifth of a period of its prediction. It
    is the mapped quality (``phases_confidence``) times the probability that an interval as irregular as the past ones
    is on time. If both probabilities are below 0.15 before they are mapped, there is no period.
    """
    window = view.window
    candidates, listed = _spectral_candidates(view, settings)
    if len(window) < TUNING.segmentation.min_window_bins or not window.any():
        return PeriodEstimate(harmonics_dropped=candidates.dropped)
    line, candidate = _peak_and_segmentation(view)
    period, confidence, by_phases = _decide(_line_confidence(window, line), line, candidate)
    next_confidence, known = calibrated(confidence), confidence
    expected = None if candidate is None else _expected(view, candidate, candidate.period)
    if expected is not None and by_phases:
        candidate, clock, start, _ = expected
        silence = len(view.bandwidth) - float(candidate.phases.start[-1])
        if clock.shifts is not None:
            silence -= start.rest * (clock.shifts.rest - period)
        patience = overdue_factor(silence, period)
        next_confidence = phases_confidence(confidence) * start.in_time
        known *= candidate.periodic_share * patience
        confidence *= chance_in_time(clock.spread, len(clock.intervals)) * patience
        if not view.ended:
            known *= chance_of_mean(candidate.regularity.spread, len(candidate.regularity.intervals))
    if max(known, confidence) < _TOLERANCES.reported_confidence:
        return PeriodEstimate(dominant=listed, harmonics_dropped=candidates.dropped)
    next_confidence = min(next_confidence, 1.0)
    if candidate is not None and by_phases and view.ended:
        measured = candidate.regularity
        # an interval across missed phases fits by its choice of a multiple, so it is no evidence
        confidence = finished_job_confidence(
            known, measured.clock_spread, max(len(measured.intervals) - measured.missed, 1)
        )
    else:
        confidence = min(max(known, calibrated(confidence)), 1.0)
        if view.ended:
            # a wave of few cycles is as little evidence as few phases
            confidence = finished_job_confidence(confidence, 0.0, max(round(len(window) / period) - 1, 1))
    if confidence < _NONE:
        return PeriodEstimate(dominant=listed, harmonics_dropped=candidates.dropped)
    if not by_phases:
        period = refined(window, period)
        candidate = None if candidate is None else score_candidates(view, Segmenter(window), view.begin, period)
        expected = None if candidate is None else _expected(view, candidate, period)
    found = PeriodEstimate(
        period_s=_period(view, period, candidate, by_phases),
        confidence=confidence,
        next_confidence=next_confidence,
        dominant=_dominant(view, period, confidence, candidates.z, listed),
        harmonics_dropped=candidates.dropped,
    )
    return found if expected is None else _with_phases(view, found, expected, by_phases=by_phases)


class _Expected(NamedTuple):
    """Phases with their clock, the next start that it predicts, and the period, bins."""

    candidate: PeriodCandidate
    clock: Clock
    start: NextStart
    period: float


def _expected(view: SignalWindow, candidate: PeriodCandidate, period: float) -> _Expected:
    clock = _clock(view, candidate)
    now = (view.now_s - view.start_s) / view.bin_s
    start = next_start_of(candidate.phases, candidate.regularity, clock, period, now)
    return _Expected(candidate, clock, start, period)


def _with_phases(view: SignalWindow, found: PeriodEstimate, expected: _Expected, *, by_phases: bool) -> PeriodEstimate:
    """Return an estimate with what its phases show. If the line gives the period, only the next phase counts."""
    candidate, clock, start, period = expected
    sizes = phase_sizes(view, candidate.phases, period)
    following = _following(candidate, clock, start, period)
    found = replace(
        found,
        next_phase=next_phase(view, sizes, start, following, found.next_confidence),
        drift=_drift(view, candidate, clock),
        rest_s=_rest_s(view, clock.shifts, period),
        repeats=len(clock.cycle) > 0,
    )
    if not by_phases:
        return found
    shifts = work_shifts(view, candidate.phases, period, start, clock)
    interrupted = candidate.regularity.missed or (candidate.regularity.stray and shifts is None)
    return replace(
        found,
        typical_rate=candidate.typical_rate,
        busy_share=candidate.busy_share,
        shifts=shifts,
        interruptions=interruptions_of(view, candidate.phases, period) if interrupted else None,
        patterns=patterns_of(view, sizes, clock),
        phases=_known_phases(view, candidate),
    )


def _clock(view: SignalWindow, candidate: PeriodCandidate) -> Clock:
    clock = clock_of(candidate.regularity, candidate.phases.start)
    if clock.drifts or clock.spread > _TOLERANCES.on_time:
        return clock
    phases = _known_phases(view, candidate)
    if view.earlier is not None:
        phases = with_earlier(phases, view.earlier)
    shifts = shifts_of((phases.starts_s - view.start_s) / view.bin_s, candidate.regularity.period, cut=phases.cut)
    return replace(clock, shifts=shifts)


def _rest_s(view: SignalWindow, shifts: Shifts | None, period: float) -> float:
    """Return the usual rest between equal shifts, s; 0 if it is so long that the window would have too few phases."""
    if shifts is None or not shifts.are_equal or shifts.rest > TUNING.intervals.max_rest_periods * period:
        return 0.0
    return shifts.rest * view.bin_s


def _known_phases(view: SignalWindow, candidate: PeriodCandidate) -> KnownPhases:
    measured = candidate.regularity
    changed = measured.since > 0 or measured.drift != 0
    starts_s = view.start_s + candidate.phases.start * view.bin_s
    in_window = bool(candidate.phases.first[0] >= view.begin > 0)
    from_s = view.window_start_s if in_window else view.start_s
    cut = view.cut or in_window or changed
    return KnownPhases(starts_s, measured.period * view.bin_s, from_s, view.now_s, cut, changed)


def _following(candidate: PeriodCandidate, clock: Clock, expected: NextStart, period: float) -> list[Following]:
    starts = clock_of_starts(clock, candidate.regularity)
    return following_of(expected, starts, candidate.regularity.intervals, candidate.regularity.drift, period)


def _drift(view: SignalWindow, candidate: PeriodCandidate, clock: Clock) -> Drift | None:
    clock = clock_of_starts(clock, candidate.regularity)
    if not clock.drifts:
        return None
    reach = interval_of(clock.intervals, least=0.5)
    value, low, high = (at * view.bin_s for at in (clock.next, max(clock.next - reach, 0.0), clock.next + reach))
    per_phase = candidate.regularity.drift / candidate.regularity.period
    return Drift(period_s=Estimate(value=value, low=low, high=high), per_phase=per_phase)


def _spectral_candidates(view: SignalWindow, settings: DetectSettings) -> tuple[Candidates, list[Frequency]]:
    """Return the candidates of the window's spectrum, and their public rows, strongest first."""
    spectrum = spectrum_of(view.window, 1 / view.bin_s)
    candidates = find_candidates(spectrum, settings)
    return candidates, describe(spectrum, candidates)


def _peak_and_segmentation(view: SignalWindow) -> tuple[SpectralPeak | None, PeriodCandidate | None]:
    """Return the strongest line and the best segmentation; no line if it is not needed."""
    known = candidate_at_known_period(view)
    holds = known is not None and not may_end_in_shorter_phases(known)
    if known is not None and holds and (known.is_final or (known.sure and not view.thorough)):
        return None, known
    line, peaks = dominant_peak(view.window)
    if known is not None and holds and view.followed:
        return line, known
    return line, with_history(view, line, peaks, known)


def _line_confidence(window: Floats, line: SpectralPeak | None) -> float:
    """Return the confidence of a line. A ripple may be due to bins with one request more or less."""
    if line is None:
        return 0.0
    depth = 2 * abs(component(window, line.period)) / float(window.sum())
    support = (line.support - _SPECTRAL_LINES.min_support) / (
        _SPECTRAL_LINES.full_support - _SPECTRAL_LINES.min_support
    )
    return confidence_of_chance(line.chance) * min(max(support, 0.0), 1.0) * min(depth / _SPECTRAL_LINES.min_depth, 1.0)


def _decide(by_line: float, line: SpectralPeak | None, candidate: PeriodCandidate | None) -> tuple[float, float, bool]:
    """Return the period in bins and the confidence. It also returns whether the phases (not the line) gave it."""
    by_phases = 0.0 if candidate is None else candidate.quality
    if candidate is None or line is None:
        if candidate is not None:
            return candidate.period, by_phases, True
        return (0.0, 0.0, False) if line is None else (line.period, by_line, False)
    ratio = candidate.period / line.period
    multiple = max(round(ratio), 1)
    if abs(math.log(ratio)) < _TOLERANCES.equal_period_log:
        joint = 1 - (1 - by_phases) * (1 - by_line)
        if by_phases >= _SPECTRAL_LINES.phase_confidence_share * by_line:
            return candidate.period, joint, True
        return line.period, joint, False
    if (
        multiple > 1
        and abs(ratio / multiple - 1) < _TOLERANCES.correct_period
        and by_phases >= _SPECTRAL_LINES.phase_confidence_share
    ):
        return candidate.period, by_phases, True  # the line is a harmonic of sharp bursts
    if candidate.sure and abs(ratio * round(1 / ratio) - 1) < _TOLERANCES.correct_period:
        return candidate.period, by_phases, True  # the line shows that phases differ in volume
    if by_phases >= by_line:
        # phases that predict the next one, or are alike, are not due to chance, whatever else repeats
        doubt = 1 - chance_in_time(candidate.regularity.clock_spread, len(candidate.regularity.intervals))
        doubt *= 1 - candidate.alike
        return candidate.period, by_phases - _SPECTRAL_LINES.contradiction_loss * doubt * by_line, True
    return line.period, by_line - _SPECTRAL_LINES.contradiction_loss * by_phases, False


def _period(view: SignalWindow, period: float, candidate: PeriodCandidate | None, by_phases: bool) -> Estimate:
    half_bin = 0.5 / len(view.window)
    reach = period - 1 / (1 / period + half_bin)
    if candidate is not None and by_phases:
        reach = interval_of(
            candidate.regularity.intervals, of_mean=True, least=0.5 / len(candidate.regularity.intervals)
        )
    return Estimate(
        value=period * view.bin_s,
        low=max(period - reach, 0.0) * view.bin_s,
        high=(period + reach) * view.bin_s,
    )


def _dominant(
    view: SignalWindow, period: float, confidence: float, z: Floats, listed: list[Frequency]
) -> list[Frequency]:
    """List the result first, then the spectral candidates. The candidates are more than one bin away from it."""
    values = view.window
    wave = component(values, period)
    frequency = 1 / (period * view.bin_s)
    resolution = 1 / (len(values) * view.bin_s)
    nearest = min(max(round(len(values) / period) - 1, 0), len(z) - 1)
    answer = Frequency(
        frequency_hz=frequency,
        period_s=period * view.bin_s,
        amplitude=2 * abs(wave) / len(values),
        phase_rad=cmath.phase(wave),
        z_score=float(z[nearest]),
        confidence=confidence,
    )
    return [answer, *(row for row in listed if abs(row.frequency_hz - frequency) > resolution)]
