"""Work beside a command that must not cost the command its time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Final

_LEAST: Final = 19
"""The niceness of work that is far behind, and so must be much."""


class Pressure:
    """Whether work has fallen far behind; tells when it does, and when it has caught up."""

    def __init__(self, much: int, little: int) -> None:
        self.behind = asyncio.Event()
        self.abreast = asyncio.Event()
        self.abreast.set()
        self._much, self._little = much, little

    def tell(self, waiting: int) -> None:
        """Takes in how much waits."""
        if waiting >= self._much and not self.behind.is_set():
            self.behind.set()
            self.abreast.clear()
        elif waiting <= self._little and not self.abreast.is_set():
            self.abreast.set()
            self.behind.clear()


@contextlib.contextmanager
def running_aside(loop: asyncio.AbstractEventLoop, pressure: Pressure) -> Iterator[None]:
    """Runs a loop as long as the block lasts, in a thread of low priority while it is far behind.

    There are two threads, as one that has given way may not take its priority back. The loop is run by one of them at a
    time; tasks that it has go on when it is run later.
    """
    ended = asyncio.Event()
    turn = threading.Lock()  # of the first thread; both pass the loop to and fro
    other = threading.Lock()
    other.acquire()
    over = threading.Event()

    def run(mine: threading.Lock, next_: threading.Lock, niceness: int, until: asyncio.Event) -> None:
        with contextlib.suppress(OSError):
            if niceness:
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
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

    threads = [
        threading.Thread(target=run, args=(turn, other, 0, pressure.behind), name="beside", daemon=True),
        threading.Thread(target=run, args=(other, turn, _LEAST, pressure.abreast), name="aside", daemon=True),
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
