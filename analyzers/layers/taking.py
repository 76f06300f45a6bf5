"""Makes calls of events, one by one or those alike at once."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...events import EventBatch, Flag, Layer, is_constant
from ...events.batch import IntArray, occurring
from ..dfg.state import Ints, Rows
from ..grouping import Grouping
from .calls import LAYERS, NO_FATE, PROGRAM, UNTOLD, Calls, dtype_of
from .nesting import tell_fates
from .sums import MOST

_LATEST_NS: Final = 2**61
_MOST_NAMES: Final = 2**24  # that keys of tables have room for
_FILLED: Final = {
    "around": 0, "over": UNTOLD, "over_kind": 0, "count": 1, "below_ns": 0, "below": 0, "below_bytes": 0,
    "system_ns": 0, "system_bytes": 0, "fate": NO_FATE,
}  # fmt: skip


def believed(batch: EventBatch) -> tuple[EventBatch, int]:
    """Returns events with durations and sizes cut to what is believed, and how many had one beyond that."""
    start = _within(batch.start, -_LATEST_NS, _LATEST_NS)
    ns, requested, moved = (_within(column, 0, MOST) for column in (batch.duration, batch.requested, batch.bytes))
    clipped = 0
    if ns is not batch.duration or moved is not batch.bytes:
        clipped = int(np.count_nonzero((ns != batch.duration) | (moved != batch.bytes)))
    elif start is batch.start and requested is batch.requested:
        return batch, 0
    return batch.replace(start=start, duration=ns, requested=requested, bytes=moved), clipped


def calls_of(batch: EventBatch, serial: Ints, process: Ints, file: Ints) -> Calls:
    """Makes calls of events, of which nothing is known but themselves.

    Args:
        batch: the events, as ``believed``.
        serial: number of each one's process.
        process: row of its process.
        file: number of its file.
    """
    count = len(batch)
    layer = batch.layer
    if int(layer.max()) >= LAYERS:
        layer = np.where(layer < LAYERS, layer, int(Layer.OTHER))
    call = batch.call.astype(np.int64)
    if int(call.max()) >= _MOST_NAMES:
        call[call >= _MOST_NAMES] = 0
    return Calls(
        serial=serial,
        thread=(serial << 32) + (batch.tid.astype(np.int64) & 0xFFFFFFFF),
        process=process,
        layer=layer.astype(np.uint8, copy=False),
        kind=batch.kind.astype(np.uint8, copy=False),
        call=call,
        file=file,
        handle=batch.handle.astype(np.int64),
        parent=batch.parent.astype(np.int64),
        depth=batch.depth.astype(np.uint8, copy=False),
        start=batch.start,
        end=batch.end,
        ns=batch.duration,
        requested=batch.requested,
        bytes=batch.bytes,
        failed=((batch.flags & int(Flag.FAILED)) != 0).astype(np.int64),
        collective=(batch.flags & int(Flag.COLLECTIVE)) != 0,
        summed=(batch.flags & int(Flag.AGGREGATE)) != 0,
        **{name: np.full(count, value, dtype_of(name)) for name, value in _FILLED.items()},
    )


class Alike:
    """Events that nothing encloses, by all that is told of them but when they were and how large.

    Args:
        batch: the events, as ``believed``; of depth 0, and none collective.
        serial: number of each one's process.
        handle: what is told of handles, by number.

    Attributes:
        rows: one event of each kind.
        counts: how many events there are of each kind.
    """

    def __init__(self, batch: EventBatch, serial: Ints, handle: Ints) -> None:
        self._batch = batch
        self._grouping = Grouping([serial, handle, batch.layer, batch.kind, batch.call, batch.file, batch.flags])
        self.rows = self._grouping.first
        self.counts = self._grouping.counts()

    def summed(self, calls: Calls) -> Calls:
        """Makes the calls of ``rows`` those of all."""
        batch = self._batch
        sums = self._grouping.sums([batch.duration, batch.requested, batch.bytes])
        calls.count, calls.failed = self.counts, calls.failed * self.counts
        calls.ns, calls.requested, calls.bytes = (np.ascontiguousarray(column) for column in sums.T)
        calls.start, calls.end = self._grouping.least(batch.start), self._grouping.most(batch.end)
        calls.over[:] = PROGRAM
        tell_fates(calls)
        calls.summed[:] = True
        return calls

    def by_size(self, calls: Calls, kind: Ints) -> Calls:
        """Returns calls whose requests are of one size class each, by the ``kind`` of each of the summed calls."""
        size = self._batch.requested
        parts, rows = self._parts(kind, size if is_constant(size) else _exponent(size))
        made = calls.take(rows)
        made.count, made.requested = parts.counts(), parts.sum(size)
        return made

    def by_step(self, kind: Ints, step_ns: int) -> tuple[Rows, list[Ints]]:
        """Splits the summed calls of each kind where a step of time ends.

        Returns:
            One summed call of each part; and start, end, count, ns and bytes of each.
        """
        batch = self._batch
        parts, rows = self._parts(kind, batch.start // step_ns)
        sums = parts.sums([batch.duration, batch.bytes])
        return rows, [parts.least(batch.start), parts.most(batch.end), parts.counts(), sums[:, 0], sums[:, 1]]

    def _parts(self, kind: Ints, further: IntArray) -> tuple[Grouping, Rows]:
        number = self._grouping.number
        parts = Grouping([np.broadcast_to(kind, (len(number),)) if len(kind) == 1 else kind.take(number), further])
        return parts, number.take(parts.first)


def _exponent(size: IntArray) -> Ints:
    """Returns numbers that are the same for sizes with as many bits: the exponents of float64."""
    exponent: Ints = size.astype(np.float64).view(np.int64) >> 52
    return exponent


def _within(column: IntArray, low: int, high: int) -> IntArray:
    """Returns a column, cut where it lies beyond bounds."""
    values = occurring(column)
    if int(values.min()) >= low and int(values.max()) <= high:
        return column
    return np.clip(column, low, high)
