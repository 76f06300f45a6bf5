"""Content of a directly-follows graph drawing: colours, widths, and the selected nodes and edges.

Source: [DFG], Section IV. The same scene is drawn as Graphviz text, as a page and as GraphML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from ...events.counted_text import counted
from ...results.dfg import ActivityStats, Comparison, Graph, Side
from ..text.units import byte_text, duration_text, rate_text
from .colours import GREEN, GREEN_LINE, INK, PLAIN, RED, RED_LINE, Paint, shade
from .labels import activity_facts, activity_label, make_printable, short_count, shorten, stable_id

Colour = Literal["load", "bytes", "rate", "none", "partition"]

START: Final = "(start)"
END: Final = "(end)"
MAX_ACTIVITIES: Final = 60
MAX_EDGES: Final = 160
_MAX_WIDTH: Final = 4.0


@dataclass(frozen=True)
class Node:
    """One activity, or a marker."""

    name: str
    key: str
    """Identifier of the activity; the same in every drawing."""
    title: str
    """The call, or the text before the first colon."""
    lines: tuple[str, ...]
    """Lines below the title: the path, then load and rate as in [DFG]."""
    paint: Paint
    facts: tuple[tuple[str, str], ...]
    """All statistics as text, for the tooltip."""
    side: Side | None = None
    marker: bool = False


@dataclass(frozen=True)
class Edge:
    """One edge."""

    source: str
    target: str
    count: int
    label: str
    width: float
    """Points."""
    colour: str
    facts: tuple[tuple[str, str], ...]
    side: Side | None = None
    marker: bool = False
    """True for edges from the start marker or to the end marker."""


@dataclass(frozen=True)
class Scene:
    """Content of a drawing. The order of nodes and edges depends on names only."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    legend: tuple[str, ...]
    scale: tuple[tuple[Paint, str], ...]
    """Colours and their meaning."""
    colour: Colour


def scene_of(
    graph: Graph,
    *,
    colour: Colour = "load",
    comparison: Comparison | None = None,
    most_activities: int = MAX_ACTIVITIES,
    most_edges: int = MAX_EDGES,
) -> Scene:
    """Select the content of a drawing.

    Args:
        graph: the graph; with a comparison, that of both sides together.
        colour: measure shown as darkness; ``partition``, or any but ``none`` with a comparison, colours by side.
        comparison: green and red.
        most_activities: a graph with more is reduced to the most frequent, longest and largest activities.
        most_edges: a graph with more is reduced to the strongest; each activity keeps its strongest edges in and out.

    Raises:
        ValueError: partition colouring without a comparison.
    """
    if colour == "partition" and comparison is None:
        raise ValueError("partition colouring needs a comparison of two graphs")
    if comparison is not None and colour != "none":
        colour = "partition"
    shown = _activities_shown(graph, most_activities)
    relations = _relations(graph, shown)
    kept = _edges_shown(relations, most_edges)
    node_sides, edge_sides = _sides(comparison)
    counts = {} if comparison is None else {(row.source, row.target): (row.green, row.red) for row in comparison.edges}
    top = max((count for _, _, count, _ in kept), default=1)
    highest = max((_measure(row, colour) for row in shown.values()), default=0.0)
    nodes = [_node(row, colour, highest, node_sides.get(row.name), comparison) for row in shown.values()]
    if nodes:
        nodes += [_marker(START), _marker(END)]
    edges = [
        _edge(source, target, count, gap, top, edge_sides.get((source, target)), counts.get((source, target)))
        for source, target, count, gap in kept
    ]
    return Scene(
        title=_title(graph, comparison),
        nodes=tuple(sorted(nodes, key=lambda node: (node.name != START, node.name == END, node.name))),
        edges=tuple(sorted(edges, key=lambda edge: (edge.source, edge.target))),
        legend=tuple(_legend(graph, shown, relations, kept, comparison)),
        scale=_scale(colour, highest, comparison),
        colour=colour,
    )


