"""A policy that knows all future phases: an upper bound for any order, for the simulator only."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from iotide.clients.schedulers.fluid import Job
from iotide.scheduling.policies import in_order
from iotide.scheduling.protocol import Grant, JobState, Policy

AHEAD_S: Final = 16.0
WORTH: Final = 1.5
"""Seconds in I/O per second of completed I/O, as exchange rate; near the resulting I/O slowdown, as the goal is a
ratio."""


def clairvoyant(jobs: Sequence[Job], capacity: float) -> Policy:
    """Serve the job with the best next seconds, if the least volume goes first after the next event.

    Each job can use the whole capacity. Phases are taken from the predictions, which must be true.
    """
    phases = [{id(told): number for number, told in enumerate(job.forecasts)} for job in jobs]

    def policy(waiting: Sequence[JobState], coming: Collection[JobState], capacity: float, now_s: float) -> Grant:
        if len(waiting) == 1:
            return in_order(waiting, [0], capacity)
        at = {each.number: phases[each.number][id(each.forecast)] for each in (*waiting, *coming) if each.forecast}
        left = {each.number: (jobs[each.number].volumes[at[each.number]] - each.moved) / capacity for each in waiting}
        due = [
            (each.since_s + jobs[each.number].gaps_s[at[each.number]], each.number)
            for each in coming
            if each.number in at
        ]
        heapq.heapify(due)
        costs = [_cost(jobs, capacity, each.number, left, due, at, now_s) for each in waiting]
        return in_order(waiting, sorted(range(len(waiting)), key=costs.__getitem__), capacity)

    return policy


def _cost(
    jobs: Sequence[Job],
    capacity: float,
    first: int,
    left_s: Mapping[int, float],
    due_s: Sequence[tuple[float, int]],
    at: Mapping[int, int],
    now_s: float,
) -> float:
    """Return seconds in I/O of all jobs less the value of the completed I/O."""
    left, due, phase, serving = dict(left_s), list(due_s), dict(at), first
    until_s, cost = now_s + AHEAD_S, 0.0
    while now_s < until_s and (left or due):
        if left:
            serving = serving if serving in left else min(left, key=left.__getitem__)
            ends_s = now_s + left[serving]
            next_s = min(ends_s, due[0][0] if due else math.inf, until_s)
            cost += (len(left) - WORTH) * (next_s - now_s)
            left[serving] -= next_s - now_s
            now_s = next_s
            if next_s == ends_s:
                del left[serving]
                phase[serving] += 1
                if phase[serving] < len(jobs[serving].volumes):
                    heapq.heappush(due, (now_s + jobs[serving].gaps_s[phase[serving]], serving))
        else:
            now_s = max(now_s, due[0][0])
        while due and due[0][0] <= now_s:
            _, number = heapq.heappop(due)
            left[number] = jobs[number].volumes[phase[number]] / capacity
            serving = -1
    return cost
