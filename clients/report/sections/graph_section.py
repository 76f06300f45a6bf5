"""The directly-follows graph in a report. It shows calls on the program's data, as a chart and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ....results.findings import Findings
from ...text.units import time_text
from ..job_data import JobData
from ..markup import Lines, heading, paragraph, picture, table

if TYPE_CHECKING:
    from ....results.dfg import Graph
    from ....results.layers import Layers

_MAX_EDGES: Final = 10
_MAX_DRAWN: Final = 10


def graph(subject: JobData, findings: Findings) -> Lines:
    """Yield the most frequent successions of calls."""
    if findings.graph is None or _has_summaries(findings.layers):
        return
    shown = on_data(findings.graph)
    if not shown.edges:
        return
    from ..pictures.graph_picture import graph_picture

    yield heading("What follows what")
    yield picture(graph_picture(_frequent_activities(shown)), "")
    yield paragraph(
        "The strongest part of the directly-follows graph of calls in folders with the program's data. The darker a "
        "node, the more of the time of all calls it takes. An edge has the number of times that one followed the "
        "other. All of it: iotide dfg -o graph.html",
        soft=True,
    )
    heads = ("Call", "then", "times", "mean gap")
    rows = (
        (row.source, row.target, f"{row.count:,}", "overlap" if row.mean_gap_s < 0 else time_text(row.mean_gap_s))
        for row in shown.edges[:_MAX_EDGES]
    )
    yield from table(heads, rows)


def on_data(whole: Graph) -> Graph:
    """Return the part of a graph on the program's data, or all of it if that was not examined."""
    kept = [row for row in whole.activities if row.on_data is not False]
    if len(kept) == len(whole.activities):
        return whole
    return _edges_among(whole, {row.name for row in kept})


def _frequent_activities(whole: Graph) -> Graph:
    """Return the activities of the most frequent edges. Their number is limited by the space of a chart."""
    names: set[str] = set()
    for row in whole.edges:
        if len(names | {row.source, row.target}) <= _MAX_DRAWN:
            names |= {row.source, row.target}
    return _edges_among(whole, names)


def _edges_among(whole: Graph, names: set[str]) -> Graph:
    activities = [row for row in whole.activities if row.name in names]
    edges = [row for row in whole.edges if row.source in names and row.target in names]
    return whole.model_copy(update={"activities": activities, "edges": edges})


def _has_summaries(layers: Layers | None) -> bool:
    """Return whether most events are summaries of many calls, which have no order."""
    return layers is not None and 2 * layers.summaries > layers.events
