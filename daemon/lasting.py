"""Tasks that go on whatever happens: one that fails starts again, one that does nothing but fail ends the server."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

from ..events import IotideError

_log = logging.getLogger(__name__)
_STEADY_S: Final = 10.0
"""A task that lasted so long did something."""
_MOST_FAILURES: Final = 10
_MOST_LOGGED: Final = 100
_PAUSE_S: Final = 0.05
"""Before it starts again; grows with each failure in a row."""

COUNTED: Final = "task_failures:"
"""Before the name of a task, in the counters."""


class ServerFailedError(IotideError):
    """A part of the server failed over and over again; the text says which and why."""


async def lasting(name: str, work: Callable[[], Awaitable[None]], counters: Counter[str]) -> None:
    """Does work that has no end, and starts it again when it fails.

    Args:
        name: what is said of it.
        work: what is to be done; begins anew with each call.
        counters: gets each failure, by name.

    Raises:
        ServerFailedError: it failed ten times in a row, each time at once; or it said itself that all has to end.
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
        counters[COUNTED + name] += 1
        in_a_row = in_a_row + 1 if time.monotonic() - begun < _STEADY_S else 1
        if in_a_row >= _MOST_FAILURES:
            raise ServerFailedError(f"the task {name} failed {in_a_row} times in a row: {error!r}") from error
        if counters[COUNTED + name] <= _MOST_LOGGED:
            _log.error("the task %s failed, and starts again", name, exc_info=error)
        await asyncio.sleep(_PAUSE_S * in_a_row)
