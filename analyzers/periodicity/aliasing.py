"""Detection of aliases: periods caused by binning, and not by the requests.

One request per second falls into bins of 163.84 s as 163 or 164 requests. This pattern repeats every 4096 s, although
the requests have no such period. The transform of the requests themselves is independent of bins and shows the
difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import numpy as np

from ..signal.binning import Numbers
from ..signal.selection import Times
from .estimator import SignalWindow
from .phases.phases import runs
from .spectrum.spectrum import Floats
from .tuning import TUNING

_SECONDARY_PERIODS: Final = TUNING.secondary_periods
# offsets in resolutions of the window; irregular periods have broad lines
_OFFSETS: Final = (-2, -1, 0, 1, 2)


def is_alias(requests: Iterable[tuple[Times, Times, Numbers]], view: SignalWindow, period_s: float) -> bool:
    """Return whether most of a signal's power at a period comes from binning.

    A request of v bytes and d seconds around time t adds v sinc(f d) exp(-2 pi j f t) to the true transform. The mean
    over the window is subtracted.

    Args:
        requests: pieces of the requests in the signal: start and end times, ns, and bytes.
        view: signal.
        period_s: period found in the signal's window, s.
    """
    window, bin_s, begin_s = view.window, view.bin_s, view.window_start_s
    length_s = len(window) * bin_s
    begin_ns = round(begin_s * 1e9)
    lowest = 1 / period_s + _OFFSETS[0] / length_s
    true = _Transform(lowest, length_s)
    for start, end, volume in requests:
        middle_s = np.asarray(((start - begin_ns) + (end - begin_ns)) * 0.5e-9, np.float64)
        inside = (middle_s >= 0) & (middle_s <= length_s)
        at, moved = middle_s[inside], volume[inside].astype(np.float64)
        true.add(at, moved, np.asarray(np.maximum(end - start, 0)[inside] * 1e-9, np.float64))
    middles = np.asarray(bin_s * (np.arange(len(window)) + 0.5), np.float64)
    binned = _Transform(lowest, length_s)
    binned.add(middles, np.asarray(window * bin_s, np.float64), np.full(1, bin_s))
    return float(true.powers().sum()) < _SECONDARY_PERIODS.min_true_power_share * float(binned.powers().sum())


def is_stream(bandwidth: Floats, period: float, *, finest: bool) -> bool:
    """Return whether a signal is an even stream of requests. Their count per coarse bin alternates.

    In finer bins such requests are separate, and all gaps between them are about equal. In periodic I/O, gaps within
    phases are shorter than gaps between phases. In the finest bins, gaps of a single bin carry no information.

    Args:
        bandwidth: signal, if possible in finer bins than those in which the period was found.
        period: period in these bins.
        finest: whether no finer bins exist.
    """
    first, stop = runs(bandwidth > bandwidth.mean())
    gaps = np.sort(first[1:] - stop[:-1])
    if len(gaps) < _SECONDARY_PERIODS.min_stream_gaps:
        return False
    usual, longest = float(gaps[len(gaps) // 2]), float(gaps[-1])
    if finest and period < _SECONDARY_PERIODS.max_sparse_period_bins:
        return float(gaps.sum()) < _SECONDARY_PERIODS.max_sparse_gap_bins * len(gaps)
    return len(gaps) * period >= _SECONDARY_PERIODS.min_stream_gaps * len(bandwidth) and longest <= max(
        _SECONDARY_PERIODS.max_stream_gap_ratio * usual, usual + 1
    )


class _Transform:
    """|X(f)|^2 of rectangles at given times under a Hann window, per frequency offset. Their mean is subtracted."""

    def __init__(self, lowest_hz: float, length_s: float) -> None:
        self._lowest_hz, self._length_s = lowest_hz, length_s
        self._total = 0.0
        self._sums = [0j] * len(_OFFSETS)

    def add(self, at_s: Floats, volume: Floats, width_s: Floats) -> None:
        """Add rectangles."""
        step = np.exp((-2j * math.pi / self._length_s) * at_s)
        # the offsets are so close that the damping of the middle one serves all
        damped = volume * np.sinc((self._lowest_hz - _OFFSETS[0] / self._length_s) * width_s)
        turn = damped * (0.5 - 0.5 * step.real) * np.exp((-2j * math.pi * self._lowest_hz) * at_s)
        self._total += float(volume.sum())
        for number in range(len(_OFFSETS)):
            self._sums[number] += complex(turn.sum())
            turn *= step

    def powers(self) -> Floats:
        """Return the powers, float64[offsets]."""
        powers = np.empty(len(_OFFSETS))
        for number, found in enumerate(self._sums):
            cycles = self._lowest_hz * self._length_s + number
            flat = 0.5 * np.sinc(cycles) + 0.25 * (np.sinc(cycles - 1) + np.sinc(cycles + 1))
            mean = self._total * float(flat) * np.exp(-1j * math.pi * cycles)
            powers[number] = abs(found - complex(mean)) ** 2
        return powers
