"""Evidence that uneven intervals vary around a mean, and are neither a random walk nor a heavy tail."""

from __future__ import annotations

import math
from itertools import product
from typing import Final

import numpy as np

from ..tuning import TUNING
from .changes import changes_of
from .evidence import around_one_level, log_mean, log_odds_of_levels, prior_values, wandering_around_one_level
from .memoized import memoized
from .phases import Floats, median

_INTERVALS: Final = TUNING.intervals
_SHAPES: Final = [
    (mean, deviation)
    for mean, deviation in product(np.linspace(0.1, 1.1, 6), np.geomspace(0.15, 1.6, 8))
    if deviation <= 3 * mean
]
"""Mean and deviation of a normal distribution that is cut at 0, in units of the mean of its values."""
_MEAN: Final = np.array([mean for mean, _ in _SHAPES])[:, None]
_DEVIATION: Final = np.array([deviation for _, deviation in _SHAPES])[:, None]
_LOG_AREA: Final = np.array(
    [
        math.log(deviation * math.sqrt(math.pi / 2) * math.erfc(-mean / deviation / math.sqrt(2)))
        for mean, deviation in _SHAPES
    ]
)
_TAILS: Final = np.geomspace(1, 3, 6)
"""Exponents of a power law."""
_TURNS: Final = np.array([-2.0, 0.0, 2.0])
"""Images of a value behind two reflecting bounds, in units of their distance."""
_NOTHING: Final = 1e-9
_NEVER: Final = 1e-300
_MOST: Final = 700.0


@memoized
def rhythm_confidence(intervals: Floats) -> float:
    """Return the probability that uneven intervals vary around a mean, independently of each other.

    The searches choose the most even of many readings of a signal, so some without a period look even. Their order and
    their shape show this. Likelihoods are means over the priors of the parameters (Bayes factors):

    - Order. Values around a level, independent or wandering slowly, or equally likely anywhere between two bounds (both
      in the logarithm), are compared with a random walk between reflecting bounds. The bounds are the extremes. A level
      has none, so it gains the probability that bounds are that near to the extremes.
    - Shape. Values around a level (normal above a shortest one, or log-normal) are compared with an exponential
      distribution above a shortest interval (random moments with a dead time), and with a power law.

    Args:
        intervals: successive intervals, bins.
    """
    if len(intervals) < _INTERVALS.min_intervals:
        return 1.0
    values = np.maximum(intervals, _NOTHING)
    level = np.log(values)
    around = _around_any_mean(values, level)
    shape = around - float(np.logaddexp(*_without_a_mean(values, float(level.sum()))))
    return _probability(_order(level, around), shape + _INTERVALS.min_log_likelihood_ratio)


@memoized
def no_walk_confidence(intervals: Floats) -> float:
    """Return the probability that intervals are independent, or levels between changes, and not a random walk.

    Args:
        intervals: successive intervals, bins, including those within phases.
    """
    if len(intervals) < _INTERVALS.min_intervals:
        return 1.0
    values = np.maximum(intervals, _NOTHING)
    level = np.log(values)
    levels = log_odds_of_levels(level, changes_of(intervals)) - _INTERVALS.change_log_odds
    return _probability(max(_order(level, _around_any_mean(values, level)), levels))


def _probability(*log_odds: float) -> float:
    """Return the probability that all of several log odds are true."""
    return 1 / (1 + sum(math.exp(min(-_INTERVALS.evidence_weight * each, _MOST)) for each in log_odds))


def _around_any_mean(values: Floats, level: Floats) -> float:
    """Return the log likelihood of values around a mean."""
    return float(np.logaddexp(_around_a_mean(values), _log_normal(level) - float(level.sum()))) - math.log(2)


def _order(level: Floats, around: float) -> float:
    """Return the log odds of independent values against a random walk.

    Args:
        level: logarithms of successive intervals.
        around: log likelihood of the intervals around a mean.
    """
    n, low, jacobian = len(level), float(level.min()), float(level.sum())
    width = max(float(level.max()) - low, TUNING.tolerances.equal_spread)
    bounds = math.log((n - 1) * (n - 2) * _INTERVALS.bounds_prior / width**2)
    around = float(np.logaddexp(around, _wandering(level) - jacobian))
    independent = np.logaddexp(around + bounds, -n * math.log(width) - jacobian)
    return float(independent) - (_walk(level, low, width) - jacobian) + _INTERVALS.independent_log_odds


def _shortest(values: Floats) -> tuple[float, float]:
    """Return the estimated shortest interval, and the mean above it."""
    mean, least = float(values.sum()) / len(values), float(values.min())
    shortest = max(least - (mean - least) / len(values), 0.0)
    return shortest, max(mean - shortest, _NOTHING)


def _around_a_mean(values: Floats) -> float:
    """Return the log likelihood of a normal distribution above a shortest interval."""
    shortest, above = _shortest(values)
    off = ((values - shortest) / above - _MEAN) / _DEVIATION
    return log_mean(-0.5 * np.square(off).sum(axis=1) - len(values) * (_LOG_AREA + math.log(above)))


def _log_normal(level: Floats) -> float:
    spread = prior_values(TUNING.tolerances.equal_spread, TUNING.quality.uneven_spread_scale)
    return log_mean(around_one_level(level - median(level), spread))


def _wandering(level: Floats) -> float:
    """Return the log likelihood of logarithms that wander around a level, times the prior of such jobs."""
    spread = prior_values(TUNING.tolerances.irregular_spread, TUNING.quality.interval_spread_scale)
    return wandering_around_one_level(level - median(level), spread)


def _without_a_mean(values: Floats, jacobian: float) -> tuple[float, float]:
    """Return the log likelihoods of random moments with a dead time, and of a power law."""
    n = len(values)
    _, above = _shortest(values)
    power = n * (np.log(_TAILS) + _TAILS * math.log(float(values.min()))) - (_TAILS + 1) * jacobian
    return -n * (1 + math.log(above)), log_mean(power)


def _walk(level: Floats, low: float, width: float) -> float:
    """Return the log likelihood of logarithms that walk at random between two reflecting bounds."""
    step = prior_values(_INTERVALS.min_walk_step, _INTERVALS.max_walk_step)
    turns = width * _TURNS[:, None]
    images = np.concatenate([level[1:] + turns, 2 * low - level[1:] + turns]) - level[:-1]
    each = np.log(np.exp(-0.5 * np.square(images / step[:, None, None])).sum(axis=1) + _NEVER)
    return log_mean(each.sum(axis=1) - (len(level) - 1) * np.log(step * math.sqrt(2 * math.pi))) - math.log(width)
