"""Calls of one thread as regions that are entered and left: each within another or after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

Call = TypeVar("Call")

ROUNDING_NS: Final = 2_000
"""By so much a call may reach into the next one of its thread: strace's stamps are rounded to microseconds."""
MOST_LANES: Final = 64
MOST_NESTED: Final = 256


class Lanes(Generic[Call]):
    """Stacks of calls that are open, each of which can be one location of a trace.

    Calls that overlap and do not enclose one another (threads that a trace does not tell apart, summaries) go to
    further lanes. What a lane gives out is in order of time.

    Args:
        leave: called with a lane, a time and a call that ends there.
        cut: called for each call whose end is brought forward to the start of the next.
    """

    def __init__(self, leave: Callable[[int, int, Call], None], cut: Callable[[], None]) -> None:
        self._leave, self._cut = leave, cut
        self._lanes: list[list[tuple[int, Call]]] = []

    def place(self, start: int, end: int, call: Call) -> int:
        """Ends what has ended by ``start``, and opens a call; calls come by start. Returns its lane."""
        for number, stack in enumerate(self._lanes):
            while stack and stack[-1][0] <= start:
                self._leave(number, *stack.pop())
            while stack and start < stack[-1][0] < end and stack[-1][0] - start <= ROUNDING_NS:
                self._leave(number, start, stack.pop()[1])
                self._cut()
            if not stack or (stack[-1][0] >= end and len(stack) < MOST_NESTED):
                stack.append((end, call))
                return number
        if len(self._lanes) < MOST_LANES:
            self._lanes.append([(end, call)])
            return len(self._lanes) - 1
        stack = self._lanes[-1]
        while stack:
            self._leave(MOST_LANES - 1, start, stack.pop()[1])
            self._cut()
        stack.append((end, call))
        return MOST_LANES - 1

    def finish(self) -> None:
        """Ends all that is open."""
        for number, stack in enumerate(self._lanes):
            while stack:
                self._leave(number, *stack.pop())
