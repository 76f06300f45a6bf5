"""Tells the jobs of an input what of it could not be read, as its counters grow; leaves out what no call can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec
import numpy as np

from ...events.losses import INPUT_BYTES, events_of
from ...events.network.wire import carried
from ..source import Chunk, Lost, Opened, SourceItem

_MOST_JOBS: Final = 64
"""Of one input that are told; further ones are in the collector's counters alone."""
_BYTES: Final = "bytes_dropped:"


class InputLosses:
    """Compares the counters of one input with what its jobs were told.

    A line that cannot be read does not say whose it is: where an input holds several jobs, each of them may lack it.

    Args:
        counters: of the input.
        job: the job where the input names none.
    """

    def __init__(self, counters: Counter[str], job: str) -> None:
        self._counters = counters
        self._job = job
        self._jobs: dict[str, None] = {}
        self._told: Counter[str] = Counter()

    def after(self, items: Iterable[SourceItem]) -> list[SourceItem]:
        """Returns the items of one poll, and behind them what was lost meanwhile, for each job."""
        whole = [self._sound(item) if isinstance(item, Chunk) else item for item in items]
        for item in whole:
            if isinstance(item, Opened) and len(self._jobs) < _MOST_JOBS:
                self._jobs[item.info.job] = None
        now = Counter({_spelled(name): count for name, count in self._counters.items() if _is_told(name)})
        grown = now - self._told
        if grown:
            self._told = now
            whole += [Lost(Counter(grown), job=job) for job in self._jobs or (self._job,)]
        return whole

    def _sound(self, chunk: Chunk) -> Chunk:
        """Leaves out calls whose values no call has: they would cost all that is sent with them."""
        good = carried(chunk.batch)
        if good is None:
            return chunk
        self._counters["events_dropped:malformed"] += int(len(good) - np.count_nonzero(good))
        return msgspec.structs.replace(chunk, batch=chunk.batch.select(good))


def _is_told(name: str) -> bool:
    return name.startswith(_BYTES) or events_of({name: 1}) > 0


def _spelled(name: str) -> str:
    """Returns the name for a job: the bytes are those of the input, not those that calls moved."""
    return INPUT_BYTES + name.removeprefix(_BYTES) if name.startswith(_BYTES) else name
