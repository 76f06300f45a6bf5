"""CPU time of the aggregator's work by stage, blocking times of its loop, and pauses while it is idle."""

from __future__ import annotations

import asyncio
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
_QUIET_S: Final = 3.0
"""Time without input after which pauses are longer, s. The first checkpoint of an archive is due within it."""
_LONGEST_TICKS: Final = 4
"""Longest pause, in ticks. After ten ticks the aggregator counts as late."""


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


class IdlePause:
    """Waits between ticks. A tick of an idle aggregator changes nothing, and costs CPU time."""

    def __init__(self) -> None:
        self._input = asyncio.Event()
        self._quiet_s = 0.0

    def wake(self) -> None:
        """End a long pause, because input has arrived."""
        self._input.set()

    async def wait(self, tick_s: float, due_in_s: float) -> float:
        """Wait until the next tick. Return by how much the loop was late, s.

        Args:
            tick_s: pause while there is input, s.
            due_in_s: time until the next due work, s; infinite without any.
        """
        clock = asyncio.get_running_loop().time
        has_input = self._input.is_set()
        self._input.clear()
        self._quiet_s = 0.0 if has_input else self._quiet_s + tick_s
        if self._quiet_s <= _QUIET_S:
            until_s = clock() + tick_s
            await asyncio.sleep(tick_s)
            return max(clock() - until_s, 0.0)
        until_s = clock() + max(tick_s, min(due_in_s, _LONGEST_TICKS * tick_s))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(until_s):
                await self._input.wait()
                until_s = min(until_s, clock() + tick_s / 2)
                await asyncio.sleep(tick_s / 2)  # the mean time from input to a tick while there is input
        return max(clock() - until_s, 0.0)
