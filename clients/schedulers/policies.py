"""Who gets how much of the bandwidth: pure functions from the jobs that wait for I/O to their shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """One job that waits for I/O: bytes, bytes/s and seconds."""

    since: float
    remaining: float
    limit: float
    period: float | None  # None: no prediction, or one too unsure to act on
    progress: float  # yield so far: time it would have taken alone / time elapsed, 0 to 1


Policy = Callable[[Sequence[Request], float], list[float]]


def by_weight(requests: Sequence[Request], weights: Sequence[float], capacity: float) -> list[float]:
    """Shares in proportion to weights; what a job's limit leaves goes to the others (max-min fairness)."""
    shares = [0.0] * len(requests)
    left = capacity
    weight = math.fsum(weights)
    for place in sorted(range(len(requests)), key=lambda i: (requests[i].limit / weights[i], i)):
        shares[place] = max(0.0, min(requests[place].limit, left * min(1.0, weights[place] / weight), left))
        left -= shares[place]
        weight = max(weight - weights[place], math.ulp(0.0))
    return shares


def in_order(requests: Sequence[Request], order: Sequence[int], capacity: float) -> list[float]:
    """The first job gets all that it can take, the next one what is left."""
    shares = [0.0] * len(requests)
    for place in order:
        shares[place] = min(requests[place].limit, capacity)
        capacity -= shares[place]
    return shares


def fair(requests: Sequence[Request], capacity: float) -> list[float]:
    """Equal shares for all jobs."""
    return by_weight(requests, [1.0] * len(requests), capacity)


def fcfs(requests: Sequence[Request], capacity: float) -> list[float]:
    """The job that has waited longest goes first."""
    return in_order(requests, sorted(range(len(requests)), key=lambda i: requests[i].since), capacity)


def set10(requests: Sequence[Request], capacity: float) -> list[float]:
    """Set-10 (Boito et al., IPDPS 2023): set = round(log10(period)), FCFS in a set, weight 10^-set between sets.

    Jobs without a period share as the unsure do: each is a set of its own with the mean weight of the sets.
    """
    heads: dict[int, int] = {}
    unsure = []
    for place in sorted(range(len(requests)), key=lambda i: requests[i].since):
        period = requests[place].period
        if period is None:
            unsure.append(place)
        else:
            heads.setdefault(round(math.log10(period)), place)
    weights = {place: 10.0**-number for number, place in heads.items()}
    mean = math.fsum(weights.values()) / len(weights) if weights else 1.0
    weights.update(dict.fromkeys(unsure, mean))
    chosen = list(weights)
    granted = by_weight([requests[i] for i in chosen], [weights[i] for i in chosen], capacity)
    shares = [0.0] * len(requests)
    for place, share in zip(chosen, granted, strict=True):
        shares[place] = share
    left = max(0.0, capacity - math.fsum(shares))
    for place in sorted(range(len(requests)), key=lambda i: requests[i].since):
        more = min(left, requests[place].limit - shares[place])
        shares[place] += more
        left -= more
    return shares


def lowest_yield(requests: Sequence[Request], capacity: float) -> list[float]:
    """The job with the lowest yield goes first (JPDC 2024)."""
    order = sorted(range(len(requests)), key=lambda i: (requests[i].progress, requests[i].since))
    return in_order(requests, order, capacity)


def volume_yield(power: float) -> Policy:
    """Least of remaining volume times yield^power first: 0 is shortest remaining first, infinity lowest yield."""

    def policy(requests: Sequence[Request], capacity: float) -> list[float]:
        def key(i: int) -> tuple[float, float]:
            r = requests[i]
            return math.log(max(r.remaining, 1e-9)) + power * math.log(max(r.progress, 1e-9)), r.since

        return in_order(requests, sorted(range(len(requests)), key=key), capacity)

    return policy
