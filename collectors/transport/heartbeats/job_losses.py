"""Losses of jobs that no stream reports: heartbeats carry them until one is answered."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Final

from ....events.losses import bounded

_MAX_JOBS: Final = 1000
"""Maximum number of jobs whose losses are counted separately."""


class JobLosses:
    """Cumulative losses by job, for at most a thousand jobs."""

    def __init__(self) -> None:
        self._of: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._reported_in: tuple[int, int] = (
            0,
            0,
        )  # the sum of the reported losses, and the heartbeat that reported them
        self._beats_sent = self._beats_answered = 0

    def add(self, job: str, losses: Counter[str]) -> bool:
        """Add losses of a job; False if there are too many jobs."""
        if job not in self._of and len(self._of) >= _MAX_JOBS:
            return False
        self._of[job].update(losses)
        return True

    def unreported(self) -> dict[str, dict[str, int]]:
        """Return the losses that a heartbeat must carry."""
        return {job: bounded(lost) for job, lost in self._of.items()}

    def mark_sent(self) -> None:
        """Record that a heartbeat was made with the losses."""
        self._beats_sent += 1
        if self._reported_in[0] != self._sum:
            self._reported_in = self._sum, self._beats_sent

    def answered(self) -> None:
        """Record that a heartbeat was answered."""
        self._beats_answered += 1

    @property
    def has_unreported(self) -> bool:
        """Whether no heartbeat with all losses has been answered yet."""
        reported, beat = self._reported_in
        return reported != self._sum or self._beats_answered < beat

    @property
    def _sum(self) -> int:
        return sum(sum(lost.values()) for lost in self._of.values())
