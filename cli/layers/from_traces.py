"""Construction of the layers report for finished traces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...analyzers.dfg.spec.filters import Filter, Selector
from ...analyzers.layers.report.report import Cut
from ...analyzers.layers.settings import LayersSettings
from ...analyzers.pipeline.job_graph import selected_events
from ...analyzers.pipeline.job_layers import JobLayers
from ...analyzers.pipeline.settings import AnalyzerSettings
from ...analyzers.settings import DetectSettings
from ...events import EventBatch, StreamInfo
from ...events.files import readable
from ...results.layers import LayersReport
from ..common.console.input_problems import problem_list
from ..common.one_job_bounds import MAX_FILE_ROWS, MAX_FILES
from ..traces.stream_order import nesting_of
from ..traces.trace_analysis import add_events, context_of
from ..traces.trace_reading import Trace

_SETTINGS = LayersSettings(
    max_file_rows=MAX_FILE_ROWS,
    max_files=MAX_FILES,
    max_nodes=2**14,
    max_process_nodes=2**20,
    max_marks=2**14,
    max_rounds=2**20,
)


def report_of(
    trace: Trace, paths: Sequence[Path], chosen: Filter, job: str, cut: Cut, data_paths: tuple[str, ...] = ()
) -> LayersReport:
    """Break a trace down by layer.

    Args:
        trace: the trace.
        paths: its files.
        chosen: filter of the events.
        job: name of the trace.
        cut: bounds of the report's lists.
        data_paths: path prefixes of the program's data, in any folder.
    """
    context = context_of(job, AnalyzerSettings(layers=_SETTINGS, detect=DetectSettings(data_paths=data_paths)))
    layers, names = JobLayers(context), context.names
    selector = Selector(chosen, trace.span_ns[0])
    kept = 0

    def pick(batch: EventBatch, info: StreamInfo) -> EventBatch:
        nonlocal kept
        picked = selected_events(batch, selector, names, info)
        kept += len(picked)
        return picked

    nesting = nesting_of(trace)
    add_events(layers, trace, names, chosen=pick, in_order=nesting, what="taking layers apart")
    told = layers.report(cut) if nesting is None else layers.report(cut, "time", has_handles=nesting.has_handles)
    return LayersReport(
        files=[readable(path) for path in paths],
        source=", ".join(sorted(set(trace.formats))),
        wall_clock=trace.wall_clock,
        filtered_out=trace.events - kept,
        layers=told,
        problems=problem_list(trace.problems),
        problems_total=trace.problems.total,
    )
