"""A collector's heartbeats, and the answers to them: losses, plans, and the offset of the node's clock.

Each heartbeat carries its sending time by the collector's steady clock, and the answer repeats that with the
aggregator's time of day. The aggregator answers at once, so two of NTP's four stamps are the same. Among the last
samples the one with the least delay counts, as in NTP's clock filter (RFC 5905, section 10): the true offset is within
half a delay of a sample's value. Stamps of events are corrected by it.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec
import numpy as np

from ...events import EventBatch, FileInfo, StreamInfo
from ...events.losses import bounded
from ...events.network.wire import LATEST_NS, Heartbeat
from ..settings import CollectorSettings
from .window import SendWindow

_MAX_JOBS: Final = 1000
"""Maximum number of jobs whose losses are counted separately."""
_SAMPLES: Final = 8
"""Number of samples in NTP's clock filter (RFC 5905)."""
_DRIFT_NS: Final = 50_000_000
"""Maximum drift between clocks over that many heartbeats. A larger difference means that a clock was set."""
TOLERANCE_NS: Final = 100_000_000
"""Clock differences below this are not corrected. A round trip to a busy node is no more exact."""
_STEADY_SOURCES: Final = frozenset({"preload"})
"""Sources whose stamps continue from the time of day at the start of their process. They do so even if the clock is
set later."""


class _Sample(NamedTuple):
    delay_ns: int
    ahead_ns: int
    """Aggregator's time of day minus this node's steady clock."""


def wall_before_steady() -> int:
    """Return this node's time of day minus its steady clock, ns."""
    return time.time_ns() - time.monotonic_ns()


class ClockOffset:
    """Measures the clock offset, and corrects the stamps of sent events.

    Args:
        wall_ns: see ``wall_before_steady``.
    """

    def __init__(self, wall_ns: Callable[[], int] = wall_before_steady) -> None:
        self._wall_ns = wall_ns
        self._samples: deque[_Sample] = deque(maxlen=_SAMPLES)

    def answered(self, answer: Heartbeat, now_s: float) -> None:
        """Process an answer to a heartbeat; aggregators of earlier versions send no time."""
        now_ns = int(now_s * 1e9)
        delay_ns = now_ns - answer.asked_ns
        if not answer.asked_ns or answer.time_ns <= 0 or delay_ns < 0:
            return
        sample = _Sample(delay_ns, answer.time_ns - answer.asked_ns - delay_ns // 2)
        if self._samples:
            best = min(self._samples)
            if abs(sample.ahead_ns - best.ahead_ns) > (sample.delay_ns + best.delay_ns) // 2 + _DRIFT_NS:
                self._samples.clear()  # one of the two clocks was set, or the aggregator changed
        self._samples.append(sample)

    def opened(self, info: StreamInfo) -> int | None:
        """Return the reference for the stamps of a new stream, as ``wall_ns``; None: the time of day."""
        return self._wall_ns() if info.source in _STEADY_SOURCES else None

    def corrected(self, window: SendWindow, batch: EventBatch) -> EventBatch:
        """Return a batch with stamps in the aggregator's time; the stream's info carries the correction."""
        info = window.info
        if not self._samples or info.clock_offset_ns is None:
            return batch
        best = min(self._samples)
        found_ns = best.ahead_ns - (self._wall_ns() if window.stamps_by_ns is None else window.stamps_by_ns)
        tolerated_ns = max(TOLERANCE_NS, best.delay_ns)
        if abs(found_ns + info.clock_off_ns) > tolerated_ns:  # otherwise the previous correction is still good
            off_ns = -found_ns if abs(found_ns) > tolerated_ns else 0
            if off_ns != info.clock_off_ns:
                window.change(msgspec.structs.replace(info, clock_off_ns=off_ns))
        return moved(batch, -window.info.clock_off_ns)


def moved(batch: EventBatch, by_ns: int) -> EventBatch:
    """Return the events shifted later by that time, limited to valid stamps."""
    if not by_ns or not len(batch):
        return batch
    return batch.replace(start=np.clip(batch.start + by_ns, 0, LATEST_NS))


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
