"""What a collector's heartbeats say, and what the answers to them say: losses, plans, the time of day."""

from __future__ import annotations

import math
from collections import Counter

from ....events import FileInfo
from ....events.network.wire import Heartbeat
from ...settings import CollectorSettings
from .clock_offset import ClockOffset
from .job_losses import JobLosses


class Heartbeats:
    """Makes them when they are due.

    Args:
        collector: its name.
        settings: where it runs, for which job, and how often it says so.
        clock: measures by the answers.

    Attributes:
        losses: of jobs, which no stream tells of.
        clock: of this node, against the aggregator's.
        paces: a folder on the file system whose jobs can be told to wait.
        plan: what the aggregator said last of who waits there.
        plans_heard: how often it has said something.
    """

    def __init__(self, collector: str, settings: CollectorSettings, clock: ClockOffset) -> None:
        self.losses = JobLosses()
        self.clock = clock
        self.paces: FileInfo | None = None
        self.plan = b""
        self.plans_heard = 0
        self._collector, self._settings = collector, settings
        self._next_s = -math.inf

    def hurry(self, now_s: float) -> None:
        """Has the next one be due where losses are to be told."""
        if self.losses.are_to_be_told:
            self._next_s = now_s

    def is_due(self, now_s: float) -> bool:
        """Tells whether one is to be sent."""
        return now_s >= self._next_s

    def make(self, counters: Counter[str], now_s: float) -> Heartbeat:
        """Returns one with what was counted so far; the next one is due in a while."""
        self._next_s = now_s + self._settings.heartbeat_s
        losses = self.losses.to_tell()
        self.losses.told()
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
        """Takes in the aggregator's answer."""
        self.losses.answered()
        self.clock.answered(answer, now_s)
        self.plan, self.plans_heard = answer.plan, self.plans_heard + 1
