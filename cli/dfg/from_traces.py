"""Construction of directly-follows graphs from finished traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ...analyzers.common.sorting import Columns, Reiterable, joined_columns
from ...analyzers.dfg.naming import Mapper
from ...analyzers.dfg.settings import DfgSettings
from ...analyzers.dfg.spec.cases import Cases
from ...analyzers.dfg.spec.filters import Filter, Selector
from ...analyzers.dfg.spec.graph_definition import GraphDefinition
from ...analyzers.dfg.update import DfgAnalyzer
from ...analyzers.pipeline.job_graph import GraphColumns, activities_on_data, graph_columns, selected_events, with_data
from ...analyzers.pipeline.numbering import JobNames
from ...events import EventBatch, InputError
from ...events.files import read_text
from ...events.summaries import sizes_of
from ...results.dfg import Graph, Occurrence, Timeline
from ..common.one_job_bounds import MAX_CALLS, MAX_FILES
from ..traces.ordered_columns import MAX_HELD, OrderedColumns
from ..traces.trace_reading import Stream, Trace, translator_of

MAX_OCCURRENCES = 100_000
_PIECE: Final = 65_536
_SETTINGS = DfgSettings(max_activities=4095, max_edges=30_000, max_cases=1_000_000, lateness_s=0)

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """Selected events of one stream, in the numbers of ``names``."""

    stream: Stream
    batch: EventBatch
    case: Ints


@dataclass(frozen=True, slots=True)
class Selection:
    """The events that a filter selects.

    Attributes:
        mapper: numbers the activities; knows which files of the whole selection are shared.
        parts: the events; may be iterated repeatedly.
        events: number of events.
        start_ns: start of the trace, the zero of times in filters.
        left_out: number of events that are not selected.
    """

    names: JobNames
    cases: Cases
    mapper: Mapper
    parts: Iterable[Part]
    events: int
    start_ns: int
    left_out: int

    def filtered(self, to: Sequence[Filter]) -> Selection:
        """Return the events that at least one of the filters selects."""
        parts = Reiterable(partial(self._filtered, [Selector(each, self.start_ns) for each in to]))
        kept = sum(len(part.batch) for part in parts)
        return replace(self, parts=parts, events=kept, left_out=self.left_out + self.events - kept)

    def _filtered(self, selectors: Sequence[Selector]) -> Iterator[Part]:
        for part in self.parts:
            masks = [selector.of(part.batch, self.names, part.stream.info) for selector in selectors]
            chosen = [np.ones(len(part.batch), np.bool_) if mask is None else mask for mask in masks]
            rows: npt.NDArray[np.bool_] = np.logical_or.reduce(chosen)
            if rows.any():
                yield Part(part.stream, part.batch.select(rows), part.case[rows])


def rules_text(name: str) -> str:
    """Return the text of a file of rules.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return read_text(Path(name), errors="replace")
    except OSError as error:
        raise InputError(name, None, f"cannot be read ({error.strerror})", "a file of rules") from None


def select(trace: Trace, view: GraphDefinition) -> Selection:
    """Apply the filter of a graph definition to a trace."""
    names = JobNames(MAX_CALLS, MAX_FILES, trace.rule)
    cases, mapper = Cases(view.case), Mapper(view.mapping)
    start_ns = trace.span_ns[0]
    selector = Selector(view.filter, start_ns)
    translators = {name: translator_of(names, stream) for name, stream in trace.streams.items()}

    def parts() -> Iterator[Part]:
        for name, chunk in trace.selected_events:
            stream = trace.streams[name]
            batch = selected_events(translators[name].translate(chunk), selector, names, stream.info)
            if len(batch):
                yield Part(stream, batch, cases.of(batch, name, stream.info))

    kept = trace.events
    if view.filter.terms or view.mapping.depends_on_role:
        kept = 0
        for part in parts():
            kept += len(part.batch)
            mapper.observe(part.batch, part.case)
    return Selection(names, cases, mapper, Reiterable(parts), kept, start_ns, trace.events - kept)


def graph_of(selection: Selection, view: GraphDefinition, job: str, most_held: int = MAX_HELD) -> Graph:
    """Compute the graph of the events, with all cases ended. More than ``most_held`` events are sorted on disk."""
    analyzer = DfgAnalyzer(
        _SETTINGS.model_copy(update={"mapping": view.mapping.text, "case": view.case, "filter": view.filter.text})
    )
    cases: dict[int, None] = {}
    for columns in _events_by_start(selection, most_held):
        analyzer.update(**columns)
        cases.update(dict.fromkeys(np.unique(columns["case"][columns["activity"] >= 0]).tolist()))
    if selection.events:
        analyzer.compact()
    for each in sorted(cases):
        analyzer.close_case(each)
    graph = analyzer.graph(selection.mapper.names, job)
    return with_data(graph, activities_on_data(selection.mapper, selection.names))


def _events_by_start(selection: Selection, most_held: int) -> Iterator[GraphColumns]:
    """Yield case, activity, start, duration and size of events by start. Many are sorted on disk."""
    mapper, names = selection.mapper, selection.names
    columns = (graph_columns(part.batch, part.case, mapper, names) for part in selection.parts)
    return _equal_pieces(OrderedColumns(columns, "start", most_held))


def _equal_pieces(parts: Iterable[Columns]) -> Iterator[GraphColumns]:
    """Regroup rows into equal pieces, so that sums have the same rounding for any source."""
    held: list[Columns] = []
    rows = 0
    for part in parts:
        held.append(part)
        rows += len(part["start"])
        if rows >= _PIECE:
            joined = joined_columns(held)
            whole = rows - rows % _PIECE
            for at in range(0, whole, _PIECE):
                yield {name: column[at : at + _PIECE] for name, column in joined.items()}
            held, rows = [{name: column[whole:] for name, column in joined.items()}], rows - whole
    if rows:
        yield joined_columns(held)


def timeline_of(selection: Selection, activity: str) -> Timeline | None:
    """Return the events of one activity, or None if it does not exist."""
    rows: list[tuple[int, int, int, int]] = []
    count = 0
    for part, numbers in numbered_activities(selection):
        if activity not in selection.mapper.names:
            continue
        mine = numbers == selection.mapper.names.index(activity)
        batch = part.batch.select(mine)
        columns = batch.start, batch.end, part.case[mine], sizes_of(batch)
        rows += zip(*(column.tolist() for column in columns), strict=True)
        count += len(batch)
        if len(rows) > 2 * MAX_OCCURRENCES:
            rows = sorted(rows)[:MAX_OCCURRENCES]
    if activity not in selection.mapper.names:
        return None
    rows.sort()
    labels = {case: selection.cases.label(case, selection.names) for case in {row[2] for row in rows}}
    occurrences = [
        Occurrence(case=labels[case], start_s=start / 1e9, end_s=end / 1e9, bytes=None if size < 0 else size)
        for start, end, case, size in rows[:MAX_OCCURRENCES]
    ]
    return Timeline(activity=activity, occurrences=occurrences, left_out=count - len(occurrences))


def numbered_activities(selection: Selection) -> Iterator[tuple[Part, npt.NDArray[np.int32]]]:
    """Yield the parts with the activity number of each event."""
    for part in selection.parts:
        yield part, selection.mapper.apply(part.batch, selection.names, part.case)[0]
