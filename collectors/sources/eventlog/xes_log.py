"""Event logs in XES (IEEE 1849), also read while they grow.

Logs written by iotide are exact to the nanosecond.
"""

from __future__ import annotations

import datetime
import re
from typing import Any, Final, NamedTuple
from xml.parsers import expat

import numpy as np

from ...source import Input, SourceItem
from .cases import CaseInfo, CaseStreams

EXPECTED: Final = "a log of traces of events in XES, with concept:name and time:timestamp, or call, start and dur"
OURS: Final = "iotide event log"
LONGEST_TAG: Final = 1 << 20
DEEPEST: Final = 64

_PIECE_BYTES: Final = 1 << 16
_PIECE_EVENTS: Final = 8192
_MAX_HELD: Final = 1 << 23
_WHOLE: Final = re.compile(r"-?\d{1,19}")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-f]{4})|(\\))")
_LARGEST: Final = 2**63 - 1
_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND: Final = datetime.timedelta(microseconds=1)
_TEXTS: Final = frozenset(("concept:name", "time:timestamp", "call", "fp"))
_NUMBERS: Final = ("start", "dur", "pid", "tid", "rid", "size", "depth")
_OF_EVENT: Final = _TEXTS | frozenset(_NUMBERS)
_OF_TRACE: Final = frozenset(("concept:name", "cid", "host", "rid", "clock"))


class _RefusedError(Exception):
    """XML content that is refused."""


class _Event(NamedTuple):
    line: int
    values: dict[str, str]


