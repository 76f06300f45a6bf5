"""Buffer of a job's batches that are not yet processed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....events import EventBatch, StreamInfo, concatenate
from ...common.state import Ints
from ..state.registries import Files, Processes


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
