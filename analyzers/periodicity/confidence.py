"""Confidence in phases and periods: probability of chance findings, and predictability of the next interval."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

from .tuning import TUNING

_CHANCES: Final = TUNING.chances
_MANY: Final = 60  # degrees of freedom from which a normal distribution is accurate enough


def chance_of(spread: float, count: int) -> float:
    """Probability that ``count`` random parts of a whole have at most this spread.

    Intervals between random times (a Poisson process) are such parts. Given their sum, they are uniform on a simplex.
    Parts with a relative standard deviation of at most ``spread`` fill a ball around its centre, and the probability is
    the ratio of the volumes. This is exact while the ball lies inside the simplex, and an upper bound otherwise.
    """
    if count < 2:
        return 1.0
    dimensions = count - 1
    radius = max(spread, 1e-9) * math.sqrt(dimensions) / count
    ball = dimensions / 2 * math.log(math.pi) + dimensions * math.log(radius) - math.lgamma(dimensions / 2 + 1)
    simplex = 0.5 * math.log(count) - math.lgamma(count)
    return math.exp(min(ball - simplex, 0.0))


def certain(chance: float) -> float:
    """Return a confidence factor, which is 1/2 at a chance of 0.01 (``quality.accident``)."""
    return 1 / (1 + chance / TUNING.quality.accident)


def chance_in_time(spread: float, intervals: int) -> float:
    """Probability that the next phase starts on time.

    On time is within a fifth of a period of the time given by the mean interval.

    Intervals are assumed normal. Their spread combines the past intervals with a prior that weighs as much as one more
    interval. The probability follows Student's t distribution.

    Args:
        spread: standard deviation of the past intervals over their mean; ignored for a single interval.
        intervals: number of past intervals.
    """
    return student(TUNING.same.near / believed_spread(spread, intervals), intervals - 1 + _CHANCES.believed)


def chance_of_mean(spread: float, intervals: int) -> float:
    """Probability that the mean of past intervals is within 5 % of the long-run mean."""
    freedom = intervals - 1 + _CHANCES.believed
    return student(TUNING.same.right / believed_spread(spread, intervals) * math.sqrt(intervals + 1), freedom)


def believed_spread(spread: float, intervals: int) -> float:
    """Return the spread of the next interval around the mean.

    It is computed from past intervals and a prior (one interval).
    """
    freedom = intervals - 1 + _CHANCES.believed
    variance = ((intervals - 1) * spread**2 + _CHANCES.believed * _CHANCES.usual**2) / freedom
    return math.sqrt(variance * (1 + 1 / intervals))


def with_care(known: float, spread: float, intervals: int) -> float:
    """Return the confidence for a finished job.

    It is reduced for few or uneven intervals, which are alike by chance at times.
    """
    few = (_CHANCES.careful / intervals) ** 3
    return float(known ** (1 + min(few, 2 + 3 * min(spread / TUNING.same.irregular, 1.0))))


def patience_of(silence: float, period: float) -> float:
    """Return a factor from 1 to 0 for an overdue phase.

    It falls while the next phase is overdue by 1.5 to 4 periods.
    """
    return min(max((_CHANCES.gone - silence / period) / (_CHANCES.gone - _CHANCES.silence), 0.0), 1.0)


def calibrated(confidence: float) -> float:
    """Map a confidence to the measured share of correct predictions at that confidence.

    Predictions of low confidence are correct more often than the product of their factors suggests. The points were
    measured on jobs of every kind (``benchmarks/accuracy/calibration.py``). A confidence of 0.5 stays unchanged.
    """
    for (low, share), (high, next_share) in pairwise(_CHANCES.measured):
        if confidence <= high:
            return share + (confidence - low) / (high - low) * (next_share - share)
    return confidence


def student(reach: float, freedom: int) -> float:
    """Probability that Student's t lies in [-reach, reach], from its series. It has ``freedom`` degrees of freedom."""
    if freedom > _MANY:
        return math.erf(reach * (1 - 1 / (4 * freedom)) / math.sqrt(1 + reach * reach / (2 * freedom)) / math.sqrt(2))
    angle = math.atan2(reach, math.sqrt(freedom))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = freedom % 2
    term, total = cosine if odd else 1.0, 0.0
    for k in range(odd, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (k + 1) / (k + 2)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