class XesParser:
    """Parses one file; each trace becomes a stream.

    A document type is refused, so that no entity can be declared: nothing is expanded and no other file is opened.
    """

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._streams = CaseStreams(about, "xes")
        self._xml: expat.XMLParserType | None = None
        self._fed = 0
        self._stopped = False
        self._depth = 0
        self._escaped = False
        self._traces = 0
        self._trace: dict[str, str] | None = None
        self._event: dict[str, str] | None = None
        self._held: list[_Event] = []
        self._held_bytes = 0
        self._items: list[SourceItem] = []

    def feed(self, data: bytes) -> list[SourceItem]:
        """Parse the next bytes, split anywhere, and return the complete events."""
        for begin in range(0, len(data), _PIECE_BYTES):
            self._parse(data[begin : begin + _PIECE_BYTES], last=False)
        self._flush()
        return self._take_items()

    def finish(self) -> list[SourceItem]:
        """Report whether the document is complete, and close all streams."""
        if self._xml is not None:
            self._parse(b"", last=True)
        self._flush()
        return [*self._take_items(), *self._streams.close()]

    def _take_items(self) -> list[SourceItem]:
        items, self._items = self._items, []
        return items

    def _parse(self, data: bytes, *, last: bool) -> None:
        if self._stopped:
            self.counters["bytes_dropped:after_an_error"] += len(data)
            return
        if self._xml is None:
            self._xml = self._made()
        self._fed += len(data)
        try:
            self._xml.Parse(data, last)
            if self._fed - self._xml.CurrentByteIndex > LONGEST_TAG + _PIECE_BYTES:
                raise _RefusedError(f"a tag is longer than {LONGEST_TAG} bytes")
        except (_RefusedError, expat.ExpatError, ValueError, LookupError) as error:
            # the last two: encodings that Python does not support
            self._stopped = True
            line = self._xml.CurrentLineNumber
            self._flush()
            self._about.malformed(line, f"the document is read no further ({error})", EXPECTED)

    def _made(self) -> expat.XMLParserType:
        xml = expat.ParserCreate(namespace_separator=" ")
        xml.StartDoctypeDeclHandler = _refuse_document_type
        xml.StartElementHandler = self._begin
        xml.EndElementHandler = self._end
        return xml

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        depth = self._depth
        if depth == 4 and self._event is not None:
            if (key := attributes.get("key")) in _OF_EVENT:
                self._event[key] = attributes.get("value", "")
        elif depth == 3 and self._trace is not None:
            if _local(tag) == "event":
                self._event = {}
            elif (key := attributes.get("key")) in _OF_TRACE:
                self._trace[key] = attributes.get("value", "")
        elif depth == 2:
            self._begin_trace(tag, attributes)
        elif depth == 1 and _local(tag) != "log":
            raise _RefusedError(f"its root is {_local(tag)[:40]}")
        elif depth > DEEPEST:
            raise _RefusedError(f"elements are nested more than {DEEPEST} deep")

    def _begin_trace(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin a trace, or take in an attribute of the log."""
        if _local(tag) == "trace":
            self._trace = {}
            self._traces += 1
        elif attributes.get("key") == "format":
            self._escaped = attributes.get("value") == OURS

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if self._depth == 2 and self._event is not None:
            line = self._xml.CurrentLineNumber if self._xml is not None else 0
            self._held.append(_Event(line, self._event))
            self._held_bytes += sum(map(len, self._event.values()))
            self._event = None
            if len(self._held) >= _PIECE_EVENTS or self._held_bytes > _MAX_HELD:
                self._flush()
        elif self._depth == 1 and self._trace is not None:
            self._flush()
            self._trace = None

    def _flush(self) -> None:
        """Emit the buffered events of the open trace."""
        held, self._held, self._held_bytes = self._held, [], 0
        rows = [row for event in held if (row := self._row(event)) is not None]
        if not rows:
            return
        columns = dict(zip((*_NUMBERS, "call", "fp", "line"), zip(*rows, strict=True), strict=True))
        info = self._info(columns["rid"][0])
        numbers: dict[str, Any] = {name: np.array(columns[name], np.int64) for name in _NUMBERS}
        numbers["rank"] = np.where(numbers.pop("rid") == _MISSING, info.rank, columns["rid"])
        pid = numbers["pid"]
        numbers["tid"] = np.where(numbers["tid"] == _MISSING, pid, numbers["tid"])
        places = np.array(columns["line"], np.int64)
        self._items += self._streams.take(info, numbers, columns["call"], columns["fp"], places)

    def _row(self, event: _Event) -> tuple[Any, ...] | None:
        """Return the columns of an event; None if it is malformed, which is reported."""
        values = event.values
        call, file = values.get("call", values.get("concept:name", "")), values.get("fp", "")
        if self._escaped:
            call, file = _plain(call), _plain(file)
        numbers = []
        for name in _NUMBERS:
            text = values.get(name)
            if text is None:
                number = _stamp(values.get("time:timestamp", "")) if name == "start" else _ABSENT[name]
            else:
                number = int(text) if _WHOLE.fullmatch(text) else None
            if number is None or abs(number) > _LARGEST:
                self._about.malformed(event.line, f"an event whose {name} is {str(text)[:40]!r}", EXPECTED)
                return None
            numbers.append(number)
        return (*numbers, call, file, event.line)

    def _info(self, first_rank: int) -> CaseInfo:
        trace = self._trace or {}
        name = trace.get("concept:name") or f"trace {self._traces}"
        guessed = CaseInfo.of_name(name)
        text = trace.get("rid", "")
        rank = int(text) if _WHOLE.fullmatch(text) else first_rank
        return CaseInfo(
            name,
            trace.get("cid", guessed.command),
            trace.get("host", guessed.host),
            rank if -1 <= rank < 2**31 else guessed.rank,
            trace.get("clock", "unix") == "unix",
        )


_MISSING: Final = -(2**62)
_ABSENT: Final = {"dur": 0, "pid": 0, "tid": _MISSING, "rid": _MISSING, "size": -1, "depth": 0}


def _local(tag: str) -> str:
    return tag.rpartition(" ")[2]


def _refuse_document_type(*_: object) -> None:
    raise _RefusedError("it declares a document type, which XES has none of")


def _stamp(text: str) -> int | None:
    """Return the time of an ISO 8601 text, ns since 1970. UTC if it has no time zone."""
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return (moment - _EPOCH) // _MICROSECOND * 1000


def _plain(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else "\\", text)
