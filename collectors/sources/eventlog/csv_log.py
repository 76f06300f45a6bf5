"""Event logs in CSV: one event per line, with column names in the first line."""

from __future__ import annotations

import csv
import re
from typing import Any, Final

import numpy as np

from ...files.lines import MAX_LINE_BYTES, Block, LineBuffer
from ...source import Input, SourceItem
from .cases import CaseStreams
from .table import EXPECTED_COLUMNS, NEEDED, TableCases

EXPECTED: Final = f"a line of comma-separated values with {EXPECTED_COLUMNS}"

_NUMBERS: Final = ("start", "dur", "pid", "tid", "rid", "size", "depth")
_TEXTS: Final = ("case:concept:name", "call", "fp", "cid", "host", "clock")
_ESCAPE: Final = re.compile(r"\\(.)")
_DIGITS: Final = re.compile(r"[-0-9,]*")
_MEANINGS: Final = {"n": "\n", "r": "\r"}


class CsvParser:
    """Parses one file; each case becomes a stream."""

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._lines = LineBuffer()
        self._streams = CaseStreams(about, "csv")
        self._table = TableCases(self._streams)
        self._columns: dict[str, int] | None = None
        self._width = 0

    def feed(self, data: bytes) -> list[SourceItem]:
        """Parse the next bytes, split anywhere, and return the events of complete lines."""
        return self._parse(self._lines.feed(data))

    def finish(self) -> list[SourceItem]:
        """Parse an unterminated last line and close all streams."""
        return self._parse(self._lines.finish()) + self._streams.close()

    def _parse(self, block: Block) -> list[SourceItem]:
        for line in self._lines.take_discarded_lines():
            self._about.malformed(line, "the line is too long", f"an event in at most {MAX_LINE_BYTES} bytes")
        if not block.data:
            return []
        lines = block.data.decode(errors="backslashreplace").split("\n")[:-1]
        first = block.first_line
        while self._columns is None and lines:
            self._header(lines.pop(0), first)
            first += 1
        if self._columns is None or not lines:
            return []
        return self._events(lines, first, self._columns)

    def _header(self, line: str, number: int) -> None:
        if not line.strip():
            return
        try:
            names = next(csv.reader([line.strip("\r\ufeff ")]), [])
        except csv.Error:
            names = [line]
        if set(names) >= NEEDED:
            self._columns = {name: at for at, name in enumerate(names)}
            self._width = len(names)  # a name may occur twice
        else:
            self._about.malformed(number, f"columns {', '.join(names)[:100]}", EXPECTED)

    def _events(self, lines: list[str], first: int, columns: dict[str, int]) -> list[SourceItem]:
        made = _together(lines, columns, self._width)
        if made is not None:
            return self._table.take(made, first)
        items: list[SourceItem] = []
        good: list[str] = []
        begin = first
        for number, line in enumerate(lines, first):
            if _together([line], columns, self._width) is not None:
                good.append(line)
                continue
            if line.strip():
                self._about.malformed(number, "the line is no event", EXPECTED)
            items += self._take(good, begin, columns)
            good, begin = [], number + 1
        return items + self._take(good, begin, columns)

    def _take(self, lines: list[str], first: int, columns: dict[str, int]) -> list[SourceItem]:
        made = _together(lines, columns, self._width) if lines else None
        return [] if made is None else self._table.take(made, first)


def _together(lines: list[str], columns: dict[str, int], width: int) -> dict[str, Any] | None:
    """Return the columns of some lines. Returns None if a line has the wrong number of fields."""
    try:
        rows = list(csv.reader(lines, strict=True))
        if len(rows) != len(lines):
            return None
        fields = list(zip(*rows, strict=True))
        if len(fields) != width:
            return None
        made: dict[str, Any] = {}
        for name in _NUMBERS:
            if name in columns:
                texts = fields[columns[name]]
                if not _DIGITS.fullmatch(",".join(texts)):
                    return None
                made[name] = np.array([int(text) if text else -1 for text in texts], np.int64)
    except (csv.Error, ValueError, OverflowError):
        return None
    for name in _TEXTS:
        if name in columns:
            texts = fields[columns[name]]
            made[name] = [_plain(text) for text in texts] if any("\\" in text for text in texts) else list(texts)
    return made


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda found: _MEANINGS.get(found[1], found[1]), text)
