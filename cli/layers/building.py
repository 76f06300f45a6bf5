"""Makes the layers of finished traces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...analyzers.dfg.spec.filters import Filter, Selector
from ...analyzers.layers.intake.time_nesting import lacks_depth, nested_by_time
from ...analyzers.layers.report.report import Cut, make_report
from ...analyzers.layers.settings import LayersSettings
from ...analyzers.layers.update import LayerAnalyzer
from ...analyzers.pipeline.graph_steps import let_through
from ...analyzers.pipeline.numbering import JobNames
from ...events import EventBatch, StreamInfo, concatenate
from ...events.files import readable
from ...results.layers import LayersReport, Nesting
from ..common.input_problems import listed
from ..common.progress import step_progress
from ..traces.by_end import by_end
from ..traces.trace_reading import MOST_CALLS, MOST_FILES, Trace, translator_of

_SETTINGS = LayersSettings(
    max_file_rows=2**22,
    max_files=MOST_FILES,
    max_nodes=2**14,
    max_process_nodes=2**20,
    max_marks=2**14,
    max_rounds=2**20,
)


def report_of(
    trace: Trace, paths: Sequence[Path], chosen: Filter, job: str, cut: Cut, data_paths: tuple[str, ...] = ()
) -> LayersReport:
    """Breaks a trace down by layer.

    Args:
        trace: what was read.
        paths: from where.
        chosen: which events count.
        job: what the trace is called.
        cut: how long the lists of the report may be.
        data_paths: beginnings of paths of the program's data, wherever they lie.
    """
    names = JobNames(MOST_CALLS, MOST_FILES)
    analyzer = LayerAnalyzer(_SETTINGS.model_copy(update={"data_paths": data_paths}))
    selector = Selector(chosen, trace.span_ns[0])
    by_time = lacks_depth(chunk for _, chunk in trace.chunks)
    left_out = 0
    with step_progress("taking layers apart") as show:
        for at, (name, pieces) in enumerate(trace.chunks.of_streams()):
            info = trace.streams[name].info
            translator = translator_of(names, trace.streams[name])
            picked = _Picked(map(translator.translate, pieces), selector, names, info)
            ordered = trace.chunks.by_end(name)
            held: list[EventBatch] = []
            events = 0
            for batch in [nested_by_time(concatenate(picked))] if by_time else by_end(picked, ordered=ordered):
                held.append(batch)
                events += len(batch)
                while events >= analyzer.room:  # so that pieces give what all at once would
                    whole, room = concatenate(held), analyzer.room
                    analyzer.update(whole.select(slice(0, room)), name, info, names.files)
                    held, events = [whole.select(slice(room, None))], events - room
            analyzer.update(concatenate(held), name, info, names.files)
            left_out += picked.left_out
            show(at + 1, len(trace.streams))
    for name in trace.chunks.names:
        analyzer.close_stream(name)
    nesting: Nesting | None = "time" if by_time else None
    return LayersReport(
        files=[readable(path) for path in paths],
        source=", ".join(sorted(set(trace.formats))),
        wall_clock=trace.wall_clock,
        filtered_out=left_out,
        layers=make_report(analyzer, names.calls, job, nesting=nesting, cut=cut),
        problems=listed(trace.problems),
        problems_total=trace.problems.total,
    )


class _Picked:
    """The events of a stream that a filter lets through."""

    def __init__(self, batches: Iterator[EventBatch], selector: Selector, names: JobNames, info: StreamInfo) -> None:
        self._batches, self._selector, self._names, self._info = batches, selector, names, info
        self.left_out = 0

    def __iter__(self) -> Iterator[EventBatch]:
        for batch in self._batches:
            chosen = let_through(batch, self._selector, self._names, self._info)
            self.left_out += len(batch) - len(chosen)
            yield chosen
