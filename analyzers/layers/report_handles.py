"""The part of a report that tells of handles and processes: the tree, the timeline, who did what."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...events.layers import HandleNode, Mark, ProcessLayer, ProcessNode
from .handles import ROOT, depths, preorder
from .tables import NODE, PROCESS, layer_name
from .timeline import OPERATIONS
from .view import View, largest

_NS: Final = 1e9
_CALLS, _OPENS, _CLOSES, _READS, _WRITES, _READ, _WRITTEN, _NANO, _EXCLUSIVE = range(len(NODE))


def handles(view: View, top: int) -> tuple[list[HandleNode], int]:
    """Returns the nodes with the most time and all above them, each after its parent, and how many are left out."""
    _, node, sums = view.by_node
    tree = view.analyzer.handles
    count = len(tree.parents)
    total = np.zeros((count, len(NODE)), np.int64)
    np.add.at(total, node, sums)
    processes = np.bincount(node, minlength=count)
    weight = total[:, _NANO].copy()
    for at in range(count - 1, 0, -1):  # a node is as heavy as what lies below it
        above = tree.parents[at]
        weight[above] = max(weight[above], weight[at])
    chosen: set[int] = set()
    for at in largest(weight[1:], top).tolist():
        each = at + 1
        while each != ROOT and each not in chosen:
            chosen.add(each)
            each = tree.parents[each]
    deep = depths(tree.parents)
    made = []
    for at in preorder(tree.parents, {each: (int(weight[each]), -each) for each in chosen}):
        row = total[at].tolist()
        made.append(
            HandleNode(
                node=at,
                parent=tree.parents[at],
                depth=deep[at] - 1,
                layer=layer_name(tree.layers[at]),
                call=view.call(tree.calls[at]),
                file=view.class_path(tree.classes[at]),
                processes=int(processes[at]),
                calls=row[_CALLS],
                opens=row[_OPENS],
                closes=row[_CLOSES],
                reads=row[_READS],
                writes=row[_WRITES],
                bytes_read=row[_READ],
                bytes_written=row[_WRITTEN],
                seconds=row[_NANO] / _NS,
                exclusive_seconds=row[_EXCLUSIVE] / _NS,
            )
        )
    return made, count - 1 - len(made)


def process_handles(view: View, nodes: set[int], top: int) -> tuple[list[ProcessNode], int]:
    """Returns what single processes did through some nodes, and how many rows are left out."""
    process, node, sums = view.by_node
    rows = np.flatnonzero(np.isin(node, sorted(nodes)))
    chosen = rows[largest(sums[rows, _NANO], top)].tolist()
    made = [
        ProcessNode(
            process=view.process(int(process[row])),
            node=int(node[row]),
            calls=int(sums[row, _CALLS]),
            opens=int(sums[row, _OPENS]),
            reads=int(sums[row, _READS]),
            writes=int(sums[row, _WRITES]),
            bytes_read=int(sums[row, _READ]),
            bytes_written=int(sums[row, _WRITTEN]),
            seconds=int(sums[row, _NANO]) / _NS,
            exclusive_seconds=int(sums[row, _EXCLUSIVE]) / _NS,
        )
        for row in chosen
    ]
    return made, len(rows) - len(made)


def process_layers(view: View, top: int) -> tuple[list[ProcessLayer], int]:
    """Returns what single processes did in each layer, and how many rows are left out."""
    process, layer, sums = view.by_process
    at = {name: PROCESS.index(name) for name in PROCESS}
    made = [
        ProcessLayer(
            process=view.process(int(process[row])),
            layer=layer_name(int(layer[row])),
            calls=int(sums[row, at["calls"]]),
            seconds=int(sums[row, at["ns"]]) / _NS,
            exclusive_seconds=int(sums[row, at["exclusive_ns"]]) / _NS,
            bytes_read=int(sums[row, at["bytes_read"]]),
            bytes_written=int(sums[row, at["bytes_written"]]),
        )
        for row in largest(sums[:, at["exclusive_ns"]], top).tolist()
    ]
    return made, len(sums) - len(made)


def marks(view: View, nodes: set[int]) -> list[Mark]:
    """Returns the timeline of some nodes."""
    columns = [column.tolist() for column in view.analyzer.timeline.rows()]
    return [
        Mark(
            node=node,
            operation=OPERATIONS[operation],
            start_s=start / _NS,
            end_s=end / _NS,
            calls=calls,
            seconds=ns / _NS,
            bytes=size,
        )
        for node, operation, start, end, calls, ns, size in zip(*columns, strict=True)
        if node in nodes
    ]
