"""Parse files of TMIO, the tracer of the FTIO authors.

Formats are JSON lines, JSON, MessagePack, and their short forms.
"""

from __future__ import annotations

from typing import Any

from ....events import EventBatch, Interner, Kind, Layer, StreamInfo
from ....events.network.wire import MAX_BATCH_EVENTS
from ...parser import Input
from ...source import Chunk, Closed, Opened, SourceItem
from .documents import EXPECTED, JsonDocuments, MessagePackRecords
from .interval_events import EXPECTED_INTERVALS, described, events_of
from .intervals import Intervals, excluded_sections, intervals_of, is_record


class TmioParser:
    """Parses one file into one stream. Each interval of bandwidth is one event, flagged as an aggregate.

    Stamps count from the start of the traced program and are not converted (``clock_offset_ns=None``). Metrics per rank
    are used if a record has them, otherwise those of single requests, otherwise those of the application.
    """

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._records: JsonDocuments | MessagePackRecords | None = None
        self._undirected = Kind.READ
        self._interner = Interner()
        self._stream = ""

    def feed(self, data: bytes) -> list[SourceItem]:
        """Parse the next bytes, split anywhere, and return the intervals of complete records."""
        if self._records is None:
            if not data.strip():
                return []
            self._records = self._choose(data.lstrip()[:1])
        return [item for number, value in self._records.feed(data) for item in self._take(number, value)]

    def finish(self) -> list[SourceItem]:
        """Report a record that was cut off, and close the stream."""
        items: list[SourceItem] = []
        if self._records is not None:
            items += [item for number, value in self._records.finish() for item in self._take(number, value)]
        if self._stream:
            items.append(Closed(self._stream))
            self._stream = ""
        return items

    def _choose(self, first: bytes) -> JsonDocuments | MessagePackRecords:
        if first >= b"\x80":
            self._undirected = Kind.WRITE  # as FTIO interprets such messages
            return MessagePackRecords(self._about)
        return JsonDocuments(self._about, is_record)

    def _take(self, number: int, value: Any) -> list[SourceItem]:
        if not is_record(value):
            self._about.malformed(number, "the record has no section of TMIO", EXPECTED)
            return []
        for rule in excluded_sections(value):
            self.counters[f"sections_ignored:{rule}"] += 1
        items: list[SourceItem] = []
        for intervals in intervals_of(value, self._undirected):
            if intervals.ragged:
                self._about.malformed(number, f"{intervals.section}: {intervals.ragged}", "arrays of equal length")
            batch = self._events(number, intervals)
            if len(batch):
                items += self._emit(batch, intervals.ranks)
        return items

    def _events(self, number: int, intervals: Intervals) -> EventBatch:
        made = events_of(intervals, self._interner.string(intervals.section), Layer.MPIIO)
        if len(made.wrong):
            self._about.malformed(
                number,
                f"{intervals.section}: {len(made.wrong)} of {len(intervals.start_s)} intervals are wrong, "
                f"first number {made.wrong[0]}: {described(intervals, int(made.wrong[0]))}",
                EXPECTED_INTERVALS,
            )
            self.counters["intervals_malformed"] += len(made.wrong)
        self.counters["intervals_ignored:no_bytes"] += made.empty
        return made.batch

    def _emit(self, batch: EventBatch, ranks: int) -> list[SourceItem]:
        items: list[SourceItem] = []
        if not self._stream:
            self._stream = self._about.stream("tmio")
            origin = self._about.origin
            info = StreamInfo(
                job=origin.job,
                source="tmio",
                host=origin.host,
                user=origin.user,
                ranks=ranks,
                origin=self._about.name,
                clock_offset_ns=None,
            )
            items.append(Opened(self._stream, info))
        self.counters["events"] += len(batch)
        for first in range(0, len(batch), MAX_BATCH_EVENTS):
            part = batch.select(slice(first, first + MAX_BATCH_EVENTS))
            items.append(Chunk(self._stream, part, self._interner.take_fresh()))
        return items
