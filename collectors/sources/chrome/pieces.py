"""Split the JSON of a Chrome trace into events, buffering at most one event."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from ....events.network.malformed import MALFORMED

MAX_BUFFERED_BYTES: Final = 16 << 20
"""Maximum number of bytes of one event, or of the text before the events."""
_BETWEEN: Final = re.compile(rb"[\s,]*")
_PADDING: Final = b" \t\r\n,"
_NEXT_EVENT: Final = re.compile(rb"\}[\s,]*\{")
_EVENTS_KEY: Final = re.compile(rb'"traceEvents"\s*:\s*\Z')
_ARRAY: Final = re.compile(rb"\s*\[")
_FRESH_LINE: Final = re.compile(rb"^[\s,]*\{", re.MULTILINE)
_QUOTE, _OPEN_ARRAY, _CLOSE_ARRAY = b'"[]'
_STEP: Final = np.zeros(256, np.int8)
_STEP[[ord("{"), _OPEN_ARRAY]] = 1
_STEP[[ord("}"), _CLOSE_ARRAY]] = -1


@dataclass(frozen=True, slots=True)
class Broken:
    """An event, or text in place of events, that cannot be parsed."""

    event: int
    """Number of the event in the file, from 1."""
    problem: str


class EventPieces:
    """Accepts the bytes of a trace, split anywhere, and yields its events.

    Two forms are read: an array of events, whose closing bracket may be missing, and an object with such an array in
    ``traceEvents``. Pieces that end between two events are decoded as a whole. If the text alone does not show that, or
    an event is malformed, strings and brackets are counted.

    Args:
        event: type to which events are decoded.

    Attributes:
        head: other members of the object that precede the events; empty for an array.
        events: number of events seen, including malformed ones.
        ended: the array was closed.
    """

    def __init__(self, event: type[Any]) -> None:
        self.head: dict[str, Any] = {}
        self.events = 0
        self.ended = False
        self._many = msgspec.json.Decoder(list[event])  # type: ignore[valid-type]
        self._one = msgspec.json.Decoder(event)
        self._buffered = b""
        self._inside = False
        self._object = False
        self._lost = False
        self._given_up = False

    def feed(self, data: bytes) -> Iterator[list[Any] | Broken]:
        """Yield the events that the bytes complete, and malformed ones."""
        if self.ended or self._given_up:
            return
        data = self._buffered + data
        self._buffered = b""
        if not self._inside:
            begin = self._find_events(data)
            if begin is None:
                self._buffered = data
                yield from self._bounded("no array of events in so many bytes")
                return
            data = data[begin:]
        yield from self._take(data)

    def finish(self) -> Iterator[list[Any] | Broken]:
        """Yield the problem with the end of the file, if any."""
        rest, self._buffered = self._buffered, b""
        if self._given_up or self.ended:
            return
        if not self._inside:
            yield Broken(1, "there is no array of events")
        elif _BETWEEN.fullmatch(rest) is None:
            yield Broken(self.events + 1, f"the file ends {len(rest)} bytes into an event")
        elif self._object:
            yield Broken(self.events + 1, "the file ends before its array of events does")

    def _find_events(self, data: bytes) -> int | None:
        """Return the index where the first event may begin. It returns None if that is still unknown."""
        if array := _ARRAY.match(data):
            self._inside = True
            return array.end()
        places, depths, _ = _brackets(data)
        for place in places[depths == 2].tolist():
            if data[place] == _OPEN_ARRAY and _EVENTS_KEY.search(data, max(place - 64, 0), place):
                self._inside = self._object = True
                self._read_head(data[:place])
                return int(place) + 1
        return None

    def _read_head(self, text: bytes) -> None:
        try:
            self.head = msgspec.json.decode(text + b"null}", type=dict[str, Any])
        except MALFORMED:
            self.head = {}

    def _take(self, data: bytes) -> Iterator[list[Any] | Broken]:
        quick = None if self._lost else self._quick(data)
        if quick is not None:
            events, rest = quick
            self.events += len(events)
            yield events
            data = data[rest:]
        while data:
            if self._lost:
                fresh = _FRESH_LINE.search(data)
                if fresh is None:
                    self._buffered = data[data.rfind(b"\n") + 1 :]
                    break
                self._lost, data = False, data[fresh.start() :]
            begins, ends, self.ended, torn = _events(data)
            yield from self._decode_events(data, begins, ends)
            if self.ended:
                return
            if torn is None:
                self._buffered = data[ends[-1] if ends else 0 :]
                break
            self.events += 1
            yield Broken(self.events, "a line ends inside a string, or a bracket closes what was not opened")
            self._lost, data = True, data[torn:]
        yield from self._bounded("an event is longer than that")

    def _quick(self, data: bytes) -> tuple[list[Any], int] | None:
        """Decode up to the last apparent border between two events; successful decoding proves the border."""
        tail = max(len(data) - 65_536, 0)
        place = None
        for match in _NEXT_EVENT.finditer(data, tail):
            place = match.start() + 1
        if place is None:
            return None
        begin = _BETWEEN.match(data).end()  # type: ignore[union-attr]  # matches nothing, too
        try:
            return self._many.decode(b"[" + data[begin:place] + b"]"), place
        except MALFORMED:
            return None

    def _decode_events(self, data: bytes, begins: list[int], ends: list[int]) -> Iterator[list[Any] | Broken]:
        """Decode events at the given positions.

        It decodes them together, or one by one if one of them is malformed.
        """
        if not ends:
            return
        start = _BETWEEN.match(data).end()  # type: ignore[union-attr]  # matches nothing, too
        try:
            events = self._many.decode(b"[" + data[start : ends[-1]] + b"]")
        except MALFORMED:
            yield from self._one_by_one(data, begins, ends)
            return
        self.events += len(events)
        yield events

    def _one_by_one(self, data: bytes, begins: list[int], ends: list[int]) -> Iterator[list[Any] | Broken]:
        at = 0
        for begin, end in zip(begins, ends, strict=True):
            if _BETWEEN.fullmatch(data, at, begin) is None:
                self.events += 1
                yield Broken(self.events, f"{data[at:begin].strip(_PADDING)[:40]!r} is no event")
            at = end
            self.events += 1
            try:
                event = self._one.decode(data[begin:end])
            except MALFORMED as error:
                yield Broken(self.events, str(error))
            else:
                yield [event]

    def _bounded(self, what: str) -> Iterator[Broken]:
        if len(self._buffered) > MAX_BUFFERED_BYTES:
            self._buffered, self._given_up = b"", True
            yield Broken(self.events + 1, f"{what} ({MAX_BUFFERED_BYTES} bytes); the rest of the file is not read")


def _brackets(data: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the positions of brackets and braces outside strings.

    It also returns the depth after each, and quotes' positions.
    """
    if b"\\" in data:
        data = data.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    text = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(text == _QUOTE)
    steps = _STEP[text]
    places = np.flatnonzero(steps)
    places = places[np.searchsorted(quotes, places) & 1 == 0]
    return places, np.cumsum(steps[places], dtype=np.int32), quotes


def _events(data: bytes) -> tuple[list[int], list[int], bool, int | None]:
    """Find the events in a text that begins between two events.

    Returns:
        The beginning and end of each whole event; whether the array ends; and the end of text that is not JSON, or
        None: a line that ends within a string, or an unmatched closing brace.
    """
    torn = None
    places, depths, quotes = _brackets(data)
    if b"\n" in data:
        lines = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
        within = lines[np.searchsorted(quotes, lines) & 1 == 1]
        if len(within):
            torn = int(within[0]) + 1
            keep = places < torn
            places, depths = places[keep], depths[keep]
    below = np.flatnonzero(depths < 0)
    closed = False
    if len(below):
        place = int(places[below[0]])
        closed = data[place] == _CLOSE_ARRAY
        torn = None if closed else place + 1
        places, depths = places[: below[0]], depths[: below[0]]
    ends = (places[depths == 0] + 1).tolist()
    before = np.concatenate(([0], depths[:-1]))
    return places[(before == 0) & (depths == 1)].tolist()[: len(ends)], ends, closed, torn
