"""The answer of ``iotide rank``, for people."""

from __future__ import annotations

from typing import Final, TextIO

from rich.console import Console
from rich.table import Table

from ...events.interaction import Actor, Component, Ranking, RankReport
from ..tables import shown, shown_files
from ..units import byte_text, duration_text

_MOST_COMPONENTS: Final = 12
_MOST_EDGES: Final = 12
_MOST_COMMUNITIES: Final = 12
_DIVIDED: Final = 0.3
"""Modularity from which on a component is said to fall into several communities."""


def print_ranking(report: RankReport, stream: TextIO) -> None:
    """Prints what was read, the components with their leaders, the strongest edges, and what was left out."""
    console = Console(file=stream, highlight=False)
    ranking = report.ranking
    console.print(
        f"[bold]{shown_files(report.files)}[/bold]  {report.source}, {ranking.events:,} events over "
        f"{duration_text(max(ranking.last_s - ranking.first_s, 0.0))}; "
        f"{len(ranking.actors):,} {_plural(ranking)} interact in {len(ranking.components):,} "
        f"component{'' if len(ranking.components) == 1 else 's'}, {ranking.alone:,} with nobody",
        soft_wrap=True,
    )
    by_id = {actor.id: actor for actor in ranking.actors}
    for component in ranking.components[:_MOST_COMPONENTS]:
        console.print()
        console.print(_heading(component), soft_wrap=True)
        console.print(_leaders(component, by_id))
        for line in _communities(component, by_id):
            console.print(line, soft_wrap=True)
    if len(ranking.components) > _MOST_COMPONENTS:
        console.print(f"... and {len(ranking.components) - _MOST_COMPONENTS:,} smaller components (see --json)")
    if ranking.edges:
        console.print()
        console.print(_edges(ranking, by_id))
    for line in _left_out(report):
        console.print(line, soft_wrap=True)


def who(actor: Actor) -> str:
    """Returns a vertex' name with what tells it from others of that name."""
    if actor.rank >= 0:
        return actor.name if actor.name == f"rank {actor.rank}" else f"{actor.name} (rank {actor.rank})"
    number = actor.pid or actor.tid
    return f"{actor.name} {number}" if number else actor.name


def _heading(component: Component) -> str:
    parts = f"[bold]component {component.number}[/bold]  {component.actors:,} interact"
    if component.files:
        parts += f" through {component.files:,} file{'' if component.files == 1 else 's'} and directly"
    parts += f", {component.interactions:,} times ({component.share:.1%} of all)"
    if len(component.communities) > 1 and component.modularity is not None:
        parts += f"; {len(component.communities)} communities (modularity {component.modularity:.2f})"
    return parts


def _communities(component: Component, by_id: dict[int, Actor]) -> list[str]:
    """Names who leads each community of a component that falls into several."""
    if component.modularity is None or component.modularity < _DIVIDED or len(component.communities) < 2:
        return []
    lines = []
    for row in component.communities[:_MOST_COMMUNITIES]:
        names = ", ".join(shown(who(by_id[number])) for number in row.leaders[:3] if number in by_id)
        lines.append(f"  community {row.number}: {names}" + (f" and {row.actors - 3} more" if row.actors > 3 else ""))
    return lines


def _leaders(component: Component, by_id: dict[int, Actor]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("rank", "converged", "interactions", "CPU", "read", "written", "community"):
        table.add_column(title, justify="right")
    table.add_column("who", no_wrap=True)
    for number in component.leaders:
        actor = by_id.get(number)
        if actor is None:
            continue
        table.add_row(
            f"{actor.rank_once:.3f}",
            f"{actor.rank_converged:.3f}",
            f"{actor.interactions:,}",
            duration_text(actor.cpu_s) if actor.cpu_s else "",
            byte_text(actor.bytes_read) if actor.bytes_read else "",
            byte_text(actor.bytes_written) if actor.bytes_written else "",
            str(actor.community or ""),
            shown(who(actor)),
        )
    return table


def _edges(ranking: Ranking, by_id: dict[int, Actor]) -> Table:
    files = {file.id: file.path for file in ranking.files}
    table = Table(box=None, pad_edge=False)
    table.add_column("times", justify="right")
    table.add_column("moved", justify="right")
    table.add_column("waited", justify="right")
    table.add_column("how")
    table.add_column("from", no_wrap=True)
    table.add_column("to", no_wrap=True)
    for edge in ranking.edges[:_MOST_EDGES]:
        source = files[edge.source] if edge.source_is_file else who(by_id[edge.source])
        target = files[edge.target] if edge.target_is_file else who(by_id[edge.target])
        table.add_row(
            f"{edge.count:,}",
            byte_text(edge.bytes) if edge.bytes else "",
            duration_text(edge.waited_s) if edge.waited_s else "",
            edge.kind,
            shown(source),
            shown(target),
        )
    return table


def _left_out(report: RankReport) -> list[str]:
    ranking = report.ranking
    lines = []
    if ranking.pruned:
        names = ", ".join(shown(who(actor)) for actor in ranking.pruned[:5])
        more = f" and {len(ranking.pruned) - 5} more" if len(ranking.pruned) > 5 else ""
        lines.append(f"pruned as background: {names}{more}")
    for number, text in (
        (ranking.device_wakeups, "wake-ups by interrupts and timers belong to no process"),
        (ranking.void_wakeups, "wake-ups of threads that did not wait do not count"),
        (ranking.dropped_events, "events of rare threads and pairs are beyond the bounds"),
        (report.problems_total, "malformed pieces of input were left out (see --json)"),
    ):
        if number:
            lines.append(f"{number:,} {text}")
    if report.kept_events is not None and report.all_events:
        share = report.kept_events / report.all_events
        lines.append(f"the filtered trace keeps {report.kept_events:,} of {report.all_events:,} lines ({share:.1%})")
    return lines + [shown(note) for note in ranking.notes]


def _plural(ranking: Ranking) -> str:
    return {"process": "processes"}.get(ranking.by, f"{ranking.by}s")
