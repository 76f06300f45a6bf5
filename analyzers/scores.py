"""How periodic a signal of known period is. Source: seed 001, Section 3.3."""

from __future__ import annotations

import cmath
import math
from typing import Final

import numpy as np

from ..events.models import Scores
from .line import component
from .phases import merge, runs
from .spectrum import Floats

_GAP: Final = 0.25


def scores_of(bandwidth: Floats, bin_s: float, period_s: float) -> Scores | None:
    """Computes the scores of a signal.

    With L(.) for length and V(.) for volume: substantial I/O S is where the signal T exceeds V(T)/L(T), R_IO is
    L(S)/L(T), B_IO is V(S)/L(S). T is cut into n sub-traces T_i of one period, between phases so that none is split,
    and S_i is S within T_i:

        sigma_vol  = std_i(V(T_i) / max_j V(T_j))
        sigma_time = sqrt(1/n sum_i (L(S_i)/L(T_i) - R_IO)^2)                               (Eq. 7)

    Bytes per phase are the mean of V(S_i), and periodicity is 1 - sigma_vol - sigma_time, cut to [0, 1]. Burst width is
    the mean length, in whole bins, of a phase of substantial I/O: a stretch of S, in which gaps shorter than a quarter
    of the period do not count; where that leaves no pause in a period, it is R_IO times the period. The duty cycle is
    its share of the period.

    Args:
        bandwidth: bytes/s in each bin.
        bin_s: length of a bin, s.
        period_s: the period, s.

    Returns:
        The scores; None when no whole period lies in the signal, or nothing moved.
    """
    period = period_s / bin_s
    total = float(bandwidth.sum())
    if len(bandwidth) < period or period <= 0 or total <= 0:
        return None
    # a constant signal exceeds its mean nowhere, and is substantial throughout
    threshold = total / len(bandwidth)
    substantial = bandwidth > (threshold if bandwidth.max() > threshold else 0.0)
    share = substantial.astype(np.float64)
    busy_bins = float(share.sum())
    above = bandwidth * share
    edges = _cuts(bandwidth, period)
    moved, busy, moved_busy = (_between(edges, column) for column in (bandwidth, share, above))
    time_ratio = busy_bins / len(bandwidth)
    first, stop = merge(*runs(substantial), _GAP * period)
    burst = float((stop - first).sum()) / len(first)
    if burst > period:
        burst = time_ratio * period
    sigma_vol = float(np.std(moved / moved.max())) if moved.max() > 0 else 0.0
    sigma_time = math.sqrt(float(np.mean((busy / period - time_ratio) ** 2)))
    return Scores(
        sigma_vol=sigma_vol,
        sigma_time=sigma_time,
        time_ratio=time_ratio,
        bandwidth=float(above.sum()) / busy_bins,
        bytes_per_phase=float(moved_busy.mean()) * bin_s,
        periodicity=float(np.clip(1 - sigma_vol - sigma_time, 0, 1)),
        burst_width_s=burst * bin_s,
        duty_cycle=burst / period,
    )


def _between(edges: Floats, values: Floats) -> Floats:
    """Sums values between each two edges, partial bins by their share."""
    running = np.zeros(len(values) + 1)
    np.cumsum(values, out=running[1:])
    whole = np.minimum(edges.astype(np.intp), len(values) - 1)
    at: Floats = running[whole] + (edges - whole) * values[whole]
    return at[1:] - at[:-1]


def _cuts(values: Floats, period: float) -> Floats:
    """Returns the edges of the sub-traces in bins: half a period away from where volume gathers."""
    gathered = -cmath.phase(component(values, period)) / (2 * math.pi) * period + 0.5
    begin = float((gathered + period / 2) % period)
    whole = int((len(values) - begin) / period + 1e-9)
    if whole < 1:
        begin, whole = 0.0, int(len(values) / period)
    return np.asarray(begin + period * np.arange(whole + 1), np.float64)
