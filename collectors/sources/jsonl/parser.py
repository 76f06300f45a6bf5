"""JSON lines: one completed I/O call a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....events import COLUMNS, EventBatch, Flag, Interner, Kind, Layer, StreamInfo, make_batch
from ...calls import classify
from ...lines import Block, LineBuffer
from ...numbering import Numbering
from ...parser import Input
from ...source import Chunk, Closed, Opened, SourceItem
from .lines import COLUMN_OF, LATEST_NS, LATEST_S, LineDecoder

MAX_LINE_BYTES = 1 << 20
MAX_STREAMS = 4096

_COPIED: Final = {
    **{name: COLUMNS[name][0] for name in ("offset", "rank", "pid", "tid", "handle", "parent", "depth", "errno")},
    "size": COLUMNS["bytes"][0],
}
_ALL_KEYS: Final = frozenset(COLUMN_OF)
_EXPECTED: Final = (
    'an object with "call", "start" and "dur" (seconds) or "start_ns" and "dur_ns", such as '
    '{"call": "write", "path": "/scratch/out", "start": 1.5, "dur": 0.25, "size": 4096}'
)
_LAYERS: Final = {layer.name: int(layer) for layer in Layer} | {
    name: int(Layer.MPIIO) for name in ("MPI-IO", "MPI_IO", "MPI")
}


class JsonLinesParser:
    """Parses JSON lines into one stream for each (job, host) that the lines name."""

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._lines = LineBuffer(MAX_LINE_BYTES)
        self._decoder = LineDecoder()
        self._streams: dict[tuple[str, str], _Stream] = {}

    def feed(self, data: bytes) -> list[SourceItem]:
        """Takes the next bytes, split anywhere, and returns the calls whose lines are complete."""
        return self._parse(self._lines.feed(data))

    def finish(self) -> list[SourceItem]:
        """Parses a last line without its end and closes all streams."""
        items = self._parse(self._lines.finish())
        items += [Closed(stream.name) for stream in self._streams.values()]
        self._streams.clear()
        return items

    def _parse(self, block: Block) -> list[SourceItem]:
        for line in self._lines.take_cut():
            self._about.malformed(line, "the line is too long", f"a call in at most {MAX_LINE_BYTES} bytes")
        if not block.data:
            return []
        lines = self._decoder.decode(block.data)
        keys = self._decoder.keys
        columns = None if lines is None else _numbers(lines, keys)
        if lines is None or columns is None:
            lines, keys = list(self._well_formed(block)), _ALL_KEYS
            columns = _numbers(lines, keys) or {}
        return self._emit(_Lines(lines, keys, columns)) if lines else []

    def _emit(self, lines: _Lines) -> list[SourceItem]:
        items: list[SourceItem] = []
        for job, host, mine in lines.by_stream():
            stream = self._stream(job, host, items)
            if stream is None:
                self.counters["events_dropped:too_many_streams"] += len(mine.lines)
                continue
            self.counters["events"] += len(mine.lines)
            items.append(Chunk(stream.name, stream.batch(mine), stream.interner.take_fresh()))
        return items

    def _well_formed(self, block: Block) -> Iterator[Any]:
        """Decodes a block of which some line is wrong: keeps the others and says which it is."""
        for index, call in self._decoder.decode_singly(block.data):
            line = block.first_line + index
            if isinstance(call, Exception):
                self._about.malformed(line, str(call), _EXPECTED)
            elif _numbers([call], _ALL_KEYS) is None:
                self._about.malformed(line, "the call has no start or no duration", _EXPECTED)
            else:
                yield call

    def _stream(self, job: str, host: str, items: list[SourceItem]) -> _Stream | None:
        origin = self._about.origin
        key = job or origin.job, host or origin.host
        stream = self._streams.get(key)
        if stream is None and len(self._streams) < MAX_STREAMS:
            name = self._about.stream("jsonl", f"{job}@{host}" if job or host else "")
            self._streams[key] = stream = _Stream(name)
            info = StreamInfo(job=key[0], source="jsonl", host=key[1], user=origin.user, origin=self._about.name)
            items.append(Opened(name, info))
        return stream


class _Stream:
    """The numbers given out in one stream, with layer and kind by number of the call."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.interner = Interner()
        self._calls = Numbering(self._number_call)
        self._files = Numbering(self.interner.file)
        self._layers = np.zeros(64, np.uint8)
        self._kinds = np.zeros(64, np.uint8)

    def batch(self, lines: _Lines) -> EventBatch:
        """Makes events of lines of this stream."""
        calls = self._calls.of(lines.texts("call"))
        columns: dict[str, npt.ArrayLike] = dict(lines.numbers)
        columns["call"] = calls
        columns["kind"] = kinds = self._kinds[calls]
        columns["layer"] = layers = self._layers[calls]
        if "layer" in lines.keys:
            named = np.array([_LAYERS.get(layer.upper(), -1) for layer in lines.texts("layer")])
            columns["layer"] = np.where(named < 0, layers, named)
        if "path" in lines.keys:
            columns["file"] = self._files.of(lines.texts("path"))
        size = np.asarray(columns.pop("size", 0))
        failed = (size < 0) | (np.asarray(columns.get("errno", 0)) != 0)
        moves = (kinds == Kind.READ) | (kinds == Kind.WRITE)
        columns["bytes"] = np.where(moves & ~failed, size, 0)
        if failed.any():
            columns["flags"] = np.where(failed, int(Flag.FAILED), 0)
        return make_batch(len(calls), columns)

    def _number_call(self, call: str) -> int:
        number = self.interner.string(call)
        while number >= len(self._kinds):
            self._layers = np.concatenate((self._layers, np.zeros_like(self._layers)))
            self._kinds = np.concatenate((self._kinds, np.zeros_like(self._kinds)))
        if number:
            self._layers[number], self._kinds[number] = classify(call)
        return number


