"""The graph of calls in a report. Its strongest part is a chart of fixed size, drawn without Graphviz."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from html import escape
from typing import Final

from ....results.dfg import Graph
from ...dfg.edge_routes import Route, route_edges
from ...dfg.layout import LINE_HEIGHT, Box, place
from ...dfg.scene import START, Node, Scene, scene_of

_MAX_EDGES: Final = 24
_MARGIN: Final = 36.0
_TITLE_BASE: Final = 6 + 0.75 * LINE_HEIGHT
"""Distance from the upper edge of a box to the baseline of its first line."""


def graph_picture(graph: Graph) -> str:
    """Draw activities and their successions, reduced to the strongest edges.

    Args:
        graph: a graph with at least one activity.

    Returns:
        An SVG element, no wider than its text needs.
    """
    scene = _without_loose_markers(scene_of(graph, most_edges=_MAX_EDGES))
    layout = place(scene)
    boxes = [layout.boxes[node.name] for node in scene.nodes]
    left = min(box.left for box in boxes) - _MARGIN
    top = min(box.top for box in boxes) - _MARGIN
    width = max(box.right for box in boxes) + 2 * _MARGIN - left  # loops extend beyond boxes at the right
    height = max(box.bottom for box in boxes) + _MARGIN - top
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" role="img" text-anchor="middle" font-family="system-ui, sans-serif" '
            'font-size="11.5">',
            f"<title>Which call follows which, {len(scene.nodes):,} nodes</title>",
            *map(_edge, route_edges(scene, layout)),
            *(line for node in scene.nodes for line in _node(node, layout.boxes[node.name])),
            "</svg>",
        ]
    )


def _without_loose_markers(scene: Scene) -> Scene:
    """Omit start and end markers without an edge to a shown activity."""
    joined = {name for edge in scene.edges for name in (edge.source, edge.target)}
    nodes = tuple(node for node in scene.nodes if not node.marker or node.name in joined)
    return dataclasses.replace(scene, nodes=nodes)


def _edge(route: Route) -> str:
    edge = route.edge
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in route.head)
    return (
        f"<g><title>{escape(', '.join(f'{name}: {value}' for name, value in edge.facts))}</title>"
        f'<path d="{route.path}" fill="none" stroke="{edge.colour}" stroke-width="{edge.width:.2f}"/>'
        f'<polygon points="{head}" fill="{edge.colour}"/>'
        f'<text x="{route.label[0]:.1f}" y="{route.label[1] + 4:.1f}" fill="{edge.colour}">{escape(edge.label)}</text>'
        "</g>"
    )


def _node(node: Node, box: Box) -> Iterator[str]:
    paint = node.paint
    if node.marker:
        fill = paint.line if node.name == START else "#ffffff"
        yield f"<g><title>{escape(node.title)}</title>"
        centre = f'cx="{box.x:.1f}" cy="{box.y:.1f}"'
        yield f'<circle {centre} r="{box.height / 2:.1f}" fill="{fill}" stroke="{paint.line}"/>'
        if node.name != START:
            yield f'<circle {centre} r="{box.height / 3.4:.1f}" fill="{paint.line}"/>'
        yield "</g>"
        return
    yield f"<g><title>{escape(', '.join(f'{name}: {value}' for name, value in node.facts))}</title>"
    yield (
        f'<rect x="{box.left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="7" '
        f'fill="{paint.fill}" stroke="{paint.line}"/><g fill="{paint.text}">'
    )
    for at, text in enumerate((node.title, *node.lines)):
        weight = "" if at else ' font-weight="700" font-size="13"'
        y = box.top + _TITLE_BASE + at * LINE_HEIGHT
        yield f'<text x="{box.x:.1f}" y="{y:.1f}"{weight}>{escape(text)}</text>'
    yield "</g></g>"
