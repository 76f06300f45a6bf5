"""Positions of the nodes of a directly-follows graph: layered at first, then fixed while the graph grows."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ..text.printable import width_of
from .scene import END, START, Node, Scene

Floats: TypeAlias = npt.NDArray[np.float64]
Weighted: TypeAlias = Mapping[tuple[str, str], float]
"""Weight by (source, target); no loops."""

_SWEEPS: Final = 16
_MIN_GAP: Final = 36.0
_LANE: Final = 26.0
_STRAIGHT: Final = 6.0


def assign_layers(widths: Mapping[str, float], edges: Weighted, first: str, last: str) -> list[dict[str, float]]:
    """Return, for each layer from the top, its nodes with the x of their centres.

    Args:
        widths: width of each node, pixels.
        edges: weight of each edge.
        first: node at the top.
        last: node at the bottom.

    Source: Sugiyama, Tagawa and Toda 1981, doi:10.1109/TSMC.1981.4308636.
    """
    order = {name: at for at, name in enumerate(acyclic_order(list(widths), edges, first, last))}
    down: dict[tuple[str, str], float] = {}
    for (source, target), weight in edges.items():
        pair = (source, target) if order[source] < order[target] else (target, source)
        down[pair] = down.get(pair, 0.0) + weight
    level = _levels(sorted(order, key=order.__getitem__), down, last)
    layers, links, all_widths = _add_lanes(level, down, widths)
    layers = _reduce_crossings(layers, links)
    places = _straighten(layers, links, all_widths)
    return [{name: places[name] for name in layer if name in widths} for layer in layers]


def acyclic_order(names: Sequence[str], edges: Weighted, first: str, last: str) -> list[str]:
    """Order nodes along the most frequent successions; only edges back to an ancestor point backwards.

    This is the reversed finishing order of a depth-first search from the first node, strongest edges first; ties are
    broken by name.
    """
    out: dict[str, list[tuple[float, str]]] = {name: [] for name in names}
    for (source, target), weight in edges.items():
        out[source].append((-weight, target))
    seen: set[str] = {last}
    done: list[str] = []
    for root in sorted(names, key=lambda name: (name != first, name)):
        if root in seen:
            continue
        seen.add(root)
        walk = [(root, iter(sorted(out[root])))]
        while walk:
            name, rest = walk[-1]
            step = next((target for _, target in rest if target not in seen), None)
            if step is None:
                done.append(name)
                walk.pop()
            else:
                seen.add(step)
                walk.append((step, iter(sorted(out[step]))))
    return [*reversed(done), *(name for name in (last,) if name in out)]


def _levels(order: Sequence[str], down: Weighted, last: str) -> dict[str, int]:
    above: dict[str, list[str]] = {name: [] for name in order}
    for source, target in down:
        above[target].append(source)
    level: dict[str, int] = {}
    for name in order:
        level[name] = max((level[source] + 1 for source in above[name]), default=0)
    if last in level:
        level[last] = max(level.values())
    return level


def _add_lanes(
    level: Mapping[str, int], down: Weighted, widths: Mapping[str, float]
) -> tuple[list[list[str]], dict[tuple[str, str], float], dict[str, float]]:
    """Give each edge that crosses layers a narrow node in each of them."""
    layers: list[list[str]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
    for name, at in level.items():
        layers[at].append(name)
    links: dict[tuple[str, str], float] = {}
    all_widths = dict(widths)
    for (source, target), weight in sorted(down.items()):
        before = source
        for at in range(level[source] + 1, level[target]):
            lane = f"\0{source}\0{target}\0{at}"
            layers[at].append(lane)
            all_widths[lane] = _LANE
            links[before, lane] = weight * (_STRAIGHT if before is not source else 2.0)
            before = lane
        links[before, target] = weight * (2.0 if before is not source else 1.0)
    return layers, links, all_widths


def _reduce_crossings(layers: list[list[str]], links: Weighted) -> list[list[str]]:
    """Sort layers by the barycentres of their neighbours, downwards and upwards in turn.

    The order with the fewest crossings is kept.
    """
    above: dict[str, list[tuple[str, float]]] = {name: [] for layer in layers for name in layer}
    below: dict[str, list[tuple[str, float]]] = {name: [] for layer in layers for name in layer}
    for (source, target), weight in links.items():
        below[source].append((target, weight))
        above[target].append((source, weight))
    best, fewest = layers, _crossings(layers, below)
    current = layers
    for sweep in range(_SWEEPS):
        if fewest == 0:
            break
        downwards = sweep % 2 == 0
        near = above if downwards else below
        current = [list(layer) for layer in current]
        indices = range(1, len(current)) if downwards else range(len(current) - 2, -1, -1)
        for at in indices:
            beside = {name: place for place, name in enumerate(current[at - 1 if downwards else at + 1])}
            own = {name: place for place, name in enumerate(current[at])}
            current[at].sort(key=lambda name: (_barycentre(near[name], beside, own[name]), own[name]))
        crossings = _crossings(current, below)
        if crossings < fewest:
            best, fewest = current, crossings
    return best


def _barycentre(near: Sequence[tuple[str, float]], places: Mapping[str, int], own: int) -> float:
    total = sum(weight for _, weight in near)
    return sum(places[name] * weight for name, weight in near) / total if total else float(own)


def _crossings(layers: list[list[str]], below: Mapping[str, list[tuple[str, float]]]) -> int:
    count = 0
    for upper, lower in itertools.pairwise(layers):
        place = {name: at for at, name in enumerate(lower)}
        ends = [at for name in upper for at in sorted(place[target] for target, _ in below[name])]
        sequence = np.array(ends)
        count += int(np.count_nonzero(np.tril(sequence[None, :] > sequence[:, None], -1)))
    return count


def _straighten(layers: list[list[str]], links: Weighted, widths: Mapping[str, float]) -> dict[str, float]:
    """Move nodes towards their neighbours as far as order and widths allow."""
    near: dict[str, list[tuple[str, float]]] = {name: [] for layer in layers for name in layer}
    for (source, target), weight in links.items():
        near[source].append((target, weight))
        near[target].append((source, weight))
    apart: list[Floats] = []
    x: dict[str, float] = {}
    for layer in layers:
        half = np.array([widths[name] / 2 for name in layer])
        steps = half[1:] + half[:-1] + _MIN_GAP
        offsets = np.concatenate([[0.0], np.cumsum(steps)])
        apart.append(offsets)
        x.update(zip(layer, (offsets - offsets[-1] / 2).tolist(), strict=True))
    for sweep in range(2 * _SWEEPS):
        for at in range(len(layers)) if sweep % 2 == 0 else range(len(layers) - 1, -1, -1):
            layer = layers[at]
            weights = np.array([sum(weight for _, weight in near[name]) or 1e-6 for name in layer])
            wanted = np.array(
                [
                    sum(x[other] * weight for other, weight in near[name]) / total if near[name] else x[name]
                    for name, total in zip(layer, weights.tolist(), strict=True)
                ]
            )
            x.update(zip(layer, (_isotonic(wanted - apart[at], weights) + apart[at]).tolist(), strict=True))
    return x


def _isotonic(wanted: Floats, weights: Floats) -> Floats:
    """Return the non-decreasing values closest to those wanted, by weighted least squares (pool adjacent violators)."""
    blocks: list[list[float]] = []
    for value, weight in zip(wanted.tolist(), weights.tolist(), strict=True):
        blocks.append([value, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            later, heavier, more = blocks.pop()
            earlier, weight_before, held = blocks[-1]
            total = weight_before + heavier
            blocks[-1] = [(earlier * weight_before + later * heavier) / total, total, held + more]
    return np.repeat([block[0] for block in blocks], [int(block[2]) for block in blocks])


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
