"""A sink that stores its input."""

from __future__ import annotations

from collections.abc import Mapping

from iotide.events import Definitions, DefinitionTable, EventBatch, ProtocolError, StreamInfo


class RememberingSink:
    """Store the start timestamps of each stream's events, in order of arrival."""

    def __init__(self) -> None:
        self.info: dict[str, StreamInfo] = {}
        self.starts: dict[str, list[int]] = {}
        self.definitions: dict[str, DefinitionTable] = {}
        self.closed_streams: list[str] = []
        self.losses: dict[str, Mapping[str, int]] = {}
        self.told_losses: dict[str, list[Mapping[str, int]]] = {}
        self.silent_streams: set[str] = set()
        self.job_losses: dict[tuple[str, str], Mapping[str, int]] = {}
        self.served_jobs: dict[str, tuple[str, str]] = {}
        self.made_of: dict[str, int] = {}
        self.refused_streams: list[tuple[str, str]] = []
        self.counters: dict[str, Mapping[str, int]] = {}
        self.lost_collectors: list[str] = []
        self.refuse_start: int | None = None

    def opened(self, stream: str, info: StreamInfo) -> None:
        assert stream not in self.info
        self.info[stream] = info
        self.starts[stream] = []
        self.definitions[stream] = DefinitionTable()

    def changed(self, stream: str, info: StreamInfo) -> None:
        assert stream in self.info
        self.info[stream] = info

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        if self.refuse_start is not None and self.refuse_start in batch.start.tolist():
            raise ProtocolError("refused by the test")
        self.definitions[stream].apply(definitions)
        self.starts[stream].extend(batch.start.tolist())

    def stream_losses(self, stream: str, losses: Mapping[str, int]) -> None:
        assert stream in self.info
        self.told_losses.setdefault(stream, []).append(losses)

    def events_taken(self, stream: str, events: int, *, ended: bool) -> None:
        self.made_of[stream] = events

    def silence_changed(self, stream: str, is_silent: bool) -> None:
        assert stream in self.info
        (self.silent_streams.add if is_silent else self.silent_streams.remove)(stream)

    def job_losses(self, collector: str, job: str, losses: Mapping[str, int]) -> None:
        self.job_losses[collector, job] = losses

    def stream_refused(self, info: StreamInfo, reason: str) -> None:
        self.refused_streams.append((info.job, reason))

    def closed(self, stream: str, losses: Mapping[str, int]) -> None:
        self.closed_streams.append(stream)
        self.losses[stream] = losses

    def heartbeat(self, collector: str, host: str, counters: Mapping[str, int], job: str = "") -> None:
        self.counters[collector] = counters
        self.served_jobs[collector] = job, host

    def collector_lost(self, collector: str) -> None:
        self.lost_collectors.append(collector)
