"""Text output of ``iotide rank``: the leaders of each component, and jobs that disturb a job."""

from __future__ import annotations

from typing import Final, TextIO

from rich.console import Console
from rich.table import Table

from ...events.counted_text import counted
from ...results.interaction import (
    MAX_COMMUNITIES,
    Actor,
    Component,
    Culprit,
    Culprits,
    Interaction,
    Ranking,
    RankReport,
)
from ..text.tables import file_list, number_table, plain_name, print_table
from ..text.units import byte_text, duration_text

_MAX_COMPONENTS: Final = 12
_MAX_SMALL: Final = 6
LARGE: Final = 0.01
"""Least share of the interactions for which a component's leaders are listed one per row."""
_MAX_EDGES: Final = 12
_MAX_COMMUNITIES: Final = 12
_DIVIDED: Final = 0.3
"""Least modularity for which a component is reported as several communities."""


def print_ranking(report: RankReport, stream: TextIO) -> None:
    """Print the components with their leaders and the strongest edges.

    A summary of the input and the omissions are printed, too.
    """
    console = Console(file=stream, highlight=False)
    ranking = report.ranking
    console.print(
        f"[bold]{file_list(report.files)}[/bold]  {report.source}, {counted(ranking.events, 'events')} over "
        f"{duration_text(max(ranking.last_s - ranking.first_s, 0.0))}; "
        f"{len(ranking.actors):,} {_plural(ranking)} interact in {counted(len(ranking.components), 'components')}, "
        f"{ranking.alone:,} with nobody",
        soft_wrap=True,
    )
    by_id = {actor.id: actor for actor in ranking.actors}
    large = [one for one in ranking.components if one.number == 1 or one.share >= LARGE][:_MAX_COMPONENTS]
    for component in large:
        console.print()
        console.print(_heading(component), soft_wrap=True)
        leaders = [by_id[number] for number in component.leaders if number in by_id]
        print_table(console, _leaders(leaders), gap=False)
        for line in _communities(component, by_id):
            console.print(line, soft_wrap=True)
    small = ranking.components[len(large) :]
    if small:
        console.print()
    for component in small[:_MAX_SMALL]:
        console.print(_component_line(component, by_id), soft_wrap=True)
    if len(small) > _MAX_SMALL:
        console.print(f"... and {len(small) - _MAX_SMALL:,} smaller components (see --json)")
    if ranking.edges:
        print_table(console, _edges(ranking, by_id))
    for line in _left_out(report):
        console.print(line, soft_wrap=True)


def actor_name(actor: Actor) -> str:
    """Return a vertex' name with an identifier that distinguishes it from others of that name."""
    if actor.rank >= 0:
        return actor.name if actor.name == f"rank {actor.rank}" else f"{actor.name} (rank {actor.rank})"
    thread = f"/{actor.tid}" if actor.pid and actor.tid not in (0, actor.pid) else ""
    number = actor.pid or actor.tid
    return f"{actor.name} {number}{thread}" if number else actor.name


def interaction_text(edge: Interaction) -> str:
    """Return a text for the connection between the ends of an edge.

    >>> interaction_text(Interaction(source=1, target=2, kind="socket", count=9, connections=3))
    '3 sockets'
    """
    return f"{edge.connections:,} {edge.kind}s" if edge.connections > 1 else edge.kind


def _heading(component: Component) -> str:
    parts = f"[bold]component {component.number}[/bold]  {component.actors:,} interact"
    parts += f", {component.interactions:,} times ({component.share:.1%} of all)"
    if component.files:
        parts += f", {counted(component.files, 'files')} between them"
    if len(component.communities) > 1 and component.modularity is not None:
        least = "at least " if len(component.communities) >= MAX_COMMUNITIES else ""
        parts += f"; {least}{len(component.communities):,} communities (modularity {component.modularity:.2f})"
    return parts


def _communities(component: Component, by_id: dict[int, Actor]) -> list[str]:
    """Return the leaders of each community of a component that is divided into several."""
    if component.modularity is None or component.modularity < _DIVIDED or len(component.communities) < 2:
        return []
    lines = []
    for row in [row for row in component.communities if row.actors > 1][:_MAX_COMMUNITIES]:
        names = ", ".join(plain_name(actor_name(by_id[number])) for number in row.leaders[:3] if number in by_id)
        lines.append(f"  community {row.number}: {names}" + (f" and {row.actors - 3} more" if row.actors > 3 else ""))
    return lines


def _component_line(component: Component, by_id: dict[int, Actor]) -> str:
    names = ", ".join(plain_name(actor_name(by_id[number])) for number in component.leaders[:3] if number in by_id)
    more = f" and {component.actors - 3:,} more" if component.actors > 3 else ""
    times = "once" if component.interactions == 1 else f"{component.interactions:,} times"
    return f"component {component.number}  {names}{more}: {times} ({component.share:.1%})"


