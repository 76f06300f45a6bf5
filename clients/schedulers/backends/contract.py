"""What a back end is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ..limits import Limit
from ..live_jobs import Seen


class Backend(Protocol):
    """Applies limits, and takes them back.

    What it cannot do for one job it says, and does the rest.
    """

    def apply(self, limits: Sequence[Limit]) -> list[str]:
        """Has these limits hold and no others; returns what did not work."""

    def clear(self) -> list[str]:
        """Has no limit hold that it made; returns what did not work."""


@runtime_checkable
class Planner(Protocol):
    """A back end that decides by itself who is limited, by what is predicted of the jobs."""

    def plan(self, seen: Seen, capacity: float, at_s: float) -> list[str]:
        """Has a plan for these jobs hold, as they were then (Unix time); returns what did not work."""

    def clear(self) -> list[str]:
        """Has no plan hold; returns what did not work."""


def changed(before: dict[str, float], limits: Sequence[Limit]) -> tuple[list[Limit], list[str]]:
    """Returns the limits that are new or differ by more than a hundredth, and the jobs that have none any more."""
    now = {limit.job: limit for limit in limits}
    fresh = [
        limit for job, limit in now.items() if abs(before.get(job, -1.0) - limit.bytes_per_s) > limit.bytes_per_s / 100
    ]
    return fresh, [job for job in before if job not in now]
