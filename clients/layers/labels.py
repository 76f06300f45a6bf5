"""Texts of a layers report, shared by terminal and page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ...results.layers import Fate, FileLayers, Layers, Mount

_FATES: Final[dict[Fate, str]] = {
    "absorbed": "no data moved directly below",
    "passed": "passed on in one call of the same size",
    "changed": "one call of another size",
    "split": "several calls",
}
_NESTING: Final = {
    "recorded": "which call was made in which is recorded",
    "time": "which call was made in which is told by thread and time",
    "flat": "no call is known to be made in another",
}
_UPPER: Final = frozenset(("NETCDF", "PNETCDF", "HDF5", "MPIIO"))
"""Layers whose calls are made of calls of other layers."""
_MAX_EXCLUDED: Final = 5
_LOSSES: Final = {
    "processes": "processes are summed up as other",
    "files": "calls are on files beyond the bound, summed up as one",
    "file_rows": "calls are on files whose way down found no room, summed up as one",
    "nodes": "calls are through handles beyond the bound, summed up by layer",
    "process_nodes": "calls are through handles that are not told apart by process",
    "handles": "handles were forgotten while they may still be in use",
    "collectives": "collective calls are not told apart by process",
    "rounds": "collective calls are not put together over the processes",
    "calls": "calls are not told apart by name",
    "orphans": "calls were made in ones that the trace lacks: they count as the program's",
    "unenclosed": "calls were made in ones that were not seen to end: they count as the program's",
    "clipped": "calls have a duration or size beyond belief, which was cut",
}


def fate_text(fate: Fate) -> str:
    """Return the outcome of a request as text."""
    return _FATES[fate]


def nesting_text(layers: Layers) -> str:
    """Return the certainty of the handle tree as text."""
    handles = "" if layers.handles_known else ", handles are not: the tree is one of files"
    return _NESTING[layers.nesting] + handles


def note_lines(layers: Layers) -> Iterator[str]:
    """Yield notes that are needed to interpret the report, one per line."""
    present = {row.layer for row in layers.layers}
    if layers.nesting == "flat" and len(present) > 1 and present & _UPPER and layers.summaries < layers.events:
        yield (
            "calls have no depths, so time and bytes of lower layers count in addition to those of the calls that made "
            "them; iotide layers with the job's archive nests them by time"
        )
    if layers.summaries:
        verb = "is" if layers.summaries == 1 else "are"
        yield f"{layers.summaries:,} of these {verb} sums of many calls, which lie in no other"
    if layers.waiting:
        yield f"{layers.waiting:,} calls were made in ones that have not ended: they count as the program's yet"
    yield from loss_lines(layers.losses)


def scope_text(mount: Mount) -> str:
    """Return which nodes share a file system."""
    if mount.scope != "local":
        return "all nodes" if mount.scope == "shared" else ""
    return "one node" if mount.hosts == 1 else f"each of {mount.hosts:,} nodes" if mount.hosts else "each node"


def most_important(files: Sequence[FileLayers], most: int) -> list[FileLayers]:
    """Return the first files; only a few of those without program data."""
    data = [row for row in files if row.group == "data"][:most]
    return data + [row for row in files if row.group != "data"][: min(_MAX_EXCLUDED, most - len(data))]


def loss_lines(losses: Mapping[str, int]) -> Iterator[str]:
    """Yield the losses of the report, one line per reason."""
    for reason, number in losses.items():
        yield f"{number:,} {_LOSSES.get(reason, reason)}"
