"""Create a collector's heartbeats, and process the answers: losses, plans, time of day."""

from __future__ import annotations

import math
from collections import Counter

from ....events import FileInfo
from ....events.network.wire import Heartbeat
from ...settings import CollectorSettings
from .clock_offset import ClockOffset
from .job_losses import JobLosses


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
        plans_heard: number of plans received.
    """

    def __init__(self, collector: str, settings: CollectorSettings, clock: ClockOffset) -> None:
        self.losses = JobLosses()
        self.clock = clock
        self.paces: FileInfo | None = None
        self.plan = b""
        self.plans_heard = 0
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
        )

    def answered(self, answer: Heartbeat, now_s: float) -> None:
        """Process the aggregator's answer."""
        self.losses.answered()
        self.clock.answered(answer, now_s)
        self.plan, self.plans_heard = answer.plan, self.plans_heard + 1
