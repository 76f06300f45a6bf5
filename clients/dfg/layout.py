"""Positions of the nodes of a directly-follows graph. They are layered at first, then fixed while the graph grows."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ..text.printable import width_of
from .layering import assign_layers
from .scene import END, START, Node, Scene

LINE_HEIGHT: Final = 16.0
_LETTER: Final = 6.6
_BOLD_LETTER: Final = 7.6
_MARGIN: Final = 12.0
_MARKER: Final = 18.0
_BETWEEN: Final = 74.0
_LOOP: Final = 76.0
_CLEAR: Final = 24.0


@dataclass(frozen=True)
class Box:
    """Centre and size of a node, pixels; y grows downwards."""

    x: float
    y: float
    width: float
    height: float

    @property
    def top(self) -> float:
        """Upper edge."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return self.y + self.height / 2

    @property
    def left(self) -> float:
        """Left edge."""
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        """Right edge."""
        return self.x + self.width / 2

    def is_near(self, other: Box, clear: float = _CLEAR) -> bool:
        """Return whether the gap between two boxes is less than ``clear`` pixels."""
        beside = abs(self.x - other.x) < (self.width + other.width) / 2 + clear
        return beside and abs(self.y - other.y) < (self.height + other.height) / 2 + clear


@dataclass(frozen=True)
class Layout:
    """Boxes by activity name. Activities that are not shown keep their boxes for their return."""

    boxes: Mapping[str, Box] = field(default_factory=dict)


def place(scene: Scene, before: Layout | None = None) -> Layout:
    """Assign a position to every node. The same scene always gives the same positions.

    Args:
        scene: the scene to draw.
        before: layout of an earlier state of the graph. Its nodes keep their exact positions. A new node is placed at
            the nearest free position below its most frequent predecessor, or above its most frequent successor.
    """
    sizes = {node.name: size_of(node) for node in scene.nodes}
    if before is None or not set(before.boxes) & set(sizes):
        return Layout(_initial_layout(scene, sizes))
    boxes = {name: Box(box.x, box.y, *sizes.get(name, (box.width, box.height))) for name, box in before.boxes.items()}
    waiting = sorted(set(sizes) - set(boxes))
    while waiting:
        name, beside, step = _next_node(scene, waiting, boxes)
        waiting.remove(name)
        boxes[name] = _free_position(boxes, boxes.get(beside), sizes[name], step)
    return Layout(boxes)


def size_of(node: Node) -> tuple[float, float]:
    """Return the width and height of a node's text, pixels."""
    if node.marker:
        return _MARKER, _MARKER
    widest = max([width_of(node.title) * _BOLD_LETTER, *(width_of(line) * _LETTER for line in node.lines)])
    return max(widest, 40.0) + 2 * _MARGIN, (1 + len(node.lines)) * LINE_HEIGHT + _MARGIN


def _initial_layout(scene: Scene, sizes: Mapping[str, tuple[float, float]]) -> dict[str, Box]:
    weights: dict[tuple[str, str], float] = {}
    for edge in scene.edges:
        if edge.source != edge.target:
            weights[edge.source, edge.target] = float(edge.count)
    # Square roots keep one heavy edge from dominating the order.
    weights = {pair: weight**0.5 for pair, weight in weights.items()}
    looped = {edge.source for edge in scene.edges if edge.source == edge.target}
    widths = {name: width + (_LOOP if name in looped else 0.0) for name, (width, _) in sizes.items()}
    layers = assign_layers(widths, weights, START, END)
    boxes: dict[str, Box] = {}
    y = 0.0
    for layer in layers:
        height = max((sizes[name][1] for name in layer), default=0.0)
        y += height / 2
        boxes.update({name: Box(x, y, *sizes[name]) for name, x in layer.items()})
        y += height / 2 + _BETWEEN
    return boxes


def _next_node(scene: Scene, waiting: list[str], boxes: Mapping[str, Box]) -> tuple[str, str, int]:
    """Choose the new node with the strongest edge to a placed node.

    The result is (new, placed, 1 below or -1 above).
    """
    best: tuple[int, str, str, int] | None = None
    new = set(waiting)
    for edge in scene.edges:
        for name, other, step in ((edge.target, edge.source, 1), (edge.source, edge.target, -1)):
            if name in new and other in boxes and (best is None or (edge.count, step) > (best[0], best[3])):
                best = (edge.count, name, other, step)
    return (waiting[0], "", 1) if best is None else best[1:]


def _free_position(boxes: Mapping[str, Box], beside: Box | None, size: tuple[float, float], step: int) -> Box:
    """Return the position nearest to the wanted one that is clear of all boxes."""
    width, height = size
    if beside is None:
        lowest = max(box.bottom for box in boxes.values())
        return Box(0.0, lowest + _BETWEEN + height / 2, width, height)
    wanted = beside.y + step * (beside.height / 2 + _BETWEEN + height / 2)
    for row in itertools.count():
        y = wanted + step * row * (height + _CLEAR)
        for column in range(3 * len(boxes) + 3):
            x = beside.x + (column + 1) // 2 * (width / 2 + _CLEAR) * (1 if column % 2 else -1)
            box = Box(x, y, width, height)
            if not any(box.is_near(other) for other in boxes.values()):
                return box
    raise AssertionError("unreachable")
