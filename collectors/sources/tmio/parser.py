"""Parse files of TMIO, the tracer of the FTIO authors.

Formats are JSON lines, JSON, MessagePack, and their short forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import msgpack  # type: ignore[import-untyped]
import msgspec

from ....events import EventBatch, Interner, Kind, Layer, StreamInfo
from ....events.network.malformed import MALFORMED
from ....events.network.wire import MAX_BATCH_EVENTS
from ...files.lines import Block, LineBuffer
from ...source import Chunk, Closed, Input, Opened, SourceItem
from .interval_events import EXPECTED_INTERVALS, described, events_of
from .intervals import Intervals, excluded_sections, intervals_of, is_record

MAX_DOCUMENT_BYTES: Final = 256 << 20
EXPECTED: Final = (
    'a TMIO record such as {"write_sync": {"bandwidth": {"b_rank_avr": [...], "t_rank_s": [...], "t_rank_e": [...]}}}'
)

Record: TypeAlias = tuple[int, Any]
"""Line (JSON) or 1-based number (MessagePack), and the decoded value."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_NOT_FINITE = re.compile(rb"(?<=[\s,:\[])[-+]?(?:nan|inf(?:inity)?)(?=[\s,\]}])", re.IGNORECASE)


class JsonDocuments:
    """Splits text into JSON documents.

    Args:
        about: receiver of problems.
        is_known: function that returns whether a document belongs to the format. A known document on a single line ends
            a preceding one that was cut off. So an incomplete write does not hide the documents after it.
    """

    def __init__(self, about: Input, is_known: Callable[[Any], bool]) -> None:
        self._about = about
        self._is_known = is_known
        self._lines = LineBuffer(MAX_DOCUMENT_BYTES)
        self._begun: list[bytes] = []
        self._begun_at = 0
        self._begun_bytes = 0
        self._depth = 0

    def feed(self, data: bytes) -> Iterator[Record]:
        """Yield the documents that these bytes complete."""
        yield from self._read(self._lines.feed(data))

    def finish(self) -> Iterator[Record]:
        """Yield a last document without a line end, and report one that was cut off."""
        yield from self._read(self._lines.finish())
        self._give_up("the document is cut off")

    def _read(self, block: Block) -> Iterator[Record]:
        for number in self._lines.take_discarded_lines():
            self._about.malformed(number, "the line is too long", f"a document of at most {MAX_DOCUMENT_BYTES} bytes")
        for number, line in enumerate(block.data.split(b"\n"), block.first_line):
            if line and not line.isspace():
                yield from self._read_line(number, line)

    def _read_line(self, number: int, line: bytes) -> Iterator[Record]:
        alone, value = _decode(line) if line.lstrip()[:1] in (b"{", b"[") else (False, None)
        if alone and (not self._begun or self._is_known(value)):
            self._give_up("the document is cut off")
            yield number, value
            return
        if not self._begun:
            self._begun_at, self._begun_bytes, self._depth = number, 0, 0
        self._begun.append(line)
        self._begun_bytes += len(line)
        self._depth += _depth_of(line)
        if self._depth <= 0:
            complete, value = _decode(b"\n".join(self._begun))
            if complete:
                self._begun = []
                yield self._begun_at, value
            else:
                self._give_up("this is no JSON")
        elif self._begun_bytes > MAX_DOCUMENT_BYTES:
            self._give_up("the document is too long")

    def _give_up(self, problem: str) -> None:
        if self._begun:
            self._about.malformed(self._begun_at, problem, EXPECTED)
        self._begun = []


class MessagePackRecords:
    """Splits bytes into MessagePack values; after a malformed one no further value can be found."""

    def __init__(self, about: Input) -> None:
        self._about = about
        self._unpacker = self._new_unpacker()
        self._fed = 0
        self._number = 0
        self._broken = False

    def feed(self, data: bytes) -> Iterator[Record]:
        """Yield the values that these bytes complete."""
        if self._broken:
            self._about.counters["bytes_dropped:malformed"] += len(data)
            return
        self._fed += len(data)
        try:
            self._unpacker.feed(data)
            for value in self._unpacker:
                self._number += 1
                yield self._number, value
        except (msgpack.UnpackException, ValueError, TypeError, RecursionError) as error:
            self._broken = True
            self._about.counters["bytes_dropped:malformed"] += self._fed - self._unpacker.tell()
            self._about.malformed(
                self._number + 1, f"this is no MessagePack ({error or type(error).__name__})", EXPECTED
            )

    def finish(self) -> Iterator[Record]:
        """Report a last value that was cut off."""
        if not self._broken and self._unpacker.tell() < self._fed:
            self._about.malformed(self._number + 1, "the record is cut off", EXPECTED)
        yield from ()

    def _new_unpacker(self) -> msgpack.Unpacker:
        return msgpack.Unpacker(
            raw=False, strict_map_key=False, unicode_errors="replace", max_buffer_size=MAX_DOCUMENT_BYTES
        )


def _decode(text: bytes) -> tuple[bool, Any]:
    """Decode JSON; NaN and infinities, which C programs print, become None."""
    try:
        return True, msgspec.json.decode(text)
    except MALFORMED:
        mended, count = _NOT_FINITE.subn(b"null", text)
    try:
        return (True, msgspec.json.decode(mended)) if count else (False, None)
    except MALFORMED:
        return False, None


def _depth_of(line: bytes) -> int:
    bare = _STRING.sub(b"", line)
    return bare.count(b"{") + bare.count(b"[") - bare.count(b"}") - bare.count(b"]")


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