@dataclass(frozen=True, slots=True)
class _Lines:
    """Decoded lines with their columns of numbers."""

    lines: list[Any]
    keys: frozenset[str]
    numbers: dict[str, npt.NDArray[Any]]

    def texts(self, key: str) -> list[str]:
        return COLUMN_OF[key](self.lines)

    def by_stream(self) -> Iterator[tuple[str, str, _Lines]]:
        """Yields job and host, "" where the lines do not name them, and their lines."""
        if self.keys.isdisjoint({"job", "host"}):
            yield "", "", self
            return
        nameless = [""] * len(self.lines)
        jobs = self.texts("job") if "job" in self.keys else nameless
        hosts = self.texts("host") if "host" in self.keys else nameless
        rows: dict[tuple[str, str], list[int]] = {}
        for row, stream in enumerate(zip(jobs, hosts, strict=True)):
            rows.setdefault(stream, []).append(row)
        for (job, host), mine in rows.items():
            numbers = {name: column[mine] for name, column in self.numbers.items()}
            yield job, host, _Lines([self.lines[row] for row in mine], self.keys, numbers)


def _numbers(lines: list[Any], keys: frozenset[str]) -> dict[str, npt.NDArray[Any]] | None:
    """Makes the columns of numbers, or returns None when a line lacks its times or a number is out of bounds."""
    try:
        columns = {name: _column(lines, name, dtype) for name, dtype in _COPIED.items() if name in keys}
        columns["start"], columns["duration"] = _times(lines, keys, "start"), _times(lines, keys, "dur")
    except OverflowError:
        return None
    for name, column in columns.items():
        lowest = 0 if name in ("start", "duration") else -1
        if column.min(initial=0) < lowest or column.max(initial=0) > LATEST_NS:
            return None
    return columns


def _times(lines: list[Any], keys: frozenset[str], key: str) -> npt.NDArray[np.int64]:
    """Returns ``start`` or ``dur`` in ns, from whichever of the two keys a line has; -1 where it has neither.

    Raises:
        OverflowError: a number is out of bounds.
    """
    times = np.full(len(lines), -1, np.int64)
    if key in keys:
        seconds = np.fromiter(COLUMN_OF[key](lines), np.float64, len(lines))
        if not (seconds.min(initial=0) >= 0 and seconds.max(initial=0) <= LATEST_S):  # false for NaN, "not given"
            missing = np.isnan(seconds)
            if not (missing | ((seconds >= 0) & (seconds <= LATEST_S))).all():
                raise OverflowError(key)
            seconds[missing] = -1e-9
        times = np.rint(seconds * 1e9).astype(np.int64)
    if key + "_ns" in keys:
        exact = _column(lines, key + "_ns", np.int64)
        times = np.where(exact >= 0, exact, times)
    return times


def _column(lines: list[Any], key: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.fromiter(COLUMN_OF[key](lines), dtype, len(lines))