Relation = tuple[str, str, int, float | None]


def _activities_shown(graph: Graph, most: int) -> dict[str, ActivityStats]:
    rows = graph.activities
    if len(rows) <= most:
        return {row.name: row for row in rows}
    events, moved = max(graph.events, 1), max(sum(row.bytes for row in rows), 1)
    ranked = sorted(rows, key=lambda row: (-max(row.events / events, row.load, row.bytes / moved), row.name))
    return {row.name: row for row in ranked[:most]}


def _relations(graph: Graph, shown: Mapping[str, ActivityStats]) -> list[Relation]:
    """Return all edges among the shown activities, including those of the markers."""
    among: list[Relation] = [
        (row.source, row.target, row.count, row.mean_gap_s)
        for row in graph.edges
        if row.source in shown and row.target in shown and row.count
    ]
    among += [(START, row.name, row.starts, None) for row in shown.values() if row.starts]
    among += [(row.name, END, row.ends, None) for row in shown.values() if row.ends]
    return sorted(among, key=lambda row: (-row[2], row[0], row[1]))


def _edges_shown(relations: list[Relation], most: int) -> list[Relation]:
    if len(relations) <= most:
        return relations
    entered: set[str] = set()
    left: set[str] = set()
    needed: list[Relation] = []
    rest: list[Relation] = []
    for row in relations:  # strongest first, so the first edge in or out is the strongest one
        source, target = row[0], row[1]
        if source == target or (source in left and target in entered):
            rest.append(row)
            continue
        needed.append(row)
        left.add(source)
        entered.add(target)
    chosen = needed + rest[: max(most - len(needed), 0)]
    return sorted(chosen, key=lambda row: (-row[2], row[0], row[1]))


def _sides(comparison: Comparison | None) -> tuple[dict[str, Side], dict[tuple[str, str], Side]]:
    if comparison is None:
        return {}, {}
    nodes = {row.name: row.side for row in comparison.nodes}
    edges: dict[tuple[str, str], Side] = {(row.source, row.target): row.side for row in comparison.edges}
    for row in comparison.nodes:
        for marker, pair in (("starts", (START, row.name)), ("ends", (row.name, END))):
            green = getattr(row.green, marker, 0) > 0
            red = getattr(row.red, marker, 0) > 0
            if green or red:
                edges.setdefault(pair, "both" if green and red else "green" if green else "red")
    return nodes, edges


def _measure(stats: ActivityStats, colour: Colour) -> float:
    if colour == "load":
        return stats.load
    if colour == "bytes":
        return float(stats.bytes)
    return stats.rate or 0.0 if colour == "rate" else 0.0


def _node(
    stats: ActivityStats, colour: Colour, highest: float, side: Side | None, comparison: Comparison | None
) -> Node:
    name = make_printable(stats.name) or "(no name)"
    title, colon, path = name.partition(":")
    title = title or name
    below = (shorten(path),) if colon and path else ()
    if colour == "partition":
        paint = {"green": GREEN, "red": RED}.get(side or "both", PLAIN)
    else:
        value = _measure(stats, colour)
        paint = shade(value / highest) if highest > 0 else PLAIN
    facts = (("activity", name), *activity_facts(stats))
    if comparison is not None:
        facts = (("activity", name), *_side_fact(side, comparison), *activity_facts(stats))
    return Node(stats.name, stable_id(stats.name), shorten(title), below + activity_label(stats), paint, facts, side)


def _marker(name: str) -> Node:
    return Node(name, stable_id(name), "start" if name == START else "end", (), PLAIN, (), marker=True)


