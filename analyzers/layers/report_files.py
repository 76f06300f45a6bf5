"""The part of a report that tells of files: on their way down, a layer's own, and where they lie."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...events.layers import FileAccess, FileLayers, Mount, OwnFiles
from .calls import BOTTOM, LAYERS, PROGRAM, TOP_DOWN
from .groups import DATA
from .tables import FILE, layer_name
from .view import View

_NS: Final = 1e9
_EXAMPLES: Final = 5
_HEIGHT: Final = {int(layer): place for place, layer in enumerate(TOP_DOWN)}
_CALLS, _READS, _WRITES, _READ, _WRITTEN, _OPENS, _CLOSES, _EXCLUSIVE, _IN_READS, _IN_WRITES = range(len(FILE))


def files(view: View, top: int) -> tuple[list[FileLayers], int]:
    """Returns files with what each layer did to them, and how many are left out.

    Those of the program's data come first, and of these the ones with the most time.
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
                accesses=[_access(int(over[row]), int(layer[row]), sums[row].tolist()) for row in rows],
            )
        )
    return made, int(known.sum()) - len(made)


def own_files(view: View) -> list[OwnFiles]:
    """Returns the files that layers touch further down and are never called with."""
    file, over, layer, sums = view.by_file
    called_with = set(zip(file.tolist(), layer.tolist(), strict=True))
    found: dict[tuple[int, int], list[int]] = {}
    for row in np.flatnonzero((file != 0) & (over != PROGRAM) & (over != layer)).tolist():
        if (int(file[row]), int(over[row])) not in called_with:
            found.setdefault((int(over[row]), int(layer[row])), []).append(row)
    made = []
    for (caller, below), rows in found.items():
        classes: dict[str, int] = {}
        for row in rows:
            name = view.analyzer.files.names[view.analyzer.files.classes[int(file[row])]]
            classes[name] = classes.get(name, 0) + int(sums[row, _EXCLUSIVE])
        made.append(
            OwnFiles(
                layer=layer_name(caller),
                below=layer_name(below),
                files=len({int(file[row]) for row in rows}),
                calls=int(sums[rows, _CALLS].sum()),
                seconds=int(sums[rows, _EXCLUSIVE].sum()) / _NS,
                examples=sorted(classes, key=lambda name: (-classes[name], name))[:_EXAMPLES],
            )
        )
    return sorted(made, key=lambda own: -own.seconds)


def mounts(view: View) -> list[Mount]:
    """Returns the file systems that the lowest layers worked on."""
    file, _, layer, sums = view.by_file
    texts = view.analyzer.files
    lowest = (BOTTOM >> layer) & 1 == 1
    if not lowest.any():  # a trace of upper layers alone
        lowest = layer == min(layer.tolist(), default=LAYERS)
    found: dict[tuple[str, str, int], list[int]] = {}
    for row in np.flatnonzero(lowest & (file != 0)).tolist():
        number = int(file[row])
        found.setdefault((texts.mounts[number], texts.systems[number], texts.scopes[number]), []).append(row)
    made = []
    for (mount, system, _scope), rows in found.items():
        numbers = {int(file[row]) for row in rows}
        total = sums[rows].sum(axis=0)
        made.append(
            Mount(
                mount_point=mount,
                filesystem=system,
                scope=view.scope(next(iter(numbers))),
                hosts=len({texts.hosts[number] for number in numbers} - {""}),
                files=len(numbers),
                calls=int(total[_CALLS]),
                bytes_read=int(total[_READ]),
                bytes_written=int(total[_WRITTEN]),
                seconds=int(total[_EXCLUSIVE]) / _NS,
            )
        )
    return sorted(made, key=lambda row: (-row.bytes_read - row.bytes_written, -row.seconds, row.mount_point))


def _access(over: int, layer: int, sums: list[int]) -> FileAccess:
    return FileAccess(
        caller=layer_name(over),
        layer=layer_name(layer),
        calls=sums[_CALLS],
        reads=sums[_READS],
        writes=sums[_WRITES],
        bytes_read=sums[_READ],
        bytes_written=sums[_WRITTEN],
        opens=sums[_OPENS],
        closes=sums[_CLOSES],
        exclusive_seconds=sums[_EXCLUSIVE] / _NS,
        read_seconds=sums[_IN_READS] / _NS,
        write_seconds=sums[_IN_WRITES] / _NS,
    )
