"""Concurrent work that must not slow the command down."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from .low_priority import LowPriority


class BacklogPressure:
    """Detects when work has been behind for too long, and when it has caught up.

    Args:
        little: backlog up to which work is not behind.
        patience_s: time for which it may be behind, s.
        clock: monotonic clock, seconds.
    """

    def __init__(self, little: int, patience_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.is_behind = asyncio.Event()
        self.has_caught_up = asyncio.Event()
        self.has_caught_up.set()
        self._small_backlog, self._patience_s, self._clock = little, patience_s, clock
        self._caught_up_s: float | None = None

    def update(self, waiting: int) -> None:
        """Take in the current backlog."""
        now_s = self._clock()
        if waiting <= self._small_backlog or self._caught_up_s is None:
            self._caught_up_s = now_s
            self.has_caught_up.set()
            self.is_behind.clear()
        elif now_s - self._caught_up_s > self._patience_s:
            self.is_behind.set()
            self.has_caught_up.clear()


@contextlib.contextmanager
def loop_in_thread(
    loop: asyncio.AbstractEventLoop, pressure: BacklogPressure, low_priority: LowPriority
) -> Iterator[None]:
    """Run an event loop for the duration of the block, in a separate thread.

    The thread has low priority unless it is behind.

    There are two threads, as a thread with low priority may not be permitted to raise it again. One of them at a time
    runs the loop; its tasks continue when the other takes over.
    """
    ended = asyncio.Event()
    turn = threading.Lock()  # of the first thread; both pass the loop back and forth
    other = threading.Lock()
    other.acquire()
    over = threading.Event()

    def run(mine: threading.Lock, next_: threading.Lock, until: asyncio.Event) -> None:
        while True:
            mine.acquire()
            if over.is_set():
                break
            asyncio.set_event_loop(loop)
            loop.run_until_complete(_first_of(ended, until))
            if ended.is_set():
                over.set()
            next_.release()
        with contextlib.suppress(RuntimeError):  # the other has ended first
            next_.release()

    def run_lowered() -> None:
        with low_priority.lowered():
            run(turn, other, pressure.is_behind)

    threads = [
        threading.Thread(target=run_lowered, name="aside", daemon=True),
        threading.Thread(target=run, args=(other, turn, pressure.has_caught_up), name="beside", daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(ended.set)
        for thread in threads:
            thread.join()


async def _first_of(*events: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for each in waiting:
        each.cancel()
