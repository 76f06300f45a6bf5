"""Power over time and period from a continuous Morlet wavelet transform.

It yields the validity of a period over time.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from ...results.traces.analysis import Stretch, Validity, WaveletView
from ..periodicity.phases.phases import merge, runs
from ..periodicity.spectrum.spectrum import Floats

Complexes = npt.NDArray[np.complex128]

MAX_PERIODS: Final = 128  # rows of the view
MAX_TIMES: Final = 512  # maximum columns of the view
_OMEGA: Final = 6.0  # radians of the wave per scale
_REACH: Final = 6.0  # scales beyond which the wavelet is negligible
_MAX_BINS: Final = 2**16  # maximum bins before averaging
_PIECE: Final = 3 * 2**13  # bins per piece of a long signal
_SHORTEST_BINS: Final = 4.0  # minimum period, bins
_BINS_A_PERIOD: Final = 16  # bins per period that suffice
_PRESENT: Final = 0.5  # share of the typical amplitude: value at the time at which a wave begins or ends
_SLOWER: Final = (2.0, 3.0)
_LONGEST_GAP: Final = 1.0  # periods
_SHORTEST_STRETCH: Final = 3.0  # periods


def transform(values: Floats, period: float) -> Complexes:
    """Transform a signal at one period.

    The result at time n is sum_m x_m (1/s) psi*((m - n)/s) with psi(u) = sqrt(2/pi) exp(j 6 u - u^2/2) and the scale s
    = 6 period / (2 pi), so that the modulus for a cosine of that period is its amplitude. Outside, the signal is
    assumed 0: subtract its mean first.

    Args:
        values: signal, float64[N].
        period: period, bins, at least 4.

    Returns:
        complex128[N]
    """
    return _transforms(values, [period])[0]


def wavelet_view(values: Floats, bin_s: float, start_s: float, period_s: float | None = None) -> WaveletView | None:
    """Compute the power of a signal over time and period, bounded for pictures.

    Periods range from 4 bins, or a quarter of the known period if that is longer, to half of the signal's length. At
    shorter periods sharp bursts dominate and carry no information. Signals longer than 65,536 bins are averaged over
    neighbouring bins. The result is |w|^2 / (2 variance), which is 1 for a pure cosine.

    Args:
        values: bandwidth in bins of equal length.
        bin_s: length of a bin, s.
        start_s: start of the first bin, s.
        period_s: known period, s, if any.

    Returns:
        The view; None for fewer than 16 bins or a constant signal.
    """
    begun = start_s
    fold = -(-len(values) // _MAX_BINS) or 1
    values, bin_s = _folded(values, fold), bin_s * fold
    count = len(values)
    if count < 4 * _SHORTEST_BINS or not values.std() > 1e-12 * values.max():
        return None
    off = values - values.mean()
    shortest = max(_SHORTEST_BINS, 0.0 if period_s is None else min(period_s / bin_s / 4, count / 8))
    periods = np.geomspace(shortest, count / 2, MAX_PERIODS)
    columns = min(count, MAX_TIMES)
    edges = np.arange(columns + 1) * (count / columns)
    power = np.empty((len(periods), columns))
    octave = np.floor(np.log2(periods / _BINS_A_PERIOD)).astype(int)
    for number in np.unique(octave):
        # 16 bins per period are enough, and folding makes long periods cheap
        rows = np.flatnonzero(octave == number)
        width = 2 ** max(int(number), 0)
        narrow = _folded(off, width)
        for row, wave in zip(rows, _transforms(narrow, periods[rows] / width), strict=True):
            # averaging over bins damps a wave
            wave /= np.sinc(width / periods[row]) / np.sinc(1 / periods[row])
            power[row] = _column_means(np.square(wave.real) + np.square(wave.imag), edges / width)
    power /= 2 * float(off @ off) / count
    middle = 0.5 * (edges[1:] + edges[:-1])
    # at a distance of sqrt(2) scales, the effect of an edge on the power has fallen by e^2
    cone = np.minimum(middle, count - middle) / (math.sqrt(2) * _scale(1.0))
    return WaveletView(
        times_s=(begun + middle * bin_s).tolist(),
        periods_s=(periods * bin_s).tolist(),
        power=np.round(power, 5).tolist(),
        cone_s=(cone * bin_s).tolist(),
    )


def validity_of(values: Floats, bin_s: float, start_s: float, period_s: float) -> Validity:
    """Find the times at which a period was present.

    There the wavelet's amplitude at the period is at least half of its typical one (the median, weighted by amplitude).
    It is also no less than at twice and three times the period, if these fit twice into the signal: after a change to a
    multiple, the old period continues as a harmonic only. Amplitudes are corrected for the part of the wavelet outside
    the signal. Gaps of less than a period are closed, and ranges of less than three periods are dropped.

    Args:
        values: bandwidth in bins of equal length.
        bin_s: length of a bin, s.
        start_s: start of the first bin, s.
        period_s: period, s.
    """
    length = len(values)
    fold = max(int(period_s / bin_s / _BINS_A_PERIOD), 1)
    narrow = _folded(values, fold)
    period = period_s / bin_s / fold
    if period < 2 or len(narrow) < 2:
        return Validity(period_s=period_s, stretches=[], share=0.0)
    off = narrow - narrow.mean()
    waves = _transforms(off, [period, *(multiple * period for multiple in _SLOWER)])
    amplitude, *slower = (
        np.abs(wave) / _inside(len(off), _scale(multiple * period))
        for wave, multiple in zip(waves, (1.0, *_SLOWER), strict=True)
    )
    valid = (amplitude > 0) & (amplitude >= _PRESENT * _typical(amplitude))
    for other, multiple in zip(slower, _SLOWER, strict=True):
        # otherwise a slower period cannot be distinguished from the signal's edges
        if len(off) >= 2 * multiple * period:
            valid &= amplitude >= other
    first, stop = merge(*runs(valid), _LONGEST_GAP * period)
    long = stop - first >= min(_SHORTEST_STRETCH * period, len(off))
    begin, end = first[long] * fold, np.where(stop == len(off), length, stop * fold)[long]
    return Validity(
        period_s=period_s,
        stretches=[
            Stretch(start_s=start_s + a * bin_s, end_s=start_s + b * bin_s)
            for a, b in zip(begin.tolist(), end.tolist(), strict=True)
        ],
        share=float((end - begin).sum()) / length,
    )


def _scale(period: float) -> float:
    return _OMEGA * period / (2 * math.pi)


def _transforms(values: Floats, periods: npt.ArrayLike) -> list[Complexes]:
    """Transform at several periods of similar size; a long signal in pieces, which is faster."""
    chosen = np.asarray(periods, np.float64)
    margin = math.ceil(_REACH * _scale(float(chosen.max())))
    if len(values) <= _PIECE or margin > _PIECE // 4:
        return _piece(values, chosen, margin)
    made: list[list[Complexes]] = []
    for first in range(0, len(values), _PIECE):
        before = min(first, margin)
        waves = _piece(values[first - before : first + _PIECE + margin], chosen, margin)
        made.append([wave[before : before + _PIECE] for wave in waves])
    return [np.concatenate(parts) for parts in zip(*made, strict=True)]


def _piece(values: Floats, periods: Floats, margin: int) -> list[Complexes]:
    # enough zeros that the end of the signal does not wrap around to its start
    padded = 1 << (len(values) + margin - 1).bit_length()
    spectrum = np.fft.rfft(values, padded)
    turn = (2 * math.pi / padded) * np.arange(len(spectrum))
    made: list[Complexes] = []
    for period in periods.tolist():
        one_sided = np.zeros(padded, np.complex128)
        one_sided[: len(spectrum)] = spectrum * (2 * np.exp(-0.5 * np.square(_scale(period) * turn - _OMEGA)))
        made.append(np.fft.ifft(one_sided)[: len(values)])
    return made


def _folded(values: Floats, width: int) -> Floats:
    """Average groups of neighbouring bins; an incomplete last group is averaged over its own bins."""
    if width <= 1 or not len(values):
        return values
    sums = np.add.reduceat(values, np.arange(0, len(values), width))
    sums[:-1] /= width
    sums[-1] /= (len(values) - 1) % width + 1
    return np.asarray(sums, np.float64)


def _column_means(values: Floats, edges: Floats) -> Floats:
    """Average values between edges. A column narrower than a value takes the value at its middle."""
    at = np.minimum(edges[:-1].astype(np.intp), len(values) - 1)
    if len(values) < len(at):
        middle = np.minimum((0.5 * (edges[1:] + edges[:-1])).astype(np.intp), len(values) - 1)
        return values[middle]
    sums = np.add.reduceat(values, at)
    return np.asarray(sums / np.diff(at, append=len(values)), np.float64)


def _inside(count: int, scale: float) -> Floats:
    """Return the share of a wavelet that lies within the signal, per bin.

    The wavelet is at the bin's middle; its envelope gives the share, in (0.5, 1].
    """
    reached = np.cumsum(np.exp(-0.5 * np.square(np.arange(count) / scale))) / (scale * math.sqrt(2 * math.pi))
    half = np.minimum(reached, 0.5)
    part: Floats = half + half[::-1]
    return np.maximum(part, 1e-3)


def _typical(amplitude: Floats) -> float:
    ordered = np.sort(amplitude)
    running = np.cumsum(ordered)
    return float(ordered[np.searchsorted(running, 0.5 * running[-1])])
