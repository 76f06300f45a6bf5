"""Directly-follows graph of one job, from batches in the job's numbering."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, StreamInfo, concatenate
from ...events.summaries import busy_ns, sizes_of
from ...results.dfg import Graph
from ..dfg.graph import OTHER_NAME
from ..dfg.naming import Mapper
from ..dfg.settings import DfgSettings
from ..dfg.spec.cases import Cases
from ..dfg.spec.filters import Filter, Selector
from ..dfg.spec.mapping import Mapping
from ..dfg.update import ActivityRow, DfgAnalyzer
from ..file_groups import DATA
from .analysis_queue import QueuedEvents
from .contract import AnalyzerKind, JobContext
from .numbering import JobNames

if TYPE_CHECKING:
    from ...results.dfg import Graph

GraphColumns: TypeAlias = dict[str, npt.NDArray[Any]]
"""Arguments of ``DfgAnalyzer.update`` by name: case, activity, start, duration and size of each event."""
_SPARE: Final = 1024  # activities named beyond the bound, so that their number can be reported


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


def check_graph(settings: DfgSettings, read: Callable[[str], str]) -> None:
    """Validate the mapping, the filter and the site variables.

    Args:
        settings: settings of the graph.
        read: function that returns the text of a file of rules.

    Raises:
        ConfigError: one of them is invalid.
    """
    _parsed(settings.mapping, settings.filter, tuple(sorted(settings.sites.items())), read)


class JobGraph:
    """Maps a job's events to activities and cases, and passes them to the graph analyzer."""

    def __init__(self, context: JobContext) -> None:
        settings = context.settings.dfg
        sites = tuple(sorted(settings.sites.items()))
        mapping, chosen = _parsed(settings.mapping, settings.filter, sites, context.read)
        self._job = context.job
        self._settings = settings
        self._names = context.names
        self._by_stream = settings.case == "stream"
        self._cases = Cases(settings.case)
        self._mapper = Mapper(mapping, settings.max_activities + _SPARE)
        self._selector = Selector(chosen)
        self._analyzer = DfgAnalyzer(settings)
        self._streams: dict[str, int] = {}
        self._numbered = 0

    def update(self, queued: QueuedEvents) -> None:
        """Add events."""
        if self._by_stream and not self._selector.filter.terms:
            streams = np.array([self._number(run.stream) for run in queued.runs], np.int64)
            self._add(queued.batch, np.repeat(streams, queued.lengths))
            return
        batches: list[EventBatch] = []
        cases: list[npt.NDArray[np.int64]] = []
        for batch, stream, info in queued.parts():
            chosen = selected_events(batch, self._selector, self._names, info)
            batches.append(chosen)
            cases.append(self._case(stream, len(chosen)) if self._by_stream else self._cases.of(chosen, stream, info))
        batch = batches[0] if len(batches) == 1 else concatenate(batches)
        case = cases[0] if len(cases) == 1 else np.concatenate(cases)
        self._add(batch, case)

    def _add(self, batch: EventBatch, case: npt.NDArray[np.int64]) -> None:
        if len(batch):
            self._analyzer.update(**graph_columns(batch, case, self._mapper, self._names))

    def close_stream(self, stream: str) -> None:
        """End a stream, and its case if cases are streams."""
        if (case := self._streams.pop(stream, None)) is not None:
            self._analyzer.close_case(case)

    def compact(self) -> None:
        """Free memory that a job without activity does not need."""
        self._analyzer.compact()

    def graph(self) -> Graph:
        """Return the current graph."""
        graph = self._analyzer.graph(self._mapper.names, self._job)
        return with_data(graph, activities_on_data(self._mapper, self._names))

    def deferred_result(self) -> Callable[[], Graph]:
        """Copy the state and return a function that computes the graph.

        The function can run later and in any thread.
        """
        settings, data, names = self._settings, self._analyzer.snapshot(), list(self._mapper.names)
        on_data = activities_on_data(self._mapper, self._names)
        return lambda: with_data(DfgAnalyzer.restore(settings, data).graph(names, self._job), on_data)

    def top(self, number: int) -> list[tuple[str, ActivityRow]]:
        """Return the activities with the most events, by name."""
        return [
            (OTHER_NAME if row.activity < 0 else self._mapper.names[row.activity], row)
            for row in self._analyzer.top(number)
        ]

    def losses(self) -> dict[str, int]:
        """Return losses by reason."""
        return self._analyzer.losses()

    def _case(self, stream: str, length: int) -> npt.NDArray[np.int64]:
        return np.broadcast_to(np.int64(self._number(stream)), (length,))

    def _number(self, stream: str) -> int:
        """Assign a number to a stream until it is closed. A job may have any number of successive streams."""
        if stream not in self._streams:
            self._streams[stream] = self._numbered
            self._numbered += 1
        return self._streams[stream]


@lru_cache(maxsize=64)
def _parsed(
    mapping: str, chosen: str, sites: tuple[tuple[str, str], ...], read: Callable[[str], str]
) -> tuple[Mapping, Filter]:
    variables = dict(sites)
    return Mapping.parse(mapping, sites=variables, read=read), Filter.parse(chosen, variables)


KIND = AnalyzerKind("graph", lambda context: JobGraph(context) if context.settings.dfg.enabled else None)
