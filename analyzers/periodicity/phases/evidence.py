"""Evidence that intervals vary around levels, against a random walk and against intervals without a level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from ..tuning import TUNING
from .phases import Floats, median

_INTERVALS: Final = TUNING.intervals
_GRID: Final = np.linspace(0, 1, 8)
"""Positions in the range of a prior, from which its mean likelihood is computed."""
_KEPT: Final = np.array([0.3, 0.5, 0.7, 0.85])[:, None]
"""Shares of the deviation of an interval that the next one has, too, as the load of a node changes slowly (prior)."""
_WIDEST: Final = 4
"""Largest spread of intervals without a level, over the smallest. The largest is then above that of a Poisson
process."""


def log_odds_of_levels(level: Floats, places: Sequence[int] = ()) -> float:
    """Return the log likelihood ratio of levels with changes between them, and models without these changes.

    Each model is the mean likelihood over the prior of its parameters, so that models with more of them gain nothing by
    their number (Bayes factor). All are normal in the logarithms:

    - levels: independent values around one level between two changes, with the same spread around each;
    - a random walk: independent steps from each value to the next;
    - independent values with a spread as large as that of intervals without a period;
    - with changes: values that wander around one level, which are near another one for a while, too.

    A level has a normal prior around the median. Changes have the prior of a Bernoulli process. They are given and not
    summed over, as the likeliest places dominate the sum.

    Args:
        level: logarithms of successive intervals, at least two.
        places: indices of the first value after each change, ascending.
    """
    n, off = len(level), level - median(level)
    narrow = prior_values(TUNING.tolerances.equal_spread, TUNING.quality.interval_spread_scale)
    wide = prior_values(TUNING.quality.interval_spread_scale, _WIDEST * TUNING.quality.interval_spread_scale)
    levels = np.zeros(len(_GRID))
    for begin, end in pairwise((0, *places, n)):
        levels += around_one_level(off[begin:end], narrow)
    changes = len(places) * math.log(_INTERVALS.change_rate) + (n - 1 - len(places)) * math.log1p(
        -_INTERVALS.change_rate
    )
    steps = off[1:] - off[:-1]
    step = prior_values(_INTERVALS.min_walk_step, _INTERVALS.max_walk_step)
    walk = around_one_level(off[:1], np.full(1, TUNING.tolerances.equal_spread))
    walk = walk - (n - 1) * np.log(math.sqrt(2 * math.pi) * step) - 0.5 * float(steps @ steps) / step**2
    none = np.logaddexp(log_mean(walk), log_mean(around_one_level(off, wide)))
    if places:
        none = np.logaddexp(none, wandering_around_one_level(off, narrow))
    return log_mean(levels) + changes - float(none)


def prior_values(low: float, high: float) -> Floats:
    """Return values of a parameter that is equally likely in the logarithm."""
    return np.asarray(low * (high / low) ** _GRID)


def around_one_level(off: Floats, spread: Floats) -> Floats:
    """Return the log likelihood of values around one unknown level, for each spread."""
    n, total, square = len(off), float(off.sum()), float(off @ off)
    variance = spread**2
    prior = _INTERVALS.level_deviation**2 / variance
    shrunk = 1 + n * prior
    return np.asarray(
        -0.5 * (n * np.log(2 * math.pi * variance) + np.log(shrunk) + (square - prior / shrunk * total**2) / variance)
    )


def wandering_around_one_level(off: Floats, spread: Floats) -> float:
    """Return the mean log likelihood of values that wander around one unknown level, times the prior of such jobs.

    Each value keeps a share of the deviation of the one before (autoregression of order one), as the iterations of a
    program do on a node whose other load changes slowly.

    Args:
        off: values.
        spread: standard deviations around the level.
    """
    n, kept, rest = len(off), _KEPT, 1 - _KEPT**2
    innovation = spread**2 * rest
    level = rest + (n - 1) * (1 - kept) ** 2
    first, last, total = float(off[0]), float(off[-1]), float(off.sum())
    square, product = float(off @ off), float(off[1:] @ off[:-1])
    inner = square - first**2 - last**2
    weighed = (1 - kept) * (total - kept * (total - first - last))
    squares = square - 2 * kept * product + kept**2 * inner
    prior = _INTERVALS.level_deviation**2 / innovation
    shrunk = 1 + level * prior
    return math.log(_INTERVALS.wandering_share) + log_mean(
        -0.5
        * (
            n * np.log(2 * math.pi * innovation)
            + np.log(shrunk / rest)
            + (squares - prior / shrunk * weighed**2) / innovation
        )
    )


def log_mean(log_likelihood: Floats) -> float:
    """Return the logarithm of the mean likelihood."""
    most = float(log_likelihood.max())
    return most + math.log(float(np.exp(log_likelihood - most).mean()))
