"""Report unreadable parts of an input to its jobs, and drop events with impossible values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec
import numpy as np

from ...events.losses import INPUT_BYTES, events_of
from ...events.network.wire import sendable_events
from ..source import Chunk, Lost, Opened, SourceItem

_MAX_JOBS: Final = 64
"""Maximum number of jobs per input that receive losses. Further jobs' losses are only in the collector's counters."""
_BYTES: Final = "bytes_dropped:"


class InputLosses:
    """Compares the counters of one input with the losses that its jobs were sent.

    An unreadable line does not say which job it belongs to. If an input contains several jobs, its losses are therefore
    reported to each of them.

    Args:
        counters: counters of the input.
        job: job to report to if the input names none.
    """

    def __init__(self, counters: Counter[str], job: str) -> None:
        self._counters = counters
        self._job = job
        self._jobs: dict[str, None] = {}
        self._reported: Counter[str] = Counter()

    def after(self, items: Iterable[SourceItem]) -> list[SourceItem]:
        """Return the items of one poll, followed by the new losses for each job."""
        whole = [self._without_impossible(item) if isinstance(item, Chunk) else item for item in items]
        for item in whole:
            if isinstance(item, Opened) and len(self._jobs) < _MAX_JOBS:
                self._jobs[item.info.job] = None
        now = Counter({_spelled(name): count for name, count in self._counters.items() if _is_reported(name)})
        increase = now - self._reported
        if increase:
            self._reported = now
            whole += [Lost(Counter(increase), job=job) for job in self._jobs or (self._job,)]
        return whole

    def _without_impossible(self, chunk: Chunk) -> Chunk:
        """Remove calls with impossible values: on the wire, they would cost their whole batch."""
        good = sendable_events(chunk.batch)
        if good is None:
            return chunk
        self._counters["events_dropped:malformed"] += int(len(good) - np.count_nonzero(good))
        return msgspec.structs.replace(chunk, batch=chunk.batch.select(good))


def _is_reported(name: str) -> bool:
    return name.startswith(_BYTES) or events_of({name: 1}) > 0


def _spelled(name: str) -> str:
    """Return the counter's name for a job. It counts bytes of the input, not bytes moved by calls."""
    return INPUT_BYTES + name.removeprefix(_BYTES) if name.startswith(_BYTES) else name
