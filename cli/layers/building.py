"""Makes the layers of finished traces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...analyzers.dfg.filters import Filter, Selector
from ...analyzers.layers.by_time import lacks_depth, nested_by_time
from ...analyzers.layers.report import Cut, make_report
from ...analyzers.layers.settings import LayersSettings
from ...analyzers.layers.update import LayerAnalyzer
from ...daemon.numbering import JobNames
from ...events import EventBatch, concatenate
from ...events.layers import LayersReport, Nesting
from ..progress import step_progress
from ..telling import listed
from ..trace_reading import MOST_CALLS, MOST_FILES, Trace, translator_of

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
    chunks: dict[str, list[EventBatch]] = {}
    for name, chunk in trace.chunks:
        chunks.setdefault(name, []).append(chunk)
    by_time = lacks_depth(chunk for _, chunk in trace.chunks)
    left_out = 0
    with step_progress("taking layers apart") as show:
        for at, (name, parts) in enumerate(chunks.items()):
            info = trace.streams[name].info
            batch = translator_of(names, trace.streams[name]).translate(concatenate(parts))
            mask = selector.of(batch, names, info)
            if mask is not None:
                left_out += len(mask) - int(np.count_nonzero(mask))
                batch = batch.select(mask)
            if by_time:
                batch = nested_by_time(batch)
            analyzer.update(_by_end(batch), name, info, names.files)
            show(at + 1, len(chunks))
    for name in chunks:
        analyzer.close_stream(name)
    nesting: Nesting | None = "time" if by_time else None
    return LayersReport(
        files=[str(path) for path in paths],
        source=", ".join(sorted(set(trace.formats))),
        wall_clock=trace.wall_clock,
        filtered_out=left_out,
        layers=make_report(analyzer, names.calls, job, nesting=nesting, cut=cut),
        problems=listed(trace.problems),
        problems_total=trace.problems.total,
    )


def _by_end(batch: EventBatch) -> EventBatch:
    end = batch.end
    if not (end[1:] < end[:-1]).any():
        return batch
    return batch.select(np.lexsort((255 - batch.depth, end)))
