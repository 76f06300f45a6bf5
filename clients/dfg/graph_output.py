"""Output of directly-follows graphs in all supported formats. It writes DOT and GraphML itself."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from html import escape as escape_html
from pathlib import PurePath
from typing import Final, Literal, get_args

from ...results.dfg import Comparison, Graph
from ..drawing.graphviz import BACKSLASH, quote, render_dot
from .labels import make_printable, stable_id
from .layout import Layout, place
from .page import page_of
from .scene import END, MAX_ACTIVITIES, MAX_EDGES, START, Colour, Edge, Node, Relation, Scene, scene_of

_FONT: Final = "Helvetica,Arial,sans-serif"
_POINTS_PER_PIXEL: Final = 0.75


def dot_of(scene: Scene, layout: Layout | None = None) -> str:
    """Return a scene as DOT.

    Nodes are named after their activities and ordered by name, so that a slightly larger graph gives nearly the same
    text.

    Args:
        scene: the scene to draw.
        layout: positions of the nodes; None lets Graphviz choose them. Text with positions sets its ``layout``
            attribute (``nop2``), so that plain ``dot`` draws it correctly.
    """
    return "\n".join(_lines(scene, layout)) + "\n"


def _lines(scene: Scene, layout: Layout | None) -> Iterator[str]:
    yield "digraph dfg {"
    engine = "" if layout is None else " layout=nop2 splines=true"
    yield (
        f'  graph [rankdir=TB nodesep=0.35 ranksep=0.5 bgcolor=white charset="UTF-8" labelloc=b labeljust=l '
        f'fontname="{_FONT}" fontsize=11{engine} tooltip={quote(scene.title)} label={_legend(scene)}];'
    )
    yield f'  node [shape=box style="filled,rounded" fontname="{_FONT}" fontsize=11 margin="0.14,0.07" penwidth=1.1];'
    yield f'  edge [fontname="{_FONT}" fontsize=10 arrowsize=0.7];'
    keys = {node.name: node.key for node in scene.nodes}
    for node in scene.nodes:
        yield f"  {_node(node, layout)}"
    for edge in scene.edges:
        yield f"  {_edge(edge, keys)}"
    yield "}"


def _node(node: Node, layout: Layout | None) -> str:
    place = ""
    if layout is not None:
        box = layout.boxes[node.name]
        x, y = box.x * _POINTS_PER_PIXEL, -box.y * _POINTS_PER_PIXEL
        size = "" if node.marker else f" width={box.width * _POINTS_PER_PIXEL / 72:.3f}"
        place = f'{size} pos="{x:.1f},{y:.1f}!"'
    if node.marker:
        shape = "circle" if node.name == START else "doublecircle"
        fill = node.paint.line if node.name == START else "white"
        return (
            f'{node.key} [shape={shape} label="" width=0.2 height=0.2 fixedsize=true fillcolor="{fill}" '
            f'color="{node.paint.line}" style=filled tooltip={quote(node.title)}{place}];'
        )
    lines = [f"<B>{_html(node.title)}</B>", *map(_html, node.lines)]
    return (
        f"{node.key} [label=<{'<BR/>'.join(lines)}> "
        f'fillcolor="{node.paint.fill}" fontcolor="{node.paint.text}" color="{node.paint.line}" '
        f"tooltip={quote(_tooltip(node.facts))}{place}];"
    )


def _edge(edge: Edge, keys: dict[str, str]) -> str:
    style = " style=dashed" if edge.marker else ""
    # Heavy edges stay short and straight; markers adapt to the rest.
    weight = 1 if edge.marker else max(1, round(4 * edge.width))
    return (
        f"{keys[edge.source]} -> {keys[edge.target]} [label={quote(f'  {edge.label} ')} penwidth={edge.width:.2f} "
        f'color="{edge.colour}" fontcolor="{edge.colour}" weight={weight}{style} '
        f"tooltip={quote(_tooltip(edge.facts))} labeltooltip={quote(_tooltip(edge.facts))}];"
    )


def _legend(scene: Scene) -> str:
    rows = [f'<TR><TD ALIGN="LEFT"><B>{_html(scene.title)}</B></TD></TR>']
    if scene.scale:
        cells = "".join(
            f'<TD BGCOLOR="{paint.fill}" BORDER="1"><FONT COLOR="{paint.text}"> {_html(text)} </FONT></TD>'
            for paint, text in scene.scale
        )
        scale = f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3"><TR>{cells}</TR></TABLE>'
        rows.append(f'<TR><TD ALIGN="LEFT">{scale}</TD></TR>')
    rows += [f'<TR><TD ALIGN="LEFT">{_html(line)}</TD></TR>' for line in scene.legend]
    return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3">{"".join(rows)}</TABLE>>'


def _tooltip(facts: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in facts) or END.strip("()")


def _html(text: str) -> str:
    # Graphviz 2.43 cannot parse a label with a bracket directly after a tag.
    return escape_html(text).replace("\\", BACKSLASH).replace("[", "&#91;").replace("]", "&#93;")


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
