"""The part of a report that tells of handles and processes: the tree, the timeline, who did what."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...events.layers import HandleNode, HostLayer, Mark, ProcessLayer, ProcessNode
from .calls import LAYERS
from .groups import DATA
from .handles import depths, preorder
from .tables import NODE, PROCESS, layer_name
from .timeline import OPERATIONS
from .view import View, largest

_NS: Final = 1e9
_FEWEST_BELOW: Final = 8
_CALLS, _OPENS, _CLOSES, _READS, _WRITES, _READ, _WRITTEN, _NANO, _EXCLUSIVE = range(len(NODE))


def handles(view: View, top: int) -> tuple[list[HandleNode], int]:
    """Returns nodes, each after its parent and with what lies below it, and how many are left out.

    Those on data come first, and of these the ones with the most time. A node with very many below it has a share of
    them.
    """
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
    deep = depths(tree.parents)
    made = []
    on_data = [group == DATA for group in view.analyzer.files.class_groups]
    weights = {each: (on_data[tree.classes[each]], int(weight[each]), -each) for each in range(1, count)}
    for at in preorder(tree.parents, weights, max(_FEWEST_BELOW, top // 8))[:top]:
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
            host=view.host(int(process[row])),
            layer=layer_name(int(layer[row])),
            calls=int(sums[row, at["calls"]]),
            seconds=int(sums[row, at["ns"]]) / _NS,
            exclusive_seconds=int(sums[row, at["exclusive_ns"]]) / _NS,
            data_seconds=int(view.data_ns[row]) / _NS,
            bytes_read=int(sums[row, at["bytes_read"]]),
            bytes_written=int(sums[row, at["bytes_written"]]),
        )
        for row in largest(sums[:, at["exclusive_ns"]], top).tolist()
    ]
    return made, len(sums) - len(made)


def host_layers(view: View, top: int) -> tuple[list[HostLayer], int]:
    """Returns what the processes of each machine did in each layer, and how many rows are left out."""
    process, layer, sums = view.by_process
    names = sorted({each.host for each in view.analyzer.processes.known})
    number = {name: at for at, name in enumerate(names)}
    of_process = np.array([number[each.host] for each in view.analyzer.processes.known])
    pairs, group = np.unique(of_process[process] * LAYERS + layer, return_inverse=True)
    at = [PROCESS.index(name) for name in ("calls", "exclusive_ns", "bytes_read", "bytes_written")]
    total = np.zeros((len(pairs), len(at) + 1), np.int64)
    np.add.at(total, group, np.column_stack([sums[:, at], view.data_ns]))
    count = np.bincount(group, minlength=len(pairs))
    made = [
        HostLayer(
            host=names[pairs[row] // LAYERS],
            layer=layer_name(int(pairs[row] % LAYERS)),
            processes=int(count[row]),
            calls=int(total[row, 0]),
            exclusive_seconds=int(total[row, 1]) / _NS,
            data_seconds=int(total[row, 4]) / _NS,
            bytes_read=int(total[row, 2]),
            bytes_written=int(total[row, 3]),
        )
        for row in largest(total[:, 1], top).tolist()
    ]
    return made, len(pairs) - len(made)


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
