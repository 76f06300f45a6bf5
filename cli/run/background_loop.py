"""Concurrent work that must not slow the command down."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from .low_priority import LowPriority


class Pressure:
    """Detects when work has been behind for too long, and when it has caught up.

    Args:
        little: backlog up to which work is not behind.
        patience_s: time for which it may be behind, s.
        clock: monotonic clock, seconds.
    """

    def __init__(self, little: int, patience_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.late = asyncio.Event()
        self.abreast = asyncio.Event()
        self.abreast.set()
        self._little, self._patience_s, self._clock = little, patience_s, clock
        self._abreast_s: float | None = None

    def tell(self, waiting: int) -> None:
        """Take in the current backlog."""
        now_s = self._clock()
        if waiting <= self._little or self._abreast_s is None:
            self._abreast_s = now_s
            self.abreast.set()
            self.late.clear()
        elif now_s - self._abreast_s > self._patience_s:
            self.late.set()
            self.abreast.clear()


@contextlib.contextmanager
def running_aside(loop: asyncio.AbstractEventLoop, pressure: Pressure, low_priority: LowPriority) -> Iterator[None]:
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

    def give_way() -> None:
        with low_priority.given():
            run(turn, other, pressure.late)

    threads = [
        threading.Thread(target=give_way, name="aside", daemon=True),
        threading.Thread(target=run, args=(other, turn, pressure.abreast), name="beside", daemon=True),
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
