"""The events of a stream ordered by end, as analyzers need them; nested by time if the trace records no depths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from ...analyzers.layers.intake.time_nesting import TimeNester, lacks_depth, nested_by_time
from ...events import EventBatch, concatenate
from .ordered_columns import SortedSpool
from .trace_reading import Trace

_MAX_HELD: Final = 262_144


def merge_by_end(batches: Iterable[EventBatch], *, ordered: bool) -> Iterator[EventBatch]:
    """Yield the events of a stream in order of their ends.

    Ordered events are unchanged, others are sorted, inner calls first.

    Memory: about 262,144 events; more are sorted in a file.

    Args:
        batches: the events.
        ordered: whether they are known to be ordered by end.
    """
    if ordered:
        yield from batches
        return
    spool = SortedSpool()
    held: list[EventBatch] = []
    last, sort, count = -(2**63), False, 0
    for batch in batches:
        if not len(batch):
            continue
        end = batch.end
        sort = sort or int(end[0]) < last or bool((end[1:] < end[:-1]).any())
        last = int(end[-1])
        count += len(batch)
        held.append(batch)
        if count > _MAX_HELD:
            for each in held:
                spool.put(len(each), each.columns(), each.end, 255 - each.depth.astype(np.int64))
            held = []
    if len(spool):
        for columns in spool.in_order() if sort else spool.in_input_order():
            yield EventBatch(**columns)
        return
    whole = concatenate(held)
    yield whole.select(np.lexsort((255 - whole.depth, whole.end))) if sort else whole


def nesting_of(trace: Trace) -> Nesting | None:
    """Return the nesting of a trace without depths; None if it records them or has none."""
    return Nesting() if lacks_depth(chunk for _, chunk in trace.chunks) else None


class Nesting:
    """Nests the calls of streams by time and orders them by end; an ``in_order`` of ``add_events``.

    Memory: up to ``most_held`` events; more are sorted in files.

    Attributes:
        has_handles: whether all streams so far record handles.
    """

    def __init__(self, most_held: int = _MAX_HELD) -> None:
        self.has_handles = True
        self._most_held = most_held

    def __call__(self, batches: Iterable[EventBatch]) -> Iterator[EventBatch]:
        """Yield the events of a stream by end, with depth, handle and parent."""
        spool, held, count = SortedSpool(), list[EventBatch](), 0
        has_handles = False
        for batch in batches:
            has_handles = has_handles or bool(batch.handle.any())
            held.append(batch)
            count += len(batch)
            if count > self._most_held:
                for each in held:
                    spool.put(len(each), each.columns(), each.start.astype(np.int64))
                held = []
        self.has_handles = self.has_handles and (has_handles or not count)
        if not len(spool):
            if count:
                yield nested_by_time(concatenate(held))
            return
        nester, by_end = TimeNester(has_handles=has_handles), SortedSpool()
        for columns in spool.in_order():
            batch = nester.add(EventBatch(**columns))
            by_end.put(len(batch), batch.columns(), batch.end, 255 - batch.depth.astype(np.int64))
        for columns in by_end.in_order():
            yield EventBatch(**columns)
