"""Output of directly-follows graphs in all supported formats."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final, Literal, get_args

from ...results.dfg import Comparison, Graph
from ..drawing.graphviz import render_dot
from .dot import dot_of
from .graphml import graphml_of
from .layout import Layout, place
from .page import page_of
from .scene import MAX_ACTIVITIES, MAX_EDGES, Colour, scene_of

Form = Literal["dot", "svg", "png", "html", "json", "graphml"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)


def format_of(name: str) -> Form:
    """Return the output format by the suffix of a file name.

    Raises:
        ValueError: it has none of the known ends.
    """
    end = PurePath(name).suffix.lower().removeprefix(".")
    for form in FORMS:
        if end == form or (end, form) == ("gv", "dot"):
            return form
    raise ValueError(f"{name}: the name must end in one of .{', .'.join(FORMS)}")


def draw(
    graph: Graph,
    form: Form,
    *,
    colour: Colour = "load",
    comparison: Comparison | None = None,
    before: Layout | None = None,
    most_activities: int = MAX_ACTIVITIES,
    most_edges: int = MAX_EDGES,
) -> bytes:
    """Draw or export a graph.

    Args:
        graph: the graph; with a comparison, that of both sides together.
        form: output format. ``json`` is the model (with a comparison: the comparison) and ``graphml`` the whole graph.
            The others are reduced to the strongest edges if there are too many, and their legend reports this.
        colour: measure shown as darkness; with a comparison, nodes and edges are coloured by side unless it is
            ``none``.
        comparison: assignment of nodes and edges to green, red or both.
        before: layout whose node positions are kept, as returned by ``layout.place`` for an earlier state of the graph.
        most_activities: maximum of activities in dot, svg and png.
        most_edges: maximum of edges in dot, svg and png.

    Raises:
        UnavailableError: ``svg`` or ``png`` without Graphviz; the text names what to install.
    """
    if form == "json":
        return (graph if comparison is None else comparison).model_dump_json(indent=2).encode() + b"\n"
    if form == "graphml":
        return graphml_of(graph, comparison)
    if form == "html":
        return page_of(graph, colour=colour, comparison=comparison, before=before).encode(errors="replace")
    limits = {"most_activities": most_activities, "most_edges": most_edges}
    scene = scene_of(graph, colour=colour, comparison=comparison, **limits)
    text = dot_of(scene, None if before is None else place(scene, before))
    return text.encode() if form == "dot" else render_dot(text, form)
