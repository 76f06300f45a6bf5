"""Store a shipper's unfinished work for the next collector, and restore it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ...events import Definitions, empty_batch
from ..sent_definitions import extend
from .backlog import WaitingBatch, size_of
from .collector_store import BatchState, CollectorStore, StoredBatch, StoredStream, counts_of, packed_counts
from .heartbeats import moved
from .window import SendWindow, Sent

_COLLECTOR: Final = "collector"
_OPENED: Final = "opened"
_COUNTERS: Final = "counters"
_GAP: Final = "spool_damaged"


class ShipperState:
    """The state in a folder: read on creation, written by each ``write``.

    Args:
        folder: folder of the state, used by one collector at a time.
        most_bytes: bound on the batches in it.
        collector: name of this collector, used if the folder has none.

    Attributes:
        file: the stored data.
        collector: name that owns the streams; the next collector uses it, too.
        opened: number of streams opened under that name.
        counters: counters of the previous collectors.
        unended_streams: wire ids of streams that had not ended at their sources, by their names there.

    Raises:
        ConfigError: the folder cannot be used, or another collector uses it.
    """

    def __init__(self, folder: Path, most_bytes: int, collector: str) -> None:
        self.file = CollectorStore(folder, most_bytes)
        self.collector = self.file.fact(_COLLECTOR).decode() or collector
        self.opened = int(self.file.fact(_OPENED) or b"0")
        self.counters: Counter[str] = counts_of(self.file.fact(_COUNTERS))
        self.unended_streams: dict[str, str] = {}
        self._sources: dict[str, tuple[int, str]] = {}
        self._changed: dict[str, None] = {}
        self.file.store_fact(_COLLECTOR, self.collector.encode())

    def windows(self, now_s: float) -> tuple[dict[str, SendWindow], list[WaitingBatch]]:
        """Return the previous collector's streams, by wire id, and its unsent batches, in order."""
        windows: dict[str, SendWindow] = {}
        ends: dict[str, int] = {}
        for each in self.file.streams():
            windows[each.name] = SendWindow.restored(
                each.name, each.info, each.next_seq, each.made, each.losses, ended=each.ended
            )
            ends[each.name] = each.next_seq
            self._sources[each.name] = each.at, each.source
            if not each.ended:
                self.unended_streams[each.source] = each.name
        waiting = []
        for batch in self.file.batches():
            window = windows.get(batch.stream)
            if window is None:
                continue
            if batch.state is BatchState.DONE:
                window.has_acknowledged(batch.definitions)
            elif batch.state is BatchState.DROPPED:
                extend(window.unsent, batch.definitions)
            elif batch.state is BatchState.SENT:
                self._restore_in_flight(window, batch, now_s)
            else:
                window.waiting += 1
                waiting.append(_waiting_batch(batch, window.job, now_s))
        for name, window in windows.items():
            window.next_seq = max(window.next_seq, ends[name])
            if window.waiting or window.in_flight:
                window.change(window.info)  # a change may not have been sent
        return windows, waiting

    def record_opened_stream(self, wire_id: str, source: str) -> None:
        """Record that a stream was opened."""
        self.opened += 1
        self._sources[wire_id] = self.opened, source
        self.mark_changed(wire_id)

    def mark_changed(self, wire_id: str) -> None:
        """Record that a stream's state has changed."""
        self._changed[wire_id] = None

    def record_sent(self, wire_id: str, row: int, messages: list[Sent]) -> None:
        """Record the messages of a batch that is being sent. The last one carries its events."""
        messages[-1].row = row
        self.file.record_seq(row, messages[0].seq)
        self.mark_changed(wire_id)

    def store_definitions(self, wire_id: str, definitions: Definitions) -> None:
        """Store definitions that are sent with a later batch."""
        self.file.store_definitions(wire_id, definitions)

    def finish_batch(self, sent: Sent | WaitingBatch) -> None:
        """Record that a batch is not needed any more. All its definitions remain, also those of earlier messages."""
        whole = sent.batch_definitions if isinstance(sent, Sent) else None
        self.file.finish_batch(sent.row, BatchState.DONE, sent.definitions if whole is None else whole)

    def remove_stream(self, wire_id: str) -> None:
        """Remove a stream about which nothing remains to be sent."""
        self._changed.pop(wire_id, None)
        self._sources.pop(wire_id, None)
        self.file.remove_stream(wire_id)

    def write(self, windows: Mapping[str, SendWindow], positions: Mapping[str, bytes | None]) -> bool:
        """Write all changes since the last call in one transaction. Returns whether the disk accepted it."""
        for wire_id in self._changed:
            if (window := windows.get(wire_id)) is not None and not window.refused:
                at, source = self._sources[wire_id]
                state = (window.info, window.next_seq, window.made, window.ended, window.losses)
                self.file.store_stream(StoredStream(wire_id, at, source, *state))
        if self._changed:
            self.file.store_fact(_OPENED, str(self.opened).encode())
        self._changed.clear()
        for name, value in positions.items():
            self.file.store_position(name, value)
        return self.file.commit()

    def store_counters(self, counters: Mapping[str, int]) -> None:
        """Store the collector's counters."""
        self.file.store_fact(_COUNTERS, packed_counts(counters))

    def close(self) -> None:
        """Releases the folder for the next collector."""
        self.file.close()

    def _restore_in_flight(self, window: SendWindow, batch: StoredBatch, now_s: float) -> None:
        """Restores a batch in flight with the numbers that it was sent with."""
        first = batch.seq
        if window.in_flight:
            while window.next_seq < first:  # the disk did not accept that batch: its events are lost
                window.number(empty_batch(), Definitions(), 0, now_s)
        window.next_seq = first
        events = self.file.read(batch.row)
        if events is None:
            events = empty_batch()
            window.losses[f"events_dropped:{_GAP}"] += batch.events
            window.losses[f"bytes_dropped:{_GAP}"] += batch.moved
        events = moved(events, -window.info.clock_off_ns)  # as the collector sent it
        messages = window.number(events, batch.definitions, size_of(events), now_s)
        messages[-1].row = batch.row


class NoShipperState:
    """Replaces ``ShipperState`` in a collector that stores nothing for the next one."""

    file = None
    opened = 0

    def __init__(self) -> None:
        self.counters: Counter[str] = Counter()
        self.unended_streams: dict[str, str] = {}

    def windows(self, now_s: float) -> tuple[dict[str, SendWindow], list[WaitingBatch]]:
        """Return no streams."""
        return {}, []

    def record_opened_stream(self, wire_id: str, source: str) -> None:
        """Store nothing."""

    def mark_changed(self, wire_id: str) -> None:
        """Store nothing."""

    def record_sent(self, wire_id: str, row: int, messages: list[Sent]) -> None:
        """Store nothing."""

    def store_definitions(self, wire_id: str, definitions: Definitions) -> None:
        """Store nothing."""

    def finish_batch(self, sent: Sent | WaitingBatch) -> None:
        """Store nothing."""

    def remove_stream(self, wire_id: str) -> None:
        """Store nothing."""

    def write(self, windows: Mapping[str, SendWindow], positions: Mapping[str, bytes | None]) -> bool:
        """Store nothing."""
        return True

    def store_counters(self, counters: Mapping[str, int]) -> None:
        """Store nothing."""

    def close(self) -> None:
        """Store nothing."""


def _waiting_batch(batch: StoredBatch, job: str, now_s: float) -> WaitingBatch:
    return WaitingBatch(
        batch.stream,
        None,
        batch.definitions,
        now_s,
        batch.size,
        batch.events,
        batch.moved,
        row=batch.row,
        job=job,
        is_only_stored=True,
    )
