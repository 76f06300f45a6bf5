"""Input of a report: sums, with names for their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from posixpath import dirname
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from ...results.layers import FileGroup, Scope
from ..common.state import Ints
from ..file_groups import GROUPS
from .calls import LAYERS
from .state.call_tables import OVERS, PROCESS, layer_name, split, split_node
from .state.registries import LOCAL, SHARED, UNKNOWN, Process
from .update import LayerAnalyzer

SCOPES: dict[int, Scope] = {UNKNOWN: "unknown", LOCAL: "local", SHARED: "shared"}
OTHER_NAME = "(other)"
_MAX_TEXT = 400  # maximum length of a path, characters


@dataclass(frozen=True)
class ReportContext:
    """An analyzer in which all calls have ended, and the names of its calls.

    Args:
        analyzer: analyzer without waiting calls.
        calls: call names by number.
    """

    analyzer: LayerAnalyzer
    calls: Sequence[str]

    def call_name(self, number: int) -> str:
        """Return the name of a call."""
        return self.calls[number] if 0 <= number < len(self.calls) else ""

    def host_name(self, row: int) -> str:
        """Return the host of a process."""
        return self.analyzer.processes.known[row].host

    @cached_property
    def hosts(self) -> set[str]:
        """Hosts of all processes."""
        return {process.host for process in self.analyzer.processes.known[1:]}

    def process(self, row: int) -> str:
        """Return the display name of a process."""
        return label_of(self.analyzer.processes.known[row]) if row else OTHER_NAME

    @cached_property
    def process_order(self) -> npt.NDArray[np.int64]:
        """Position of each process by rank, host and pid, so that lists do not depend on the order of arrival."""
        known = self.analyzer.processes.known
        position = np.empty(len(known), np.int64)
        position[sorted(range(len(known)), key=lambda at: (known[at].rank, known[at].host, known[at].pid))] = np.arange(
            len(known)
        )
        return position

    def path(self, file: int) -> str:
        """Return the path of a file."""
        return self.analyzer.files.paths[file][:_MAX_TEXT] if file else OTHER_NAME

    def scope(self, file: int) -> Scope:
        """Return the scope of a file's file system."""
        return SCOPES[self.analyzer.files.scopes[file]]

    def group(self, file: int) -> FileGroup:
        """Return the group of a file."""
        return GROUPS[self.analyzer.files.class_groups[self.analyzer.files.classes[file]]]

    def class_path(self, file_class: int) -> str:
        """Return the path of a class's only file, or the class's name."""
        return self._paths[file_class][:_MAX_TEXT]

    @cached_property
    def _paths(self) -> list[str]:
        files = self.analyzer.files
        found = list(files.names)
        counts = np.bincount(np.array(files.classes), minlength=len(found))
        for path, each in zip(files.paths, files.classes, strict=True):
            if counts[each] == 1:
                found[each] = path
        return found

    @cached_property
    def by_process(self) -> tuple[Ints, Ints, npt.NDArray[np.int64]]:
        """Process, layer and sums of each pair."""
        key, sums = self.analyzer.tables.processes.rows()
        return key // LAYERS, key % LAYERS, sums

    @cached_property
    def folders(self) -> list[str]:
        """Folders of the files, in the spelling of their classes."""
        return sorted({dirname(name) for name in self.analyzer.files.names})

    @cached_property
    def folder_of_class(self) -> Ints:
        """Index into ``folders`` for each class, int64[classes]."""
        number = {name: at for at, name in enumerate(self.folders)}
        return np.array([number[dirname(name)] for name in self.analyzer.files.names], np.int64)

    @cached_property
    def data_ns(self) -> npt.NDArray[np.int64]:
        """Exclusive time on the program's data of each pair in ``by_process``, ns."""
        sums = self.by_process[2]
        own, channel, system = (sums[:, PROCESS.index(name)] for name in ("exclusive_ns", "channel_ns", "system_ns"))
        return own - channel - system

    @cached_property
    def by_file(self) -> tuple[Ints, Ints, Ints, npt.NDArray[np.int64]]:
        """File, calling layer, layer and sums of each triple."""
        key, sums = self.analyzer.tables.files.rows()
        file, over, layer = split(key, OVERS, LAYERS)
        return file, over, layer, sums

    @cached_property
    def by_node(self) -> tuple[Ints, Ints, npt.NDArray[np.int64]]:
        """Process, node and sums of each pair."""
        key, sums = self.analyzer.tables.nodes.rows()
        process, node = split_node(key)
        return process, node, sums

    @cached_property
    def layer_sums(self) -> npt.NDArray[np.int64]:
        """Sums of ``PROCESS`` by layer, int64[layers, k]."""
        _, layer, sums = self.by_process
        total = np.zeros((LAYERS, len(PROCESS)), np.int64)
        np.add.at(total, layer, sums)
        return total

    def number(self, layer: str) -> int:
        """Return the number of a layer by its name."""
        return next(number for number in range(LAYERS) if layer_name(number) == layer)

    def of_layer(self, layer: int, name: str) -> int:
        """Return one sum of a layer."""
        return int(self.layer_sums[layer, PROCESS.index(name)])

    @cached_property
    def ranked(self) -> npt.NDArray[np.bool_]:
        """Whether each process has a rank, bool[processes]."""
        return np.array([process.rank >= 0 for process in self.analyzer.processes.known])

    def expected_processes(self, layer: int) -> tuple[npt.NDArray[np.bool_], str]:
        """Return the processes that shares of a layer refer to, bool[processes]. It also returns a noun for them.

        These are the ranks if there are any. Otherwise they are the processes of the busiest one's command that work on
        data in the layer; helpers started by a shell are excluded.
        """
        if self.ranked.any():
            return self.ranked, "ranks"
        process, layers, _ = self.by_process
        rows = np.flatnonzero((layers == layer) & (process != 0))
        if not len(rows):
            return np.zeros(len(self.ranked), np.bool_), "processes"
        known = self.analyzer.processes.known
        command = known[process[rows[np.argmax(self.data_ns[rows])]]].command
        at_work = set(process[rows[self.data_ns[rows] > 0]].tolist())
        return np.array([at in at_work and each.command == command for at, each in enumerate(known)]), "processes"


def amounts(model: type[BaseModel], columns: Sequence[str], row: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Return a model's fields from a table row; nanoseconds are converted to seconds.

    Args:
        model: result model.
        columns: column names of the table.
        row: row of the table.
    """
    made = {}
    for name, value in zip(columns, row.tolist(), strict=True):
        nanoseconds = name == "ns" or name.endswith("_ns")
        field = name.removesuffix("ns") + "seconds" if nanoseconds else name
        if field in model.model_fields:
            made[field] = value / 1e9 if nanoseconds else value
    return made


def label_of(process: Process) -> str:
    """Return the display name of a process."""
    if process.rank >= 0:
        return f"rank {process.rank}"
    where = f" on {process.host}" if process.host else ""
    return f"pid {process.pid}{where}" if process.pid else f"(process{where})"


def largest(
    weight: npt.NDArray[np.int64], top: int, equals: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.intp]:
    """Return the indices of the largest weights in descending order, at most ``top``; equal ones by ``equals``."""
    if equals is None:
        return np.argsort(-weight, kind="stable")[:top]
    return np.lexsort((equals, -weight))[:top]
