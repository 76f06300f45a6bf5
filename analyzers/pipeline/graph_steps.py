"""Conversion of events to the columns of a directly-follows graph. Activities are classified as data or not."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, StreamInfo
from ...events.summaries import busy_ns
from ...results.dfg import Graph
from ..dfg.naming import Mapper
from ..dfg.sizes import sizes_of
from ..dfg.spec.filters import Selector
from ..file_groups import DATA
from .numbering import JobNames

GraphColumns: TypeAlias = dict[str, npt.NDArray[Any]]
"""Arguments of ``DfgAnalyzer.update`` by name: case, activity, start, duration and size of each event."""


def selected_events(batch: EventBatch, selector: Selector, names: JobNames, info: StreamInfo) -> EventBatch:
    """Return the events of a stream that a filter selects."""
    mask = selector.of(batch, names, info)
    return batch if mask is None or mask.all() else batch.select(mask)


def graph_columns(batch: EventBatch, case: npt.NDArray[np.int64], mapper: Mapper, names: JobNames) -> GraphColumns:
    """Return the columns for the graph analyzer.

    Args:
        batch: events in the job's numbering.
        case: case of each event.
        mapper: numbering of the activities.
        names: names by number.
    """
    activity, _ = mapper.apply(batch, names, case)
    return {
        "case": case,
        "activity": activity,
        "start": batch.start,
        "duration": busy_ns(batch),
        "size": sizes_of(batch),
    }


def activities_on_data(mapper: Mapper, names: JobNames) -> dict[str, bool]:
    """Return, by activity name, whether any of its files is program data or unknown."""
    on_data = mapper.activities_with(names.groups == DATA)
    return dict(zip(mapper.names, on_data.tolist(), strict=True))


def with_data(graph: Graph, on_data: dict[str, bool]) -> Graph:
    """Add ``on_data`` to a graph's activities; unknown for the sum of the rarest."""
    rows = [row.model_copy(update={"on_data": on_data.get(row.name)}) for row in graph.activities]
    return graph.model_copy(update={"activities": rows})
