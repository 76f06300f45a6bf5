"""Output of directly-follows graphs in all supported formats, GraphML among them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import PurePath
from typing import Final, Literal, get_args

from ...results.dfg import Comparison, Graph
from ..drawing.graphviz import render_dot
from .dot import dot_of
from .labels import make_printable, stable_id
from .layout import Layout, place
from .page import page_of
from .scene import END, MAX_ACTIVITIES, MAX_EDGES, START, Colour, Relation, scene_of

_SPACE: Final = "http://graphml.graphdrawing.org/xmlns"
_NODE_FIELDS: Final = {
    "events": "long", "seconds": "double", "load": "double", "bytes": "long", "sized": "long",
    "rate": "double", "max_concurrency": "long", "exact": "boolean", "duration_p50_s": "double",
    "duration_p95_s": "double", "duration_max_s": "double", "cases": "long", "starts": "long", "ends": "long",
}  # fmt: skip
_GRAPH_FIELDS: Final = {"job": "string", "mapping": "string", "case": "string", "cases": "long", "events": "long"}


def graphml_of(graph: Graph, comparison: Comparison | None = None) -> bytes:
    """Return the whole graph: every statistic, markers as nodes, and sides of a comparison."""
    root = ET.Element("graphml", {"xmlns": _SPACE})
    for what, fields in (
        ("graph", _GRAPH_FIELDS),
        ("node", {"label": "string", **_NODE_FIELDS, "side": "string"}),
        ("edge", {"count": "long", "mean_gap_s": "double", "side": "string"}),
    ):
        for name, kind in fields.items():
            ET.SubElement(root, "key", {"id": f"{what}.{name}", "for": what, "attr.name": name, "attr.type": kind})
    element = ET.SubElement(root, "graph", {"id": "dfg", "edgedefault": "directed"})
    for name in _GRAPH_FIELDS:
        _add_data(element, f"graph.{name}", getattr(graph, name))
    nodes = {} if comparison is None else {row.name: row.side for row in comparison.nodes}
    edges = {} if comparison is None else {(row.source, row.target): row.side for row in comparison.edges}
    for marker in (START, END):
        _add_data(ET.SubElement(element, "node", {"id": stable_id(marker)}), "node.label", marker)
    for row in graph.activities:
        node = ET.SubElement(element, "node", {"id": stable_id(row.name)})
        _add_data(node, "node.label", row.name)
        for name in _NODE_FIELDS:
            _add_data(node, f"node.{name}", getattr(row, name))
        _add_data(node, "node.side", nodes.get(row.name))
    relations: list[Relation] = [(row.source, row.target, row.count, row.mean_gap_s) for row in graph.edges]
    relations += [(START, row.name, row.starts, None) for row in graph.activities if row.starts]
    relations += [(row.name, END, row.ends, None) for row in graph.activities if row.ends]
    for source, target, count, gap_s in relations:
        edge = ET.SubElement(element, "edge", {"source": stable_id(source), "target": stable_id(target)})
        _add_data(edge, "edge.count", count)
        _add_data(edge, "edge.mean_gap_s", gap_s)
        _add_data(edge, "edge.side", edges.get((source, target)))
    ET.indent(root)
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode").encode()


def _add_data(element: ET.Element, key: str, value: object) -> None:
    if value is None or value == "":
        return
    text = str(value).lower() if isinstance(value, bool) else make_printable(str(value))
    ET.SubElement(element, "data", {"key": key}).text = text


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
