"""Timeline of operations on handles. Its marks are on a time grid that becomes coarser as the run grows."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....events import Kind
from ...common.grouping import Grouping
from ...common.state import Ints, State, narrowest

READ, WRITE, OPEN, CLOSE, OTHER = range(5)
OPERATIONS: Final = ("read", "write", "open", "close", "other")
_FINEST_NS: Final = 1_000  # initial length of a step, ns
_OF_NODE: Final = 2 * len(OPERATIONS)
_LATEST_STEP: Final = 2**40  # maximum length of a step, ns
_COLUMNS: Final = 6  # operation and node, first start, last end, count, ns, bytes
_OPERATION: Final = np.full(256, OTHER, np.int64)
_OPERATION[[Kind.READ, Kind.WRITE, Kind.CREATE, Kind.DUPLICATE, Kind.DESTROY]] = READ, WRITE, OPEN, OPEN, CLOSE


def operation_of(kind: npt.NDArray[np.uint8]) -> Ints:
    """Return the index into ``OPERATIONS`` of each kind of call, int64[n]."""
    return _OPERATION[kind]


_Marks = tuple[npt.NDArray[Any], ...]


class Timeline(State):
    """Marks of operations.

    A mark sums operations of one kind on one node that start in one time step, at most ``bound`` or ten per node.

    If there are more, time steps are merged in pairs; no operation is ever dropped.

    Attributes:
        step_ns: length of a step.
    """

    def __init__(self, bound: int) -> None:
        self.step_ns = _FINEST_NS
        self._bound = bound
        self._nodes = 0
        self._marks = _narrow(np.zeros((_COLUMNS, 0), np.int64))
        self._new: list[_Marks] = []

    def __len__(self) -> int:
        self._compact()
        return len(self._marks[0])

    def add(self, node: Ints, operation: Ints, start: Ints, end: Ints, count: Ints, ns: Ints, size: Ints) -> None:
        """Add operations, columns of shape (n,)."""
        what = self.kind_of(node, operation)
        self._nodes = max(self._nodes, int(node.max()))
        self._new.append(_narrow(_condensed(np.stack([what, start, end, count, ns, size]), self.step_ns)))
        if sum(len(part[0]) for part in self._new) > self._room:
            self._compact()

    @staticmethod
    def kind_of(node: Ints, operation: Ints) -> Ints:
        """Return a number for each pair of a node and an operation, int64[n]."""
        return node * len(OPERATIONS) + operation

    def merge(self, other: Timeline, nodes: Ints) -> None:
        """Add the marks of another timeline; ``nodes`` maps its nodes to those here."""
        other._compact()
        self.step_ns = max(self.step_ns, other.step_ns)
        theirs = _wide(other._marks)
        node, operation = np.divmod(theirs[0], len(OPERATIONS))
        self._nodes = max(self._nodes, len(nodes) - 1)
        theirs[0] = nodes[node] * len(OPERATIONS) + operation
        self._new.append(_narrow(theirs))
        self._compact()

    def rows(self) -> list[Ints]:
        """Return the columns of all marks, sorted by start.

        They are node, operation, first start, last end, count, ns and bytes.
        """
        self._compact()
        marks = _wide(self._marks)[:, np.argsort(self._marks[1], kind="stable")]
        return [*np.divmod(marks[0], len(OPERATIONS)), *marks[1:]]

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of the state as plain data."""
        self._compact()
        return super().snapshot()

    @property
    def _room(self) -> int:
        return max(self._bound, _OF_NODE * self._nodes)

    def _compact(self) -> None:
        if not self._new:
            return
        marks = _condensed(np.concatenate([_wide(part) for part in (self._marks, *self._new)], axis=1), self.step_ns)
        self._new.clear()
        while marks.shape[1] > self._room and self.step_ns < _LATEST_STEP:
            self.step_ns *= 2
            marks = _condensed(marks, self.step_ns)
        self._marks = _narrow(marks)


def _condensed(marks: npt.NDArray[np.int64], step_ns: int) -> npt.NDArray[np.int64]:
    """Merge marks of the same operation, node and step."""
    if not marks.shape[1]:
        return marks
    alike = Grouping([marks[0], marks[1] // step_ns])
    if len(alike) == marks.shape[1]:
        return marks
    sums = alike.sums(list(marks[3:])).T
    return np.stack([marks[0].take(alike.first), alike.least(marks[1]), alike.most(marks[2]), *sums])


def _narrow(marks: npt.NDArray[np.int64]) -> _Marks:
    """Store columns in the smallest integer types. The duration replaces the end of each mark."""
    what, start, end, *sums = marks
    return tuple(narrowest(column) for column in (what, start, end - start, *sums))


def _wide(marks: _Marks) -> npt.NDArray[np.int64]:
    """Restore the columns of ``_narrow``, int64[columns, n]."""
    made = np.stack([column.astype(np.int64) for column in marks])
    made[2] += made[1]
    return made
