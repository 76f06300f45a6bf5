"""Our policy: least volume first, by volumes and periods predicted and seen, lifted by what a job has lost."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from .policies import in_order
from .protocol import LEAST_LEFT, Grant, JobState, Policy

FAIRNESS: Final = 0.5
"""Default of the one parameter: lower than Set-10 in I/O slowdown, higher in minimum yield."""
_SPREAD: Final = 2.5
"""Standard deviation of the logarithm of what jobs have left: volumes of jobs differ by factors of a hundred."""
_RIGHT: Final = math.log(1.05)
"""A period counts as right when it is within 5 %."""
_EXCESS: Final = math.sqrt(2 / math.pi)
"""Mean of a standard normal number above 0."""
_FOR_ERRORS: Final = 1.0
"""Fairness that is added for an error of one: what wrong predictions take from a job, its yield gives back."""
_UNSEEN_GAP: Final = 9.0
"""Time between phases, over the time of one alone, of a job of which one phase was seen and nothing is predicted."""
_LEAST_LOST: Final = 1e-12
_CHANCE: Final = 1e-6
"""Confidence up to which a prediction says nothing; as close to 1 it says all."""


def volume_first(fairness: float = FAIRNESS) -> Policy:
    """Serves the job with the lowest ``log(remaining * duty) - fairness * (lost / worst)^2``.

    ``duty`` is the share of its time that the job does I/O alone: a second of waiting costs a job that does little I/O
    more of its I/O slowdown. ``lost`` is 1 less the job's yield, ``worst`` that of the job which lost most, in I/O or
    not. With 0 the mean I/O slowdown is lowest; the higher it is, the higher is the minimum yield. The less sure a
    prediction is, the more do the job's own phases count. A job of which nothing is known has the mean of the others'
    first term, and an unsure one is drawn towards that mean, so that as long as nothing is known the job with the
    lowest yield goes first.
    """
    if not 0 <= fairness < math.inf:
        raise ValueError(f"fairness {fairness}: expected a finite number, 0 or above")

    def policy(waiting: Sequence[JobState], coming: Collection[JobState], capacity: float, now_s: float) -> Grant:
        if len(waiting) == 1:
            return in_order(waiting, [0], capacity)
        lost = [1 - job.waiting_yield(now_s) for job in waiting]
        keys, unsure = _sizes(waiting)
        scale = max(fairness + _FOR_ERRORS * unsure, _LEAST_LOST) / max(*lost, _worst(coming, now_s), _LEAST_LOST) ** 2
        keys = [key - scale * each * each for key, each in zip(keys, lost, strict=True)]
        return in_order(waiting, sorted(range(len(waiting)), key=keys.__getitem__), capacity)

    return policy


def _sizes(waiting: Sequence[JobState]) -> tuple[list[float], float]:
    """Returns the logarithm of remaining bytes times duty, as far as predictions are sure, and their mean error."""
    sizes = [_size(job) for job in waiting]
    known = [size for size, _ in sizes if size is not None]
    mean = math.fsum(known) / len(known) if known else 0.0
    unsure = math.fsum(min(error, 1.0) for _, error in sizes) / len(sizes)
    return [mean if size is None else mean + trust(error) * (size - mean) for size, error in sizes], unsure


def _size(job: JobState) -> tuple[float | None, float]:
    """Returns the logarithm of remaining bytes times duty, None where nothing is known, and its error.

    A phase that nears its expected volume, or passes it, has as much left as a normal error says at its mean:
    otherwise long phases whose volume was predicted too low would go before all others.
    """
    volume, period_s, error = _expected(job)
    if error == math.inf:
        return None, error
    least = max(LEAST_LEFT, min(1.0, _EXCESS * error)) * max(volume, job.moved)
    left = max(volume - job.moved, least)
    return math.log(left * volume / (job.limit * period_s)), error


def _expected(job: JobState) -> tuple[float, float, float]:
    """Returns bytes of the phase, period and error: of the prediction and the job's own phases, the surer the more.

    Weights are inverse variances, so that a prediction of which little is sure gives way to what was seen.
    """
    forecast, seen = job.forecast, job.seen
    error = math.inf if forecast is None else error_of(forecast.confidence)
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
    """Returns the largest share of its time that a job which computes has lost."""
    return max(
        (1 - (job.done_s + now_s - job.since_s) / (now_s - job.start_s) for job in coming if now_s > job.start_s),
        default=0.0,
    )


@lru_cache(maxsize=4096)
def error_of(confidence: float) -> float:
    """Returns the standard deviation of the logarithm of a predicted value over the true one.

    The confidence is the probability of an error below 5 %; the error is taken as normal.
    """
    if confidence >= 1 - _CHANCE:
        return 0.0
    return math.inf if confidence <= _CHANCE else _RIGHT / NormalDist().inv_cdf((1 + confidence) / 2)


def trust(error: float) -> float:
    """Returns how much of a predicted logarithm's distance from the mean to believe: regression towards the mean."""
    return 0.0 if error == math.inf else _SPREAD**2 / (_SPREAD**2 + error**2)
