"""A sink that passes streams on to another one."""

from __future__ import annotations

from collections.abc import Mapping

from ...events import Definitions, EventBatch, StreamInfo
from .sink import Sink


class ForwardingSink:
    """Passes all input on to the next sink; subclasses process some of it, too."""

    def __init__(self, next_sink: Sink) -> None:
        self._next = next_sink

    def opened(self, stream: str, info: StreamInfo) -> None:
        """Open a stream."""
        self._next.opened(stream, info)

    def changed(self, stream: str, info: StreamInfo) -> None:
        """Update a stream's description."""
        self._next.changed(stream, info)

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        """Process events."""
        self._next.batch(stream, batch, definitions)

    def events_taken(self, stream: str, events: int, *, ended: bool) -> None:
        """Update the number of events that a collector got for a stream."""
        self._next.events_taken(stream, events, ended=ended)

    def stream_losses(self, stream: str, losses: Mapping[str, int]) -> None:
        """Update the losses of a stream."""
        self._next.stream_losses(stream, losses)

    def silence_changed(self, stream: str, is_silent: bool) -> None:
        """Update whether a stream's collector is silent."""
        self._next.silence_changed(stream, is_silent)

    def job_losses(self, collector: str, job: str, losses: Mapping[str, int]) -> None:
        """Update a collector's losses of a job that no stream reports."""
        self._next.job_losses(collector, job, losses)

    def stream_refused(self, info: StreamInfo, reason: str) -> None:
        """Note a refused stream."""
        self._next.stream_refused(info, reason)

    def closed(self, stream: str, losses: Mapping[str, int]) -> None:
        """Close a stream."""
        self._next.closed(stream, losses)

    def heartbeat(self, collector: str, host: str, counters: Mapping[str, int], job: str = "") -> None:
        """Update a collector's counters."""
        self._next.heartbeat(collector, host, counters, job)

    def collector_lost(self, collector: str) -> None:
        """Mark a collector as silent."""
        self._next.collector_lost(collector)
