"""What a report is made of: sums with the names that their keys stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...events.layers import Scope
from ..dfg.state import Ints
from .calls import LAYERS
from .identity import LOCAL, SHARED, UNKNOWN, Process
from .tables import OVERS, PROCESS, split, split_node
from .update import LayerAnalyzer

SCOPES: dict[int, Scope] = {UNKNOWN: "unknown", LOCAL: "local", SHARED: "shared"}
OTHER_NAME = "(other)"
_MOST_TEXT = 400


@dataclass(frozen=True)
class View:
    """An analyzer all of whose calls have ended, and the names of its calls.

    Args:
        analyzer: of which nothing waits.
        calls: names by number.
    """

    analyzer: LayerAnalyzer
    calls: Sequence[str]

    def call(self, number: int) -> str:
        """Returns the name of a call."""
        return self.calls[number] if 0 <= number < len(self.calls) else ""

    def process(self, row: int) -> str:
        """Returns what a person calls a process."""
        return label_of(self.analyzer.processes.known[row]) if row else OTHER_NAME

    def path(self, file: int) -> str:
        """Returns the path of a file."""
        return self.analyzer.files.paths[file][:_MOST_TEXT] if file else OTHER_NAME

    def scope(self, file: int) -> Scope:
        """Returns where a file lies."""
        return SCOPES[self.analyzer.files.scopes[file]]

    def class_path(self, file_class: int) -> str:
        """Returns the path of a class's only file, or the class's name."""
        return self._paths[file_class][:_MOST_TEXT]

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
        """The sums of ``PROCESS`` by layer, int64[layers, k]."""
        _, layer, sums = self.by_process
        total = np.zeros((LAYERS, len(PROCESS)), np.int64)
        np.add.at(total, layer, sums)
        return total

    def of_layer(self, layer: int, name: str) -> int:
        """Returns one sum of a layer."""
        return int(self.layer_sums[layer, PROCESS.index(name)])

    @cached_property
    def ranked(self) -> npt.NDArray[np.bool_]:
        """Which processes have a rank, bool[processes]."""
        return np.array([process.rank >= 0 for process in self.analyzer.processes.known])

    def crowd(self) -> tuple[npt.NDArray[np.bool_], str]:
        """Returns the processes that shares are of, and what they are called: the ranks, where there are some."""
        if self.ranked.any():
            return self.ranked, "ranks"
        everyone = np.ones(len(self.ranked), np.bool_)
        everyone[0] = False
        return everyone, "processes"


def label_of(process: Process) -> str:
    """Returns what a person calls a process."""
    if process.rank >= 0:
        return f"rank {process.rank}"
    where = f" on {process.host}" if process.host else ""
    return f"pid {process.pid}{where}" if process.pid else f"(process{where})"


def largest(weight: npt.NDArray[np.int64], top: int) -> npt.NDArray[np.intp]:
    """Returns where the largest weights stand, the largest first, at most so many."""
    return np.argsort(-weight, kind="stable")[:top]