def _leaders(actors: list[Actor]) -> Table:
    numbers = {
        "rank": [_rank_text(actor.rank_once) for actor in actors],
        "converged": [_rank_text(actor.rank_converged) for actor in actors],
        "interactions": [f"{actor.interactions:,}" for actor in actors],
        "CPU": [duration_text(actor.cpu_s) if actor.cpu_s else "" for actor in actors],
        "read": [byte_text(actor.bytes_read) if actor.bytes_read else "" for actor in actors],
        "written": [byte_text(actor.bytes_written) if actor.bytes_written else "" for actor in actors],
        "community": [str(actor.community or "") for actor in actors],
    }
    return _table(numbers, {"who": [actor_name(actor) for actor in actors]})


def _rank_text(rank: float) -> str:
    """Format a rank. Small ranks get two digits, as each of ten thousand vertices has about 1/10000."""
    return f"{rank:.3f}" if rank >= 0.01 or rank == 0 else f"{rank:.2g}"


def _edges(ranking: Ranking, by_id: dict[int, Actor]) -> Table:
    files = {file.id: file.path for file in ranking.files}
    edges = sorted(ranking.edges, key=lambda edge: edge.kind == "fork")[:_MAX_EDGES]
    numbers = {
        "times": [f"{edge.count:,}" for edge in edges],
        "moved": [byte_text(edge.bytes) if edge.bytes else "" for edge in edges],
        "waited": [duration_text(edge.waited_s) if edge.waited_s else "" for edge in edges],
    }
    texts = {
        "how": [interaction_text(edge) for edge in edges],
        "from": [files[edge.source] if edge.source_is_file else actor_name(by_id[edge.source]) for edge in edges],
        "to": [files[edge.target] if edge.target_is_file else actor_name(by_id[edge.target]) for edge in edges],
    }
    return _table(numbers, texts)


def _table(numbers: dict[str, list[str]], texts: dict[str, list[str]]) -> Table:
    """Make a table without its empty columns."""
    numbers = {title: cells for title, cells in numbers.items() if any(cells)}
    table = number_table("", *numbers)
    for title in texts:
        table.add_column(title, no_wrap=True)
    named = [[plain_name(cell) for cell in cells] for cells in texts.values()]
    for row in zip(*numbers.values(), *named, strict=True):
        table.add_row(*row)
    return table


def _left_out(report: RankReport) -> list[str]:
    ranking = report.ranking
    lines = []
    if ranking.pruned:
        names = ", ".join(plain_name(actor_name(actor)) for actor in ranking.pruned[:5])
        more = f" and {len(ranking.pruned) - 5} more" if len(ranking.pruned) > 5 else ""
        lines.append(f"pruned as background: {names}{more}")
    for number, text in (
        (ranking.device_wakeups, "wake-ups by interrupts and timers belong to no process"),
        (ranking.void_wakeups, "wake-ups of threads that did not wait do not count"),
        (ranking.dropped_events, "events of rare threads and pairs are beyond the bounds"),
    ):
        if number:
            lines.append(f"{number:,} {text}")
    if report.problems_total:
        lines.append(f"left out: {counted(report.problems_total, 'malformed pieces of input')} (see --json)")
    if report.kept_events is not None and report.all_events:
        share = report.kept_events / report.all_events
        lines.append(f"the filtered trace keeps {report.kept_events:,} of {report.all_events:,} ({share:.1%})")
    return lines + [plain_name(note) for note in ranking.notes]


def _plural(ranking: Ranking) -> str:
    return {"process": "processes"}.get(ranking.by, f"{ranking.by}s")


def print_interference(found: Culprits, stream: TextIO) -> None:
    """Print which jobs moved data during the job's I/O. Also print the files that they share with it."""
    console = Console(file=stream, highlight=False)
    console.print(
        f"[bold]{plain_name(found.job)}[/bold] did I/O for {duration_text(found.active_s)} of "
        f"{duration_text(max(found.end_s - found.start_s, 0.0))}; of what was moved meanwhile "
        f"{found.share:.1%} was its own",
        soft_wrap=True,
    )
    if not found.culprits:
        console.print("no other job moved anything on its file systems meanwhile, or shares a file with it")
        return
    table = number_table("", "share", "moved", "together", "interactions")
    for title in ("job", "user", "where"):
        table.add_column(title, no_wrap=True)
    for row in found.culprits:
        table.add_row(
            f"{row.share:.1%}",
            byte_text(row.bytes),
            duration_text(row.together_s),
            f"{row.interactions:,}" if row.interactions else "",
            plain_name(row.job),
            plain_name(row.user),
            plain_name(_places_text(row)),
        )
    print_table(console, table)


def _places_text(row: Culprit) -> str:
    places = row.file_systems + [path for path in row.files[:3] if path not in row.file_systems]
    more = len(row.files) - 3
    return ", ".join(places) + (f" and {more} more files" if more > 0 else "")
