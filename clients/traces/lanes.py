"""Calls of one thread as nested or successive regions that are entered and left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

Call = TypeVar("Call")

ROUNDING_NS: Final = 2_000
"""Maximum overlap with the next call of the thread, ns: strace rounds timestamps to microseconds."""
MAX_LANES: Final = 64
MAX_NESTED: Final = 256


class Lanes(Generic[Call]):
    """Stacks of open calls, each of which can be one location of a trace.

    Calls that overlap without nesting (threads that a trace does not distinguish, summaries) go to further lanes. The
    output of a lane is in order of time.

    Args:
        leave: callback with a lane, a time and a call that ends there.
        cut: callback for each call whose end is moved forward to the start of the next.
    """

    def __init__(self, leave: Callable[[int, int, Call], None], cut: Callable[[], None]) -> None:
        self._close, self._cut = leave, cut
        self._lanes: list[list[tuple[int, Call]]] = []

    def place(self, start: int, end: int, call: Call) -> int:
        """Close calls that ended by ``start``, and open a call. Calls must be ordered by start. Return its lane."""
        for number, stack in enumerate(self._lanes):
            while stack and stack[-1][0] <= start:
                self._close(number, *stack.pop())
            while stack and start < stack[-1][0] < end and stack[-1][0] - start <= ROUNDING_NS:
                self._close(number, start, stack.pop()[1])
                self._cut()
            if not stack or (stack[-1][0] >= end and len(stack) < MAX_NESTED):
                stack.append((end, call))
                return number
        if len(self._lanes) < MAX_LANES:
            self._lanes.append([(end, call)])
            return len(self._lanes) - 1
        stack = self._lanes[-1]
        while stack:
            self._close(MAX_LANES - 1, start, stack.pop()[1])
            self._cut()
        stack.append((end, call))
        return MAX_LANES - 1

    def close_all(self) -> None:
        """Close all open calls."""
        for number, stack in enumerate(self._lanes):
            while stack:
                self._close(number, *stack.pop())
