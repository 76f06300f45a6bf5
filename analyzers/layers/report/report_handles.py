"""Report section on handles and processes. It has the tree, the timeline, and the work of each process."""

from __future__ import annotations

from typing import Final

import numpy as np

from ....results.layers import HandleNode, HostLayer, Mark, ProcessLayer, ProcessNode
from ...file_groups import DATA
from ..calls import LAYERS
from ..report_context import ReportContext, amounts, largest
from ..state.handles import depths, preorder
from ..state.tables import NODE, PROCESS, layer_name
from ..state.timeline import OPERATIONS

_NS: Final = 1e9
_MIN_BELOW: Final = 8  # minimum number of children shown per node
_NANO = NODE.index("ns")


def handles(view: ReportContext, top: int) -> tuple[list[HandleNode], int]:
    """Return nodes, each after its parent and with its own children following.

    It also returns the number of omitted ones.

    Nodes on data come first, and among these the ones with the most time. The number of children per node is limited.
    """
    _, node, sums = view.by_node
    tree = view.analyzer.handles
    count = len(tree.parents)
    total = np.zeros((count, len(NODE)), np.int64)
    np.add.at(total, node, sums)
    processes = np.bincount(node, minlength=count)
    weight = total[:, _NANO].copy()
    for at in range(count - 1, 0, -1):  # a node is as heavy as its heaviest descendant
        above = tree.parents[at]
        weight[above] = max(weight[above], weight[at])
    deep = depths(tree.parents)
    on_data = [group == DATA for group in view.analyzer.files.class_groups]
    weights = {each: (on_data[tree.classes[each]], int(weight[each]), -each) for each in range(1, count)}
    made = [
        HandleNode(
            node=at,
            parent=tree.parents[at],
            depth=deep[at] - 1,
            layer=layer_name(tree.layers[at]),
            call=view.call_name(tree.calls[at]),
            file=view.class_path(tree.classes[at]),
            processes=int(processes[at]),
            **amounts(HandleNode, NODE, total[at]),
        )
        for at in preorder(tree.parents, weights, max(_MIN_BELOW, top // 8))[:top]
    ]
    return made, count - 1 - len(made)


def process_handles(view: ReportContext, nodes: set[int], top: int) -> tuple[list[ProcessNode], int]:
    """Return the work of single processes through the given nodes. It also returns the number of omitted rows."""
    process, node, sums = view.by_node
    rows = np.flatnonzero(np.isin(node, sorted(nodes)))
    chosen = rows[largest(sums[rows, _NANO], top, view.process_order[process[rows]])].tolist()
    made = [
        ProcessNode(
            process=view.process(int(process[row])),
            node=int(node[row]),
            **amounts(ProcessNode, NODE, sums[row]),
        )
        for row in chosen
    ]
    return made, len(rows) - len(made)


def process_layers(view: ReportContext, top: int) -> tuple[list[ProcessLayer], int]:
    """Return the work of single processes in each layer, and the number of omitted rows."""
    process, layer, sums = view.by_process
    made = [
        ProcessLayer(
            process=view.process(int(process[row])),
            host=view.host_name(int(process[row])),
            layer=layer_name(int(layer[row])),
            data_seconds=int(view.data_ns[row]) / _NS,
            **amounts(ProcessLayer, PROCESS, sums[row]),
        )
        for row in largest(sums[:, PROCESS.index("exclusive_ns")], top, view.process_order[process]).tolist()
    ]
    return made, len(sums) - len(made)


def host_layers(view: ReportContext, top: int) -> tuple[list[HostLayer], int]:
    """Return the work of each host's processes in each layer. It also returns the number of omitted rows."""
    process, layer, sums = view.by_process
    names = sorted({each.host for each in view.analyzer.processes.known})
    number = {name: at for at, name in enumerate(names)}
    of_process = np.array([number[each.host] for each in view.analyzer.processes.known])
    pairs, group = np.unique(of_process[process] * LAYERS + layer, return_inverse=True)
    total = np.zeros((len(pairs), len(PROCESS)), np.int64)
    np.add.at(total, group, sums)
    on_data = np.zeros(len(pairs), np.int64)
    np.add.at(on_data, group, view.data_ns)
    count = np.bincount(group, minlength=len(pairs))
    made = [
        HostLayer(
            host=names[pairs[row] // LAYERS],
            layer=layer_name(int(pairs[row] % LAYERS)),
            processes=int(count[row]),
            data_seconds=int(on_data[row]) / _NS,
            **amounts(HostLayer, PROCESS, total[row]),
        )
        for row in largest(total[:, PROCESS.index("exclusive_ns")], top).tolist()
    ]
    return made, len(pairs) - len(made)


def timeline_marks(view: ReportContext, nodes: set[int]) -> list[Mark]:
    """Return the timeline of the given nodes."""
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
