"""Compute the sleep time between polls of rings, to limit the cost of polling."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_WITH_NEWS_S: Final = 0.05
_WITHOUT_S: Final = 0.4
_UNWOKEN_S: Final = 0.01
"""For processes that cannot wake the collector: a ring fills in about 25 ms."""
_UNWOKEN_IDLE_S: Final = 0.02
_LONGEST_S: Final = 1.0
"""A process assumes after three seconds that the collector is gone."""
_GROWTH: Final = 1.3
_LOOKS_A_SHARE: Final = 400
"""Ratio of sleep time to polling time while there is no new data."""
_SHORTEST_S: Final = 0.001
_MAX_REST_S: Final = 0.02
CALM_REST_S: Final = 0.004
"""Rest while no process records much, for rings of the default length. A poll of a build's processes takes 0.1 ms."""
_BURST_LINES: Final = 4096
"""Number of lines of one process in a poll from which on rests are short."""


class SleepTimes:
    """Computes sleep times; epoll interrupts a nap, but not a rest.

    Args:
        calm_rest_s: rest while no process records much, s.
    """

    def __init__(self, calm_rest_s: float = _SHORTEST_S) -> None:
        self._calm_rest_s = calm_rest_s
        self._nap_s = _WITH_NEWS_S
        self._look_s = 0.0

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measures the cost of a poll."""
        begun_s = time.thread_time()
        yield
        self._look_s = time.thread_time() - begun_s

    def pause(self, most_lines: int) -> None:
        """Wait briefly for more data, because each poll visits all processes, however few have signalled.

        Args:
            most_lines: highest number of lines that the last poll took from one process.
        """
        rest_s = _SHORTEST_S if most_lines >= _BURST_LINES else self._calm_rest_s
        time.sleep(min(max(rest_s, self._look_s), _MAX_REST_S))

    def next_s(self, *, busy: bool, wakes: bool) -> float:
        """Return the time to wait for a signal.

        Args:
            busy: the last poll found data.
            wakes: the processes signal when much data waits.
        """
        if not wakes:
            self._nap_s = _UNWOKEN_S if busy else min(_GROWTH * self._nap_s, _UNWOKEN_IDLE_S)
            return self._nap_s
        self._nap_s = _WITH_NEWS_S if busy else min(_GROWTH * self._nap_s, _WITHOUT_S)
        return self._nap_s if busy else min(max(self._nap_s, _LOOKS_A_SHARE * self._look_s), _LONGEST_S)
