"""How sure findings about phases are: what chance alone does, and how well the next interval can be told."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

from .tuning import TUNING

_CHANCES: Final = TUNING.chances
_MANY: Final = 60  # degrees of freedom from which a normal distribution is near enough


def chance_of(spread: float, count: int) -> float:
    """Probability that ``count`` random parts of a whole spread no more than these do.

    Intervals between random moments (a Poisson process) are such parts. Given their sum, they are uniform on a simplex.
    Those of the relative standard deviation ``spread`` or less fill a ball around its centre; the chance is the ratio
    of the volumes, which is exact while the ball lies inside and too large, so on the safe side, after that.
    """
    if count < 2:
        return 1.0
    dimensions = count - 1
    radius = max(spread, 1e-9) * math.sqrt(dimensions) / count
    ball = dimensions / 2 * math.log(math.pi) + dimensions * math.log(radius) - math.lgamma(dimensions / 2 + 1)
    simplex = 0.5 * math.log(count) - math.lgamma(count)
    return math.exp(min(ball - simplex, 0.0))


def certain(chance: float) -> float:
    """Returns a factor of confidence: 1/2 where chance alone does as well in one case of a hundred."""
    return 1 / (1 + chance / TUNING.quality.accident)


def chance_in_time(spread: float, intervals: int) -> float:
    """Probability that the next phase starts within a fifth of a period of when the mean interval says.

    Intervals are taken as normal. Their spread comes from the past ones and from a belief that weighs as much as one
    more; the probability is that of Student's t.

    Args:
        spread: standard deviation of the past intervals over their mean; of no meaning for a single one.
        intervals: how many.
    """
    return student(TUNING.same.near / believed_spread(spread, intervals), intervals - 1 + _CHANCES.believed)


def chance_of_mean(spread: float, intervals: int) -> float:
    """Probability that the mean of past intervals is within a twentieth of what it will be in the long run."""
    freedom = intervals - 1 + _CHANCES.believed
    return student(TUNING.same.right / believed_spread(spread, intervals) * math.sqrt(intervals + 1), freedom)


def believed_spread(spread: float, intervals: int) -> float:
    """Returns the spread of the next interval about their mean: of the past ones, and of a belief that is one more."""
    freedom = intervals - 1 + _CHANCES.believed
    variance = ((intervals - 1) * spread**2 + _CHANCES.believed * _CHANCES.usual**2) / freedom
    return math.sqrt(variance * (1 + 1 / intervals))


def with_care(known: float, spread: float, intervals: int) -> float:
    """Returns how sure what is known of a finished job is: few intervals, and uneven ones, are alike at times."""
    few = (_CHANCES.careful / intervals) ** 3
    return float(known ** (1 + min(few, 2 + 3 * min(spread / TUNING.same.irregular, 1.0))))


def patience_of(silence: float, period: float) -> float:
    """Falls from 1 to 0 as the next phase stays out for one and a half to four periods."""
    return min(max((_CHANCES.gone - silence / period) / (_CHANCES.gone - _CHANCES.silence), 0.0), 1.0)


def calibrated(confidence: float) -> float:
    """Turns a confidence into the share of predictions that were right at that confidence.

    Answers of little confidence are right more often than the factors that make it up say. The points were measured on
    jobs of every kind (``benchmarks/accuracy/calibration.py``); one half stays one half.
    """
    for (low, share), (high, next_share) in pairwise(_CHANCES.measured):
        if confidence <= high:
            return share + (confidence - low) / (high - low) * (next_share - share)
    return confidence


def student(reach: float, freedom: int) -> float:
    """Probability that Student's t with ``freedom`` degrees of freedom lies within -reach .. reach, by its series."""
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
