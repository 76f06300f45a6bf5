"""The clock by which jobs age."""

from __future__ import annotations

import time


class SteadyClock:
    """Seconds that no correction of the time of day sets back or forth; may go on from where another daemon was."""

    def __init__(self) -> None:
        self._ahead_s = 0.0

    def __call__(self) -> float:
        """Returns the time."""
        return time.monotonic() + self._ahead_s

    def go_on_from(self, at_s: float) -> None:
        """Has the clock show a time now."""
        self._ahead_s = at_s - time.monotonic()
