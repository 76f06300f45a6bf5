"""Confidence in phases and periods: probability of chance findings, and predictability of the next interval."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

from .tuning import TUNING

_NEXT_PHASE: Final = TUNING.next_phase
# 95 % points of Student's t for 1, 2, 3 ... degrees of freedom
_T: Final = (
    *(6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812),
    *(1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725),
    *(1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697),
)
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


def confidence_of_chance(chance: float) -> float:
    """Return a confidence factor, which is 1/2 at a chance of 0.01 (``quality.half_confidence_chance``)."""
    return 1 / (1 + chance / TUNING.quality.half_confidence_chance)


def chance_in_time(spread: float, intervals: int) -> float:
    """Probability that the next phase starts on time.

    On time is within a fifth of a period of the time given by the mean interval.

    Intervals are assumed normal. Their spread combines the past intervals with a prior that weighs as much as one more
    interval. The probability follows Student's t distribution.

    Args:
        spread: standard deviation of the past intervals over their mean; ignored for a single interval.
        intervals: number of past intervals.
    """
    return student_t_within(
        TUNING.tolerances.on_time / predicted_spread(spread, intervals), intervals - 1 + _NEXT_PHASE.prior_intervals
    )


def chance_of_mean(spread: float, intervals: int) -> float:
    """Probability that the mean of past intervals is within 5 % of the long-run mean."""
    freedom = intervals - 1 + _NEXT_PHASE.prior_intervals
    return student_t_within(
        TUNING.tolerances.correct_period / predicted_spread(spread, intervals) * math.sqrt(intervals + 1), freedom
    )


def predicted_spread(spread: float, intervals: int) -> float:
    """Return the spread of the next interval around the mean.

    It is computed from past intervals and a prior (one interval).
    """
    freedom = intervals - 1 + _NEXT_PHASE.prior_intervals
    variance = ((intervals - 1) * spread**2 + _NEXT_PHASE.prior_intervals * _NEXT_PHASE.prior_spread**2) / freedom
    return math.sqrt(variance * (1 + 1 / intervals))


def finished_job_confidence(known: float, spread: float, intervals: int) -> float:
    """Return the confidence for a finished job.

    It is reduced for few or uneven intervals, which are alike by chance at times.
    """
    few = (_NEXT_PHASE.finished_job_intervals / intervals) ** _NEXT_PHASE.few_intervals_power
    return float(known ** (1 + min(few, 2 + 3 * min(spread / TUNING.tolerances.irregular_spread, 1.0))))


def overdue_factor(silence: float, period: float) -> float:
    """Return a factor from 1 to 0 for an overdue phase.

    It falls while the next phase is overdue by 1.5 to 4 periods.
    """
    return min(
        max((_NEXT_PHASE.overdue_end - silence / period) / (_NEXT_PHASE.overdue_end - _NEXT_PHASE.overdue_begin), 0.0),
        1.0,
    )


def calibrated(confidence: float) -> float:
    """Map a confidence to the measured share of correct predictions at that confidence.

    Predictions of low confidence are correct more often than the product of their factors suggests. The points were
    measured on jobs of every kind (``benchmarks/accuracy/calibration.py``). A confidence of 0.5 stays unchanged.
    """
    return _mapped(confidence, _NEXT_PHASE.measured_shares)


def phases_confidence(quality: float) -> float:
    """Map the quality of phases to the measured share of next starts that come as these phases predict.

    Phases that vary in volume predict the next start nearly as well as equal ones with the same intervals.
    """
    return _mapped(quality, _NEXT_PHASE.measured_phases)


def _mapped(value: float, points: tuple[tuple[float, float], ...]) -> float:
    """Interpolate between points; the last one is the largest value."""
    for (low, share), (high, next_share) in pairwise(points):
        if value <= high:
            return share + (value - low) / (high - low) * (next_share - share)
    return value


def student_t(freedom: int) -> float:
    """Return the half width of a 90 % interval of Student's t with ``freedom`` degrees of freedom."""
    return _T[min(freedom, len(_T)) - 1]


def student_t_within(reach: float, freedom: int) -> float:
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
