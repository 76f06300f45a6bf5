"""Strongest line of a signal's spectrum.

It is checked with the autocorrelation and refined below the bin resolution.
"""

from __future__ import annotations

import cmath
import math
from typing import Final

import numpy as np
from msgspec import Struct

from ..tuning import TUNING
from .spectrum import Floats

_SPECTRAL_LINES: Final = TUNING.spectral_lines


class SpectralPeak(Struct, frozen=True, eq=False):
    """A spectral line.

    Attributes:
        period: period, bins.
        support: similarity of the signal to itself one period later, in [0, 1]; reduced if few periods have I/O, or if
            slower changes are as strong.
        chance: probability that white noise has such a line.
    """

    period: float
    support: float
    chance: float


def dominant_peak(window: Floats) -> tuple[SpectralPeak | None, list[float]]:
    """Find the strongest line of a signal.

    Returns:
        The line (None if the autocorrelation does not support it), and the periods in bins of the strongest peaks of
        the zero-padded spectrum, strongest first.
    """
    detrended = _without_trend(window)
    power, correlation = _transform(detrended)
    peaks = _peaks(power, len(window))
    return _line(window, power, correlation, peaks), peaks


def _without_trend(values: Floats) -> Floats:
    n = len(values)
    at: Floats = np.arange(n, dtype=np.float64) - (n - 1) / 2
    at *= -float(at @ values) / max(n * (n * n - 1) / 12, 1)
    at += values
    at -= float(values.sum()) / n
    return at


def _transform(values: Floats) -> tuple[Floats, Floats]:
    """Return the power |X|^2 and the autocorrelation (1 at lag 0, unbiased).

    The power has a spacing of at most half a bin.
    """
    padded = 1 << (2 * len(values) - 1).bit_length()
    transform = np.fft.rfft(values, padded)
    power: Floats = np.square(transform.real) + np.square(transform.imag)
    lags = np.fft.irfft(power, padded)[: len(values)]
    lags /= np.arange(len(values), 0, -1) * max(lags[0] / len(values), 1e-300)
    return power, lags


def _peaks(power: Floats, samples: int) -> list[float]:
    """Return the periods of the strongest local maxima of the spectrum, bins. They have two cycles or more."""
    padded = 2 * (len(power) - 1)
    inner = power[1:-1]
    is_peak = (inner > power[:-2]) & (inner >= power[2:])
    is_peak[: math.ceil(0.9 * _SPECTRAL_LINES.min_cycles * padded / samples) - 1] = False
    is_peak[int(padded / _SPECTRAL_LINES.min_period_bins) :] = False
    at = np.flatnonzero(is_peak) + 1
    if len(at) > _SPECTRAL_LINES.tried_peaks:
        at = at[np.argpartition(-power[at], _SPECTRAL_LINES.tried_peaks)[: _SPECTRAL_LINES.tried_peaks]]
    at = at[np.argsort(-power[at])]
    left, middle, right = power[at - 1], power[at], power[at + 1]
    shift = 0.5 * (left - right) / np.minimum(left - 2 * middle + right, -1e-300)
    return [float(period) for period in padded / (at + shift)]


def _line(window: Floats, power: Floats, correlation: Floats, peaks: list[float]) -> SpectralPeak | None:
    """Return the strongest line if the autocorrelation supports it."""
    if not peaks:
        return None
    n = len(window)
    period, height = peaks[0], _local_maximum(correlation, peaks[0]) or 0.0
    for multiple in (2, 3):
        # for sharp bursts a harmonic may be the strongest line; the bursts themselves repeat at the fundamental only
        if n < _SPECTRAL_LINES.min_cycles * multiple * peaks[0]:
            break
        longer = _local_maximum(correlation, multiple * peaks[0]) or 0.0
        # between two bins, bursts shorter than a bin lose up to half of their similarity
        clear = longer > _SPECTRAL_LINES.multiple_gain_factor * height + _SPECTRAL_LINES.multiple_gain
        if clear or (longer > height + _SPECTRAL_LINES.multiple_gain and _alternates(window, peaks[0], multiple)):
            period, height = multiple * peaks[0], longer
    support = _support(correlation, period)
    if support <= 0:
        return None
    padded = 2 * (len(power) - 1)
    # the power of bursts ends at the inverse of their length, so a mean over the whole spectrum would be too low
    band = power[1 : min(int(_SPECTRAL_LINES.noise_band * padded / peaks[0]) + 1, len(power))]
    excess = float(power[min(round(padded / peaks[0]), len(power) - 1)]) / max(float(band.mean()), 1e-300)
    chance = min(1.0, len(band) * n / padded * math.exp(-min(excess, 700.0)))
    return SpectralPeak(period, support * _presence(window, period) * _prominence(power, padded / period), chance)


