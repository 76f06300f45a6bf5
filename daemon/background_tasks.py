"""Tasks: permanent ones that are restarted when they fail, time limits, and cancellation."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine
from typing import Any, Final, TypeVar

from ..events import IotideError

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
_STEADY_S: Final = 10.0
"""Run time after which a task counts as having worked, s."""
_MAX_FAILURES: Final = 10
_MAX_LOGGED: Final = 100
_PAUSE_S: Final = 0.05
"""Pause before a restart, s; it grows with consecutive failures."""
_CANCEL_AGAIN_S: Final = 5.0
"""Time after which a cancellation that had no effect is repeated, s; the ends of tasks take less."""

FAILURES_PREFIX: Final = "task_failures:"
"""Prefix of the name of a task in the counters."""


class ServerFailedError(IotideError):
    """A part of the server failed repeatedly; the text has name and reason."""


async def run_forever(name: str, work: Callable[[], Awaitable[None]], counters: Counter[str]) -> None:
    """Run permanent work, and restart it when it fails.

    Args:
        name: name in messages.
        work: starts the work; each call starts it again.
        counters: counts each failure, by name.

    Raises:
        ServerFailedError: it failed at once ten times in a row, or raised this itself to end the server.
    """
    in_a_row = 0
    while True:
        begun = time.monotonic()
        try:
            await work()
            error: Exception = RuntimeError("it ended")
        except ServerFailedError:
            raise
        except Exception as raised:
            error = raised
        counters[FAILURES_PREFIX + name] += 1
        in_a_row = in_a_row + 1 if time.monotonic() - begun < _STEADY_S else 1
        if in_a_row >= _MAX_FAILURES:
            raise ServerFailedError(f"the task {name} failed {in_a_row} times in a row: {error!r}") from error
        if counters[FAILURES_PREFIX + name] <= _MAX_LOGGED:
            _log.error("the task %s failed and is restarted", name, exc_info=error)
        await asyncio.sleep(_PAUSE_S * in_a_row)


async def wait_for_first(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Wait for the first task that ends, and cancel the others.

    Raises:
        Exception: the error of the task that ended.
    """
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await cancel_all(tasks)


async def complete_within(work: Coroutine[Any, Any, _T], within_s: float) -> _T:
    """Return the result of work.

    Raises:
        TimeoutError: it took longer; it has ended.
    """
    task = asyncio.create_task(work)
    try:
        done, _ = await asyncio.wait([task], timeout=within_s)
        if not done:
            raise TimeoutError
        return task.result()
    finally:
        await cancel_all([task])


async def cancel_all(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and wait until they have ended.

    A cancellation is repeated: before Python 3.12 `asyncio.wait_for` loses one that coincides with the end of what it
    waits for, and a loop around it goes on.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_CANCEL_AGAIN_S)
