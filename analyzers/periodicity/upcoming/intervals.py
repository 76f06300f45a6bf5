"""90 % intervals for the next value of a sequence, from its past values."""

from __future__ import annotations

import math

import numpy as np

from ..confidence import student_t
from ..phases.phases import Floats


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
    scale = math.sqrt(1 / n if of_mean else 1 + 1 / n)
    off = values - float(values.sum()) / n
    return max(student_t(n - 1) * scale * math.sqrt(float(off @ off) / (n - 1)), least)
