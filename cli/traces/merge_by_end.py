"""The events of a stream ordered by end, as analyzers need them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from ...events import EventBatch, concatenate
from .sorted_spool import SortedSpool

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
