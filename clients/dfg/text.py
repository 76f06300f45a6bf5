"""Text output of ``iotide dfg``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TextIO

import numpy as np
from rich.console import Console
from rich.table import Table

from ...events.counted_text import counted
from ...results.dfg import ActivityStats, Comparison, Graph, GraphReport, Outlier, Timeline
from ..text.tables import file_list, number_table, plain_name, print_table
from ..text.units import byte_text, duration_text, rate_text

_SHADES: Final = " ▁▂▃▄▅▆▇█"
_MIN_BAR: Final = 20
_MAX_BAR: Final = 100
_MAX_CASES: Final = 200
_WIDE: Final = 120
_STYLE: Final = {"green": "green", "red": "red", "both": ""}


def print_graph(report: GraphReport, stream: TextIO, top: int) -> None:
    """Print a summary of the input, the activities, the edges, and the requested extras.

    Args:
        report: the report.
        stream: output stream.
        top: maximum number of rows per table.
    """
    console = Console(file=stream, highlight=False)
    graph = report.graph
    console.print(
        f"[bold]{file_list(report.files)}[/bold]  {report.source}, {counted(graph.events, 'events')} of "
        f"{counted(graph.cases, 'cases')} by {graph.case}, "
        f"{counted(len(graph.activities), 'activities')} by {plain_name(graph.mapping)}, "
        f"over {_time(graph.last_s - graph.first_s)}" + (f", where {plain_name(graph.filter)}" if graph.filter else ""),
        soft_wrap=True,
    )
    for line in _omissions(report):
        console.print(line, soft_wrap=True)
    if report.timeline is not None:
        _print_timeline(console, report.timeline, graph)
        return
    if report.comparison is None:
        _print_part(console, _activities(graph, top, console.width), len(graph.activities) - top)
        _print_part(console, _edges(graph, top), len(graph.edges) - top)
    else:
        _print_comparison(console, report.comparison, top)
    if report.outlier is not None:
        console.print()
        for line in outlier_lines(report.outlier):
            console.print(line, soft_wrap=True)
    if report.problems_total:
        console.print(f"left out: {counted(report.problems_total, 'malformed pieces of input')} (see standard error)")


def outlier_lines(outlier: Outlier) -> Iterator[str]:
    """Yield the text of an outlier test, line by line, as rich markup."""
    for name, distance in zip(outlier.names, outlier.distances, strict=True):
        yield f"distance {distance:.4f} to {plain_name(name)}"
    if outlier.outlier is None:
        yield "too few others to tell whether this run is usual (three are needed)"
        return
    nearest = min(outlier.distances)
    usual = f"the nearest is at {nearest:.4f}; usual is {outlier.usual:.4f}, the limit {outlier.threshold:.4f}"
    verdict = "[bold]unlike all of them[/bold]" if outlier.outlier else "[bold]like others[/bold]"
    yield f"this run is {verdict}: {usual}"


def _omissions(report: GraphReport) -> Iterator[str]:
    graph = report.graph
    for number, text in (
        (report.filtered_out, "events were filtered out"),
        (graph.unmapped, "events have no activity and were dropped before edges were drawn"),
        (graph.dropped_events, f"events of {graph.dropped_activities} further activities are summed up as (other)"),
        (graph.dropped_edges, "occurrences of rare edges are left out"),
        (graph.late_events, "events came too late for the edges"),
    ):
        if number:
            yield f"{number:,} {text}"


def _activities(graph: Graph, top: int, width: int) -> Table:
    wide = width >= _WIDE
    table = number_table("activities", "load", "time", "moved", "rate", "events", "cases", "at once")
    if wide:
        table.add_column("median", justify="right")
        table.add_column("95 %", justify="right")
    table.add_column("activity", no_wrap=True)
    for row in sorted(graph.activities, key=lambda row: (-row.load, -row.events, row.name))[:top]:
        quantiles = (row.duration_p50_s, row.duration_p95_s) if wide else ()
        durations = ["" if value is None else _time(value) for value in quantiles]
        table.add_row(
            f"{row.load:.3f}",
            _time(row.seconds),
            byte_text(row.bytes) if row.rate is not None else "",
            "" if row.rate is None else rate_text(row.rate),
            f"{row.events:,}",
            f"{row.cases:,}",
            f"{row.max_concurrency}" if row.exact else f">= {row.max_concurrency}",
            *durations,
            plain_name(row.name),
        )
    return table


def _edges(graph: Graph, top: int) -> Table:
    table = number_table("what follows what", "count", "mean gap")
    table.add_column("from", no_wrap=True)
    table.add_column("to", no_wrap=True)
    for row in graph.edges[:top]:
        table.add_row(f"{row.count:,}", _time(row.mean_gap_s), plain_name(row.source), plain_name(row.target))
    return table


def _print_comparison(console: Console, comparison: Comparison, top: int) -> None:
    green, red = plain_name(comparison.green), plain_name(comparison.red)
    console.print(f"[green]green[/green]  {green}\n[red]red[/red]    {red}", soft_wrap=True)
    console.print(
        f"distance {comparison.distance:.4f}  (of what follows what; load {comparison.load_distance:.4f}, "
        f"bytes {comparison.bytes_distance:.4f})",
        soft_wrap=True,
    )
    nodes = number_table(
        "activities, largest difference in load first", "side", "load", "", "time", "", "moved", "", "rate"
    )
    nodes.add_column("activity", no_wrap=True)
    for row in comparison.nodes[:top]:
        nodes.add_row(
            _side(row.side),
            *_pair(row.green, row.red, lambda stats: f"{stats.load:.3f}"),
            *_pair(row.green, row.red, lambda stats: _time(stats.seconds)),
            *_pair(row.green, row.red, lambda stats: "" if stats.rate is None else byte_text(stats.bytes)),
            "" if row.rate_ratio is None else f"x {row.rate_ratio:.3g}",
            plain_name(row.name),
        )
    _print_part(console, nodes, len(comparison.nodes) - top)
    edges = number_table("edges, largest difference in share first", "side", "green", "red", "share")
    edges.add_column("from", no_wrap=True)
    edges.add_column("to", no_wrap=True)
    for edge in comparison.edges[:top]:
        edges.add_row(
            _side(edge.side),
            f"{edge.green:,}",
            f"{edge.red:,}",
            f"{edge.share_difference:+.4f}",
            plain_name(edge.source),
            plain_name(edge.target),
        )
    _print_part(console, edges, len(comparison.edges) - top)


def _pair(
    green: ActivityStats | None, red: ActivityStats | None, text: Callable[[ActivityStats], str]
) -> tuple[str, str]:
    return (
        "" if green is None else f"[green]{text(green)}[/green]",
        "" if red is None else f"[red]{text(red)}[/red]",
    )


def _print_timeline(console: Console, timeline: Timeline, graph: Graph) -> None:
    """Print one bar per case. It shows the share of each time column in which the activity was running."""
    rows: dict[str, list[tuple[float, float]]] = {}
    for event in timeline.occurrences:
        rows.setdefault(event.case, []).append((event.start_s - graph.first_s, event.end_s - graph.first_s))
    labels = list(rows)[:_MAX_CASES]
    widest = min(max((len(label) for label in labels), default=0), max(console.width // 2, 1))
    width = min(max(console.width - widest - 12, _MIN_BAR), _MAX_BAR)
    length = max(graph.last_s - graph.first_s, 1e-9)
    console.print(f"\n[italic]{plain_name(timeline.activity)}[/italic], {_time(length / width)} a column")
    for label in labels:
        bar = "".join(_SHADES[level] for level in _levels(rows[label], length, width))
        text = label if len(label) <= widest else f"...{label[len(label) - widest + 3 :]}"
        console.print(f"{plain_name(text):<{widest}} |{bar}| {len(rows[label]):,}", soft_wrap=True)
    if len(rows) > len(labels):
        console.print(f"{len(rows) - len(labels)} more cases")
    if timeline.left_out:
        console.print(f"{timeline.left_out:,} later events are left out")


def _levels(intervals: Sequence[tuple[float, float]], length: float, width: int) -> list[int]:
    """Return the level of each column's character. A column with any event has at least the lowest level."""
    edges = np.array(intervals) / length * width
    busy, columns = np.zeros(width), np.arange(width)
    for begin, end in edges.tolist():
        first = min(int(begin), width - 1)
        last = min(max(math.ceil(end) - 1, first), width - 1)
        inside = columns[first : last + 1]
        share = np.minimum(end, inside + 1) - np.maximum(begin, inside)
        busy[first : last + 1] += np.maximum(share, 1e-9)
    levels: list[int] = (
        np.where(busy > 0, np.clip(np.ceil(busy * (len(_SHADES) - 1)), 1, len(_SHADES) - 1), 0).astype(int).tolist()
    )
    return levels


def _print_part(console: Console, table: Table, more: int) -> None:
    print_table(console, table)
    if more > 0:
        console.print(f"{more} more (--top shows more of them)")


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.3g} us" if abs(seconds) < 1e-3 else duration_text(seconds)


def _side(side: str) -> str:
    style = _STYLE[side]
    return f"[{style}]{side}[/{style}]" if style else side
