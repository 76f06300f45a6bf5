"""The volume-first policy: least remaining volume first, with priority for jobs that have lost time.

Volumes and periods are taken from predictions and from observed phases.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from .policies import in_order
from .protocol import MIN_LEFT, Grant, JobState, Policy

FAIRNESS: Final = 0.5
"""Default of the only parameter: lower I/O slowdown than Set-10, higher minimum yield."""
_SPREAD: Final = 2.5
"""Standard deviation of the logarithm of remaining volumes over jobs: they differ by factors of a hundred."""
_RIGHT: Final = math.log(1.05)
"""A period within 5 % counts as right."""
_EXCESS: Final = math.sqrt(2 / math.pi)
"""Mean of the positive half of a standard normal distribution."""
_FOR_ERRORS: Final = 1.0
"""Fairness added per unit of error, to compensate jobs for wrong predictions by their yield."""
_UNSEEN_GAP: Final = 9.0
"""Assumed gap over the time of a phase alone, for a job with one observed phase and no prediction."""
_MIN_LOST: Final = 1e-12
_CHANCE: Final = 1e-6
"""Confidence up to which a prediction has no weight. Within this distance of 1 it has full weight."""


def volume_first(fairness: float = FAIRNESS) -> Policy:
    """Return the policy that serves the job with the lowest rank.

    The rank is ``log(remaining * duty) - fairness * (lost / worst)^2``.

    ``duty`` is the share of its time alone that the job spends in I/O. A second of waiting increases the I/O slowdown
    of a job with little I/O more. ``lost`` is 1 minus the job's yield. ``worst`` is that of the job that has lost most,
    in I/O or not. With a fairness of 0 the mean I/O slowdown is lowest; a higher fairness increases the minimum yield.
    The less certain a prediction is, the more weight the job's own phases have. A job without any data gets the mean of
    the others' first term, and an uncertain one is drawn towards that mean. If nothing is known of any job, the job
    with the lowest yield goes first.
    """
    if not 0 <= fairness < math.inf:
        raise ValueError(f"fairness {fairness}: expected a finite number, 0 or above")

    def policy(waiting: Sequence[JobState], coming: Collection[JobState], capacity: float, now_s: float) -> Grant:
        if len(waiting) == 1:
            return in_order(waiting, [0], capacity)
        lost = [1 - job.waiting_yield(now_s) for job in waiting]
        keys, unsure = _sizes(waiting)
        scale = max(fairness + _FOR_ERRORS * unsure, _MIN_LOST) / max(*lost, _worst(coming, now_s), _MIN_LOST) ** 2
        keys = [key - scale * each * each for key, each in zip(keys, lost, strict=True)]
        return in_order(waiting, sorted(range(len(waiting)), key=keys.__getitem__), capacity)

    return policy


def _sizes(waiting: Sequence[JobState]) -> tuple[list[float], float]:
    """Return the logarithms of remaining bytes times duty, weighted by certainty, and their mean error."""
    sizes = [_size(job) for job in waiting]
    known = [size for size, _ in sizes if size is not None]
    mean = math.fsum(known) / len(known) if known else 0.0
    unsure = math.fsum(min(error, 1.0) for _, error in sizes) / len(sizes)
    return [mean if size is None else mean + trust(error) * (size - mean) for size, error in sizes], unsure


def _size(job: JobState) -> tuple[float | None, float]:
    """Return the logarithm of remaining bytes times duty (None if unknown), and its error.

    A phase close to its expected volume, or beyond it, has at least the mean remainder of a normal error left.
    Otherwise long phases with a volume predicted too low would be served first.
    """
    volume, period_s, error = _expected(job)
    if error == math.inf:
        return None, error
    least = max(MIN_LEFT, min(1.0, _EXCESS * error)) * max(volume, job.moved)
    left = max(volume - job.moved, least)
    return math.log(left * volume / (job.limit * period_s)), error


def _expected(job: JobState) -> tuple[float, float, float]:
    """Return volume, period and error, combined from the prediction and the job's own phases.

    Weights are inverse variances, so that an uncertain prediction gives way to observations.
    """
    forecast, seen = job.forecast, job.seen
    error = math.inf if forecast is None else max(error_of(forecast.confidence), seen.forecast_error)
    if forecast is not None and (error == 0 or seen.error == math.inf):
        return forecast.volume, forecast.period_s, error
    if seen.error == math.inf:
        return 0.0, 0.0, math.inf
    alone_s = seen.volume / job.limit
    if forecast is None or error == math.inf:
        gap_s = seen.gap_s if seen.gap_s is not None else _UNSEEN_GAP * alone_s
        return seen.volume, max(alone_s + gap_s, alone_s), seen.error
    predicted, own = error**-2, seen.error**-2
    weight = own / (predicted + own)
    period_s = forecast.period_s if seen.gap_s is None else alone_s + seen.gap_s
    return (
        forecast.volume * (seen.volume / forecast.volume) ** weight,
        forecast.period_s * (period_s / forecast.period_s) ** weight,
        (predicted + own) ** -0.5,
    )


def _worst(coming: Collection[JobState], now_s: float) -> float:
    """Return the largest share of its time that any computing job has lost."""
    return max(
        (1 - (job.done_s + now_s - job.since_s) / (now_s - job.start_s) for job in coming if now_s > job.start_s),
        default=0.0,
    )


@lru_cache(maxsize=4096)
def error_of(confidence: float) -> float:
    """Return the standard deviation of the logarithm of a predicted value over the true one.

    The confidence is the probability of an error below 5 %; errors are assumed to be normal.
    """
    if confidence >= 1 - _CHANCE:
        return 0.0
    return math.inf if confidence <= _CHANCE else _RIGHT / NormalDist().inv_cdf((1 + confidence) / 2)


def trust(error: float) -> float:
    """Return the weight of a predicted logarithm's distance from the mean (regression towards the mean)."""
    return 0.0 if error == math.inf else _SPREAD**2 / (_SPREAD**2 + error**2)
