"""What of jobs was lost and no stream tells of: heartbeats tell it until one that did was answered."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Final

from ....events.losses import bounded

_MOST_JOBS: Final = 1000
"""Whose losses are told apart."""


class JobLosses:
    """Losses by job, cumulative; of at most a thousand jobs."""

    def __init__(self) -> None:
        self._of: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._told: tuple[int, int] = (0, 0)  # their sum, and the heartbeat that told it
        self._beats_sent = self._beats_answered = 0

    def lose(self, job: str, losses: Counter[str]) -> bool:
        """Takes in what was lost of a job; False where there are too many jobs."""
        if job not in self._of and len(self._of) >= _MOST_JOBS:
            return False
        self._of[job].update(losses)
        return True

    def to_tell(self) -> dict[str, dict[str, int]]:
        """Returns what a heartbeat is to tell."""
        return {job: bounded(lost) for job, lost in self._of.items()}

    def told(self) -> None:
        """Takes in that a heartbeat was made of it."""
        self._beats_sent += 1
        if self._told[0] != self._sum:
            self._told = self._sum, self._beats_sent

    def answered(self) -> None:
        """Takes in that a heartbeat was answered."""
        self._beats_answered += 1

    @property
    def are_to_be_told(self) -> bool:
        """Whether an answer is awaited to a heartbeat that tells all of it."""
        told, beat = self._told
        return told != self._sum or self._beats_answered < beat

    @property
    def _sum(self) -> int:
        return sum(sum(lost.values()) for lost in self._of.values())
