"""Work beside a command that must not cost the command its time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Final

_LEAST: Final = 19
"""The niceness of what may wait."""


@contextlib.contextmanager
def running_aside(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Runs a loop in a thread of low priority, as long as the block lasts; tasks that it has go on later.

    A thread, as a process that has given way once may not take its priority back: what is left to do when the command
    has ended runs at the user's own.
    """
    stopped = asyncio.Event()
    thread = threading.Thread(target=_run, args=(loop, stopped), name="aside", daemon=True)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join()


def _run(loop: asyncio.AbstractEventLoop, stopped: asyncio.Event) -> None:
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LEAST)
    asyncio.set_event_loop(loop)
    loop.run_until_complete(stopped.wait())
