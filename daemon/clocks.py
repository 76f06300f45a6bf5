"""The clocks of an aggregator, which stand still while it takes in one thing, so that it can be done again alike."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Final

_NONE: Final = (0.0, 0.0)


class Clocks:
    """The time of day, and seconds that no correction of it sets back or forth.

    The latter may go on from where another daemon was.
    """

    def __init__(self) -> None:
        self._ahead_s = 0.0
        self._held = _NONE
        self._is_held = False

    def clock(self) -> float:
        """Returns the time of day, Unix time."""
        return self._held[0] if self._is_held else time.time()

    def steady(self) -> float:
        """Returns the time by which jobs age."""
        return self._held[1] if self._is_held else time.monotonic() + self._ahead_s

    def go_on_from(self, at_s: float) -> None:
        """Has the steady clock show a time now."""
        self._ahead_s = at_s - time.monotonic()

    @contextlib.contextmanager
    def held(self, clock_s: float | None = None, steady_s: float | None = None) -> Iterator[tuple[float, float]]:
        """Has both stand still, at given times or now; yields the times."""
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
