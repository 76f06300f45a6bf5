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
        self._held = _NONE
        self._is_held = False

    def clock(self) -> float:
        """Return the time of day, Unix time."""
        return self._held[0] if self._is_held else time.time()

    def steady(self) -> float:
        """Return the monotonic time, for ages of jobs."""
        return self._held[1] if self._is_held else time.monotonic() + self._ahead_s

    def go_on_from(self, at_s: float) -> None:
        """Set the monotonic clock."""
        self._ahead_s = at_s - time.monotonic()

    @contextlib.contextmanager
    def held(self, clock_s: float | None = None, steady_s: float | None = None) -> Iterator[tuple[float, float]]:
        """Freeze both clocks, at given times or now; yield the times."""
        before = self._held, self._is_held
        self._held = (
            self.clock() if clock_s is None else clock_s,
            self.steady() if steady_s is None else steady_s,
        )
        self._is_held = True
        try:
            yield self._held
        finally:
            self._held, self._is_held = before
