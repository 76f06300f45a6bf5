"""A directly-follows graph as one offline HTML file with zoom, search, tooltips and filters."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

from ...results.dfg import Comparison, Graph
from ..templating import page_template
from .colours import Paint
from .edge_routes import Route, route_edges
from .layout import LINE_HEIGHT, Layout, place
from .scene import Colour, Node, Scene, scene_of

MAX_ACTIVITIES: Final = 120
MAX_EDGES: Final = 400
_MARGIN: Final = 30.0
_MIN_VIEW: Final = (900.0, 560.0)
"""Least view size, pixels: a small graph is not enlarged to fill the page."""


def page_of(
    graph: Graph,
    *,
    colour: Colour = "load",
    comparison: Comparison | None = None,
    before: Layout | None = None,
) -> str:
    """Render the page; names of programs and files are escaped.

    Args:
        graph: the graph; with a comparison, that of both sides together.
        colour: colouring that is selected at first.
        comparison: green and red.
        before: layout whose node positions are kept.
    """
    return render_with_layout(graph, colour=colour, comparison=comparison, before=before)[0]


def render_with_layout(
    graph: Graph,
    *,
    colour: Colour = "load",
    comparison: Comparison | None = None,
    before: Layout | None = None,
    refresh_s: float | None = None,
    lost: Sequence[str] = (),
) -> tuple[str, Layout]:
    """Render the page and return it with the positions of its nodes.

    Args:
        graph: as for ``page_of``.
        colour: as for ``page_of``.
        comparison: as for ``page_of``.
        before: as for ``page_of``.
        refresh_s: interval at which the page reloads itself, s; the user's settings are kept.
        lost: sentences on losses in transit.
    """
    limits = {"most_activities": MAX_ACTIVITIES, "most_edges": MAX_EDGES}
    scene = scene_of(graph, colour=colour, comparison=comparison, **limits)
    layout = place(scene, before)
    routes = route_edges(scene, layout)
    choices: list[Colour] = ["load", "bytes", "rate", "none"]
    scenes = {name: scene_of(graph, colour=name, comparison=None, **limits) for name in choices}
    if comparison is not None:
        scenes = {"partition": scene_of(graph, colour="partition", comparison=comparison, **limits), **scenes}
    shown = {node.name for node in scene.nodes}
    text = page_template("dfg.html").render(
        refresh_s=refresh_s,
        lost=lost,
        scene=scene,
        graph=graph,
        comparison=comparison,
        view=_bounding_box(scene, layout),
        nodes=[_node_geometry(node, layout) for node in scene.nodes],
        routes=[_route_geometry(route) for route in routes],
        activities=[row for row in graph.activities if row.name in shown],
        scales={name: [(_of(paint), text) for paint, text in other.scale] for name, other in scenes.items()},
        data={
            "colour": scene.colour,
            "counts": sorted({edge.count for edge in scene.edges}),
            "paints": {name: {node.key: _of(node.paint) for node in other.nodes} for name, other in scenes.items()},
            "facts": {node.key: node.facts for node in scene.nodes},
            "edges": [
                {
                    **_edge_ends(route, scene),
                    "count": route.edge.count,
                    "facts": route.edge.facts,
                    "colour": route.edge.colour,
                }
                for route in routes
            ],
        },
    )
    return text, layout


def _node_geometry(node: Node, layout: Layout) -> dict[str, Any]:
    box = layout.boxes[node.name]
    first = box.top + 6 + 0.75 * LINE_HEIGHT
    lines = [(text, first + (at + 1) * LINE_HEIGHT) for at, text in enumerate(node.lines)]
    return {"node": node, "box": box, "first": first, "lines": lines}


def _route_geometry(route: Route) -> dict[str, Any]:
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in route.head)
    return {"edge": route.edge, "path": route.path, "head": head, "label": route.label}


def _edge_ends(route: Route, scene: Scene) -> dict[str, str]:
    keys = {node.name: node.key for node in scene.nodes}
    return {"source": keys[route.edge.source], "target": keys[route.edge.target]}


def _bounding_box(scene: Scene, layout: Layout) -> tuple[float, float, float, float]:
    """Return left, top, width and height of the drawing."""
    boxes = [layout.boxes[node.name] for node in scene.nodes]
    if not boxes:
        return 0.0, 0.0, 100.0, 100.0
    left, top = min(box.left for box in boxes) - 2 * _MARGIN, min(box.top for box in boxes) - _MARGIN
    right, bottom = max(box.right for box in boxes) + 3 * _MARGIN, max(box.bottom for box in boxes) + _MARGIN
    wide, high = max(right - left, _MIN_VIEW[0]), max(bottom - top, _MIN_VIEW[1])
    return (left + right - wide) / 2, (top + bottom - high) / 2, wide, high


def _of(paint: Paint) -> dict[str, str]:
    return dataclasses.asdict(paint)
