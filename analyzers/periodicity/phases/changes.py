"""Detection of changes of a job's period."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .. import compiled
from ..tuning import TUNING
from .evidence import log_odds_of_levels
from .memoized import memoized
from .phases import Floats

_INTERVALS = TUNING.intervals
_NOTHING = 1e-9
_LENGTHS = 128  # numbers of intervals whose weights are kept
LONGER = 1.5
"""Factor of the usual interval from which on an interval is closer to two periods than to one."""


@memoized
def last_change(intervals: Floats) -> int:
    """Return the index of the first interval after the last change of period. Returns 0 if there is none.

    A change splits the logarithms of the intervals into two groups around separate means. It is accepted if two groups
    are far more likely than one: the log likelihood ratio of normal distributions, n/2 ln(SSE one / SSE two), exceeds a
    bound that grows with the number of possible places. Two intervals show a new period. Three are needed if each is a
    multiple of the old ones, since missed phases look the same. An interval that is longer than the two before and
    after it (a pause or a missed phase) belongs to neither group. Levels with these changes must be more likely than a
    random walk, which also stays near one value for a while, and than intervals without a period.
    """
    found = compiled.last_change(intervals, _levels(intervals), LONGER)
    if found == 0:
        return 0
    longer = _longer_than_neighbours(intervals)
    if found is not None:
        kept = np.flatnonzero(~longer)
        return int(kept[found]) if _are_levels(intervals[kept]) else 0
    if longer.any():
        kept = np.flatnonzero(~longer)
        change = _last_change(intervals[kept])
        return int(kept[change]) if change else 0
    return _last_change(intervals)


def _longer_than_neighbours(intervals: Floats) -> npt.NDArray[np.bool_]:
    """Return which intervals are longer than the two before and the two after."""
    around = np.full(len(intervals) + 4, np.inf)
    around[2:-2] = intervals
    near = np.maximum(np.maximum(around[:-4], around[1:-3]), np.maximum(around[3:-1], around[4:]))
    return np.asarray(intervals >= LONGER * near)


def _last_change(intervals: Floats) -> int:
    if float(intervals.max()) < _INTERVALS.max_unchanged_ratio * float(intervals.min()):
        return 0
    begin = 0
    while True:
        # several changes hide one another: the newer half may show a change that the whole does not
        for first in (begin, (begin + len(intervals)) // 2):
            if (found := _likeliest_split(intervals[first:])) is not None:
                begin = first + found
                break
        else:
            return begin if begin and _are_levels(intervals) else 0


def _are_levels(intervals: Floats) -> bool:
    """Return whether intervals are levels between changes, and not a random walk or without a period.

    In a walk, or among very uneven intervals, the latest are similar by chance at times. What comes before shows this:
    it is neither level, nor does it vary as little.
    """
    level = _levels(intervals)
    return log_odds_of_levels(level, changes_of(intervals)) > _INTERVALS.change_log_odds


def changes_of(intervals: Floats) -> list[int]:
    """Return the indices of the first intervals after each change."""
    if (found := compiled.changes(_levels(intervals))) is not None:
        return found
    n = len(intervals)
    if (at := _likeliest_split(intervals)) is not None:
        return [*changes_of(intervals[:at]), at, *(at + later for later in changes_of(intervals[at:]))]
    if n < 4 * _INTERVALS.min_new_intervals:
        return []
    # several changes hide one another, as in ``_last_change``
    return [*changes_of(intervals[: n // 2]), *(n // 2 + later for later in changes_of(intervals[n // 2 :]))]


def _likeliest_split(intervals: Floats) -> int | None:
    n, least = len(intervals), _INTERVALS.min_new_intervals
    if n < 2 * least:
        return None
    level = _levels(intervals)
    level -= level.sum() / n
    sums, whole = np.cumsum(level), float(level @ level)
    # the level sums up to 0, so this is the sum of squares between the two groups
    between = np.square(sums[:-1]) * _group_weights(n)
    at = int(between[least - 1 : n - least].argmax()) + least - 1
    within, resolved = whole - float(between[at]), n * TUNING.tolerances.equal_spread**2
    if n / 2 * math.log((whole + resolved) / (max(within, 0.0) + resolved)) < (
        _INTERVALS.change_log_likelihood + math.log(n)
    ):
        return None
    slope, rest = line_through(level)
    if abs(slope) < _INTERVALS.max_drift and float(rest @ rest) < _INTERVALS.line_square_ratio * within + resolved:
        return None  # a drift
    ratio = math.exp(-float(sums[at]) * (1 / (n - 1 - at) + 1 / (at + 1)))
    times = max(round(ratio), 1)
    if (
        times > 1
        and abs(ratio / times - 1) < TUNING.tolerances.irregular_spread
        and n - 1 - at <= _INTERVALS.min_new_intervals
    ):
        return None  # cannot be distinguished from missed phases yet
    return at + 1


def _levels(intervals: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(intervals, _NOTHING)))


@lru_cache(_LENGTHS)
def _group_weights(n: int) -> Floats:
    """Return the weight of the squared sum of the first 1, 2, .. n - 1 values in the sum of squares between groups."""
    before = np.arange(1.0, n)
    weights: Floats = n / (before * (n - before))
    return weights


def line_through(intervals: Floats) -> tuple[float, Floats]:
    """Return the slope of the line through successive values, and the deviations from it."""
    n = len(intervals)
    at = np.arange(n) - (n - 1) / 2
    slope = float(at @ intervals) / float(at @ at)
    return slope, intervals - float(intervals.sum()) / n - slope * at
