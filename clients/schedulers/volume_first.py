"""Our policy: least volume first, by predicted volumes and periods, lifted by what a job has lost."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from .policies import in_order
from .protocol import LEAST_LEFT, Forecast, Grant, JobState, Policy

FAIRNESS: Final = 0.5
"""Default of the one parameter: lower than Set-10 in I/O slowdown, higher in minimum yield."""
_SPREAD: Final = 2.5
"""Standard deviation of the logarithm of what jobs have left: volumes of jobs differ by factors of a hundred."""
_RIGHT: Final = math.log(1.05)
"""A period counts as right when it is within 5 %."""
_LEAST_LOST: Final = 1e-12
_CHANCE: Final = 1e-6
"""Confidence up to which a prediction says nothing; as close to 1 it says all."""


def volume_first(fairness: float = FAIRNESS) -> Policy:
    """Serves the job with the lowest ``log(remaining * duty) - fairness * (lost / worst)^2``.

    ``duty`` is the share of its time that the job does I/O alone: a second of waiting costs a job that does little I/O
    more of its I/O slowdown. ``lost`` is 1 less the job's yield, ``worst`` that of the job which lost most, in I/O or
    not. With 0 the mean I/O slowdown is lowest; the higher it is, the higher is the minimum yield. A job without a
    prediction has the mean of the others' first term, and an unsure prediction is drawn towards that mean, so that
    without predictions the job with the lowest yield goes first.
    """
    if not 0 <= fairness < math.inf:
        raise ValueError(f"fairness {fairness}: expected a finite number, 0 or above")

    def policy(waiting: Sequence[JobState], coming: Collection[JobState], capacity: float, now_s: float) -> Grant:
        if len(waiting) == 1:
            return in_order(waiting, [0], capacity)
        lost = [1 - job.waiting_yield(now_s) for job in waiting]
        keys = _sizes(waiting)
        scale = max(fairness, _LEAST_LOST) / max(*lost, _worst(coming, now_s), _LEAST_LOST) ** 2
        keys = [key - scale * each * each for key, each in zip(keys, lost, strict=True)]
        return in_order(waiting, sorted(range(len(waiting)), key=keys.__getitem__), capacity)

    return policy


def _sizes(waiting: Sequence[JobState]) -> list[float]:
    """Returns the logarithm of remaining bytes times duty, as far as predictions can be trusted."""
    sizes: list[float | None] = []
    for job in waiting:
        forecast = job.forecast
        if forecast is None or forecast.confidence <= 0:
            sizes.append(None)
        else:
            left = max(forecast.volume - job.moved, LEAST_LEFT * forecast.volume)
            sizes.append(math.log(left * forecast.volume / (job.limit * forecast.period_s)))
    known = [size for size in sizes if size is not None]
    mean = math.fsum(known) / len(known) if known else 0.0
    return [
        mean if size is None else mean + trust(_confidence(job.forecast)) * (size - mean)
        for size, job in zip(sizes, waiting, strict=True)
    ]


def _worst(coming: Collection[JobState], now_s: float) -> float:
    """Returns the largest share of its time that a job which computes has lost."""
    return max(
        (1 - (job.done_s + now_s - job.since_s) / (now_s - job.start_s) for job in coming if now_s > job.start_s),
        default=0.0,
    )


def _confidence(forecast: Forecast | None) -> float:
    return 0.0 if forecast is None else forecast.confidence


@lru_cache(maxsize=4096)
def trust(confidence: float) -> float:
    """Returns how much of a predicted logarithm's distance from the mean to believe, 0 to 1.

    The confidence is the probability of an error below 5 %; that of a normal error says its standard deviation, and
    the rest is the usual regression towards the mean.
    """
    if confidence >= 1 - _CHANCE:
        return 1.0
    if confidence <= _CHANCE:
        return 0.0
    error = _RIGHT / NormalDist().inv_cdf((1 + confidence) / 2)
    return _SPREAD**2 / (_SPREAD**2 + error**2)
