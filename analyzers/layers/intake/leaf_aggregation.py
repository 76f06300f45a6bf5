"""Aggregation of equal calls without enclosing calls, before any further processing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....events import EventBatch, is_constant
from ....events.batch import IntArray, representatives
from ...common.grouping import Grouping
from ...common.state import Ints, Rows
from ..calls import PROGRAM, Calls
from .nesting import assign_fates


def nodes_of(batch: EventBatch, serial: Ints, place: Callable[[Rows], Ints]) -> Ints:
    """Return the node of each event's handle, int64[n]. -1 - parent for events without a handle.

    Args:
        batch: events.
        serial: process number of each event.
        place: function that returns the nodes of handles from the first event of each.
    """
    if not representatives(batch.handle).any():
        return -1 - batch.parent.astype(np.int64)
    found = Grouping([serial, batch.handle])
    rows = found.first_of_least(batch.start)
    with_handle = np.flatnonzero(batch.handle[rows])
    order = with_handle[np.argsort(rows[with_handle])]
    node = np.full(len(found), -1, np.int64)
    node[order] = place(rows[order])
    if len(with_handle) == len(found):
        return np.broadcast_to(node, (len(batch),)) if len(node) == 1 else node.take(found.number)
    return np.where(batch.handle == 0, -1 - batch.parent.astype(np.int64), node.take(found.number))


class LeafAggregator:
    """Events without enclosing calls, grouped by all properties except time and size.

    Args:
        batch: events, as returned by ``clamped``; of depth 0, and none collective.
        serial: process number of each event.
        handle: node of each event's handle, as returned by ``nodes_of``.

    Attributes:
        rows: one event of each group.
        counts: number of events of each group.
    """

    def __init__(self, batch: EventBatch, serial: Ints, handle: Ints) -> None:
        self._batch = batch
        self._grouping = Grouping([serial, handle, batch.layer, batch.kind, batch.call, batch.file, batch.flags])
        self.rows = self._grouping.first
        self.counts = self._grouping.counts()

    def summed(self, calls: Calls) -> Calls:
        """Replace the calls of ``rows`` by the sums of their groups."""
        batch = self._batch
        sums = self._grouping.sums([batch.duration, batch.requested, batch.bytes])
        calls.count, calls.failed = self.counts, calls.failed * self.counts
        calls.ns, calls.requested, calls.bytes = (np.ascontiguousarray(column) for column in sums.T)
        calls.start, calls.end = self._grouping.least(batch.start), self._grouping.most(batch.end)
        calls.over[:] = PROGRAM
        assign_fates(calls)
        calls.summed[:] = True
        return calls

    def by_size(self, calls: Calls, kind: Ints) -> Calls:
        """Split the summed calls by size class and by ``kind``. ``kind`` is a class of each summed call."""
        size = self._batch.requested
        parts, rows = self._parts(kind, size if is_constant(size) else _exponent(size))
        made = calls.take(rows)
        made.count, made.requested = parts.counts(), parts.sum(size)
        return made

    def by_step(self, kind: Ints, step_ns: int) -> tuple[Rows, list[Ints]]:
        """Split the summed calls of each kind at the ends of time steps.

        Returns:
            The summed call of each part; and start, end, count, ns and bytes of each part. A kind and step may have
            several parts.
        """
        batch = self._batch
        if (found := self._grouping.steps(batch.start, batch.duration, batch.bytes, step_ns)) is not None:
            return found
        parts, rows = self._parts(kind, batch.start // step_ns)
        sums = parts.sums([batch.duration, batch.bytes])
        return rows, [parts.least(batch.start), parts.most(batch.end), parts.counts(), sums[:, 0], sums[:, 1]]

    def _parts(self, kind: Ints, further: IntArray) -> tuple[Grouping, Rows]:
        number = self._grouping.number
        parts = Grouping([np.broadcast_to(kind, (len(number),)) if len(kind) == 1 else kind.take(number), further])
        return parts, number.take(parts.first)


def _exponent(size: IntArray) -> Ints:
    """Return numbers that are equal for sizes with the same number of bits. They are the exponents of float64."""
    exponent: Ints = size.astype(np.float64).view(np.int64) >> 52
    return exponent
