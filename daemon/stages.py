"""What the aggregator's own work takes, stage by stage, and for how long its loop was held."""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

COUNTED: Final = "stage_us:"
"""Before the name of a stage, in the aggregator's counters: microseconds of CPU time."""
_WINDOW_S: Final = 60.0


class Stages:
    """Adds up the CPU time of the stages that the loop's thread works in.

    Args:
        counters: get them.
    """

    def __init__(self, counters: Counter[str]) -> None:
        self._counters = counters

    @contextlib.contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """Counts what is done in the block, which must not await."""
        begun = time.thread_time()
        try:
            yield
        finally:
            self._counters[COUNTED + stage] += round((time.thread_time() - begun) * 1e6)


class LoopWatch:
    """The longest time for which a loop was held lately.

    Args:
        clock: steady, s.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since_s = clock()
        self._longest_s = self._before_s = 0.0

    def note(self, late_s: float) -> None:
        """Takes in by how much somebody who slept was woken too late."""
        self._turn()
        self._longest_s = max(self._longest_s, late_s)

    @property
    def longest_s(self) -> float:
        """Returns the longest time of the last one to two minutes."""
        self._turn()
        return max(self._longest_s, self._before_s)

    def _turn(self) -> None:
        now_s = self._clock()
        if now_s - self._since_s >= _WINDOW_S:
            self._before_s = self._longest_s if now_s - self._since_s < 2 * _WINDOW_S else 0.0
            self._since_s, self._longest_s = now_s, 0.0


def cpu_s() -> float:
    """Returns the CPU time of the process, all threads, without copies that have ended."""
    times = os.times()
    return times.user + times.system


def memory_bytes() -> int:
    """Returns the memory that the process has now; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  (a scrape should not import more)
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0
