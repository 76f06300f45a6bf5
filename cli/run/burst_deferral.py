"""Decision whether work is deferred: there is a large backlog and no free core."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ...collectors.settings import SpoolSettings
from ...collectors.sources.preload.records.ring_layout import LINE_BYTES

MIN_BURST_CALLS: Final = 20_000
"""Least number of waiting calls in a burst. Fewer are processed immediately, as deferring them saves little."""
_FREE_CHECKS: Final = 3
"""Number of consecutive checks with a free core after which one counts as free.

Between the time slices of two other processes a core is free for a moment: every second check found one while two
``dd`` used both cores."""

Times = Callable[[], tuple[int, int]]


def thread_times() -> tuple[int, int]:
    """Return the time that this thread has run and has waited for a core, ns. Zeros if unknown."""
    try:
        had, waited, *_ = map(int, Path("/proc/thread-self/schedstat").read_bytes().split())
    except (OSError, ValueError):
        return 0, 0
    return had, waited


class BurstDeferral:
    """Decides whether the backlog is deferred. A burst that uses all cores needs them more, and ends.

    Args:
        bounds: bounds of the backlog; from half of it on nothing is deferred.
        patience_s: maximum time of deferral, s.
        times: CPU times of the calling thread.
        clock: monotonic clock, seconds.
    """

    def __init__(
        self,
        bounds: SpoolSettings,
        patience_s: float,
        times: Times = thread_times,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = (bounds.memory_bytes + bounds.disk_bytes) // LINE_BYTES // 2
        self._patience_s, self._times, self._clock = patience_s, times, clock
        self._had, self._waited = times()
        self._calm = _FREE_CHECKS
        self._until_s = math.inf
        self.is_deferred = False
        """The last decision."""

    def update(self, waiting: int) -> bool:
        """Return the decision for a backlog. It must be called often, as it uses the time since the last call."""
        had, waited = self._times()
        contended = waited - self._waited > had - self._had
        self._had, self._waited = had, waited
        self._calm = 0 if contended else self._calm + 1
        if waiting <= MIN_BURST_CALLS:
            self._until_s = math.inf
        elif self._until_s == math.inf:
            self._until_s = self._clock() + self._patience_s
        self.is_deferred = (
            MIN_BURST_CALLS < waiting < self._most and self._calm < _FREE_CHECKS and self._clock() < self._until_s
        )
        return self.is_deferred
