"""Grid that the starts of phases keep, if they deviate from it independently."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from ..phases.phases import Floats
from ..tuning import TUNING

_NEXT_PHASE: Final = TUNING.next_phase
_SHARES: Final = (0.0, 0.25, 0.5, 0.7, 0.85, 0.95)
"""Shares of a deviation that are forgotten before the next start; with 0 each start depends on the one before."""
_NORMAL: Final = 1.4826
"""Standard deviation of a normal distribution over the median of its absolute values."""


class Grid(NamedTuple):
    """Grid of starts.

    Attributes:
        step: distance of its points, bins.
        late: time from its point to the last start, bins.
        errors: deviations of the starts from their predictions by the grid, bins.
    """

    step: float
    late: float
    errors: Floats


def grid_of(start: Floats, period: float) -> Grid | None:
    """Return the grid that starts keep; None if each start rather depends on the one before.

    A program with a timer keeps a grid: a late phase does not delay the next one, and the resolution of the signal
    shifts each start for itself. The grid's position follows the starts by exponential smoothing, which is optimal for
    a random walk that is measured with errors. The share that is forgotten is the likeliest one, given the errors of
    all predictions by one step. A single outlier does not move the grid, but a second one on the same side does.

    Args:
        start: starts, bins.
        period: mean interval, bins.
    """
    start = start[-_NEXT_PHASE.recent_phases - 1 :]
    gaps = start[1:] - start[:-1]
    times = np.maximum(np.rint(gaps / period), 1.0)
    stray = np.flatnonzero(np.abs(gaps - times * period) > TUNING.tolerances.on_time * period)
    first = int(stray[-1]) + 1 if len(stray) else 0
    start, times = start[first:], times[first:]
    n = len(times)
    if n < TUNING.intervals.min_intervals:
        return None
    at = np.append(0.0, np.cumsum(times))
    step = _slope(at, start)
    off = start - step * at
    most = _NEXT_PHASE.grid_outlier_deviations * max(
        _NORMAL * float(np.sort(np.abs(off[1:] - off[:-1]))[n // 2]), _NEXT_PHASE.start_resolution_bins
    )
    near = np.abs(off - float(np.sort(off)[n // 2])) < most
    if 2 * int(near.sum()) > n and not near.all():
        step = _slope(at[near], start[near])
        off = start - step * at
    found = [_smoothed(off.tolist(), share, most) for share in _SHARES]
    # an outlier is one for each share
    squares = [
        float(np.minimum(errors * errors, most * most).sum()) + n * _NEXT_PHASE.start_resolution_bins**2
        for _, errors in found
    ]
    best = min(range(len(_SHARES)), key=squares.__getitem__)
    if n / 2 * math.log(squares[0] / squares[best]) < _NEXT_PHASE.grid_log_likelihood:
        return None
    level, errors = found[best]
    # line and share were fitted to the same starts
    return Grid(step, float(off[-1]) - level, errors * math.sqrt((n + 1) / (n - 3)))


def _slope(at: Floats, start: Floats) -> float:
    at = at - float(at.sum()) / len(at)
    return float(at @ start) / float(at @ at)


def _smoothed(off: list[float], share: float, most: float) -> tuple[float, Floats]:
    """Return the last position of the grid, and the errors of predictions by one step."""
    level, errors, before = off[0], [], 0.0
    for number, value in enumerate(off[1:], 2):
        error = value - level
        errors.append(error)
        if share and abs(error) > most:
            if error * before > 0:
                level = value
            before = error
            continue
        before = 0.0
        level += max(1 - share, 1 / number) * error
    return level, np.array(errors)
