"""FTIO's method: bandwidth sampled at points, plain DFT, z-scores. Source: [FTIO], Sections 2 and 3."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ....results.base import Estimate
from ...settings import DetectSettings
from ...signal.binning import Numbers
from ..estimator import PeriodEstimate, SignalWindow
from ..spectrum.spectrum import Floats, describe, find_candidates, spectrum_of

_MAX_DOMINANT = 2  # maximum number of candidates for a result


def overlap(
    start: npt.NDArray[np.int64], end: npt.NDArray[np.int64], volume: Numbers
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Sum the bandwidths of all requests in progress at a time.

    Requests of zero duration have no bandwidth and are dropped.

    Returns:
        Times in ns at which the sum changes, ascending, and the sum in bytes/s from each on; starts come before ends at
        equal times.
    """
    lasting = end > start
    start, end, volume = start[lasting], end[lasting], volume[lasting]
    bandwidth = volume / ((end - start) / 1e9)
    at = np.concatenate([start, end])
    change = np.concatenate([bandwidth, -bandwidth])
    order = np.argsort(at, kind="stable")
    return at[order], np.cumsum(change[order])


def point_samples(
    start: npt.NDArray[np.int64], end: npt.NDArray[np.int64], volume: Numbers, sampling_frequency_hz: float
) -> Floats:
    """Sample the bandwidth at t0, t0 + 1/f_s, and so on.

    Samples range from the first request's start until before the last one's end.

    The times are accumulated step by step like in the reference, including its rounding errors.

    Returns:
        bytes/s, float64[floor((last end - first start) f_s)]
    """
    at, level = overlap(start, end, volume)
    if not len(at):
        return np.zeros(0)
    at_s = at / 1e9
    count = int((at_s[-1] - at_s[0]) * sampling_frequency_hz)
    steps = np.full(count, 1 / sampling_frequency_hz)
    steps[:1] = at_s[0]
    times = np.cumsum(steps)
    samples: Floats = level[np.searchsorted(at_s, times, side="right") - 1]
    return samples


def samples_within(bins: int) -> int:
    """Return the number of samples that certainly fit in these bins. Bins are whole ns long and at least 1 us."""
    return bins - bins // 1000 - 2


def automatic_frequency(changes: Iterable[npt.NDArray[np.int64]], most_samples: int) -> float | None:
    """Return the sampling frequency that the reference selects, Hz; None without two different times.

    It is twice the inverse of the shortest time between two changes of the bandwidth, or lower if memory requires it.

    Args:
        changes: start and end times of all requests, ns, ascending, in pieces.
        most_samples: maximum number of samples in memory.
    """
    first = last = shortest = None
    for piece in changes:
        at = piece if last is None else np.concatenate([[last], piece])
        apart = np.diff(at)
        apart = apart[apart > 0]
        if len(apart):
            shortest = int(apart.min()) if shortest is None else min(shortest, int(apart.min()))
        if len(at):
            first, last = int(at[0]) if first is None else first, int(at[-1])
    if first is None or last is None or shortest is None:
        return None
    return min(2 / (shortest / 1e9), most_samples / ((last - first) / 1e9))


def estimate(view: SignalWindow, settings: DetectSettings) -> PeriodEstimate:
    """Find the dominant frequency like the reference: a result needs one or two candidates.

    Of two candidates, the one with the higher confidence is the result. The period's interval is that of the spectral
    bin.
    """
    spectrum = spectrum_of(view.window, 1 / view.bin_s)
    candidates = find_candidates(spectrum, settings, harmonics="modulo")
    dominant = describe(spectrum, candidates)
    if not 1 <= len(dominant) <= _MAX_DOMINANT:
        return PeriodEstimate(dominant=dominant, harmonics_dropped=candidates.dropped)
    best = max(dominant, key=lambda row: row.confidence)
    half_bin = 0.5 / (len(view.window) * view.bin_s)
    period = Estimate(
        value=best.period_s, low=1 / (best.frequency_hz + half_bin), high=1 / (best.frequency_hz - half_bin)
    )
    return PeriodEstimate(period, best.confidence, best.confidence, dominant, candidates.dropped)
