"""When what was done to which handle: marks on a grid that grows coarser as the run grows longer."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ...events import Kind
from ..dfg.state import Ints, Rows, State

READ, WRITE, OPEN, CLOSE, OTHER = range(5)
OPERATIONS: Final = ("read", "write", "open", "close", "other")
_FINEST_NS: Final = 1_000
_LATEST_STEP: Final = 2**40
_OPERATION: Final = np.full(256, OTHER, np.int64)
_OPERATION[[Kind.READ, Kind.WRITE, Kind.CREATE, Kind.DUPLICATE, Kind.DESTROY]] = READ, WRITE, OPEN, OPEN, CLOSE


def operation_of(kind: npt.NDArray[np.uint8]) -> Ints:
    """Returns which of ``OPERATIONS`` each kind of call is, int64[n]."""
    return _OPERATION[kind]


class Timeline(State):
    """Marks: operations of one kind on one node that start in one step of time, at most ``bound`` of them.

    When there are more, two steps become one; no operation is ever left out.

    Attributes:
        step_ns: length of a step.
    """

    def __init__(self, bound: int) -> None:
        self.step_ns = _FINEST_NS
        self._bound = bound
        self._node = np.zeros(0, np.int64)
        self._operation = np.zeros(0, np.int64)
        self._start = np.zeros(0, np.int64)
        self._end = np.zeros(0, np.int64)
        self._count = np.zeros(0, np.int64)
        self._ns = np.zeros(0, np.int64)
        self._bytes = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._node)

    def add(self, node: Ints, operation: Ints, start: Ints, end: Ints, count: Ints, ns: Ints, size: Ints) -> None:
        """Adds operations, columns of shape (n,)."""
        self._put(node, operation, start, end, count, ns, size)
        while len(self._node) > self._bound and self.step_ns < _LATEST_STEP:
            self.step_ns *= 2
            self._put(*([np.zeros(0, np.int64)] * 7))

    def merge(self, other: Timeline, nodes: Ints) -> None:
        """Adds the marks of another, whose nodes have these numbers here."""
        self.step_ns = max(self.step_ns, other.step_ns)
        self.add(nodes[other._node], other._operation, other._start, other._end, other._count, other._ns, other._bytes)

    def rows(self) -> list[Ints]:
        """Returns node, operation, first start, last end, count, ns and bytes of each mark, by start."""
        order = np.lexsort((self._node, self._start))
        columns = (self._node, self._operation, self._start, self._end, self._count, self._ns, self._bytes)
        return [column[order] for column in columns]

    def _put(self, node: Ints, operation: Ints, start: Ints, end: Ints, count: Ints, ns: Ints, size: Ints) -> None:
        node = np.concatenate([self._node, node])
        operation = np.concatenate([self._operation, operation])
        start = np.concatenate([self._start, start])
        order, heads = _alike(node * len(OPERATIONS) + operation, start // self.step_ns)
        self._node, self._operation = node[order][heads], operation[order][heads]
        self._start = np.minimum.reduceat(start[order], heads) if len(heads) else start
        columns = []
        for old, new in ((self._count, count), (self._ns, ns), (self._bytes, size)):
            both = np.concatenate([old, new])[order]
            columns.append(np.add.reduceat(both, heads) if len(heads) else both)
        self._count, self._ns, self._bytes = columns
        both = np.concatenate([self._end, end])[order]
        self._end = np.maximum.reduceat(both, heads) if len(heads) else both


def _alike(what: Ints, step: Ints) -> tuple[Rows, Rows]:
    order = np.lexsort((step, what))
    what, step = what[order], step[order]
    new = (what[1:] != what[:-1]) | (step[1:] != step[:-1])
    return order, np.flatnonzero(np.concatenate([np.ones(min(1, len(order)), np.bool_), new]))
