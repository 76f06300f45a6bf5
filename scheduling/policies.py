"""Policies from the literature: shares of one bandwidth for the jobs in I/O."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from .protocol import Grant, JobState


def by_weight(waiting: Sequence[JobState], weights: Sequence[float], capacity: float) -> list[float]:
    """Return shares in proportion to weights, bounded by the jobs' limits (weighted max-min fairness).

    Bandwidth that a job's limit leaves over goes to the other jobs.
    """
    shares = [0.0] * len(waiting)
    left = capacity
    weight = math.fsum(weights)
    for place in sorted(range(len(waiting)), key=lambda i: waiting[i].limit / weights[i]):
        shares[place] = max(0.0, min(waiting[place].limit, left * min(1.0, weights[place] / weight), left))
        left -= shares[place]
        weight = max(weight - weights[place], math.ulp(0.0))
    return shares


def in_order(waiting: Sequence[JobState], order: list[int], capacity: float) -> Grant:
    """Serve jobs in order: each gets all that it can take of the remaining bandwidth."""
    shares = [0.0] * len(waiting)
    for place in order:
        if capacity <= 0:
            break
        shares[place] = min(waiting[place].limit, capacity)
        capacity -= shares[place]
    return Grant(shares, order)


def fair_share(waiting: Sequence[JobState], coming: Collection[JobState], capacity: float, now_s: float) -> Grant:
    """Give all jobs equal shares."""
    return Grant(by_weight(waiting, [1.0] * len(waiting), capacity), list(range(len(waiting))))


def fcfs(waiting: Sequence[JobState], coming: Collection[JobState], capacity: float, now_s: float) -> Grant:
    """Serve the phase that began first."""
    return in_order(waiting, list(range(len(waiting))), capacity)


def set10(waiting: Sequence[JobState], coming: Collection[JobState], capacity: float, now_s: float) -> Grant:
    """Apply Set-10 [IO-Sets]: set = round(log10(period)), FCFS in a set, weight 10^-set between sets.

    Each job without a prediction forms a set of its own, with the mean weight of the sets. Bandwidth that the heads of
    the sets cannot take goes to the others in the order in which their phases began.
    """
    heads: dict[int, int] = {}
    unsure = []
    for place, job in enumerate(waiting):
        if job.forecast is None:
            unsure.append(place)
        else:
            heads.setdefault(round(math.log10(job.forecast.period_s)), place)
    weights = {place: 10.0**-number for number, place in heads.items()}
    mean = math.fsum(weights.values()) / len(weights) if weights else 1.0
    weights.update(dict.fromkeys(unsure, mean))
    chosen = list(weights)
    granted = by_weight([waiting[i] for i in chosen], list(weights.values()), capacity)
    shares = [0.0] * len(waiting)
    for place, share in zip(chosen, granted, strict=True):
        shares[place] = share
    left = capacity - math.fsum(granted)
    for place in range(len(waiting)):
        if left <= 0:
            break
        more = min(left, waiting[place].limit - shares[place])
        shares[place] += more
        left -= more
    rest = [place for place in range(len(waiting)) if place not in weights]
    return Grant(shares, sorted(chosen, key=lambda i: -weights[i]) + rest)


def lowest_yield(waiting: Sequence[JobState], coming: Collection[JobState], capacity: float, now_s: float) -> Grant:
    """Serve the job with the lowest yield first (GreedyYield) [Sharing]."""
    yields = [job.waiting_yield(now_s) for job in waiting]
    return in_order(waiting, sorted(range(len(waiting)), key=yields.__getitem__), capacity)
