"""Routes of edges around nodes, as SVG curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .layout import Box, Layout
from .scene import Edge, Scene

Point = tuple[float, float]

_CLEAR: Final = 13.0
_SPREAD: Final = 0.8
_HEAD: Final = 8.0
_LOOP: Final = 34.0
_LETTER: Final = 6.5
_LABEL_HEIGHT: Final = 13.0


@dataclass(frozen=True)
class Route:
    """One edge. It has its curve (SVG path data), the three corners of its arrow head, and the centre of its label."""

    edge: Edge
    path: str
    head: tuple[Point, Point, Point]
    label: Point


def route_edges(scene: Scene, layout: Layout) -> list[Route]:
    """Route every edge around the nodes between. Edges down start at a node's lower side, edges up at its upper side.

    Ends on one side of a node are ordered by their direction, so that edges seldom cross there.
    """
    boxes = {node.name: layout.boxes[node.name] for node in scene.nodes}
    looped = {edge.source for edge in scene.edges if edge.source == edge.target}
    rows = _group_rows([_with_loop(box) if name in looped else box for name, box in boxes.items()])
    taken: dict[float, list[float]] = {}
    strongest_first = sorted(scene.edges, key=lambda edge: (-edge.count, edge.source, edge.target))
    plans: list[tuple[Edge, list[Point], tuple[str, str]]] = [
        (edge, _path_through_rows(boxes, rows, taken, edge), _ports_of(boxes[edge.source], boxes[edge.target]))
        for edge in strongest_first
        if edge.source != edge.target
    ]
    ports = _ports(boxes, plans)
    placed: list[Box] = []
    found: list[Route] = []
    for number, (edge, between, sides) in enumerate(plans):
        curve = _curve(ports[number, 0], between, ports[number, 1], sides)
        found.append(_route(edge, curve, boxes, placed))
    loops = [edge for edge in scene.edges if edge.source == edge.target]
    return found + [_route(edge, _loop(boxes[edge.source]), boxes, placed) for edge in loops]


def _with_loop(box: Box) -> Box:
    return Box(box.x + _LOOP / 2, box.y, box.width + _LOOP, box.height)


def _group_rows(boxes: Sequence[Box]) -> list[list[Box]]:
    """Group boxes that are side by side."""
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda box: (box.y, box.x)):
        if rows and abs(rows[-1][0].y - box.y) < 20:
            rows[-1].append(box)
        else:
            rows.append([box])
    return rows


def _path_through_rows(
    boxes: Mapping[str, Box], rows: Sequence[list[Box]], taken: dict[float, list[float]], edge: Edge
) -> list[Point]:
    """Return the path of an edge through the rows between its ends. It has two points per row."""
    source, target = boxes[edge.source], boxes[edge.target]
    upper, lower = (source, target) if source.y <= target.y else (target, source)
    points: list[Point] = []
    x = upper.x
    for row in _in_between(rows, upper, lower):
        top, bottom = min(box.top for box in row.boxes), max(box.bottom for box in row.boxes)
        part = ((top + bottom) / 2 - upper.y) / (lower.y - upper.y)
        # Half the remaining distance to the straight line, so that bends are spread over the rows.
        wanted = (x + upper.x + part * (lower.x - upper.x)) / 2
        x = _gap(row.boxes, [other for key in row.keys for other in taken.get(key, ())], wanted)
        for key in row.keys:
            taken.setdefault(key, []).append(x)
        points += [(x, top - 4), (x, bottom + 4)]
    return points if source.y <= target.y else points[::-1]


@dataclass(frozen=True)
class _Row:
    """Boxes that an edge passes at once, and the keys of their rows."""

    boxes: list[Box]
    keys: list[float]


def _in_between(rows: Sequence[list[Box]], upper: Box, lower: Box) -> list[_Row]:
    """Return the rows between two boxes, from the top. Rows that overlap in height are merged."""
    found: list[_Row] = []
    bottom = -math.inf
    for row in rows:
        if row[0].y <= upper.y:
            continue
        if row[0].y >= lower.y:
            break
        boxes = [box for box in row if box.top > upper.bottom and box.bottom < lower.top]
        if not boxes:
            continue
        if min(box.top for box in boxes) < bottom + 8:
            found[-1].boxes.extend(boxes)
            found[-1].keys.append(row[0].y)
        else:
            found.append(_Row(boxes, [row[0].y]))
        bottom = max(box.bottom for box in found[-1].boxes)
    return found


def _gap(row: Sequence[Box], taken: Sequence[float], wanted: float) -> float:
    """Return the x nearest to the wanted one that is free. Boxes and routed edges must not cover it."""
    blocked = [(box.left - _CLEAR, box.right + _CLEAR) for box in row] + [(x - _CLEAR, x + _CLEAR) for x in taken]
    low = high = -math.inf
    for begin, end in sorted(blocked):
        if begin >= high:  # a contiguous blocked interval begins
            if low < wanted < high:
                break
            low = begin
        high = max(high, end)
    if not low < wanted < high:
        return wanted
    return low if wanted - low <= high - wanted else high


def _ports_of(source: Box, target: Box) -> tuple[str, str]:
    if target.top >= source.bottom:
        return "bottom", "top"
    return ("top", "bottom") if target.bottom <= source.top else ("bottom", "bottom")


def _ports(
    boxes: Mapping[str, Box], plans: Sequence[tuple[Edge, list[Point], tuple[str, str]]]
) -> dict[tuple[int, int], Point]:
    ends: dict[tuple[str, str], list[tuple[float, int, int]]] = {}
    for number, (edge, between, sides) in enumerate(plans):
        towards = between[0][0] if between else boxes[edge.target].x
        back = between[-1][0] if between else boxes[edge.source].x
        # Of two edges between the same nodes, the downward one is on the left.
        lean = -1.0 if sides[0] == "bottom" else 1.0
        ends.setdefault((edge.source, sides[0]), []).append((towards + lean, number, 0))
        ends.setdefault((edge.target, sides[1]), []).append((back + lean, number, 1))
    ports: dict[tuple[int, int], Point] = {}
    for (name, side), held in ends.items():
        box = boxes[name]
        y = box.top if side == "top" else box.bottom
        for place, (_, number, end) in enumerate(sorted(held)):
            part = (place + 1) / (len(held) + 1) - 0.5
            ports[number, end] = (box.x + part * _SPREAD * box.width, y)
    return ports


def _curve(start: Point, between: Sequence[Point], end: Point, sides: tuple[str, str]) -> list[Point]:
    """Return the points of cubic curves. They are the start, then two control points and an end for each."""
    leaves = 1.0 if sides[0] == "bottom" else -1.0
    enters = 1.0 if sides[1] == "bottom" else -1.0
    stop = (end[0], end[1] + enters * _HEAD)
    if sides[0] == sides[1]:
        depth = 40.0 + abs(end[0] - start[0]) / 8
        return [start, (start[0], start[1] + depth), (stop[0], stop[1] + depth), stop]
    curve = [start]
    for point in [*between, stop]:
        before = curve[-1]
        handle = leaves * max(abs(point[1] - before[1]) * 0.45, 1.0)
        curve += [(before[0], before[1] + handle), (point[0], point[1] - handle), point]
    return curve


def _loop(box: Box) -> list[Point]:
    x, y = box.right, box.y
    away = min(box.height / 2 - 4, 14)
    stop = (x + _HEAD, y + away)
    return [(x, y - away), (x + _LOOP, y - away - 10), (x + _LOOP + _HEAD, y + away + 6), stop]


def _route(edge: Edge, curve: Sequence[Point], boxes: Mapping[str, Box], placed: list[Box]) -> Route:
    path = f"M{_xy(curve[0])}" + "".join(
        f"C{_xy(curve[at])} {_xy(curve[at + 1])} {_xy(curve[at + 2])}" for at in range(1, len(curve), 3)
    )
    stop = curve[-1]
    if edge.source == edge.target:
        tip, wing = (stop[0] - _HEAD, stop[1]), (0.0, 1.0)
    else:
        tip = (stop[0], stop[1] + (_HEAD if curve[-2][1] <= stop[1] else -_HEAD))
        wing = (1.0, 0.0)
    half = 3.0 + edge.width * 0.6
    head = (
        tip,
        (stop[0] + wing[0] * half, stop[1] + wing[1] * half),
        (stop[0] - wing[0] * half, stop[1] - wing[1] * half),
    )
    label = _label(edge, curve, boxes, placed)
    return Route(edge, path, head, label)


def _label(edge: Edge, curve: Sequence[Point], boxes: Mapping[str, Box], placed: list[Box]) -> Point:
    """Place the label beside the curve where it covers nothing. It is as close to the middle as possible."""
    width = len(edge.label) * _LETTER + 2
    pieces = (len(curve) - 1) // 3
    best: Box | None = None
    for part in (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.12, 0.88):
        at = min(int(part * pieces), pieces - 1)
        piece, within = curve[3 * at : 3 * at + 4], part * pieces - at
        x, y = _bezier(piece, within)
        later_x, later_y = _bezier(piece, within + 0.01)
        length = math.hypot(later_x - x, later_y - y) or 1.0
        # Right of the direction of travel: for two edges between the same nodes, that is the outer side.
        right_x, right_y = (y - later_y) / length, (later_x - x) / length
        away = edge.width / 2 + 2 + abs(right_x) * width / 2 + abs(right_y) * _LABEL_HEIGHT / 2
        for side in (1, -1):
            box = Box(x + side * right_x * away, y + side * right_y * away, width, _LABEL_HEIGHT)
            best = best or box
            if not any(box.is_near(other, 0.0) for other in [*boxes.values(), *placed]):
                placed.append(box)
                return box.x, box.y
    if best is None:
        raise AssertionError("unreachable")
    placed.append(best)
    return best.x, best.y


def _bezier(points: Sequence[Point], t: float) -> Point:
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = points
    a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
    return a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy


def _xy(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"
