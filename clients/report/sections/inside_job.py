"""Sections on the inside of a job.

They cover members over time, layers, graph, files, calls, sizes, positions, interactions.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Final

from ....events.counted_text import counted
from ....results.findings import Findings
from ...text.units import byte_text, caller_name, layer_name, time_text
from ..job_data import JobData
from ..markup import Lines, bullets, code, heading, paragraph, picture, table
from .io_cost import share_text

if TYPE_CHECKING:
    from ....results.dfg import Graph
    from ....results.interaction import Actor, Interaction, Ranking
    from ....results.layers import CallLayer, Layers, SizeRow

_MAX_DRAWN: Final = 10


def graph(subject: JobData, findings: Findings) -> Lines:
    """Yield the most frequent successions of calls."""
    if findings.graph is None or _has_summaries(findings.layers):
        return
    shown = on_data(findings.graph)
    if not shown.edges:
        return
    from ..charts.graph_chart import graph_picture

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


_MAX_FILES: Final = 20
_MAX_CALLS: Final = 20
_MAX_EDGES: Final = 10
_MIN_SHARE: Final = 0.01
"""Least share of the time on files for which a file without moved bytes is listed."""
_POSITIONED: Final = ("pread", "pwrite", "preadv", "pwritev")
_SEEKS: Final = ("lseek", "lseek64", "llseek", "fseek", "fseeko", "fseeko64", "MPI_File_seek", "rewind", "fsetpos")
_BAR: Final = 240


def heat_map_part(subject: JobData, findings: Findings) -> Lines:
    """Yield the heat map: share of I/O by member and time."""
    heat = findings.heat
    if heat is None or not heat.rows:
        return
    from ..charts.heat_map_chart import heat_picture, shown_rows

    yield heading("Who does I/O when")
    rows = shown_rows(heat)
    yield picture(heat_picture(heat, rows), "")
    yield paragraph(
        "Each row is a rank or a process, or several neighbours. The darker a cell, the larger the share of its time "
        "in I/O calls on the program's data; the colour is that of what takes the most. Where it is empty, the "
        "program computes, waits, or does other things."
        + (f" {len(heat.rows) - len(rows):,} rows with little I/O are left out." if len(rows) < len(heat.rows) else ""),
        soft=True,
    )


def layers(subject: JobData, findings: Findings) -> Lines:
    """Yield time and bytes by layer."""
    report = findings.layers
    if report is None or not report.layers:
        return
    yield heading("Layers")
    heads = ("Layer", "Own time on data", "of it moving no data", "Own time on pipes ...", "Calls", "Read", "Written")
    rows = (
        (
            layer_name(row.layer),
            time_text(row.data_seconds),
            share_text(row.metadata_seconds / row.data_seconds) if row.data_seconds else "",
            time_text(row.channel_seconds),
            f"{row.calls:,}",
            byte_text(row.bytes_read),
            byte_text(row.bytes_written),
        )
        for row in report.layers
    )
    yield from table(heads, rows)


def files(subject: JobData, findings: Findings) -> Lines:
    """Yield the program's files with the most bytes; others only if they take time."""
    rows = subject.job.files
    seconds = sum(row.seconds for row in rows)
    shown = [row for row in rows if row.bytes_read + row.bytes_written or row.seconds >= _MIN_SHARE * seconds > 0]
    if not shown:
        return
    yield heading("Largest files")
    heads = ("File", "Calls", "Read", "Written", "Time")
    cells = (
        (
            row.path,
            f"{row.calls:,}",
            byte_text(row.bytes_read),
            byte_text(row.bytes_written),
            time_text(row.seconds),
        )
        for row in shown[:_MAX_FILES]
    )
    yield from table(heads, cells, code)


def calls(subject: JobData, findings: Findings) -> Lines:
    """Yield the calls on the program's data with the most time. All calls if the layers are unknown."""
    report = findings.layers
    data = [] if report is None else sorted(_on_data(report), key=lambda row: -row.exclusive_seconds)
    heads = ("Call", "Layer", "Calls", "Failed", "Moved", "Own time")
    if data:
        yield heading("Calls on its data")
        cells = [
            (
                row.call,
                layer_name(row.layer),
                f"{row.calls:,}",
                f"{row.failed:,}",
                byte_text(row.bytes),
                time_text(row.exclusive_seconds),
            )
            for row in data[:_MAX_CALLS]
        ]
        yield from table(heads, cells, code)
    elif subject.job.calls:
        yield heading("Calls")
        totals = [
            (
                row.call,
                layer_name(row.layer),
                f"{row.calls:,}",
                f"{row.failed:,}",
                byte_text(row.bytes),
                time_text(row.seconds),
            )
            for row in subject.job.calls[:_MAX_CALLS]
        ]
        yield from table((*heads[:-1], "Time"), totals, code)


