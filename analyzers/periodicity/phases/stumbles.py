"""What intervals between phases are: on time, over phases that were missed, or such that the program went astray."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..tuning import TUNING

Floats = npt.NDArray[np.float64]
Multiples = npt.NDArray[np.int64]

RESOLVED: Final = 1 / 6
"""Bins squared: no interval is known better."""
_ROUNDS: Final = 4
_NOTHING: Final = 1e-12


class Reading(NamedTuple):
    """How intervals are read.

    Attributes:
        multiple: how many periods each spans, int64; 0 where it went astray.
        likelihood: logarithm of the likelihood of this reading, less what its choices cost.
        plain: the same if all intervals are of one kind.
    """

    multiple: Multiples
    likelihood: float
    plain: float


def read_as_stumbling(intervals: Floats) -> Reading:
    """Tells how many periods each interval spans.

    Intervals are a mixture: a period, or some more where phases were missed, about which they are normal; and any time,
    whose logarithm is uniform, where the program paused or something held a phase up. The period, its deviation and
    the shares of phases that are missed or go astray are those of the highest likelihood, by four rounds of expectation
    and maximisation from the usual interval on. One kind is a gamma distribution, which is nearly normal for small
    spreads and that of random moments for a spread of one.

    Args:
        intervals: bins, more than 0, at least two.
    """
    n = len(intervals)
    period = float(np.sort(intervals)[(n - 1) // 2])
    ratio = intervals / period
    near = ratio[np.abs(ratio - 1) < TUNING.same.near] - 1
    deviation = math.hypot(math.sqrt(float(near @ near) / len(near)), math.sqrt(RESOLVED) / period)
    log_range = max(math.log(float(intervals.max()) / float(intervals.min())), _NOTHING)
    missed = astray = TUNING.chances.rate
    for _ in range(_ROUNDS):
        unit, ratio = period, intervals / period
        multiple = np.maximum(np.rint(ratio), 1.0)
        off = (ratio - multiple) / deviation
        on_grid = (1 - astray) * (1 - missed) * missed ** (multiple - 1)
        on_grid *= np.exp(-0.5 * off * off) / (deviation * math.sqrt(2 * math.pi))
        elsewhere = astray / (ratio * log_range)
        share = on_grid / (on_grid + elsewhere)
        whole = float(share.sum())
        if whole < 1:
            break
        spanned = float(share @ multiple)
        period = float(share @ intervals) / spanned
        square = float(share @ np.square(intervals / period - multiple)) / whole
        deviation = math.sqrt(square + RESOLVED / period**2)
        missed = max(1 - whole / spanned, TUNING.chances.rate / n)
        astray = max(1 - whole / n, TUNING.chances.rate / n)
    likelihood = float(np.log(on_grid + elsewhere).sum()) - n * math.log(unit)
    found = np.where(2 * share > 1, multiple, 0.0).astype(np.int64)
    # two more numbers are chosen, each at the cost of half the logarithm of what there is to choose them by
    return Reading(found, likelihood - math.log(n), _of_one_kind(intervals))


def _of_one_kind(intervals: Floats) -> float:
    """Returns the logarithm of the likelihood of a gamma distribution."""
    n = len(intervals)
    mean = float(intervals.sum()) / n
    logs = float(np.log(intervals).sum()) / n
    skew = max(math.log(mean) - logs, RESOLVED / (2 * mean * mean))
    shape = (3 - skew + math.sqrt((skew - 3) ** 2 + 24 * skew)) / (12 * skew)
    return n * (shape * math.log(shape / mean) - math.lgamma(shape) + (shape - 1) * logs - shape)
