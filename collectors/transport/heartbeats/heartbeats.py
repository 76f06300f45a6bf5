"""Create a collector's heartbeats, and process the answers: losses, plans, time of day."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Final

from ....events import FileInfo
from ....events.losses import bounded
from ....events.network.wire import Heartbeat
from ...settings import CollectorSettings
from .clock_offset import ClockOffset

_MAX_JOBS: Final = 1000
"""Maximum number of jobs whose losses are counted separately."""


class Heartbeats:
    """Creates heartbeats when they are due.

    Args:
        collector: name of the collector.
        settings: host, job and interval.
        clock: clock offset, measured from the answers.

    Attributes:
        losses: losses of jobs that no stream reports.
        clock: offset of this node's clock from the aggregator's.
        paces: a folder on the file system whose jobs can be made to wait.
        plan: last plan of the aggregator for that file system.
        plans_received: number of plans received.
    """

    def __init__(self, collector: str, settings: CollectorSettings, clock: ClockOffset) -> None:
        self.losses = JobLosses()
        self.clock = clock
        self.paces: FileInfo | None = None
        self.plan = b""
        self.plans_received = 0
        self._collector, self._settings = collector, settings
        self._next_s = -math.inf

    def make_due(self, now_s: float) -> None:
        """Make the next heartbeat due now if losses are unreported."""
        if self.losses.has_unreported:
            self._next_s = now_s

    def is_due(self, now_s: float) -> bool:
        """Return whether a heartbeat is due."""
        return now_s >= self._next_s

    def make(self, counters: Counter[str], now_s: float) -> Heartbeat:
        """Return a heartbeat with the counters, and schedule the next one."""
        self._next_s = now_s + self._settings.heartbeat_s
        losses = self.losses.unreported()
        self.losses.mark_sent()
        return Heartbeat(
            collector=self._collector,
            host=self._settings.host,
            counters={name: int(count) for name, count in counters.items()},
            losses=losses,
            job=self._settings.serves_job,
            paces=self.paces,
            asked_ns=int(now_s * 1e9),
            as_user=self._settings.as_user,
        )

    def answered(self, answer: Heartbeat, now_s: float) -> None:
        """Process the aggregator's answer."""
        self.losses.answered()
        self.clock.answered(answer, now_s)
        self.plan, self.plans_received = answer.plan, self.plans_received + 1


class JobLosses:
    """Cumulative losses by job that no stream reports, for at most a thousand jobs.

    Heartbeats carry them until one is answered.
    """

    def __init__(self) -> None:
        self._of: defaultdict[str, Counter[str]] = defaultdict(Counter)
        # the sum of the reported losses, and the heartbeat that reported them
        self._reported_in = (0, 0)
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
