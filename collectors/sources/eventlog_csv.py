"""Event logs in CSV: an event a line, the columns named in the first."""

from __future__ import annotations

import csv
import re
from typing import Any, Final

import numpy as np

from ..lines import Block, LineBuffer
from ..parser import Input
from ..source import SourceItem
from ._eventlog_cases import CaseStreams
from ._eventlog_table import EXPECTED_COLUMNS, NEEDED, TableCases

MAX_LINE_BYTES: Final = 1 << 20
EXPECTED: Final = f"a line of comma-separated values with {EXPECTED_COLUMNS}"
HEADER: Final = re.compile(rb'\s*[\w":,-]*case:concept:name')

_NUMBERS: Final = ("start", "dur", "pid", "tid", "rid", "size")
_TEXTS: Final = ("case:concept:name", "call", "fp", "cid", "host", "clock")
_ESCAPE: Final = re.compile(r"\\(.)")
_MEANINGS: Final = {"n": "\n", "r": "\r"}


class CsvParser:
    """Parses one file; each case becomes a stream."""

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._lines = LineBuffer(MAX_LINE_BYTES)
        self._streams = CaseStreams(about, "csv")
        self._table = TableCases(self._streams)
        self._columns: dict[str, int] | None = None

    def feed(self, data: bytes) -> list[SourceItem]:
        """Takes the next bytes, split anywhere, and returns the events whose lines are complete."""
        return self._parse(self._lines.feed(data))

    def finish(self) -> list[SourceItem]:
        """Parses a last line without its end and closes all streams."""
        return self._parse(self._lines.finish()) + self._streams.close()

    def _parse(self, block: Block) -> list[SourceItem]:
        for line in self._lines.take_cut():
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
        names = next(csv.reader([line.strip("\r\ufeff ")]), [])
        if set(names) >= NEEDED:
            self._columns = {name: at for at, name in enumerate(names)}
        else:
            self._about.malformed(number, f"columns {', '.join(names)[:100]}", EXPECTED)

    def _events(self, lines: list[str], first: int, columns: dict[str, int]) -> list[SourceItem]:
        items: list[SourceItem] = []
        rows: list[list[str]] = []
        begin = first
        for number, line in enumerate(lines, first):
            row = _row(line, columns)
            if row is not None:
                rows.append(row)
                continue
            if line.strip():
                self._about.malformed(number, "the line is no event", EXPECTED)
            items += self._take(rows, begin, columns)
            rows, begin = [], number + 1
        return items + self._take(rows, begin, columns)

    def _take(self, rows: list[list[str]], first: int, columns: dict[str, int]) -> list[SourceItem]:
        if not rows:
            return []
        made: dict[str, Any] = {}
        fields = list(zip(*rows, strict=True))
        for name in _NUMBERS:
            if name in columns:
                made[name] = np.array([int(text or -1) for text in fields[columns[name]]], np.int64)
        for name in _TEXTS:
            if name in columns:
                made[name] = [_plain(text) for text in fields[columns[name]]]
        return self._table.take(made, first)


def _row(line: str, columns: dict[str, int]) -> list[str] | None:
    """Returns the fields of a line, None where it has another number of them or a number is none."""
    try:
        row = next(csv.reader([line.rstrip("\r")], strict=True), [])
    except csv.Error:
        return None
    if len(row) != len(columns):
        return None
    for name in _NUMBERS:
        text = row[columns[name]].removeprefix("-") if name in columns else ""
        if text and not (text.isascii() and text.isdigit() and int(text[:20]) < 2**63 and len(text) < 20):
            return None
    return row


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda found: _MEANINGS.get(found[1], found[1]), text) if "\\" in text else text
