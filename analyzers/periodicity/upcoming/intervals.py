"""90 % intervals for the next value of a sequence, from its past values."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..phases.phases import Floats

# 95 % points of Student's t for 1, 2, 3 ... degrees of freedom
_T: Final = (
    *(6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812),
    *(1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725),
    *(1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697),
)


def interval_of(values: Floats, *, of_mean: bool = False, least: float = 0.0) -> float:
    """Return the half width of a 90 % interval around the mean of past values.

    It is Student's: t s sqrt(1 + 1/n) for the next value, t s / sqrt(n) for the mean. A single value has no spread; the
    interval is then as wide as the value.

    Args:
        values: past values, at least one.
        of_mean: whether the interval is for the mean instead of the next value.
        least: lower bound, e.g. the resolution of the values.
    """
    n = len(values)
    if n < 2:
        return max(float(np.abs(values).max(initial=0.0)), least)
    t = _T[min(n - 1, len(_T)) - 1]
    scale = math.sqrt(1 / n if of_mean else 1 + 1 / n)
    off = values - float(values.sum()) / n
    return max(t * scale * math.sqrt(float(off @ off) / (n - 1)), least)
