"""From the shares that a policy grants to limits of single jobs: as few as will do, and none that stops a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...scheduling.protocol import Policy
from .live_jobs import Seen

SUREST_FROM: Final = 0.5
"""A period with a lower confidence is a guess, as everywhere (``Prediction.periodic``)."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What one job may take.

    Attributes:
        job: its name.
        bytes_per_s: at most; at least the floor.
        weight: its share of the capacity, 0 to 1.
    """

    job: str
    bytes_per_s: float
    weight: float


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to hold until the next look.

    Attributes:
        limits: of the jobs that get less than they could take; all others have none.
        why: why there are none, or "".
        waiting: how many jobs are in an I/O phase.
        predicted: how many of them have a period that is no guess.
    """

    limits: tuple[Limit, ...]
    why: str
    waiting: int
    predicted: int


def decide(seen: Seen, policy: Policy, capacity: float, now_s: float, floor: float) -> Decision:
    """Asks the policy, and says which jobs are to be limited.

    Nobody is limited while one job alone does I/O (there is nothing to share), or while no job in I/O has a period
    (nothing is known that the system does not know).

    Args:
        seen: the jobs.
        policy: who gets what.
        capacity: bytes/s of the file system.
        now_s: Unix time.
        floor: share of the capacity that a job has at least, so that none is stopped.
    """
    waiting = seen.waiting
    predicted = sum(job.forecast is not None and job.forecast.confidence > SUREST_FROM for job in waiting)
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
