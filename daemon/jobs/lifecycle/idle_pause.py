"""Pause between ticks of an aggregator whose creator passes its input. It is longer while no input arrives."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

_QUIET_S: Final = 3.0
"""Time without input after which pauses are longer, s. The first checkpoint of an archive is due within it."""
_LONGEST_TICKS: Final = 4
"""Longest pause, in ticks. After ten ticks the aggregator counts as late."""


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
