"""How far this node's clock is off the aggregator's, by round trips, and stamps that are corrected by it.

Each heartbeat carries when it was sent, by the collector's steady clock, and the answer repeats that with the
aggregator's time of day. The aggregator answers at once, so that its two stamps of NTP's four are one. Of the last
samples the one with the least delay counts, as in NTP's clock filter (RFC 5905, section 10): the true offset lies
within half a delay of what a sample says.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec
import numpy as np

from ....events import EventBatch, StreamInfo
from ....events.network.wire import LATEST_NS, Heartbeat
from ..window import SendWindow

_SAMPLES: Final = 8
"""Of NTP's clock filter."""
_DRIFT_NS: Final = 50_000_000
"""By how much clocks may drift apart within so many heartbeats: one that differs by more was set."""
TOLERANCE_NS: Final = 100_000_000
"""Clocks that differ by less are taken for right: a round trip over a busy node is no better."""
_STEADY_SOURCES: Final = frozenset({"preload"})
"""Whose stamps go on from the time of day at the start of their process, whatever becomes of the clock meanwhile."""


class _Sample(NamedTuple):
    delay_ns: int
    ahead_ns: int
    """Of the aggregator's time of day before the steady clock of this node."""


def wall_before_steady() -> int:
    """Returns by how much this node's time of day is ahead of its steady clock, ns."""
    return time.time_ns() - time.monotonic_ns()


class ClockOffset:
    """Measures, and corrects the stamps of what is sent.

    Args:
        wall_ns: see ``wall_before_steady``.
    """

    def __init__(self, wall_ns: Callable[[], int] = wall_before_steady) -> None:
        self._wall_ns = wall_ns
        self._samples: deque[_Sample] = deque(maxlen=_SAMPLES)

    def answered(self, answer: Heartbeat, now_s: float) -> None:
        """Takes in an answer to a heartbeat; aggregators of earlier versions say no time."""
        now_ns = int(now_s * 1e9)
        delay_ns = now_ns - answer.asked_ns
        if not answer.asked_ns or answer.time_ns <= 0 or delay_ns < 0:
            return
        sample = _Sample(delay_ns, answer.time_ns - answer.asked_ns - delay_ns // 2)
        if self._samples:
            best = min(self._samples)
            if abs(sample.ahead_ns - best.ahead_ns) > (sample.delay_ns + best.delay_ns) // 2 + _DRIFT_NS:
                self._samples.clear()  # one of the two clocks was set, or it is another aggregator
        self._samples.append(sample)

    def opened(self, info: StreamInfo) -> int | None:
        """Returns what a stream's stamps go by from now on, as ``wall_ns``; None: by the time of day at each call."""
        return self._wall_ns() if info.source in _STEADY_SOURCES else None

    def corrected(self, window: SendWindow, batch: EventBatch) -> EventBatch:
        """Returns a batch of a stream as the aggregator's clock would have stamped it; the stream says by how much."""
        info = window.info
        if not self._samples or info.clock_offset_ns is None:
            return batch
        best = min(self._samples)
        found_ns = best.ahead_ns - (self._wall_ns() if window.stamps_by_ns is None else window.stamps_by_ns)
        tolerated_ns = max(TOLERANCE_NS, best.delay_ns)
        if abs(found_ns + info.clock_off_ns) > tolerated_ns:  # else what was found before still does
            off_ns = -found_ns if abs(found_ns) > tolerated_ns else 0
            if off_ns != info.clock_off_ns:
                window.change(msgspec.structs.replace(info, clock_off_ns=off_ns))
        return moved(batch, -window.info.clock_off_ns)


def moved(batch: EventBatch, by_ns: int) -> EventBatch:
    """Returns the events so much later, within what a stamp can be."""
    if not by_ns or not len(batch):
        return batch
    return batch.replace(start=np.clip(batch.start + by_ns, 0, LATEST_NS))
