"""Parse JSON lines: one completed I/O call per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from ....events import (
    COLUMNS,
    EventBatch,
    FileInfo,
    FileType,
    Flag,
    Interner,
    Kind,
    Layer,
    StreamInfo,
    concatenate,
    make_batch,
)  # fmt: skip
from ....events.definitions import MAX_TEXT
from ...call_classes import classify
from ...files.lines import MAX_LINE_BYTES, Block, LineBuffer
from ...source import Chunk, Closed, Input, Opened, Origin, SourceItem
from ...text_numbers import TextNumbers
from .lines import COLUMN_OF, LATEST_NS, LATEST_S, LineDecoder

MAX_STREAMS: Final = 100_000
_DECODED_BYTES: Final = 1 << 18  # lines that are decoded at a time; the objects of more lines do not fit a core's cache

_COPIED: Final = {
    **{
        name: COLUMNS[name][0]
        for name in ("offset", "rank", "pid", "tid", "handle", "parent", "depth", "errno", "requested")
    },
    "size": COLUMNS["bytes"][0],
    "flags": np.dtype(np.int64),
}
_MAX_FLAGS: Final = int(np.iinfo(COLUMNS["flags"][0]).max)
_ALL_KEYS: Final = frozenset(COLUMN_OF)
_EXPECTED: Final = (
    'an object with "call", "start" and "dur" (seconds) or "start_ns" and "dur_ns", such as '
    '{"call": "write", "path": "/scratch/out", "start": 1.5, "dur": 0.25, "size": 4096}'
)
_LAYERS: Final = {layer.name: int(layer) for layer in Layer} | {
    name: int(Layer.MPIIO) for name in ("MPI-IO", "MPI_IO", "MPI")
}
_KINDS: Final = {kind.name: int(kind) for kind in Kind}
_TYPES: Final = {kind.name: kind for kind in FileType}
_WHO: Final = ("job", "host", "stream")


class JsonLinesParser:
    """Parses JSON lines into one stream for each (job, host, stream) that the lines name."""

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._lines = LineBuffer()
        self._decoder = LineDecoder()
        self._streams: dict[tuple[str, ...], _Stream] = {}

    def feed(self, data: bytes) -> list[SourceItem]:
        """Parse the next bytes, split anywhere, and return the calls of complete lines."""
        return self._parse(
            self._lines.feed(data[at : at + _DECODED_BYTES]) for at in range(0, len(data), _DECODED_BYTES)
        )

    def finish(self) -> list[SourceItem]:
        """Parse an unterminated last line and close all streams."""
        items = self._parse([self._lines.finish()])
        items += [Closed(stream.name) for stream in self._streams.values()]
        self._streams.clear()
        return items

    def _parse(self, blocks: Iterable[Block]) -> list[SourceItem]:
        items: list[SourceItem] = []
        made: dict[str, tuple[_Stream, list[EventBatch]]] = {}
        for block in blocks:
            for line in self._lines.take_discarded_lines():
                self._about.malformed(line, "the line is too long", f"a call in at most {MAX_LINE_BYTES} bytes")
            if not block.data:
                continue
            lines = self._decoder.decode(block.data, block.line_count)
            keys = self._decoder.keys
            columns = None if lines is None else _numbers(lines, keys)
            if lines is None or columns is None:
                lines, keys = list(self._well_formed(block)), _ALL_KEYS
                columns = _numbers(lines, keys) or {}
            if lines:
                self._add(_Lines(lines, keys, columns), items, made)
        items += [
            Chunk(name, concatenate(batches), stream.interner.take_fresh()) for name, (stream, batches) in made.items()
        ]
        return items

    def _add(self, lines: _Lines, items: list[SourceItem], made: dict[str, tuple[_Stream, list[EventBatch]]]) -> None:
        for who, mine in lines.by_stream(self._about.origin):
            stream = self._stream(who, mine, items)
            if stream is None:
                self._about.left_out(len(mine.lines), "streams", MAX_STREAMS)
                continue
            self.counters["events"] += len(mine.lines)
            made.setdefault(stream.name, (stream, []))[1].append(stream.batch(mine))

    def _well_formed(self, block: Block) -> Iterator[Any]:
        """Decode a block with a malformed line. It returns the other objects and reports the malformed one."""
        for index, call in self._decoder.decode_singly(block.data):
            line = block.first_line + index
            if isinstance(call, Exception):
                self._about.malformed(line, str(call), _EXPECTED)
            elif _numbers([call], _ALL_KEYS) is None:
                self._about.malformed(line, "the call has no start or no duration", _EXPECTED)
            else:
                yield call

    def _stream(self, who: tuple[str, ...], lines: _Lines, items: list[SourceItem]) -> _Stream | None:
        origin = self._about.origin
        job, host, part = who
        key = job or origin.job, host or origin.host, part
        stream = self._streams.get(key)
        if stream is None and len(self._streams) < MAX_STREAMS:
            part_name = f"{job}@{host}" if job or host else ""
            name = self._about.stream("jsonl", f"{part_name}:{part}" if part else part_name)
            self._streams[key] = stream = _Stream(name)
            own = lines.first("clock") == "own"
            info = StreamInfo(
                job=key[0], source="jsonl", host=key[1], user=lines.first("user") or origin.user,
                command=lines.first("command"), step=lines.first("step"), origin=self._about.name,
                clock_offset_ns=None if own else 0,
            )  # fmt: skip
            if part:  # a process or thread of its own: rank and pid of its first line apply to all
                info = msgspec.structs.replace(info, rank=lines.number("rank"), pid=max(lines.number("pid"), 0))
            items.append(Opened(name, info))
        return stream


class _Stream:
    """Numbers assigned in one stream, with layer and kind by number of the call."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.interner = Interner()
        self._calls = TextNumbers(self._number_call)
        self._files = TextNumbers(self.interner.file)
        self._signatures = TextNumbers[str](lambda text: self.interner.new_signature(text) if text else 0)
        self._layer_of_call = np.zeros(64, np.uint8)
        self._kind_of_call = np.zeros(64, np.uint8)

    def batch(self, lines: _Lines) -> EventBatch:
        """Convert lines of this stream to events."""
        calls = self._calls.of(lines.texts("call"))
        columns: dict[str, npt.ArrayLike] = dict(lines.numbers)
        columns["call"] = calls
        columns["kind"] = kinds = self._kind_of_call[calls]
        columns["layer"] = layers = self._layer_of_call[calls]
        if "layer" in lines.keys:
            named = np.array([_LAYERS.get(layer.upper(), -1) for layer in lines.texts("layer")])
            columns["layer"] = np.where(named < 0, layers, named)
        if "kind" in lines.keys:
            named = np.array([_KINDS.get(kind, -1) for kind in lines.texts("kind")])
            columns["kind"] = kinds = np.where(named < 0, kinds, named)
        if "path" in lines.keys:
            columns["file"] = self._file_numbers(lines)
        if "signature" in lines.keys:
            columns["signature"] = self._signatures.of(lines.texts("signature"))
        size = np.asarray(columns.pop("size", 0))
        failed = (size < 0) | (np.asarray(columns.get("errno", 0)) != 0)
        moves = (kinds == Kind.READ) | (kinds == Kind.WRITE)
        flags = np.asarray(columns.pop("flags", -1))
        # with flags, the line describes its call completely, and nothing is derived from other values
        whole = flags >= 0
        columns["bytes"] = np.where((whole & (size >= 0)) | (moves & ~failed), size, 0)
        if failed.any() or whole.any():
            columns["flags"] = np.where(whole, flags, np.where(failed, int(Flag.FAILED), 0))
        return make_batch(len(calls), columns)

    def _file_numbers(self, lines: _Lines) -> npt.NDArray[Any]:
        paths = lines.texts("path")
        if "file_type" in lines.keys:
            for path, stated_type in set(zip(paths, lines.texts("file_type"), strict=True)):
                if stated_type in _TYPES:
                    self.interner.file(path, FileInfo(path[:MAX_TEXT], _TYPES[stated_type]))
        return self._files.of(paths)

    def _number_call(self, call: str) -> int:
        number = self.interner.string(call)
        while number >= len(self._kind_of_call):
            self._layer_of_call = np.concatenate((self._layer_of_call, np.zeros_like(self._layer_of_call)))
            self._kind_of_call = np.concatenate((self._kind_of_call, np.zeros_like(self._kind_of_call)))
        if number:
            self._layer_of_call[number], self._kind_of_call[number] = classify(call)
        return number


