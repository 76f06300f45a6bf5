"""From events in a job's numbers to the columns of which a directly-follows graph is made."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, StreamInfo
from ...events.spread import busy_ns
from ..dfg.naming import Mapper
from ..dfg.sizes import sizes_of
from ..dfg.spec.filters import Selector
from .numbering import JobNames

GraphColumns: TypeAlias = dict[str, npt.NDArray[Any]]
"""What ``DfgAnalyzer.update`` takes, by name: case, activity, start, duration and size of each event."""


def let_through(batch: EventBatch, selector: Selector, names: JobNames, info: StreamInfo) -> EventBatch:
    """Returns the events of a stream that a filter lets through."""
    mask = selector.of(batch, names, info)
    return batch if mask is None or mask.all() else batch.select(mask)


def graph_columns(batch: EventBatch, case: npt.NDArray[np.int64], mapper: Mapper, names: JobNames) -> GraphColumns:
    """Returns what the analyzer of graphs takes of events.

    Args:
        batch: in the job's numbers.
        case: that of each event.
        mapper: numbers the activities.
        names: what the numbers mean.
    """
    activity, _ = mapper.apply(batch, names, case)
    return {
        "case": case,
        "activity": activity,
        "start": batch.start,
        "duration": busy_ns(batch),
        "size": sizes_of(batch),
    }
