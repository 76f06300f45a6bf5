"""Period of a signal from its autocorrelation, independent of the spectrum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ...results.base import Estimate
from ...results.prediction import Prediction
from ...results.traces.analysis import AutocorrelationAnswer
from ..periodicity.scores import scores_of
from ..periodicity.spectrum.spectrum import Floats

_MIN_HEIGHT: Final = 0.15  # minimum height of a peak
_MIN_PROMINENCE: Final = 0.1  # minimum prominence of a peak
_OUTLYING: Final = 1.0  # maximum deviation, in weighted standard deviations
_FAR: Final = 0.25  # maximum deviation, as a share of the median interval
_MIN_MERGED: Final = 0.2  # minimum confidence of a merged result


@dataclass(frozen=True, slots=True, eq=False)
class _Intervals:
    """Intervals between peaks in samples, their weights, and whether each is kept."""

    length: Floats
    weight: Floats
    kept: npt.NDArray[np.bool_]

    @property
    def moments(self) -> tuple[float, float] | None:
        """Weighted mean and standard deviation of the kept intervals. None if the weights do not allow a mean."""
        return _moments(self.length[self.kept], self.weight[self.kept])


def autocorrelation(values: Floats) -> Floats:
    """Return sum_n (x_n - mean)(x_(n+lag) - mean) / (N var(x)) for lag = 0 .. N - 1; zeros for a constant signal."""
    n = len(values)
    if not n:
        return np.zeros(0)
    off = values - values.mean()
    power = float(off @ off)
    if power <= n * (1e-12 * float(np.abs(values).max())) ** 2:
        return np.zeros(n)
    padded = 1 << (2 * n - 1).bit_length()
    transform = np.fft.rfft(off, padded)
    lags: Floats = np.fft.irfft(np.square(transform.real) + np.square(transform.imag), padded)[:n]
    return lags / power


def find_period(values: Floats, bin_s: float, *, as_reference: bool = False) -> AutocorrelationAnswer:
    """Find the period from the peaks of the autocorrelation of height 0.15 or more.

    The period is the weighted mean of the intervals from lag 0 to the first peak and between peaks, up to half of the
    signal's length. Outliers (more than a quarter off the median) are excluded. Peaks are weighted by their height, and
    need a prominence of 0.1. Confidence is (1 - standard deviation / mean) of the intervals, times the mean height of
    their peaks.

    The reference differs: the interval from lag 0 is excluded, and every local maximum at any lag is a peak. Intervals
    are weighted by the increase in height from their first to their second peak (mostly negative). Those more than one
    weighted standard deviation off are outliers, and confidence ignores the height.

    Args:
        values: bandwidth in bins of equal length.
        bin_s: length of a bin, s.
        as_reference: whether to use the reference's rules.
    """
    from scipy.signal import find_peaks

    correlation = autocorrelation(values)
    likeness = 1.0
    if as_reference:
        peaks, about = find_peaks(correlation, height=_MIN_HEIGHT)
        found = _weighed_by_rise(np.diff(peaks).astype(np.float64), np.diff(about["peak_heights"]))
    else:
        peaks, about = find_peaks(correlation, height=_MIN_HEIGHT, prominence=_MIN_PROMINENCE)
        repeated = peaks <= len(values) // 2
        peaks, heights = peaks[repeated], about["peak_heights"][repeated]
        found = _weighed_by_height(np.diff(peaks, prepend=0).astype(np.float64), heights)
        # fewer samples overlap at longer lags
        overlap = 1 - peaks / max(len(values), 1)
        likeness = float(np.mean(np.minimum(heights / overlap, 1.0)[found.kept])) if found.kept.any() else 0.0
    moments = found.moments
    period, confidence = None, 0.0
    if moments is not None and moments[0] > 0:
        period = moments[0] * bin_s
        confidence = min(max((1 - moments[1] / moments[0]) * likeness, 0.0), 1.0)
    return AutocorrelationAnswer(
        period_s=period,
        confidence=confidence,
        peaks_s=(peaks * bin_s).tolist(),
        intervals_s=(found.length[found.kept] * bin_s).tolist(),
        outliers_s=(found.length[~found.kept] * bin_s).tolist(),
    )


def merge(prediction: Prediction, answer: AutocorrelationAnswer, bandwidth: Floats, bin_s: float) -> Prediction:
    """Merge the results of DFT and autocorrelation like the reference.

    If the DFT has dominant frequencies, the lowest is the result with confidence (1 + c_dft + c_acf)/3, unless that is
    below 0.2. Otherwise the autocorrelation's period is the result, with a third of its confidence. Without a period
    from the autocorrelation nothing changes.

    Args:
        prediction: result of the method ``reference``.
        answer: result of the autocorrelation.
        bandwidth: signal in the window, bytes/s.
        bin_s: length of a bin, s.
    """
    if answer.period_s is None:
        return prediction
    # more than two candidates are no result of the DFT
    lowest = min(prediction.dominant, key=lambda row: row.frequency_hz) if prediction.period_s is not None else None
    if lowest is not None:
        period, confidence = lowest.period_s, (1 + lowest.confidence + answer.confidence) / 3
        if confidence < _MIN_MERGED:
            return prediction.model_copy(update={"period_s": None, "confidence": 0.0, "scores": None})
    else:
        period, confidence = answer.period_s, answer.confidence / 3
    half_bin = 0.5 / (len(bandwidth) * bin_s)
    low, high = 1 / (1 / period + half_bin), 1 / max(1 / period - half_bin, half_bin)
    return prediction.model_copy(
        update={
            "period_s": Estimate(value=period, low=low, high=high),
            "confidence": confidence,
            "scores": scores_of(bandwidth, bin_s, period),
        }
    )


def _weighed_by_height(length: Floats, height: Floats) -> _Intervals:
    middle = float(np.median(length)) if len(length) else 0.0
    return _Intervals(length, height, np.abs(length - middle) <= _FAR * middle)


def _weighed_by_rise(length: Floats, rise: Floats) -> _Intervals:
    moments = _moments(length, rise)
    kept = np.ones(len(length), bool)
    if moments is not None and moments[1] > 0:
        kept = np.abs((length - moments[0]) / moments[1]) <= _OUTLYING
    return _Intervals(length, rise, kept)


def _moments(values: Floats, weight: Floats) -> tuple[float, float] | None:
    total = float(weight.sum())
    if not len(values) or total == 0:
        return None
    mean = float(values @ weight) / total
    return mean, abs(float(np.square(values - mean) @ weight) / total) ** 0.5
