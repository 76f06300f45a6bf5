"""Timing of phases and its drift: from start to start, from the end of a phase to the next start, or on a grid."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from .. import compiled
from ..phases.missed_phases import RESOLVED
from ..phases.phases import Floats
from ..phases.regularity import Regularity
from ..phases.trend import at_next, at_places_like, cycle_of, latest, means_of_cycle
from ..tuning import TUNING
from .shifts import Shifts

_SHARES: Final = np.array([0.0, 0.25, 0.5, 0.7, 0.85, 0.95])
"""Shares of a deviation that are forgotten before the next start; with 0 each start depends on the one before."""
_NORMAL: Final = 1.4826
"""Standard deviation of a normal distribution over the median of its absolute values."""
_NEXT_PHASE: Final = TUNING.next_phase


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
    levels, errors = compiled.smooth(off, _SHARES, most) or _smoothed(off, most)
    # an outlier is one for each share
    squares = np.minimum(errors * errors, most * most).sum(axis=1) + n * _NEXT_PHASE.start_resolution_bins**2
    best = int(squares.argmin())
    if n / 2 * math.log(squares[0] / squares[best]) < _NEXT_PHASE.grid_log_likelihood:
        return None
    # line and share were fitted to the same starts
    return Grid(step, float(off[-1] - levels[best]), errors[best] * math.sqrt((n + 1) / (n - 3)))


def _slope(at: Floats, start: Floats) -> float:
    at = at - float(at.sum()) / len(at)
    return float(at @ start) / float(at @ at)


def _smoothed(off: Floats, most: float) -> tuple[Floats, Floats]:
    """Return the last positions of the grid, and the errors of predictions by one step, one row per share."""
    found = [_smoothed_by(off.tolist(), share, most) for share in _SHARES.tolist()]
    return np.array([level for level, _ in found]), np.array([errors for _, errors in found])


def _smoothed_by(off: list[float], share: float, most: float) -> tuple[float, list[float]]:
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
    return level, errors


class Clock(Struct, frozen=True, eq=False):
    """Intervals from which the next start is predicted.

    Attributes:
        intervals: intervals, bins, from each start, or each end, to the next start; of a drifting clock the latest
            ones, extrapolated to now.
        from_end: whether they begin at the ends of phases.
        spread: standard deviation over the period.
        drifts: whether they grow or shrink.
        late: time from the point of a grid to the last start, bins; None if starts keep no grid.
        shifts: shifts of phases with rests between them; None if no interval is a rest.
        cycle: mean of each of the next intervals, bins, if they repeat a pattern; ``intervals`` are then those like
            the next one.
    """

    intervals: Floats
    from_end: bool
    spread: float
    drifts: bool = False
    late: float | None = None
    shifts: Shifts | None = None
    cycle: tuple[float, ...] = ()

    @property
    def next(self) -> float:
        """Next interval, bins."""
        return float(self.intervals.sum()) / len(self.intervals)


def clock_of(regularity: Regularity, start: Floats) -> Clock:
    """Return the clock with the smaller spread. That of starts unless the other is far better.

    If a program computes for a fixed time between phases, a longer phase delays the next start.

    Args:
        regularity: regularity of the phases.
        start: starts of all these phases, bins.
    """
    if (clock := _repeating(regularity)) is not None:
        return clock
    if regularity.pauses is None:
        if regularity.drift:
            return _drifting(regularity)
        grid = grid_of(start, regularity.period)
        if grid is None:
            return Clock(regularity.intervals, False, regularity.spread)
        spread = math.sqrt(float(grid.errors @ grid.errors) / (len(grid.errors) - 1) + RESOLVED / 2) / grid.step
        return Clock(grid.step + grid.errors - float(grid.errors.mean()), False, spread, late=grid.late)
    return Clock(regularity.pauses, True, regularity.pause_spread)


def clock_of_starts(clock: Clock, regularity: Regularity) -> Clock:
    """Return the clock for several intervals ahead: if those between starts drift, theirs instead of that of pauses."""
    return _drifting(regularity) if regularity.drift and clock.from_end else clock


def _repeating(regularity: Regularity) -> Clock | None:
    """Return the clock of intervals, or of pauses, that repeat a pattern, e.g. each fourth one is longer."""
    if regularity.drift or regularity.missed or regularity.stray:
        return None
    pauses = regularity.pauses
    values = regularity.intervals if pauses is None else pauses
    if not (cycle := regularity.cycle or cycle_of(values, RESOLVED)):
        return None
    like = at_places_like(values, cycle, 0, RESOLVED)
    spread = math.sqrt(float(like.var()) * len(like) / max(len(like) - 1, 1) + RESOLVED) / regularity.period
    return Clock(like, pauses is not None, spread, cycle=means_of_cycle(values, cycle, RESOLVED))


def _drifting(regularity: Regularity) -> Clock:
    """Return the clock of intervals that drift, at the level of the next one."""
    return Clock(at_next(latest(regularity.intervals)), False, regularity.spread, drifts=True)
