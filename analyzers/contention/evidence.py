"""Test whether phases overlapped by other jobs take longer than phases alone.

The test is robust against drift and outliers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ...results.base import Estimate

Floats = npt.NDArray[np.float64]
_EXACT: Final = 40  # maximum number of differences for the exact distribution
_MIN_BLOCKS: Final = 3  # minimum number of blocks for a ratio
_INTERVAL: Final = 1.645  # half width of a 90 % interval, in standard deviations


@dataclass(frozen=True, slots=True)
class Evidence:
    """Result of comparing shared phases with neighbouring phases alone.

    Attributes:
        blocks: number of runs of shared phases with phases alone beside them.
        slowdown: ratio with its 90 % interval; None with fewer than three blocks.
        p_value: probability of ranks this large if sharing made no difference (Wilcoxon signed-rank test, one-sided).
    """

    blocks: int
    slowdown: Estimate | None
    p_value: float


def evidence_of(measure: Floats, shared: npt.NDArray[np.bool_], alone: npt.NDArray[np.bool_]) -> Evidence:
    """Compare each run of shared phases with the runs alone right before and after it.

    Slow changes, such as an unknown load, affect both. A run counts once independent of its length, since its phases
    may have one cause.

    Args:
        measure: value of each phase in order of time, > 0.
        shared: whether others overlapped each phase.
        alone: whether nothing overlapped it; phases that are neither are ignored.
    """
    rows = np.flatnonzero(shared | alone)
    if not len(rows):
        return Evidence(0, None, 1.0)
    logs, is_shared = np.log(measure[rows]), shared[rows]
    starts = np.flatnonzero(np.r_[True, is_shared[1:] != is_shared[:-1]])
    means = np.add.reduceat(logs, starts) / np.diff(np.r_[starts, len(rows)])
    blocks = np.flatnonzero(is_shared[starts])
    differences = [
        means[block] - np.mean([means[at] for at in (block - 1, block + 1) if 0 <= at < len(means)])
        for block in blocks.tolist()
        if len(means) > 1
    ]
    found = np.array(differences, np.float64)
    if len(found) < _MIN_BLOCKS:
        return Evidence(len(found), None, 1.0)
    middle = float(np.median(found))
    spread = 1.4826 * float(np.median(np.abs(found - middle)))
    wide = min(_INTERVAL * 1.2533 * spread / math.sqrt(len(found)), 50.0)
    interval = Estimate(value=math.exp(middle), low=math.exp(middle - wide), high=math.exp(middle + wide))
    return Evidence(len(found), interval, signed_rank(found))


def signed_rank(differences: Floats) -> float:
    """Return the one-sided p-value of Wilcoxon's signed-rank test for positive differences.

    >>> signed_rank(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    0.03125
    """
    values = differences[differences != 0]
    count = len(values)
    if not count:
        return 1.0
    ranks = _ranks(np.abs(values))
    positive = float(ranks[values > 0].sum())
    if count > _EXACT:
        mean, deviation = count * (count + 1) / 4, math.sqrt(float((ranks**2).sum()) / 4)
        return 0.5 * math.erfc((positive - mean - 0.5) / deviation / math.sqrt(2))
    doubled = np.rint(2 * ranks).astype(np.int64)  # ties have half-integer ranks
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways[rank:] = ways[rank:] + ways[: len(ways) - rank]
    return float(ways[int(np.rint(2 * positive)) :].sum() / 2.0**count)


def _ranks(values: Floats) -> Floats:
    """Return ranks from 1; equal values share their mean rank."""
    _, number, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[number]