def _cells(window: Floats, period: float) -> Floats:
    """Return the volume of each period, cut at its quietest point. The first and last may be incomplete."""
    folded, at = _folded(window, period)
    wave = complex(np.exp((2j * math.pi / period) * at) @ folded)
    centre = math.atan2(wave.imag, wave.real) / (2 * math.pi) * period
    cell = np.floor((at - centre) / period + 0.5).astype(np.intp)
    return np.bincount(cell - cell[0], folded).astype(np.float64, copy=False)


def _presence(window: Floats, period: float) -> float:
    """Return the share of periods with I/O, in [0, 1]. Near 0 for at most two periods.

    Periods are weighted by volume, through the participation ratio (sum V)^2 / sum V^2.
    """
    moved = _cells(window, period)
    count = float(moved.sum()) ** 2 / float(moved @ moved)
    return min(
        max((count - _SPECTRAL_LINES.zero_presence_periods) / _SPECTRAL_LINES.zero_presence_periods, 0.0), 1.0
    ) * min(count / (len(window) / period), 1.0)


def _alternates(window: Floats, period: float, multiple: int) -> bool:
    """Return whether volumes of successive periods alternate, so that only every ``multiple``-th is alike."""
    moved = _cells(window, period)[1:-1]
    groups = len(moved) // multiple
    if groups < 2:
        return False
    table = moved[: groups * multiple].reshape(groups, multiple)
    explained, total = float(table.mean(axis=0).var()), float(table.var())
    return explained > _SPECTRAL_LINES.alternation_share * total and math.sqrt(
        explained
    ) > TUNING.tolerances.equal_spread * float(table.mean())


def _prominence(power: Floats, at: float) -> float:
    """Return the prominence of a line.

    It is 1 at three times everything below 0.6 of its frequency, 0 for one no stronger.
    """
    below = power[1 : max(int(_SPECTRAL_LINES.slow_band_end * at), 2)]
    here = power[max(int(at) - 1, 1) : int(at) + 3]
    ratio = float(here.max()) / max(float(below.max()), 1e-300)
    return min(math.log(max(ratio, 1.0)) / math.log(_SPECTRAL_LINES.full_prominence_ratio), 1.0)


def _support(correlation: Floats, period: float) -> float:
    """Return the similarity one period later, averaged with two if there are four periods.

    Returns 0 without a peak.
    """
    at_one = _local_maximum(correlation, period)
    if at_one is None:
        return 0.0
    if len(correlation) < 4 * period:
        return at_one
    return 0.5 * (at_one + (_local_maximum(correlation, 2 * period) or 0.0))


def _folded(values: Floats, period: float) -> tuple[Floats, Floats]:
    """Sum neighbouring bins over at most a sixth of a period. This preserves the component of that period.

    The signal may be shorter than that, if the period was measured before it.

    Returns:
        The sums, and the position of each one's middle in bins.
    """
    fold = min(int(period / 6), len(values))
    if fold > 1:
        values = np.add.reduceat(values[: len(values) // fold * fold], np.arange(0, len(values) - fold + 1, fold))
    fold = max(fold, 1)
    return values, np.asarray(np.arange(len(values)) * float(fold) + 0.5 * fold, np.float64)


def component(values: Floats, period: float) -> complex:
    """Return sum_n (x_n - mean) exp(-2 pi j n / period). This is the continuous Fourier transform at one frequency."""
    folded, at = _folded(values - values.mean(), period)
    summed = complex(np.exp((-2j * math.pi / period) * at) @ folded)
    turn, fold = math.pi / period, 2 * float(at[0])
    # summing bins damps the wave, and the middles of bins lie half a bin after their starts
    return summed * fold * math.sin(turn) / math.sin(turn * fold) * cmath.exp(1j * turn)


def refined(window: Floats, period: float) -> float:
    """Return the period near ``period`` with the highest |X(f)|, below the bin resolution.

    A parabola is fitted to three points of the continuous transform, twice.
    """
    values = _without_trend(window)
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
    """Return the highest value within 10 % of a lag.

    It returns None unless the autocorrelation drops on both sides.
    """
    reach = max(TUNING.tolerances.equal_period_log * lag, 0.6)
    low, high = max(math.ceil(lag - reach), 1), math.floor(lag + reach) + 1
    if high >= len(correlation):
        return None
    height = float(correlation[low:high].max())
    before = correlation[max(int(_SPECTRAL_LINES.valley_start * lag), 0) : low + 1]
    after = correlation[high - 1 : math.ceil((2 - _SPECTRAL_LINES.valley_start) * lag) + 1]
    valley = max(float(before.min()), float(after.min()))
    return height if height > valley + _SPECTRAL_LINES.min_valley and height > 0 else None
