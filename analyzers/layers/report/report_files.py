"""Report sections on files, handles and processes."""

from __future__ import annotations

from typing import Final

import numpy as np

from ....results.layers import (
    FileAccess,
    FileLayers,
    HandleNode,
    HostLayer,
    Mark,
    Mount,
    OwnFiles,
    ProcessLayer,
    ProcessNode,
)
from ...common.sorting import is_among, sorted_distinct
from ...file_groups import CHANNEL, DATA
from ..calls import BOTTOM, LAYERS, PROGRAM, TOP_DOWN
from ..report_context import ReportContext, amounts, largest
from ..state.call_tables import FILE, NODE, PROCESS, layer_name
from ..state.handles import depths, preorder
from ..state.timeline import OPERATIONS

_NS: Final = 1e9
_EXAMPLES: Final = 5  # maximum number of example paths
_HEIGHT: Final = {int(layer): place for place, layer in enumerate(TOP_DOWN)}
_CALLS, _EXCLUSIVE = FILE.index("calls"), FILE.index("exclusive_ns")
_MIN_BELOW: Final = 8  # minimum number of children shown per node
_NANO = NODE.index("ns")


def files(view: ReportContext, top: int) -> tuple[list[FileLayers], int]:
    """Return files with the accesses of each layer, and the number of omitted ones.

    Files of the program's data come first, and among these the ones with the most time.
    """
    file, over, layer, sums = view.by_file
    numbers, group = np.unique(file, return_inverse=True)
    known = numbers != 0
    weight = np.bincount(group, sums[:, _EXCLUSIVE], minlength=len(numbers)).astype(np.int64)
    order = np.lexsort((-weight, view.analyzer.files.group_of(numbers) != DATA))
    chosen = order[known[order]][:top].tolist()
    made = []
    for at in chosen:
        number = int(numbers[at])
        rows = sorted(np.flatnonzero(group == at).tolist(), key=lambda row: (_HEIGHT[int(layer[row])], int(over[row])))
        made.append(
            FileLayers(
                path=view.path(number),
                group=view.group(number),
                host=view.analyzer.files.hosts[number],
                mount_point=view.analyzer.files.mounts[number],
                filesystem=view.analyzer.files.systems[number],
                scope=view.scope(number),
                accesses=[
                    FileAccess(
                        caller=layer_name(int(over[row])),
                        layer=layer_name(int(layer[row])),
                        **amounts(FileAccess, FILE, sums[row]),
                    )
                    for row in rows
                ],
            )
        )
    return made, int(known.sum()) - len(made)


def own_files(view: ReportContext) -> list[OwnFiles]:
    """Return the files that layers access below and are never called with."""
    file, over, layer, sums = view.by_file
    rows = np.flatnonzero((file != 0) & (over != PROGRAM) & (over != layer))
    rows = rows[~is_among(file[rows] * LAYERS + over[rows], file * LAYERS + layer)]
    texts = view.analyzer.files
    made = []
    for pair in sorted_distinct(over[rows] * LAYERS + layer[rows]).tolist():
        caller, below = divmod(pair, LAYERS)
        mine = rows[(over[rows] == caller) & (layer[rows] == below)]
        classes, group = np.unique(texts.class_of(file[mine]), return_inverse=True)
        weight = np.zeros(len(classes), np.int64)
        np.add.at(weight, group, sums[mine, _EXCLUSIVE])
        heaviest = classes[largest(weight, _EXAMPLES)].tolist()
        made.append(
            OwnFiles(
                layer=layer_name(caller),
                below=layer_name(below),
                files=len(sorted_distinct(file[mine])),
                calls=int(sums[mine, _CALLS].sum()),
                seconds=int(sums[mine, _EXCLUSIVE].sum()) / _NS,
                examples=[texts.names[number] for number in heaviest],
            )
        )
    return sorted(made, key=lambda own: -own.seconds)


def mounts(view: ReportContext) -> list[Mount]:
    """Return the file systems used by the lowest layers."""
    file, _, layer, sums = view.by_file
    texts = view.analyzer.files
    lowest = (BOTTOM >> layer) & 1 == 1
    if not lowest.any():  # a trace of upper layers only
        lowest = layer == min(layer.tolist(), default=LAYERS)
    on_disk = (texts.group_of(file) != CHANNEL) | np.array([bool(mount) for mount in texts.mounts])[file]
    rows = np.flatnonzero(lowest & on_disk & (file != 0))
    places = list(zip(texts.mounts, texts.systems, texts.scopes, strict=True))
    number = {place: at for at, place in enumerate(dict.fromkeys(places))}
    place_of = np.array([number[place] for place in places])
    hosts = {name: at for at, name in enumerate(dict.fromkeys(texts.hosts))}  # the first is the empty name
    host_of = np.array([hosts[name] for name in texts.hosts])
    found, group = np.unique(place_of[file[rows]], return_inverse=True)
    total = np.zeros((len(found), len(FILE)), np.int64)
    np.add.at(total, group, sums[rows])
    seen = sorted_distinct(file[rows])
    known = list(number)
    made = []
    for at, place in enumerate(found.tolist()):
        mine = seen[place_of[seen] == place]
        mount, system, _ = known[place]
        made.append(
            Mount(
                mount_point=mount,
                filesystem=system,
                scope=view.scope(int(mine[0])),
                hosts=int(np.count_nonzero(sorted_distinct(host_of[mine]))),
                files=len(mine),
                seconds=int(total[at, _EXCLUSIVE]) / _NS,
                **amounts(Mount, FILE, total[at]),
            )
        )
    return sorted(made, key=lambda row: (-row.bytes_read - row.bytes_written, -row.seconds, row.mount_point))


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
