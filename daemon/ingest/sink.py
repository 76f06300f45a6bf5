"""The interface of receivers of collectors' streams, and a receiver that passes streams on to another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from ...analyzers.pipeline.whole_streams import WholeStream
from ...events import Definitions, EventBatch, IotideError, StreamInfo


class StreamForgottenError(IotideError):
    """The sink has removed an open stream; its collector introduces it again and continues."""


class Sink(Protocol):
    """A receiver of streams."""

    def opened(self, stream: str, info: StreamInfo) -> None:
        """Open a stream."""
        ...

    def changed(self, stream: str, info: StreamInfo) -> None:
        """Update the description of an open stream; its job stays the same."""
        ...

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        """Process events, or (with an empty batch) only definitions.

        Raises:
            ProtocolError: the batch contradicts earlier input; it is rejected and skipped.
            StreamForgottenError: the stream must be introduced again, and the batch sent again.
        """
        ...

    def events_taken(self, stream: str, events: int, *, ended: bool) -> None:
        """Update the number of events that the collector got for an open stream. ``ended``: it is final."""
        ...

    def stream_losses(self, stream: str, losses: Mapping[str, int]) -> None:
        """Update the losses of an open stream, by the collector's counters; cumulative."""
        ...

    def silence_changed(self, stream: str, is_silent: bool) -> None:
        """Update whether an open stream's collector is silent."""
        ...

    def job_losses(self, collector: str, job: str, losses: Mapping[str, int]) -> None:
        """Update a collector's losses of a job that no stream reports; cumulative."""
        ...

    def stream_refused(self, info: StreamInfo, reason: str) -> None:
        """Note a stream that was refused by a bound of the aggregator."""
        ...

    def closed(self, stream: str, losses: Mapping[str, int]) -> None:
        """Close a stream, with its final losses by the collector's counters."""
        ...

    def heartbeat(self, collector: str, host: str, counters: Mapping[str, int], job: str = "") -> None:
        """Update a collector's cumulative counters, and the job whose programs it observes on its node."""
        ...

    def collector_lost(self, collector: str) -> None:
        """Mark a collector as silent."""
        ...


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


@runtime_checkable
class WholeStreamSink(Sink, Protocol):
    """A sink that takes streams that have ended together, with less work."""

    def whole_streams(self, streams: Sequence[WholeStream]) -> None:
        """Process streams as if each had been opened, had one batch, and was closed without losses."""
        ...


def pass_whole_streams(sink: Sink, streams: Sequence[WholeStream]) -> None:
    """Pass streams that have ended on to any sink."""
    if isinstance(sink, WholeStreamSink):
        sink.whole_streams(streams)
        return
    pass_separately(sink, streams)


def pass_separately(sink: Sink, streams: Sequence[WholeStream]) -> None:
    """Open, process and close each stream."""
    for stream, info, batch, definitions in streams:
        sink.opened(stream, info)
        sink.batch(stream, batch, definitions)
        sink.closed(stream, {})
