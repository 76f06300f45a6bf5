"""Makes directly-follows graphs of finished traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...analyzers.dfg.cases import Cases
from ...analyzers.dfg.filters import Filter, Selector
from ...analyzers.dfg.naming import Mapper
from ...analyzers.dfg.settings import DfgSettings
from ...analyzers.dfg.sizes import sizes_of
from ...analyzers.dfg.update import DfgAnalyzer
from ...analyzers.dfg.view import View
from ...daemon.numbering import JobNames
from ...events import EventBatch
from ...events.dfg import Graph, Occurrence, Timeline
from ...events.spread import busy_ns
from ..trace_reading import MOST_CALLS, MOST_FILES, Stream, Trace, translator_of

MOST_OCCURRENCES = 100_000
_PIECE = 65_536
_SETTINGS = DfgSettings(max_activities=4095, max_edges=30_000, max_cases=1_000_000, lateness_s=0)

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """Events of one stream that are let through, in the numbers of ``names``."""

    stream: Stream
    batch: EventBatch
    case: Ints


@dataclass(frozen=True, slots=True)
class Selection:
    """The events that a filter lets through.

    Attributes:
        mapper: numbers the activities; knows which files of the whole selection are shared.
        start_ns: start of the trace, which times in filters count from.
        left_out: events that are not let through.
    """

    names: JobNames
    cases: Cases
    mapper: Mapper
    parts: list[Part]
    start_ns: int
    left_out: int

    @property
    def events(self) -> int:
        """Number of events."""
        return sum(len(part.batch) for part in self.parts)

    def narrowed(self, to: Sequence[Filter]) -> Selection:
        """Returns the events that any of some filters lets through."""
        selectors = [Selector(each, self.start_ns) for each in to]
        parts = []
        for part in self.parts:
            masks = [selector.of(part.batch, self.names, part.stream.info) for selector in selectors]
            chosen = [np.ones(len(part.batch), np.bool_) if mask is None else mask for mask in masks]
            rows: npt.NDArray[np.bool_] = np.logical_or.reduce(chosen)
            if rows.any():
                parts.append(Part(part.stream, part.batch.select(rows), part.case[rows]))
        kept = sum(len(part.batch) for part in parts)
        return replace(self, parts=parts, left_out=self.left_out + self.events - kept)


def select(trace: Trace, view: View) -> Selection:
    """Applies the filter of a view to a trace."""
    names = JobNames(MOST_CALLS, MOST_FILES)
    cases, mapper = Cases(view.case), Mapper(view.mapping)
    start_ns = trace.span_ns[0]
    selector = Selector(view.filter, start_ns)
    translators = {name: translator_of(names, stream) for name, stream in trace.streams.items()}
    parts: list[Part] = []
    left_out = 0
    for name, chunk in trace.chunks:
        stream = trace.streams[name]
        batch = translators[name].translate(chunk)
        mask = selector.of(batch, names, stream.info)
        if mask is not None and not mask.all():
            left_out += len(mask) - int(np.count_nonzero(mask))
            batch = batch.select(mask)
        if len(batch):
            parts.append(Part(stream, batch, cases.of(batch, name, stream.info)))
            mapper.observe(batch, parts[-1].case)
    return Selection(names, cases, mapper, parts, start_ns, left_out)


def graph_of(selection: Selection, view: View, job: str) -> Graph:
    """Makes the graph of some events, all cases ended."""
    analyzer = DfgAnalyzer(
        _SETTINGS.model_copy(update={"mapping": view.mapping.text, "case": view.case, "filter": view.filter.text})
    )
    if selection.parts:
        batches = [part.batch for part in selection.parts]
        case = np.concatenate([part.case for part in selection.parts])
        activity = np.concatenate(activities_of(selection))
        start = np.concatenate([batch.start for batch in batches])
        duration = np.concatenate([busy_ns(batch) for batch in batches])
        size = np.concatenate([sizes_of(batch) for batch in batches])
        order = np.argsort(start, kind="stable")
        for begin in range(0, len(order), _PIECE):
            rows = order[begin : begin + _PIECE]
            analyzer.update(case[rows], activity[rows], start[rows], duration[rows], size[rows])
        analyzer.settle()
        for each in np.unique(case[activity >= 0]).tolist():
            analyzer.close_case(each)
    return analyzer.graph(selection.mapper.names, job)


def timeline_of(selection: Selection, activity: str) -> Timeline | None:
    """Returns the events of one activity, or None where there is none of that name."""
    activities = activities_of(selection)
    if activity not in selection.mapper.names:
        return None
    number = selection.mapper.names.index(activity)
    rows: list[tuple[int, int, int, int]] = []
    for part, numbers in zip(selection.parts, activities, strict=True):
        mine = numbers == number
        batch = part.batch.select(mine)
        columns = batch.start, batch.end, part.case[mine], sizes_of(batch)
        rows += zip(*(column.tolist() for column in columns), strict=True)
    rows.sort()
    labels = {case: selection.cases.label(case, selection.names) for case in {row[2] for row in rows}}
    occurrences = [
        Occurrence(case=labels[case], start_s=start / 1e9, end_s=end / 1e9, bytes=None if size < 0 else size)
        for start, end, case, size in rows[:MOST_OCCURRENCES]
    ]
    return Timeline(activity=activity, occurrences=occurrences, left_out=len(rows) - len(occurrences))


def activities_of(selection: Selection) -> list[npt.NDArray[np.int32]]:
    """Returns the number of each event's activity, an array for each part."""
    return [selection.mapper.apply(part.batch, selection.names, part.case)[0] for part in selection.parts]
