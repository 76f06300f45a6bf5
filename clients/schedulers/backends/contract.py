"""Interface of scheduling backends, and the backend without effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ..limits import Limit
from ..live_jobs import LiveState


class Backend(Protocol):
    """A backend that sets and removes limits.

    Failures for one job are reported, and the others are still processed.
    """

    def apply(self, limits: Sequence[Limit]) -> list[str]:
        """Apply exactly these limits; return the failures."""

    def clear(self) -> list[str]:
        """Remove all limits of this backend; return the failures."""


@runtime_checkable
class Planner(Protocol):
    """A backend that decides itself which jobs are limited, from predictions of the jobs."""

    def plan(self, seen: LiveState, capacity: float, at_s: float) -> list[str]:
        """Publish a plan for these jobs, in their state at that Unix time. Return the failures."""

    def clear(self) -> list[str]:
        """Withdraw the plan; return the failures."""


def changed(before: dict[str, float], limits: Sequence[Limit]) -> tuple[list[Limit], list[str]]:
    """Return the limits that are new or differ by more than 1 %. It also returns the jobs whose limit is gone."""
    now = {limit.job: limit for limit in limits}
    fresh = [
        limit for job, limit in now.items() if abs(before.get(job, -1.0) - limit.bytes_per_s) > limit.bytes_per_s / 100
    ]
    return fresh, [job for job in before if job not in now]


class DryRun:
    """A backend without effect."""

    def apply(self, limits: Sequence[Limit]) -> list[str]:
        """Do nothing."""
        return []

    def clear(self) -> list[str]:
        """Do nothing."""
        return []
