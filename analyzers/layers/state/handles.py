"""Tree of handles by creation, merged over all processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ....events import Kind
from ...common.state import Ints, Rows, State, distinct
from ...file_groups import DATA, GROUP_NAMES
from ..calls import PROGRAM, TOP_DOWN, Calls

ROOT: Final = 0  # node of the program
_LOW: Final = 2**32  # factor of the process in the key of a handle
_LAYER_BITS: Final = 3
_NODE_BITS: Final = 18
_NAME_BITS: Final = 24
_RANK: Final = np.zeros(256, np.int64)
_RANK[list(map(int, TOP_DOWN))] = np.arange(1, len(TOP_DOWN) + 1)
_RANK[PROGRAM] = 0
_MAKE: Final = frozenset({int(Kind.CREATE), int(Kind.DUPLICATE)})
_KEPT: Final = 2  # divisor of the maximum handles that remain after an eviction


class Handles(State):
    """Assigns each call to a node of the tree.

    Handles share a node if they have the same layer, creating function, class of files (paths that differ only in
    numbers), and parent node. Handles that the program itself has on files other than its data share one node per layer
    and group of files. So do calls by path on such files, below each node.

    Operations by path, without a handle, have a separate node below that of the enclosing call. In traces without
    handles it is below the node of the caller's calls on the file.

    Attributes:
        parents, layers, calls, classes: columns of the nodes; node 0 is the program. Call 0 means no recorded creating
            call.
        folded: number of calls counted at the node of their layer because their node had no room.
        forgotten: number of handles evicted because of the bound.
    """

    def __init__(self, max_nodes: int, max_handles: int) -> None:
        self.parents = [ROOT]
        self.layers = [0]
        self.calls = [0]
        self.classes = [0]
        self.folded = 0
        self.forgotten = 0
        self._max_nodes = max_nodes
        self._max_handles = max_handles
        self._nodes: dict[int, int] = {}
        self._of_file: dict[int, int] = {}
        self._places: dict[int, int] = {}
        self._ended: set[int] = set()
        self._groups: Sequence[int] = (DATA,)

    def of(self, calls: Calls, file_class: Ints, groups: Sequence[int]) -> Ints:
        """Return the node of each call, int64[n].

        Args:
            calls: calls whose enclosing calls are known.
            file_class: class of each call's file.
            groups: group of each class.
        """
        self._groups = groups
        node = np.zeros(len(calls), np.int64)
        with_handle = calls.handle != 0
        rows = np.flatnonzero(with_handle)
        if len(rows):
            node[rows] = self._of_handles(calls, file_class, rows)
        rows = np.flatnonzero(~with_handle)
        if len(rows):
            node[rows] = self._of_paths(calls, file_class, rows)
        if len(self._places) > self._max_handles:
            self._forget()
        return node

    def merge(self, other: Handles, calls: Ints, classes: Ints, groups: Sequence[int]) -> Ints:
        """Add another tree, with its calls and classes mapped to numbers here.

        Returns the node here of each of its nodes.
        """
        self._groups = groups
        nodes = [ROOT]
        for at in range(1, len(other.parents)):
            name, kind = int(calls[other.calls[at]]), int(classes[other.classes[at]])
            nodes.append(self._node(nodes[other.parents[at]], other.layers[at], name, kind, 0))
        self.folded += other.folded
        self.forgotten += other.forgotten
        return np.array(nodes, np.int64)

    def close(self, serials: Ints) -> None:
        """Mark the handles of ended processes, which are evicted first."""
        self._ended.update(serials.tolist())

    def _of_handles(self, calls: Calls, file_class: Ints, rows: Rows) -> Ints:
        found, group = distinct(calls.serial[rows] * _LOW + calls.handle[rows])
        table = [self._places.get(key, -1) for key in found.tolist()]
        if -1 in table:
            new = np.flatnonzero((np.array(table) < 0)[group])
            new = new[np.argsort(calls.start[rows[new]], kind="stable")]
            _, first = np.unique(group[new], return_index=True)
            for at in new[np.sort(first)].tolist():  # by start, so that parents come first
                row = rows[at]
                table[group[at]] = self._place(calls, file_class, int(row))
        return np.array(table, np.int64)[group]

    def _place(self, calls: Calls, file_class: Ints, row: int) -> int:
        serial = int(calls.serial[row]) * _LOW
        above = self._places.get(serial + int(calls.parent[row]), ROOT) if calls.parent[row] else ROOT
        made = int(calls.kind[row]) in _MAKE
        name = int(calls.call[row]) if made else 0
        node = self._node(above, int(calls.layer[row]), name, int(file_class[row]), int(calls.count[row]))
        self._places[serial + int(calls.handle[row])] = node
        return node

    def _of_paths(self, calls: Calls, file_class: Ints, rows: Rows) -> Ints:
        found, group = distinct(calls.serial[rows] * _LOW + calls.parent[rows])
        above = np.array([self._places.get(key, ROOT) for key in found.tolist()], np.int64)[group]
        depth = _RANK[calls.over[rows]]  # callers first, since their nodes are parents of the nodes of nested calls
        key = (((depth << _NODE_BITS) + above) << _LAYER_BITS) + calls.layer[rows]
        found, group = distinct((key << _NAME_BITS) + file_class[rows])
        weight = np.bincount(group, calls.count[rows]).astype(np.int64).tolist()
        nodes = []
        for each, count in zip(found.tolist(), weight, strict=True):
            rest, file = divmod(each, 1 << _NAME_BITS)
            rest, layer = divmod(rest, 1 << _LAYER_BITS)
            rank, parent = divmod(rest, 1 << _NODE_BITS)
            if parent == ROOT and rank:
                parent = self._of_file.get((int(TOP_DOWN[rank - 1]) << _NAME_BITS) + file, ROOT)
            node = self._node(parent, layer, 0, file, count, by_path=True)
            self._of_file[(layer << _NAME_BITS) + file] = node
            nodes.append(node)
        return np.array(nodes, np.int64)[group]

    def _node(self, parent: int, layer: int, call: int, file_class: int, weight: int, *, by_path: bool = False) -> int:
        group = self._groups[file_class]
        if group != DATA and (by_path or parent == ROOT or self.classes[parent] in GROUP_NAMES):
            parent = ROOT if self.classes[parent] in GROUP_NAMES else parent
            call, file_class = 0, group
        key = _key(parent, layer, call, file_class)
        node = self._nodes.get(key)
        if node is None:
            if len(self.parents) > self._max_nodes:
                self.folded += weight
                parent, call, file_class = ROOT, 0, 0
                key = _key(parent, layer, call, file_class)
                if (node := self._nodes.get(key)) is not None:
                    return node
            node = self._nodes[key] = len(self.parents)
            self.parents.append(parent)
            self.layers.append(layer)
            self.calls.append(call)
            self.classes.append(file_class)
        return node

    def _forget(self) -> None:
        self._places = {key: node for key, node in self._places.items() if key // _LOW not in self._ended}
        self._ended.clear()
        if len(self._places) <= self._max_handles // _KEPT:
            return
        keep = self._max_handles // _KEPT
        self.forgotten += len(self._places) - keep
        self._places = dict(list(self._places.items())[-keep:])


def _key(parent: int, layer: int, call: int, file_class: int) -> int:
    return (((parent << _LAYER_BITS) + layer << _NAME_BITS) + call << _NAME_BITS) + file_class


def depths(parents: list[int]) -> list[int]:
    """Return the depth of each node; 0 for the root."""
    found: list[int] = [0]
    for parent in parents[1:]:
        found.append(found[parent] + 1)
    return found


def preorder(parents: list[int], weight: dict[int, Any], most_below: int) -> list[int]:
    """Return the nodes of a tree except its root, in preorder. The heaviest children come first.

    Args:
        parents: parent of each node; a node comes after its parent.
        weight: weights of the nodes to return, including all their ancestors.
        most_below: maximum number of children per node, except for the root.
    """
    below: dict[int, list[int]] = {}
    for node in weight:
        below.setdefault(parents[node], []).append(node)
    order: list[int] = []
    waiting = [ROOT]
    while waiting:
        node = waiting.pop()
        if node != ROOT:
            order.append(node)
        heaviest = sorted(below.get(node, ()), key=lambda each: weight[each], reverse=True)
        waiting += reversed(heaviest if node == ROOT else heaviest[:most_below])
    return order
