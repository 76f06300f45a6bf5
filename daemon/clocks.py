"""The clocks of an aggregator, frozen during each input. A replay then gives the same result."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Final

_NONE: Final = (0.0, 0.0)


class Clocks:
    """The time of day, and a monotonic clock.

    The monotonic clock may continue from that of another daemon.
    """

    def __init__(self) -> None:
        self._ahead_s = 0.0
        self._frozen_times = _NONE
        self._is_frozen = False

    def clock(self) -> float:
        """Return the time of day, Unix time."""
        return self._frozen_times[0] if self._is_frozen else time.time()

    def steady(self) -> float:
        """Return the monotonic time, for ages of jobs."""
        return self._frozen_times[1] if self._is_frozen else time.monotonic() + self._ahead_s

    def set_steady(self, at_s: float) -> None:
        """Set the monotonic clock."""
        self._ahead_s = at_s - time.monotonic()

    @contextlib.contextmanager
    def frozen(self, clock_s: float | None = None, steady_s: float | None = None) -> Iterator[tuple[float, float]]:
        """Freeze both clocks, at given times or now; yield the times."""
        before = self._frozen_times, self._is_frozen
        self._frozen_times = (
            self.clock() if clock_s is None else clock_s,
            self.steady() if steady_s is None else steady_s,
        )
        self._is_frozen = True
        try:
            yield self._frozen_times
        finally:
            self._frozen_times, self._is_frozen = before
