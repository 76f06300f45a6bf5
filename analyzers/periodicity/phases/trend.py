"""Order of successive intervals, lengths or volumes: steady growth, and repeated patterns."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from .. import compiled
from ..confidence import student_t
from ..tuning import TUNING
from .changes import last_change, line_through
from .phases import Floats

_INTERVALS = TUNING.intervals
_SHORTEST_CYCLE: Final = 2  # values


class Trend(Struct, frozen=True):
    """Steady growth of values.

    Attributes:
        growth: mean growth of each value over the one before.
        deviation: standard deviation of the values around the growth.
    """

    growth: float
    deviation: float


def latest(values: Floats) -> Floats:
    """Return the values whose trend counts."""
    return values[-_INTERVALS.drift_intervals :]


def trend_of(values: Floats, resolved: float) -> Trend | None:
    """Return the trend of values; None unless they fit a line, or a growth by a factor, far better than a mean.

    Args:
        values: at least two, oldest first.
        resolved: variance of their resolution.
    """
    n = len(values)
    if n < _INTERVALS.min_intervals:
        return None
    following, whole, left = compiled.extrapolate(values) or _extrapolated(values)
    whole, left = whole + n * resolved, left + n * resolved
    if not left > 0 or n / 2 * math.log(whole / left) < _INTERVALS.min_log_likelihood_ratio or following <= 0:
        return None
    usual = float(values.sum()) / n
    deviation = math.sqrt(left / (n - 2))
    if deviation > TUNING.tolerances.irregular_spread * usual:
        return None  # some values of a random walk fit a line, too
    return Trend((following - float(values[0])) / n, deviation)


def at_next(values: Floats) -> Floats:
    """Return values at the level of the next one, as if they had no trend.

    Their deviations are those from the trend, as a share of the values. They are larger by the uncertainty of its
    extrapolation.
    """
    n = len(values)
    following, rest = extrapolated(values)
    # deviations are a share of the values; level, growth and its form were chosen for the same values
    scale = following / math.sqrt(float(values @ values) / n)
    leverage = 1 / n + 3 * (n + 1) ** 2 / (n * (n * n - 1))
    scale *= math.sqrt((1 + leverage) / (1 + 1 / n) * (n - 1) / (n - 3)) * student_t(n - 3) / student_t(n - 1)
    rest = rest * abs(scale)
    return following + rest - float(rest.sum()) / n


class NextValues(NamedTuple):
    """Past values from which the next one is predicted.

    Attributes:
        like: values since the last change, without their trend, or those at the place of the next one in a pattern.
        pattern: mean at each place of a repeated pattern, beginning with the next value; empty without one.
    """

    like: Floats
    pattern: tuple[float, ...] = ()


def comparable_with_next(values: Floats, resolved: float, skipped: int = 0) -> NextValues:
    """Return the past values from which the next one is predicted.

    Args:
        values: at least one, oldest first.
        resolved: variance of their resolution.
        skipped: number of unknown values between them and the next one.
    """
    if len(values) < _INTERVALS.min_intervals or float(values.min()) <= 0:
        return NextValues(values)
    values = values[last_change(values) :]
    recent = latest(values)
    trend = trend_of(recent, resolved)
    if trend is not None:
        return NextValues(at_next(recent) + skipped * trend.growth)
    if not (cycle := cycle_of(values, resolved)):
        return NextValues(values)
    return NextValues(
        at_places_like(values, cycle, skipped, resolved), means_of_cycle(values, cycle, resolved, skipped)
    )


def cycle_of(values: Floats, resolved: float) -> int:
    """Return the number of values after which uneven values repeat, e.g. 4 if each fourth one is larger; 0 if none do.

    Args:
        values: values, oldest first.
        resolved: variance of their resolution.
    """
    n = len(values)
    if n < _INTERVALS.min_repetitions * _SHORTEST_CYCLE:
        return 0
    mean = float(values.sum()) / n
    off = values - mean
    whole = float(off @ off) / (n - 1)
    if whole <= (TUNING.tolerances.irregular_spread * mean) ** 2:
        return 0
    # neighbours are alike in a trend or a walk, too
    whole = min(whole, _half_square(values, 1)) + resolved
    for cycle in range(_SHORTEST_CYCLE, min(n // _INTERVALS.min_repetitions, _INTERVALS.max_pattern) + 1):
        ratio = (_half_square(values, cycle) + resolved) / whole
        if ratio > 1 - TUNING.secondary_periods.min_explained_share:
            continue
        # values of two kinds are equal by chance in up to every other case
        if (n - cycle) * min(-math.log(ratio) / 2, math.log(2)) > _INTERVALS.min_log_likelihood_ratio:
            return cycle
    return 0


def at_places_like(values: Floats, cycle: int, skipped: int, resolved: float) -> Floats:
    """Return the values at places of a pattern that do not differ from that of a later value.

    Args:
        values: values, oldest first.
        cycle: number of values after which they repeat.
        skipped: number of values between them and the later one.
        resolved: variance of their resolution.
    """
    place = np.arange(len(values)) % cycle
    count = np.bincount(place, minlength=cycle)
    mean = np.bincount(place, values, cycle) / count
    own = (len(values) + skipped) % cycle
    variance = (_half_square(values, cycle) + resolved) * (1 / count + 1 / count[own])
    like = np.square(mean - mean[own]) <= _INTERVALS.drift_standard_errors**2 * variance
    return np.asarray(values[like[place]])


def means_of_cycle(values: Floats, cycle: int, resolved: float, skipped: int = 0) -> tuple[float, ...]:
    """Return the mean at each place of a pattern, beginning with the next value; arguments as in ``at_places_like``."""
    places = (at_places_like(values, cycle, skipped + ahead, resolved) for ahead in range(cycle))
    return tuple(float(each.sum()) / len(each) for each in places)


def deviation_from_cycle(values: Floats, cycle: int) -> float:
    """Return the standard deviation of values around those at the same place of a pattern."""
    return math.sqrt(_half_square(values, cycle))


def _half_square(values: Floats, distance: int) -> float:
    """Return half the mean square of the differences of values at a distance: the variance of independent ones."""
    off = values[distance:] - values[:-distance]
    return float(off @ off) / (2 * len(off))


def extrapolated(values: Floats) -> tuple[float, Floats]:
    """Return the next value, and the deviations of the past ones, for linear or exponential growth.

    The growth with the better fit is used.
    """
    slope, rest = line_through(values)
    n = len(values)
    following = float(values.sum()) / n + slope * (n + 1) / 2
    if float(values.min()) > 0:
        level = np.log(values)
        growth, off = line_through(level)
        others = values - np.exp(level - off)
        if float(others @ others) < float(rest @ rest):
            return math.exp(float(level.sum()) / n + growth * (n + 1) / 2), others
    return following, rest


def _extrapolated(values: Floats) -> tuple[float, float, float]:
    """Return the next value, and the sums of squares around the mean and around the growth."""
    following, rest = extrapolated(values)
    off = values - float(values.sum()) / len(values)
    return following, float(off @ off), float(rest @ rest)
