"""Conversion of a policy's shares to limits of single jobs.

There are as few limits as possible, and none stops a job.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...scheduling.protocol import Policy
from .live_jobs import LiveState

MIN_CONFIDENCE: Final = 0.5
"""Confidence below which a period counts as a guess, as in ``Prediction.periodic``."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Rate limit of one job.

    Attributes:
        job: its name.
        bytes_per_s: highest rate; at least the floor.
        weight: its share of the capacity, 0 to 1.
    """

    job: str
    bytes_per_s: float
    weight: float


@dataclass(frozen=True, slots=True)
class Decision:
    """Limits until the next step.

    Attributes:
        limits: limits of the jobs that get less than they could use; all others have none.
        why: reason why there are no limits, or "".
        waiting: number of jobs in an I/O phase.
        predicted: number of these with a sure period.
    """

    limits: tuple[Limit, ...]
    why: str
    waiting: int
    predicted: int


def decide(seen: LiveState, policy: Policy, capacity: float, now_s: float, floor: float) -> Decision:
    """Query the policy and return the limits.

    No job is limited while only one job does I/O (there is nothing to share), or while no job in I/O has a period
    (there is no knowledge beyond that of the system).

    Args:
        seen: the jobs.
        policy: the policy.
        capacity: bytes/s of the file system.
        now_s: Unix time.
        floor: least share of the capacity of each job, so that none is stopped.
    """
    waiting = seen.waiting
    predicted = sum(job.forecast is not None and job.forecast.confidence > MIN_CONFIDENCE for job in waiting)
    if len(waiting) < 2:
        return Decision((), "one job at most does I/O", len(waiting), predicted)
    if not predicted:
        return Decision((), "no job in I/O has a period yet", len(waiting), predicted)
    shares = policy(waiting, seen.coming, capacity, now_s).shares
    limits = []
    for job, share in zip(waiting, shares, strict=True):
        if share < job.limit * (1 - 1e-9):
            limits.append(Limit(seen.names[job.number], max(share, floor * capacity), share / capacity))
    return Decision(tuple(limits), "" if limits else "all can have what they can take", len(waiting), predicted)
