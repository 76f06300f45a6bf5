"""Short garbage collections of a long-running process, and return of its free memory.

Python's full collection examines all objects. With thousands of jobs, the aggregator does nothing else meanwhile.
Jobs and predictions have no reference cycles, so a full collection finds nothing of them. Objects that survived one
collection are therefore frozen, and only new objects are examined each second. All objects are examined rarely.

The C library keeps freed memory. Once the first has been freed, it does not return messages and arrays of about a
megabyte either, so the memory of the process would grow to that of its worst moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

_INTERVAL_S: Final = 1.0
"""Interval of collections of new objects, s."""
_NO_AUTOMATIC_FULL: Final = 1 << 30
"""Threshold of Python's own full collections, in collections of younger objects."""
_MIN_COMPLETE_S: Final = 600.0
"""Minimum time between collections of all objects, s."""
_COMPLETE_SHARE: Final = 1 / 2000
"""Maximum share of the time for these collections."""
_GROWTH: Final = 2.0
"""Growth of the memory since the last of these collections after which another is due earlier."""
_MIN_GROWTH: Final = 256 << 20
"""Minimum growth for that, bytes."""
_RETURN_INTERVAL_S: Final = 10.0
"""Minimum time between returns of free memory, s."""
_RETURN_SHARE: Final = 1 / 5000
"""Maximum share of a core for returns. One takes milliseconds, and a tenth of a second with 2 GB in small blocks."""


def return_free_memory() -> None:
    """Return freed memory to the system, if the C library can."""
    with contextlib.suppress(AttributeError):  # it is not glibc
        ctypes.CDLL(None).malloc_trim(0)


class GarbageCollections:
    """Decides what is collected, and when.

    Args:
        memory: returns the memory of the process, bytes.
        clock: monotonic clock, s.
        return_memory: returns free memory to the system.
        effort: CPU time of this thread, s.

    Attributes:
        complete: number of collections of all objects.
    """

    def __init__(
        self,
        memory: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
        return_memory: Callable[[], None] = return_free_memory,
        effort: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock = clock
        self._memory, self._return_memory, self._effort = memory, return_memory, effort
        self.complete = 0
        self._next_s, self._limit_bytes = 0.0, 0.0
        self._return_at_s = clock() + _RETURN_INTERVAL_S
        self.collect_all()

    def step(self) -> None:
        """Collect garbage among new objects, or among all if that is due. Return free memory at intervals."""
        if self._clock() >= self._next_s or self._memory() > self._limit_bytes:
            self.collect_all()
        else:
            gc.collect()
            gc.freeze()
        if self._clock() >= self._return_at_s:
            spent_s = self._effort()
            self._return_memory()
            spent_s = self._effort() - spent_s  # on a busy machine, the elapsed time is much longer
            self._return_at_s = self._clock() + max(_RETURN_INTERVAL_S, spent_s / _RETURN_SHARE)

    def collect_all(self) -> None:
        """Collect garbage among all objects."""
        begun_s = self._clock()
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        ended_s = self._clock()
        self.complete += 1
        self._next_s = ended_s + max(_MIN_COMPLETE_S, (ended_s - begun_s) / _COMPLETE_SHARE)
        memory = self._memory()
        self._limit_bytes = max(memory * _GROWTH, memory + _MIN_GROWTH)


@contextlib.asynccontextmanager
async def short_collections(memory: Callable[[], int]) -> AsyncIterator[None]:
    """Replace Python's full collections during the block; ``memory`` returns the memory of the process, bytes."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*thresholds[:2], _NO_AUTOMATIC_FULL)
    task = asyncio.create_task(_run(GarbageCollections(memory)))
    try:
        yield
    finally:
        task.cancel()
        gc.set_threshold(*thresholds)
        gc.unfreeze()


async def _run(collections: GarbageCollections) -> None:
    while True:
        await asyncio.sleep(_INTERVAL_S)
        collections.step()