def _edge(
    source: str,
    target: str,
    count: int,
    gap_s: float | None,
    top: int,
    side: Side | None,
    sides: tuple[int, int] | None,
) -> Edge:
    marker = source == START or target == END
    colour = {"green": GREEN_LINE, "red": RED_LINE}.get(side or "both", INK)
    width = 0.8 + (_MAX_WIDTH - 0.8) * (count / top) ** 0.5
    facts: list[tuple[str, str]] = [
        ("from", make_printable(source)),
        ("to", make_printable(target)),
        ("times", f"{count:,}"),
    ]
    if sides is not None:
        facts += [("green", f"{sides[0]:,}"), ("red", f"{sides[1]:,}")]
    if gap_s is not None:
        facts.append(("time between, mean", duration_text(gap_s)))
    return Edge(source, target, count, short_count(count), width, colour, tuple(facts), side, marker)


def _side_fact(side: Side | None, comparison: Comparison) -> tuple[tuple[str, str], ...]:
    if side == "both":
        return (("occurs in", "both"),)
    return (
        ()
        if side is None
        else (("occurs only in", make_printable(comparison.green if side == "green" else comparison.red)),)
    )


def _title(graph: Graph, comparison: Comparison | None) -> str:
    if comparison is not None:
        return f"{shorten(make_printable(comparison.green))} and {shorten(make_printable(comparison.red))}"
    name = shorten(make_printable(graph.job), 80) or "directly-follows graph"
    return f"{name}: {shorten(make_printable(graph.filter), 80)}" if graph.filter else name


def _legend(
    graph: Graph,
    shown: Mapping[str, ActivityStats],
    relations: list[Relation],
    kept: list[Relation],
    comparison: Comparison | None,
) -> Iterable[str]:
    opened = f" ({graph.open_cases:,} open)" if graph.open_cases else ""
    kinds = f"case: {graph.case}; activity: {make_printable(graph.mapping)}"
    cases = f"{graph.cases:,} case{'s' * (graph.cases != 1)}"
    yield f"{counted(graph.events, 'events')} in {cases}{opened}; {kinds}"
    yield "Load: share of the time of all calls (bytes). DR: calls at once x data rate of one. Edges: how often."
    total = len(graph.edges) + sum((row.starts > 0) + (row.ends > 0) for row in graph.activities)
    if len(shown) < len(graph.activities):
        part = sum(row.events for row in shown.values()) / max(graph.events, 1)
        yield f"Cut to {len(shown):,} of {len(graph.activities):,} activities, with {part:.1%} of the events."
    if len(kept) < total:
        occurred = sum(row.count for row in graph.edges) + sum(row.starts + row.ends for row in graph.activities)
        part = sum(row[2] for row in kept) / max(occurred, 1)
        yield f"Cut to the strongest {len(kept):,} of {total:,} edges, with {part:.1%} of what follows what."
    lost = (
        (graph.unmapped, "events have no activity"),
        (graph.dropped_events, f"events of {graph.dropped_activities:,} rarer activities are in (other)"),
        (graph.late_events, "events came too late for the edges"),
        (graph.dropped_edges, "occurrences of rarer edges are left out"),
    )
    losses = [f"{count:,} {what}" for count, what in lost if count]
    if losses:
        yield "; ".join(losses) + "."
    if comparison is not None:
        yield f"Distance {comparison.distance:.2f} (0: alike, 1: nothing in common)."


def _scale(colour: Colour, highest: float, comparison: Comparison | None) -> tuple[tuple[Paint, str], ...]:
    if comparison is not None and colour == "partition":
        green, red = (shorten(make_printable(name)) for name in (comparison.green, comparison.red))
        return ((GREEN, f"only in {green}"), (RED, f"only in {red}"), (PLAIN, "in both"))
    if colour == "none" or highest <= 0:
        return ()
    digits = ".2f" if highest >= 0.1 else ".2g"
    write = {"load": lambda value: f"{value:{digits}}", "bytes": byte_text, "rate": rate_text}[colour]
    steps = (0.0, 0.25, 0.5, 0.75, 1.0)
    return tuple((shade(step), (f"{colour} " if not step else "") + write(step * highest)) for step in steps)