def sizes(subject: JobData, findings: Findings) -> Lines:
    """Yield the sizes of requests, and whether they are contiguous."""
    report = findings.layers
    if report is None or not report.sizes:
        return
    yield heading("Access sizes")
    lines: dict[tuple[str, str, str], list[SizeRow]] = {}
    for row in report.sizes:
        lines.setdefault((row.caller, row.layer, row.way), []).append(row)
    for (caller, layer, way), rows in sorted(lines.items()):
        yield f"<h3>{escape(f'{caller_name(caller)}: {layer_name(layer)} {way}s')}</h3>"
        most = max(row.calls for row in rows)
        yield '<div class="wide" tabindex="0" role="group" aria-label="Table"><table class="bars"><tbody>'
        for row in sorted(rows, key=lambda row: row.from_bytes):
            wide = max(row.calls / most * _BAR, 1.0)
            bar = f'<rect width="{wide:.0f}" height="10" fill="#0b6e99"/>'
            yield (
                f"  <tr><td>{escape(_size_text(row.from_bytes))}</td>"
                f'<td><svg width="{_BAR}" height="10" aria-hidden="true">{bar}</svg></td><td>{row.calls:,}</td></tr>'
            )
        yield "</tbody></table></div>"
    yield from _pattern(report)


def interaction_part(subject: JobData, findings: Findings) -> Lines:
    """Yield the members that exchange data through files, pipes and locks."""
    ranking = findings.ranking
    if ranking is None or not ranking.edges:
        return
    yield heading("Who interacts with whom")
    names = _names(ranking)
    heads = ("From", "to", "through", "times", "bytes")
    rows = (
        (
            _end(names, row, source=True),
            _end(names, row, source=False),
            row.kind,
            f"{row.count:,}",
            byte_text(row.bytes),
        )
        for row in sorted(ranking.edges, key=lambda row: row.kind == "fork")[:_MAX_EDGES]
    )
    yield from table(heads, rows, code)
    if (more := len(ranking.edges) - _MAX_EDGES + ranking.omitted_edges) > 0:
        yield paragraph(f"and {counted(more, 'further ones')} (iotide rank)", soft=True)


def _on_data(report: Layers) -> Iterator[CallLayer]:
    return (row for row in report.calls if row.group == "data")


def _pattern(report: Layers) -> Lines:
    """Yield the number of requests positioned by a seek or by an explicit offset."""
    data = list(_on_data(report))
    moving = sum(row.calls for row in data if row.way != "other")
    if not moving:
        return
    seeks = sum(row.calls for row in data if row.call in _SEEKS)
    placed = sum(row.calls for row in data if row.call.removesuffix("64").startswith(_POSITIONED) or "_at" in row.call)
    yield heading("Access pattern")
    parts = [f"{seeks:,} seeks for {moving:,} reads and writes on its data"]
    if placed:
        parts.append(f"{placed:,} of these name an offset of their own")
    if not seeks and not placed:
        parts = [f"all {moving:,} reads and writes on its data go on where the last one through their handle ended"]
    yield from bullets(escape(part) for part in parts)


def _size_text(size: int) -> str:
    """Format a size class: from a size up to twice as much.

    >>> _size_text(0), _size_text(512), _size_text(4096)
    ('0', '512 B to 1 KiB', '4 KiB to 8 KiB')
    """
    return "0" if not size else f"{_power(size)} to {_power(2 * size)}"


def _power(size: int) -> str:
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size // factor:,} {unit}"
    return f"{size} B"


def _names(ranking: Ranking) -> dict[tuple[bool, int], str]:
    names = {(False, actor.id): _actor(actor) for actor in ranking.actors}
    return names | {(True, file.id): file.path for file in ranking.files}


def _actor(actor: Actor) -> str:
    if actor.rank >= 0:
        return f"rank {actor.rank}"
    return f"{actor.name} {actor.pid or ''}".strip()


def _end(names: dict[tuple[bool, int], str], row: Interaction, *, source: bool) -> str:
    key = (row.source_is_file, row.source) if source else (row.target_is_file, row.target)
    return names.get(key, "another one")


SECTIONS: Final = (heat_map_part, layers, graph, files, calls, sizes, interaction_part)
"""The sections, in the order of a reader's questions."""
