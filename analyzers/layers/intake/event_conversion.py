"""Events of a job that are not yet processed, and their conversion to calls."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ....events import EventBatch, Flag, Kind, Layer, StreamInfo, concatenate
from ....events.batch import IntArray, representatives
from ....events.summaries import busy_ns, calls_in, requested_bytes
from ...common.state import Ints
from ..calls import LAYERS, NO_FATE, UNTOLD, Calls, dtype_of
from ..state.bounded_sums import MAX_PLAUSIBLE
from ..state.registries import Files, Processes

_LATEST_NS: Final = 2**61  # maximum plausible time, ns
_MAX_NS: Final = 2**55  # maximum total time of the calls of one event, ns
# maximum bytes that Linux moves in one call (read(2)); larger requests ask for all available data
_MAX_AT_ONCE: Final = 0x7FFFF000
_MAX_NAMES: Final = 2**24  # limit of the tables' keys
_FILLED: Final = {
    "around": 0, "over": UNTOLD, "over_kind": 0, "below_ns": 0, "below": 0, "below_bytes": 0,
    "system_ns": 0, "system_bytes": 0, "fate": NO_FATE,
}  # fmt: skip


class _Stream(NamedTuple):
    info: StreamInfo
    batches: list[EventBatch]


class BufferedEvents(NamedTuple):
    """Events, grouped by stream; number of each event's process, and of its host."""

    batch: EventBatch
    serial: Ints
    host: Ints


class BatchBuffer:
    """Buffers batches by stream until all are taken at once."""

    def __init__(self) -> None:
        self._streams: dict[str, _Stream] = {}
        self._length = 0

    def __len__(self) -> int:
        """Return the number of buffered events."""
        return self._length

    def put(self, batch: EventBatch, stream: str, info: StreamInfo) -> None:
        """Add events of a stream."""
        self._streams.setdefault(stream, _Stream(info, [])).batches.append(batch)
        self._length += len(batch)

    def take(self, processes: Processes, files: Files) -> BufferedEvents:
        """Remove and return all events, at least one, with their processes and hosts."""
        held, self._streams, self._length = self._streams, {}, 0
        streams = []
        for stream, new in held.items():
            batch = concatenate(new.batches)
            streams.append(
                BufferedEvents(batch, processes.of(batch, stream, new.info), np.array([files.host(new.info.host)]))
            )
        if len(streams) == 1:
            one = streams[0]
            return one._replace(host=np.broadcast_to(one.host[0], (len(one.batch),)))
        streams.sort(key=lambda each: int(each.serial[0]))  # often avoids sorting rows later
        lengths = [len(each.batch) for each in streams]
        return BufferedEvents(
            concatenate([each.batch for each in streams]),
            np.concatenate([each.serial for each in streams]),
            np.repeat(np.concatenate([each.host for each in streams]), lengths),
        )


def clamped(batch: EventBatch) -> tuple[EventBatch, int]:
    """Return events with durations and sizes clipped to plausible values.

    It also returns the number of clipped events.

    A request above the limit of a call asks for all available data, as cp and cat do. Its requested size is set to the
    bytes moved.
    """
    batch = _without_infinite_requests(batch)
    start = _within(batch.start, -_LATEST_NS, _LATEST_NS)
    ns, requested, moved = (
        _within(column, 0, MAX_PLAUSIBLE) for column in (batch.duration, batch.requested, batch.bytes)
    )
    clipped = 0
    if ns is not batch.duration or moved is not batch.bytes:
        clipped = int(np.count_nonzero((ns != batch.duration) | (moved != batch.bytes)))
    elif start is batch.start and requested is batch.requested:
        return batch, 0
    return batch.replace(start=start, duration=ns, requested=requested, bytes=moved), clipped


def _without_infinite_requests(batch: EventBatch) -> EventBatch:
    requested = batch.requested
    if not len(batch) or int(representatives(requested).max()) <= _MAX_AT_ONCE:
        return batch
    moves = (batch.kind == Kind.READ) | (batch.kind == Kind.WRITE)
    other = (batch.flags & int(Flag.AGGREGATE | Flag.MAPS)) != 0  # the column has another meaning there
    endless = (requested > _MAX_AT_ONCE) & (batch.bytes < requested) & moves & ~other
    return batch.replace(requested=np.where(endless, batch.bytes, requested)) if endless.any() else batch


def calls_of(batch: EventBatch, serial: Ints, process: Ints, file: Ints) -> Calls:
    """Create calls from events, without nesting information.

    Args:
        batch: events, as returned by ``clamped``.
        serial: process number of each event.
        process: process row of each event.
        file: file number of each event.
    """
    count = len(batch)
    layer = batch.layer
    if int(layer.max()) >= LAYERS:
        layer = np.where(layer < LAYERS, layer, int(Layer.OTHER))
    call = batch.call.astype(np.int64)
    if int(call.max()) >= _MAX_NAMES:
        call[call >= _MAX_NAMES] = 0
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
        ns=_within(busy_ns(batch), 0, _MAX_NS),
        requested=requested_bytes(batch),
        count=calls_in(batch),
        bytes=batch.bytes,
        failed=((batch.flags & int(Flag.FAILED)) != 0).astype(np.int64),
        collective=(batch.flags & int(Flag.COLLECTIVE)) != 0,
        summed=(batch.flags & int(Flag.AGGREGATE)) != 0,
        begun=(batch.flags & int(Flag.BEGUN)) != 0,
        **{name: np.full(count, value, dtype_of(name)) for name, value in _FILLED.items()},
    )


def _within(column: IntArray, low: int, high: int) -> IntArray:
    """Return a column, clipped if a value is out of bounds."""
    values = representatives(column)
    if int(values.min()) >= low and int(values.max()) <= high:
        return column
    return np.clip(column, low, high)
