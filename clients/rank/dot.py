"""Interaction graphs as Graphviz text (DOT): darker for higher ranks, files as ellipses between processes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ...results.interaction import Actor, Component, Interaction, Ranking, SharedFile
from ..drawing.graphviz import quote
from ..text.units import byte_text
from .text import LARGE, actor_name, interaction_text

MAX_ACTORS: Final = 40
MAX_FILES: Final = 40
MAX_EDGES: Final = 120
_MAX_FORKS: Final = 30
MAX_COMPONENTS: Final = 8
_FONT: Final = "Helvetica,Arial,sans-serif"
_COLOURS: Final = {
    "wakeup": "#4a5568",
    "lock": "#c0392b",
    "guest": "#8e44ad",
    "fork": "#a0aec0",
    "file": "#1f77b4",
    "pipe": "#2a9d8f",
    "socket": "#e07a1f",
    "collective": "#6b4fbb",
}
_MAX_LABEL: Final = 34


@dataclass(frozen=True, slots=True)
class ShownPart:
    """The part of a ranking that is drawn.

    Attributes:
        components: components with their leaders and the actors of next rank.
        left_out: number of actors of the ranking that are not drawn.
    """

    components: list[tuple[Component, list[Actor], list[SharedFile]]]
    edges: list[Interaction]
    left_out: int


def select_shown(ranking: Ranking, top: int) -> ShownPart:
    """Select what is drawn. This includes leaders of the largest components, and the most active other actors that fit.

    A fork edge between two actors that are connected anyway is omitted as clutter.
    """
    components = [one for one in ranking.components if one.number == 1 or one.share >= LARGE][:MAX_COMPONENTS]
    members: dict[int, list[Actor]] = {component.number: [] for component in components}
    for actor in ranking.actors:
        if actor.component in members:
            members[actor.component].append(actor)
    room = MAX_ACTORS - sum(min(len(mine), top) for mine in members.values())
    for number, mine in members.items():
        more = min(max(room, 0), max(len(mine) - top, 0))
        busiest = sorted(mine[top:], key=lambda actor: -actor.interactions)
        members[number] = mine[:top] + busiest[:more]
        room -= more
    actors = {actor.id for mine in members.values() for actor in mine}
    files = _connecting_files(ranking, actors)
    edges = [
        edge
        for edge in ranking.edges
        if edge.source in (files if edge.source_is_file else actors)
        and edge.target in (files if edge.target_is_file else actors)
    ]
    others = [edge for edge in edges if edge.kind != "fork"]
    joined = {frozenset(_ends(edge)) for edge in others}
    forks = [edge for edge in edges if edge.kind == "fork" and frozenset(_ends(edge)) not in joined][:_MAX_FORKS]
    parts = [
        (
            one,
            members[one.number],
            [file for file in ranking.files if file.id in files and file.component == one.number],
        )
        for one in components
    ]
    return ShownPart(parts, _strongest_edges(others) + forks, len(ranking.actors) - len(actors))


def _connecting_files(ranking: Ranking, actors: set[int]) -> set[int]:
    """Return the files through which most drawn actors interact. A file with one user connects none."""
    users: dict[int, set[int]] = {}
    for edge in ranking.edges:
        if edge.source_is_file and edge.target in actors:
            users.setdefault(edge.source, set()).add(edge.target)
        elif edge.target_is_file and edge.source in actors:
            users.setdefault(edge.target, set()).add(edge.source)
    meeting = [(file, len(mine)) for file, mine in users.items() if len(mine) > 1]
    return {file for file, _ in sorted(meeting, key=lambda one: -one[1])[:MAX_FILES]}


def _strongest_edges(edges: list[Interaction]) -> list[Interaction]:
    """Return the strongest edges, and beyond their bound the strongest edge of each vertex."""
    met: set[tuple[int, bool]] = set()
    chosen: list[Interaction] = []
    for edge in edges:
        ends = set(_ends(edge))
        if len(chosen) < MAX_EDGES or ends - met:
            chosen.append(edge)
            met |= ends
    return chosen


def dot_of(ranking: Ranking, top: int) -> str:
    """Return a ranking as DOT, one cluster per component.

    Args:
        ranking: the ranking.
        top: least number of leaders drawn per component.
    """
    return "\n".join(_lines(ranking, select_shown(ranking, top))) + "\n"


def shade(rank: float, highest: float) -> str:
    """Return the colour of a vertex: darker for a higher rank in its component."""
    share = math.sqrt(rank / highest) if highest > 0 else 0.0
    light, dark = (235, 243, 251), (49, 119, 184)
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(light, dark, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"


def edge_colour(edge: Interaction) -> str:
    """Return the colour of a kind of interaction."""
    return _COLOURS[edge.kind]


def _lines(ranking: Ranking, shown: ShownPart) -> Iterator[str]:
    yield "digraph interactions {"
    yield (
        f'  graph [rankdir=LR nodesep=0.25 ranksep=0.7 bgcolor=white fontname="{_FONT}" fontsize=12 labelloc=b '
        f"label={quote(_legend(ranking, shown))}];"
    )
    yield f'  node [fontname="{_FONT}" fontsize=11 margin="0.12,0.06"];'
    yield f'  edge [fontname="{_FONT}" fontsize=9 arrowsize=0.7];'
    for component, actors, files in reversed(shown.components):  # Graphviz stacks them from below
        highest = max((actor.rank_once for actor in actors), default=0.0)
        yield f"  subgraph cluster_{component.number} {{"
        yield (
            f'    style="rounded,dashed" color="#a0aec0" fontcolor="#4a5568" label='
            f"{quote(f'component {component.number}: {component.actors} interact, {component.share:.0%} of all')};"
        )
        for actor in actors:
            yield f"    {_actor(actor, highest, leads=actor.id in component.leaders)}"
        for file in files:
            yield f"    {_file(file)}"
        yield "  }"
    most = max((edge.count for edge in shown.edges), default=1)
    for edge in shown.edges:
        yield f"  {_edge(edge, most)}"
    yield "}"


def _actor(actor: Actor, highest: float, *, leads: bool) -> str:
    share = actor.rank_once / highest if highest else 0.0
    text = f"{_shorten(actor_name(actor))}\n{actor.rank_once:.3f} ({actor.rank_converged:.3f})"
    return (
        f'a{actor.id} [shape=box style="filled,rounded" fillcolor="{shade(actor.rank_once, highest)}" '
        f'fontcolor="{"white" if share > 0.45 else "#1a202c"}" color="#2c5282" penwidth={2.2 if leads else 0.8} '
        f"label={quote(text)} tooltip={quote(_facts(actor))}];"
    )


def _file(file: SharedFile) -> str:
    return (
        f'f{file.id} [shape=ellipse style=filled fillcolor="#fffbea" color="{_COLOURS[file.kind]}" fontsize=10 '
        f"label={quote(_shorten(file.path))} tooltip={quote(file.path)}];"
    )


def _edge(edge: Interaction, most: int) -> str:
    ends = [f"{'f' if is_file else 'a'}{number}" for number, is_file in _ends(edge)]
    width = 0.6 + 3.4 * math.log1p(edge.count) / math.log1p(max(most, 1))
    facts = f"{edge.count:,}" + (f" / {byte_text(edge.bytes)}" if edge.bytes else "")
    label = "" if edge.count == 1 and not edge.bytes else facts
    style = " style=dashed constraint=false" if edge.kind == "fork" else ""
    colour = edge_colour(edge)
    return (
        f'{ends[0]} -> {ends[1]} [color="{colour}" fontcolor="{colour}" penwidth={width:.2f} label={quote(label)} '
        f"tooltip={quote(f'{interaction_text(edge)}: {facts}')}{style}];"
    )


def _ends(edge: Interaction) -> tuple[tuple[int, bool], tuple[int, bool]]:
    return (edge.source, edge.source_is_file), (edge.target, edge.target_is_file)


def _legend(ranking: Ranking, shown: ShownPart) -> str:
    kinds = ", ".join(sorted({edge.kind for edge in shown.edges}))
    text = f"darker: higher rank in its component (one iteration; converged in brackets); edges: {kinds}"
    return text + (f"; {shown.left_out:,} of lower rank are not drawn" if shown.left_out else "")


def _facts(actor: Actor) -> str:
    return (
        f"{actor_name(actor)}\nrank {actor.rank_once:.4f}, converged {actor.rank_converged:.4f}\n"
        f"{actor.interactions:,} interactions, community {actor.community}\n"
        f"CPU {actor.cpu_s:.3f} s, read {byte_text(actor.bytes_read)}, written {byte_text(actor.bytes_written)}"
    )


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_LABEL else "…" + text[-_MAX_LABEL:]
