"""Trends: steady growth of successive intervals, lengths or volumes."""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct

from .. import compiled
from ..tuning import TUNING
from .changes import last_change, line_through
from .phases import Floats

_INTERVALS = TUNING.intervals


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

    Their deviations are those from the trend. They are larger by the uncertainty of its extrapolation.
    """
    n = len(values)
    following, rest = extrapolated(values)
    leverage = 1 / n + 3 * (n + 1) ** 2 / (n * (n * n - 1))
    rest = rest * math.sqrt((1 + leverage) / (1 + 1 / n) * (n - 1) / (n - 2))
    return following + rest - float(rest.sum()) / n


def comparable_with_next(values: Floats, resolved: float, skipped: int = 0) -> Floats:
    """Return the past values from which the next one is predicted: those since the last change, without their trend.

    Args:
        values: at least one, oldest first.
        resolved: variance of their resolution.
        skipped: number of unknown values between them and the next one.
    """
    if len(values) < _INTERVALS.min_intervals or float(values.min()) <= 0:
        return values
    values = values[last_change(values) :]
    recent = latest(values)
    trend = trend_of(recent, resolved)
    return values if trend is None else at_next(recent) + skipped * trend.growth


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
