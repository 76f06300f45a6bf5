"""Classification of intervals between phases: on time, across missed phases, or stray."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import compiled
from ..tuning import TUNING
from .memoized import memoized

Floats = npt.NDArray[np.float64]
Multiples = npt.NDArray[np.int64]

RESOLVED: Final = 1 / 6
"""Variance of an interval's resolution, bins squared."""
_ROUNDS: Final = 4  # rounds of expectation maximization
_NOTHING: Final = 1e-12


class IntervalClasses(NamedTuple):
    """Interpretation of intervals.

    Attributes:
        multiple: number of periods that each interval spans, int64; 0 for stray intervals.
        likelihood: log likelihood of this interpretation, less the cost of its parameters.
        plain: log likelihood if all intervals are of one kind.
    """

    multiple: Multiples
    likelihood: float
    plain: float


@memoized
def classify_intervals(intervals: Floats) -> IntervalClasses:
    """Determine how many periods each interval spans.

    Intervals are a mixture of two components. One is normal around one period, or around several periods across missed
    phases. The other has a uniform logarithm, for pauses and delays of the program. The period, its deviation and the
    shares of missed and stray phases maximize the likelihood, in four rounds of expectation maximization from the usual
    interval on. The alternative of one kind is a gamma distribution, which is nearly normal for small spreads and that
    of random times for a spread of one.

    Args:
        intervals: intervals, bins, > 0, at least two.
    """
    n = len(intervals)
    if (found := compiled.classify(intervals, RESOLVED)) is not None:
        multiple, likelihood, length, logs = found
        return IntervalClasses(multiple, likelihood, _of_one_kind(n, length / n, logs / n))
    period = float(np.sort(intervals)[(n - 1) // 2])
    ratio = intervals / period
    near = ratio[np.abs(ratio - 1) < TUNING.tolerances.on_time] - 1
    deviation = math.hypot(math.sqrt(float(near @ near) / len(near)), math.sqrt(RESOLVED) / period)
    log_range = max(math.log(float(intervals.max()) / float(intervals.min())), _NOTHING)
    missed = stray = TUNING.next_phase.prior_miss_rate
    for _ in range(_ROUNDS):
        unit, ratio = period, intervals / period
        multiple = np.maximum(np.rint(ratio), 1.0)
        off = (ratio - multiple) / deviation
        on_grid = np.exp((multiple - 1) * math.log(missed) - 0.5 * off * off)
        on_grid *= (1 - stray) * (1 - missed) / (deviation * math.sqrt(2 * math.pi))
        either = on_grid + stray / log_range / ratio
        share = on_grid / either
        whole = float(share.sum())
        if whole < 1:
            break
        spanned = float(share @ multiple)
        period = float(share @ intervals) / spanned
        square = float(share @ np.square(intervals / period - multiple)) / whole
        deviation = math.sqrt(square + RESOLVED / period**2)
        missed = max(1 - whole / spanned, TUNING.next_phase.prior_miss_rate / n)
        stray = max(1 - whole / n, TUNING.next_phase.prior_miss_rate / n)
    likelihood = float(np.log(either).sum()) - n * math.log(unit)
    spans = np.where(2 * share > 1, multiple, 0.0).astype(np.int64)
    mean, logs = float(intervals.sum()) / n, float(np.log(intervals).sum()) / n
    # two additional parameters each cost half the logarithm of the number of intervals
    return IntervalClasses(spans, likelihood - math.log(n), _of_one_kind(n, mean, logs))


def _of_one_kind(n: int, mean: float, logs: float) -> float:
    """Return the log likelihood of a gamma distribution. ``logs`` is the mean logarithm of ``n`` intervals."""
    skew = max(math.log(mean) - logs, RESOLVED / (2 * mean * mean))
    shape = (3 - skew + math.sqrt((skew - 3) ** 2 + 24 * skew)) / (12 * skew)
    return n * (shape * math.log(shape / mean) - math.lgamma(shape) + (shape - 1) * logs - shape)
