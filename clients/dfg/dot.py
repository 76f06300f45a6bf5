"""Directly-follows graphs as Graphviz text (DOT)."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape as escape_html
from typing import Final

from ..drawing.graphviz import BACKSLASH, quote
from .layout import Layout
from .scene import END, START, Edge, Node, Scene

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