@dataclass(frozen=True, slots=True)
class _Lines:
    """Decoded lines with their columns of numbers."""

    lines: list[Any]
    keys: frozenset[str]
    numbers: dict[str, npt.NDArray[Any]]

    def texts(self, key: str) -> list[str]:
        return COLUMN_OF[key](self.lines)

    def first(self, key: str) -> str:
        """Return a text of the first line, "" if it has none."""
        return str(getattr(self.lines[0], key)) if key in self.keys else ""

    def number(self, key: str) -> int:
        """Return a number of the first line."""
        return int(self.numbers[key][0]) if key in self.numbers else COLUMNS[key][1]

    def by_stream(self, origin: Origin) -> Iterator[tuple[tuple[str, ...], _Lines]]:
        """Yield job, host and stream as the first line names them, and their lines. A missing name is "".

        Lines that name the origin's job and host belong to the same stream as lines that name neither.
        """
        if self.keys.isdisjoint(_WHO):
            yield ("", "", ""), self
            return
        nameless = [""] * len(self.lines)
        named = [self.texts(key) if key in self.keys else nameless for key in _WHO]
        rows: dict[tuple[str, ...], list[int]] = {}
        first: dict[tuple[str, ...], tuple[str, ...]] = {}
        for row, who in enumerate(zip(*named, strict=True)):
            if (mine := rows.get(who)) is None:
                job, host, part = who
                key = job or origin.job, host or origin.host, part
                rows[who] = mine = rows[first[key]] if key in first else []
                first.setdefault(key, who)
            mine.append(row)
        for who in first.values():
            mine = rows[who]
            numbers = {name: column[mine] for name, column in self.numbers.items()}
            yield who, _Lines([self.lines[row] for row in mine], self.keys, numbers)


def _numbers(lines: list[Any], keys: frozenset[str]) -> dict[str, npt.NDArray[Any]] | None:
    """Return the columns of numbers. Returns None if a line lacks its times or a number is out of bounds."""
    try:
        columns = {name: _column(lines, name, dtype) for name, dtype in _COPIED.items() if name in keys}
        columns["start"], columns["duration"] = _times(lines, keys, "start"), _times(lines, keys, "dur")
    except OverflowError:
        return None
    for name, column in columns.items():
        lowest = 0 if name in ("start", "duration") else -1
        if column.min(initial=0) < lowest or column.max(initial=0) > (_MAX_FLAGS if name == "flags" else LATEST_NS):
            return None
    return columns


def _times(lines: list[Any], keys: frozenset[str], key: str) -> npt.NDArray[np.int64]:
    """Return ``start`` or ``dur`` in ns, from whichever of the two keys a line has. Returns -1 if it has neither.

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
