"""CPU time of the aggregator's work by stage, and blocking times of its loop."""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

TIME_PREFIX: Final = "stage_us:"
"""Prefix of the name of a stage in the aggregator's counters: microseconds of CPU time."""
_WINDOW_S: Final = 60.0


class Stages:
    """Sums of CPU time of the stages in the loop's thread.

    Args:
        counters: counters of the sums.
    """

    def __init__(self, counters: Counter[str]) -> None:
        self._counters = counters

    @contextlib.contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Count the CPU time of the block, which must not await."""
        begun = time.thread_time()
        try:
            yield
        finally:
            self._counters[TIME_PREFIX + stage] += round((time.thread_time() - begun) * 1e6)


class LoopWatch:
    """Longest recent blocking of the loop.

    Args:
        clock: monotonic clock, s.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since_s = clock()
        self._longest_s = self._before_s = 0.0

    def note(self, late_s: float) -> None:
        """Add the delay of a wake-up."""
        self._measure_turn()
        self._longest_s = max(self._longest_s, late_s)

    @property
    def longest_s(self) -> float:
        """Return the longest blocking of the last one to two minutes."""
        self._measure_turn()
        return max(self._longest_s, self._before_s)

    def _measure_turn(self) -> None:
        now_s = self._clock()
        if now_s - self._since_s >= _WINDOW_S:
            self._before_s = self._longest_s if now_s - self._since_s < 2 * _WINDOW_S else 0.0
            self._since_s, self._longest_s = now_s, 0.0


def cpu_s() -> float:
    """Return the CPU time of the process, all threads, without ended child processes."""
    times = os.times()
    return times.user + times.system


def memory_bytes() -> int:
    """Return the current memory of the process, bytes; 0 if unknown."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  (a scrape should not import more)
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0
