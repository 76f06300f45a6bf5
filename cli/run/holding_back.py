"""Whether work beside a command is better done later: much waits, and there is no core for it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ...collectors.settings import SpoolSettings
from ...collectors.sources.preload.records.ring_layout import LINE_BYTES

MANY: Final = 20_000
"""Calls that wait in a burst; fewer are worth so little time that they are looked at as they come."""
_CALM: Final = 3
"""Looks in a row that found a core, after which there is one: between two others' turns there is one for a moment.

Each other look found one while two ``dd`` had both cores.
"""

Times = Callable[[], tuple[int, int]]


def times_of_thread() -> tuple[int, int]:
    """Returns how long this thread has had a core and how long it has waited for one, ns; zeros where nobody knows."""
    try:
        had, waited, *_ = map(int, Path("/proc/thread-self/schedstat").read_bytes().split())
    except (OSError, ValueError):
        return 0, 0
    return had, waited


class HoldingBack:
    """Tells whether to leave what waits for later: a burst that has all cores needs them more, and ends.

    Args:
        bounds: of what may wait; from half of it on nothing is left for later.
        patience_s: how long something is.
        times: of the thread that asks.
        clock: a steady one, seconds.
    """

    def __init__(
        self,
        bounds: SpoolSettings,
        patience_s: float,
        times: Times = times_of_thread,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = (bounds.memory_bytes + bounds.disk_bytes) // LINE_BYTES // 2
        self._patience_s, self._times, self._clock = patience_s, times, clock
        self._had, self._waited = times()
        self._calm = _CALM
        self._until_s = math.inf
        self.held = False
        """What it told last."""

    def holds(self, waiting: int) -> bool:
        """Tells it, where so many calls wait; is to be asked often, as it goes by what was between."""
        had, waited = self._times()
        contended = waited - self._waited > had - self._had
        self._had, self._waited = had, waited
        self._calm = 0 if contended else self._calm + 1
        if waiting <= MANY:
            self._until_s = math.inf
        elif self._until_s == math.inf:
            self._until_s = self._clock() + self._patience_s
        self.held = MANY < waiting < self._most and self._calm < _CALM and self._clock() < self._until_s
        return self.held
