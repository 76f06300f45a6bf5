"""Periodicity scores of a signal with known period. Source: [FTIO], Section 3.3."""

from __future__ import annotations

import cmath
import math
from typing import Final

import numpy as np

from ...results.prediction import Scores
from .phases.phases import Positions, merge, runs
from .spectrum.spectral_peak import component
from .spectrum.spectrum import Floats
from .tuning import TUNING

_EMPTY: Final = 0.01
"""Share of the largest volume below which a sub-trace has no phase: rounding, or single small requests."""


def scores_of(bandwidth: Floats, bin_s: float, period_s: float, phase_rad: float | None = None) -> Scores | None:
    """Compute the scores of a signal.

    L(.) is length and V(.) volume. Substantial I/O S is where the signal T exceeds V(T)/L(T); R_IO is L(S)/L(T), and
    B_IO is V(S)/L(S). T is cut into n sub-traces T_i of one period, between phases so that none is split. S_i is S
    within T_i:

        sigma_vol  = std_i(V(T_i) / max_j V(T_j))
        sigma_time = sqrt(1/n sum_i (L(S_i)/L(T_i) - R_IO)^2)                               (Eq. 7)

    Bytes per phase are the mean of V(S_i) over the sub-traces with substantial I/O: a program that starts long before
    its first phase has others. Periodicity is 1 - sigma_vol - sigma_time, clipped to [0, 1]. Burst width is
    the mean length, in whole bins, of a phase of substantial I/O. Such a phase is a run of S in which gaps shorter than
    a quarter of the period are closed. If no pause is left within a period, burst width is R_IO times the period. The
    duty cycle is the burst width over the period.

    Args:
        bandwidth: bytes/s in each bin.
        bin_s: length of a bin, s.
        period_s: period, s.
        phase_rad: phase of the cosine of that period, rad, if known.

    Returns:
        The scores; None if the signal is shorter than a period, or nothing moved.
    """
    period = period_s / bin_s
    total = float(bandwidth.sum())
    if len(bandwidth) < period or period <= 0 or total <= 0:
        return None
    # a constant signal never exceeds its mean, and is substantial throughout
    threshold = total / len(bandwidth)
    first, stop = runs(bandwidth > (threshold if bandwidth.max() > threshold else 0.0))
    running = np.zeros(len(bandwidth) + 1)
    np.cumsum(bandwidth, out=running[1:])
    edges = _cuts(bandwidth, period, phase_rad)
    before = _up_to(edges, running)
    moved = before[1:] - before[:-1]
    busy, moved_busy = _within(edges, first, stop, running)
    busy_bins = float((stop - first).sum())
    time_ratio = busy_bins / len(bandwidth)
    left, right = merge(first, stop, TUNING.segmentation.max_gap_periods * period)
    burst = float((right - left).sum()) / len(left)
    if burst > period:
        burst = time_ratio * period
    most = float(moved.max())
    sigma_vol = math.sqrt(_variance(moved / most)) if most > 0 else 0.0
    off = busy / period - time_ratio
    sigma_time = math.sqrt(float(off @ off) / len(off))
    return Scores(
        sigma_vol=sigma_vol,
        sigma_time=sigma_time,
        time_ratio=time_ratio,
        bandwidth=float((running[stop] - running[first]).sum()) / busy_bins,
        bytes_per_phase=_mean_of_phases(moved_busy) * bin_s,
        periodicity=min(max(1 - sigma_vol - sigma_time, 0.0), 1.0),
        burst_width_s=burst * bin_s,
        duty_cycle=burst / period,
    )


def _mean_of_phases(moved: Floats) -> float:
    """Return the mean volume of sub-traces with substantial I/O; 0 if there are none."""
    phases = moved[moved > _EMPTY * moved.max(initial=0.0)]
    return float(phases.sum()) / len(phases) if len(phases) else 0.0


def _up_to(edges: Floats, running: Floats) -> Floats:
    """Return the volume before each edge, with partial bins by their share.

    ``running`` is the cumulative sum of bins.
    """
    whole = np.minimum(edges.astype(np.intp), len(running) - 2)
    before: Floats = running[whole] + (edges - whole) * (running[whole + 1] - running[whole])
    return before


def _within(edges: Floats, first: Positions, stop: Positions, running: Floats) -> tuple[Floats, Floats]:
    """Return the number of bins of runs between successive edges, and their volume.

    Runs are the parts of [first, stop).
    """
    begun = np.searchsorted(first, edges)
    last = np.maximum(begun - 1, 0)
    reach = np.where(begun > 0, np.minimum(edges, stop[last]), 0.0)
    from_last = np.where(begun > 0, first[last], 0)
    bins = np.concatenate([[0], np.cumsum(stop - first)])[last] + reach - from_last
    volume = np.concatenate([[0.0], np.cumsum(running[stop] - running[first])])[last]
    volume += _up_to(np.asarray(reach, np.float64), running) - running[from_last]
    return bins[1:] - bins[:-1], volume[1:] - volume[:-1]


def _variance(values: Floats) -> float:
    off = values - float(values.sum()) / len(values)
    return float(off @ off) / len(off)


def _cuts(values: Floats, period: float, phase_rad: float | None) -> Floats:
    """Return the edges of the sub-traces in bins. They are half a period away from the volume's centre."""
    phase = cmath.phase(component(values, period)) if phase_rad is None else phase_rad
    gathered = -phase / (2 * math.pi) * period + 0.5
    begin = float((gathered + period / 2) % period)
    whole = int((len(values) - begin) / period + 1e-9)
    if whole < 1:
        begin, whole = 0.0, int(len(values) / period)
    return np.asarray(begin + period * np.arange(whole + 1), np.float64)
