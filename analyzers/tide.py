"""Our estimator: the spectrum finds the rhythm, the phases measure it, and each is held against the other."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ..events.models import Estimate, Frequency
from .intervals import interval_of
from .next_phase import next_phase
from .phases import Phases, Regularity, Segmenter, regularity, shortest_interval
from .rhythm import Rhythm, View
from .settings import DetectSettings
from .spectrum import Floats, describe, find_candidates, spectrum_of

_FEWEST_BINS: Final = 12
_FEWEST_CYCLES: Final = 2.0
_FEWEST_PHASES: Final = 3
_HYPOTHESES: Final = 3
_SHORTEST_BINS: Final = 3.0
_AGREEMENT: Final = 0.1
_EVEN: Final = 0.35
_BACKED: Final = 1.5
_SURE: Final = 0.9
_BAND: Final = 4
_TRIALS: Final = 10
_FUNDAMENTAL: Final = 0.1
_LEAST_CONFIDENCE: Final = 0.2
_CHANCE_AT_HALF: Final = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """A spectral line. Period in bins; support by the autocorrelation, and chance that white noise has such a line."""

    period: float
    support: float
    chance: float


@dataclass(frozen=True, slots=True, eq=False)
class _Beat:
    """A segmentation, its regularity, and the mean interval between the phases within the window, in bins."""

    phases: Phases
    period: float
    regularity: Regularity
    confidence: float
    by_pauses: bool


def estimate(view: View, settings: DetectSettings) -> Rhythm:
    """Finds the period of a signal, or that it has none.

    1. Hypotheses: the strongest lines of the zero-padded spectrum, and the border between short and long pauses.
    2. Each hypothesis guides a segmentation into phases (``phases.segment``); their intervals are measured.
    3. The strongest line is refined below a bin and checked on the autocorrelation one and two periods later.
    4. Where phases and line agree, or phases are the more certain, the period is the mean interval between starts;
       else it is the line's.

    Confidence is 1 - (1 - c_phases)(1 - c_line) where they agree, the larger less half the smaller where not. Below
    0.2 there is no rhythm.
    """
    window = view.window
    spectrum = spectrum_of(window, 1 / view.bin_s)
    candidates = find_candidates(spectrum, settings)
    listed = describe(spectrum, candidates)
    if len(window) < _FEWEST_BINS or not window.any():
        return Rhythm(harmonics_dropped=candidates.dropped)
    detrended = _without_trend(window)
    power, correlation = _transform(detrended)
    peaks = _peaks(power, len(window))
    segmenter = Segmenter(window)
    line = _line(window, detrended, power, correlation, peaks)
    beat = _with_history(view, _best_beat(view, segmenter, line, peaks), line)
    period, confidence, by_phases = _decide(line, beat)
    if beat is not None and by_phases:
        confidence *= _patience(len(view.bandwidth) - float(beat.phases.start[-1]), period)
    if confidence < _LEAST_CONFIDENCE:
        return Rhythm(dominant=listed, harmonics_dropped=candidates.dropped)
    if beat is not None and not by_phases:
        beat = _beat(view, segmenter, view.begin, period)
    return Rhythm(
        period_s=_period(view, period, beat, by_phases),
        confidence=confidence,
        dominant=_dominant(view, period, confidence, candidates.z, listed),
        harmonics_dropped=candidates.dropped,
        next_phase=None if beat is None else next_phase(view, beat.phases, beat.regularity, period),
    )


def _without_trend(values: Floats) -> Floats:
    at = np.arange(len(values)) - (len(values) - 1) / 2
    slope = float(at @ values) / float(at @ at)
    result: Floats = values - values.mean() - slope * at
    return result


def _transform(values: Floats) -> tuple[Floats, Floats]:
    """Returns the power |X|^2 at a spacing of at most half a bin, and the autocorrelation (1 at lag 0, unbiased)."""
    padded = 1 << (2 * len(values) - 1).bit_length()
    transform = np.fft.rfft(values, padded)
    power: Floats = np.square(transform.real) + np.square(transform.imag)
    lags = np.fft.irfft(power, padded)[: len(values)]
    lags /= np.arange(len(values), 0, -1) * max(lags[0] / len(values), 1e-300)
    return power, lags


def _peaks(power: Floats, samples: int) -> list[float]:
    """Returns the periods, in bins, of the strongest local maxima of the spectrum with two cycles or more."""
    padded = 2 * (len(power) - 1)
    inner = power[1:-1]
    is_peak = (inner > power[:-2]) & (inner >= power[2:])
    is_peak[: math.ceil(0.9 * _FEWEST_CYCLES * padded / samples) - 1] = False
    is_peak[int(padded / _SHORTEST_BINS) :] = False
    at = np.flatnonzero(is_peak) + 1
    if len(at) > _HYPOTHESES:
        at = at[np.argpartition(-power[at], _HYPOTHESES)[:_HYPOTHESES]]
    at = at[np.argsort(-power[at])]
    left, middle, right = power[at - 1], power[at], power[at + 1]
    shift = 0.5 * (left - right) / np.minimum(left - 2 * middle + right, -1e-300)
    return [float(period) for period in padded / (at + shift)]


def _line(window: Floats, values: Floats, power: Floats, correlation: Floats, peaks: list[float]) -> _Line | None:
    """Refines the strongest line and asks the autocorrelation for it."""
    if not peaks:
        return None
    n = len(values)
    period, support = peaks[0], _support(correlation, peaks[0])
    for multiple in (2, 3):
        # of sharp bursts a harmonic may be the strongest line; the bursts themselves repeat at the fundamental only
        longer = _support(correlation, multiple * peaks[0]) if n >= _FEWEST_CYCLES * multiple * peaks[0] else 0.0
        if longer > support + _FUNDAMENTAL:
            period, support = multiple * peaks[0], longer
    if support <= 0:
        return None
    padded = 2 * (len(power) - 1)
    # bursts shake up to the inverse of their length only, so that the mean over the whole spectrum would say too little
    band = power[1 : min(int(_BAND * padded / peaks[0]) + 1, len(power))]
    excess = float(power[min(round(padded / peaks[0]), len(power) - 1)]) / max(float(band.mean()), 1e-300)
    chance = min(1.0, len(band) * n / padded * math.exp(-min(excess, 700.0)))
    period = _refined(values, period)
    return _Line(period, support * _presence(window, period) * _prominence(power, padded / period), chance)


def _presence(window: Floats, period: float) -> float:
    """Returns the share of the periods in which I/O takes place, in [0, 1]; near 0 when it is in two of them at most.

    Each period counts by what it moves, through the participation ratio (sum V)^2 / sum V^2.
    """
    folded, at = _folded(window, period)
    component = complex(np.exp((2j * math.pi / period) * at) @ folded)
    centre = math.atan2(component.imag, component.real) / (2 * math.pi) * period
    cell = np.floor((at - centre) / period + 0.5).astype(np.intp)
    moved = np.bincount(cell - cell[0], folded)
    count = float(moved.sum()) ** 2 / float(moved @ moved)
    return float(np.clip((count - 1.5) / 1.5, 0, 1)) * min(count / (len(window) / period), 1.0)


def _prominence(power: Floats, at: float) -> float:
    """Returns 1 for a line three times as strong as all below 0.6 of its frequency, 0 for one no stronger."""
    below = power[1 : max(int(0.6 * at), 2)]
    here = power[max(int(at) - 1, 1) : int(at) + 3]
    ratio = float(here.max()) / max(float(below.max()), 1e-300)
    return float(np.clip(math.log(max(ratio, 1.0)) / math.log(3), 0, 1))


def _support(correlation: Floats, period: float) -> float:
    """Returns how alike the signal is to itself one period later, and two where there are four; 0 without a peak."""
    at_one = _local_maximum(correlation, period)
    if at_one is None:
        return 0.0
    if len(correlation) < 4 * period:
        return at_one
    return 0.5 * (at_one + (_local_maximum(correlation, 2 * period) or 0.0))


def _folded(values: Floats, period: float) -> tuple[Floats, Floats]:
    """Sums neighbouring bins, an eighth of a period at most, which keeps what moves at the period.

    Returns:
        The sums, and the position of each one's middle in bins.
    """
    fold = int(period / 8)
    if fold > 1:
        values = np.add.reduceat(
            values[: max(len(values) // fold, 1) * fold], np.arange(0, len(values) - fold + 1, fold)
        )
    fold = max(fold, 1)
    return values, np.asarray(np.arange(len(values)) * float(fold) + 0.5 * fold, np.float64)


def _component(values: Floats, period: float) -> complex:
    """Returns sum_n x_n exp(-2 pi j (n + 1/2) / period)."""
    folded, at = _folded(values, period)
    return complex(np.exp((-2j * math.pi / period) * at) @ folded)


def _refined(values: Floats, period: float) -> float:
    """Maximises |X(f)| near a peak by a parabola through three points of the continuous transform, twice."""
    folded, at = _folded(values, period)
    frequency = 1 / period
    step = 0.2 / len(values)
    shift = np.exp((-2j * math.pi * step) * at)
    turn = np.exp((-2j * math.pi * frequency) * at) * folded
    for last in (False, True):
        low, middle, high = abs(complex(turn @ np.conj(shift))), abs(complex(turn.sum())), abs(complex(turn @ shift))
        bend = low - 2 * middle + high
        if bend >= 0:
            break
        move = min(max(0.5 * (low - high) / bend, -1.5), 1.5) * step
        frequency += move
        if not last:
            turn *= np.exp((-2j * math.pi * move) * at)
    return 1 / frequency


def _local_maximum(correlation: Floats, lag: float) -> float | None:
    """Returns the highest value within 10 % of a lag if the autocorrelation falls off on both sides of it."""
    reach = max(0.1 * lag, 0.6)
    low, high = max(math.ceil(lag - reach), 1), math.floor(lag + reach) + 1
    if high >= len(correlation):
        return None
    top = low + int(np.argmax(correlation[low:high]))
    height = float(correlation[top])
    before = correlation[max(int(0.4 * lag), 0) : low + 1]
    after = correlation[high - 1 : math.ceil(1.6 * lag) + 1]
    valley = max(float(before.min()), float(after.min()))
    return height if height > valley + 0.05 and height > 0 else None


def _best_beat(view: View, segmenter: Segmenter, line: _Line | None, peaks: list[float]) -> _Beat | None:
    hypotheses = [*([] if line is None else [line.period]), *peaks, *_by_pauses(segmenter.pauses)]
    best: _Beat | None = None
    best_weight = 0.0
    tried: list[float] = []
    for hypothesis in hypotheses:
        if hypothesis > len(view.window) or any(abs(math.log(hypothesis / other)) < _AGREEMENT for other in tried):
            continue
        tried.append(hypothesis)
        for by_pauses in (False, True) if segmenter.duty > 0.5 else (False,):
            beat = _beat(view, segmenter, view.begin, hypothesis, by_pauses=by_pauses)
            if beat is None:
                continue
            backed = line is not None and abs(math.log(beat.period / line.period)) < _AGREEMENT
            weight = beat.confidence * (_BACKED if backed else 1.0)
            if weight > best_weight:
                best, best_weight = beat, weight
        if best_weight > _BACKED * _SURE:
            break
    return best


def _with_history(view: View, beat: _Beat | None, line: _Line | None) -> _Beat | None:
    """Takes the phases before the window into account, unless they followed another rhythm.

    A window of three periods holds two whole intervals, which say little of regularity.
    """
    if not view.begin or not view.expected_s:
        return beat
    guides = [beat.period] if beat is not None else [view.expected_s / view.bin_s]
    if line is not None and beat is None:
        guides.append(line.period)
    segmenter = Segmenter(view.bandwidth)
    for guide in guides:
        longer = _beat(view, segmenter, 0, guide, by_pauses=beat is not None and beat.by_pauses)
        if longer is not None and (beat is None or longer.confidence > beat.confidence):
            beat = longer
    return beat


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


def _beat(view: View, segmenter: Segmenter, begin: int, hypothesis: float, *, by_pauses: bool = False) -> _Beat | None:
    """Segments the signal from bin ``begin`` on; None where there are too few phases, or the latest differ."""
    phases = segmenter.segment_by_pauses(hypothesis) if by_pauses else segmenter.segment(hypothesis)
    if (view.cut or begin) and len(phases) and phases.first[0] == 0:
        phases = phases.select(slice(1, None))  # it may have begun before the first bin
    if len(phases) < _FEWEST_PHASES:
        return None
    if not by_pauses:
        phases = segmenter.refined(phases)
    measured = regularity(phases, shortest_interval(hypothesis))
    if measured is None or measured.period < _SHORTEST_BINS:
        return None
    period = measured.period
    if begin < view.begin:
        recent = max(int((phases.start >= view.begin).sum()), 2)
        latest = measured.intervals[-recent:]
        period = float(latest.sum()) / len(latest)
        if abs(math.log(period / measured.period)) > _AGREEMENT:
            return None
    confidence = _even(measured.spread) * _certain(_TRIALS * measured.chance) * _contrast(segmenter, phases)
    return _Beat(phases.shifted(begin), period, measured, confidence, by_pauses)


def _contrast(segmenter: Segmenter, phases: Phases) -> float:
    """Returns how much quieter it is between phases than within, in [0, 1]; each unrelated byte counts as between."""
    begin = int(phases.first[0])
    inside, length = float(phases.volume.sum()), float((phases.stop - phases.first).sum())
    outside = max(segmenter.total - float(segmenter.running[begin]) - inside, 0.0)
    rest = max(len(segmenter.values) - begin - length, 1.0)
    return max(1 - (outside / rest) / (inside / max(length, 1.0)), 0.0)


def _even(spread: float) -> float:
    return math.exp(-((spread / _EVEN) ** 2))


def _certain(chance: float) -> float:
    return 1 / (1 + chance / _CHANCE_AT_HALF)


def _line_confidence(line: _Line | None) -> float:
    if line is None:
        return 0.0
    return _certain(line.chance) * float(np.clip((line.support - 0.05) / 0.6, 0, 1))


def _decide(line: _Line | None, beat: _Beat | None) -> tuple[float, float, bool]:
    """Returns the period in bins, the confidence, and whether the phases (not the line) gave it."""
    by_line = _line_confidence(line)
    by_phases = 0.0 if beat is None else beat.confidence
    if beat is None or line is None:
        if beat is not None:
            return beat.period, by_phases, True
        return (0.0, 0.0, False) if line is None else (line.period, by_line, False)
    ratio = beat.period / line.period
    multiple = max(round(ratio), 1)
    if abs(math.log(ratio)) < _AGREEMENT:
        joint = 1 - (1 - by_phases) * (1 - by_line)
        if by_phases >= 0.3 * by_line:
            return beat.period, joint, True
        return line.period, joint, False
    if multiple > 1 and abs(ratio / multiple - 1) < _AGREEMENT / 2 and by_phases >= 0.3:
        return beat.period, by_phases, True  # the line is a harmonic of sharp bursts
    if by_phases >= by_line:
        return beat.period, by_phases - 0.5 * by_line, True
    return line.period, by_line - 0.5 * by_phases, False


def _patience(silence: float, period: float) -> float:
    """Falls from 1 to 0 as the next phase stays out for one and a half to four periods."""
    return float(np.clip((4 - silence / period) / 2.5, 0, 1))


def _period(view: View, period: float, beat: _Beat | None, by_phases: bool) -> Estimate:
    half_bin = 0.5 / len(view.window)
    reach = period - 1 / (1 / period + half_bin)
    if beat is not None and by_phases:
        reach = interval_of(beat.regularity.intervals, of_mean=True, least=0.5 / len(beat.regularity.intervals))
    return Estimate(
        value=period * view.bin_s,
        low=max(period - reach, 0.0) * view.bin_s,
        high=(period + reach) * view.bin_s,
    )


def _dominant(view: View, period: float, confidence: float, z: Floats, listed: list[Frequency]) -> list[Frequency]:
    """Puts the answer first, then the spectral candidates that are more than a bin away from it."""
    values = view.window
    component = _component(values, period) * cmath.exp(1j * math.pi / period)
    frequency = 1 / (period * view.bin_s)
    resolution = 1 / (len(values) * view.bin_s)
    nearest = min(max(round(len(values) / period) - 1, 0), len(z) - 1)
    answer = Frequency(
        frequency_hz=frequency,
        period_s=period * view.bin_s,
        amplitude=2 * abs(component) / len(values),
        phase_rad=cmath.phase(component),
        z_score=float(z[nearest]),
        confidence=confidence,
    )
    return [answer, *(row for row in listed if abs(row.frequency_hz - frequency) > resolution)]
