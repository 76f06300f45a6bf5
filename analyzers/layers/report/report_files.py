"""Report section on files. It lists accesses by layer, files used by a layer only, and file systems."""

from __future__ import annotations

from typing import Final

import numpy as np

from ....results.layers import FileAccess, FileLayers, Mount, OwnFiles
from ...file_groups import CHANNEL, DATA
from ..calls import BOTTOM, LAYERS, PROGRAM, TOP_DOWN
from ..report_context import ReportContext, amounts, largest
from ..state.tables import FILE, layer_name

_NS: Final = 1e9
_EXAMPLES: Final = 5  # maximum number of example paths
_HEIGHT: Final = {int(layer): place for place, layer in enumerate(TOP_DOWN)}
_CALLS, _EXCLUSIVE = FILE.index("calls"), FILE.index("exclusive_ns")


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
    rows = rows[~np.isin(file[rows] * LAYERS + over[rows], file * LAYERS + layer)]
    texts = view.analyzer.files
    made = []
    for pair in np.unique(over[rows] * LAYERS + layer[rows]).tolist():
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
                files=len(np.unique(file[mine])),
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
    seen = np.unique(file[rows])
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
                hosts=int(np.count_nonzero(np.unique(host_of[mine]))),
                files=len(mine),
                seconds=int(total[at, _EXCLUSIVE]) / _NS,
                **amounts(Mount, FILE, total[at]),
            )
        )
    return sorted(made, key=lambda row: (-row.bytes_read - row.bytes_written, -row.seconds, row.mount_point))
