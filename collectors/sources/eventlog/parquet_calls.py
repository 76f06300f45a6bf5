"""Read calls from a Parquet table, one row per call. ``iotide archive convert --to parquet`` writes such tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ....events import COLUMNS, FileInfo, FileType, Interner, Kind, Layer, StreamInfo, make_batch
from ....events.definitions import MAX_TEXT
from ....events.schema import UNKNOWN_RANK
from ...call_classes import classify
from ...source import Chunk, Closed, Input, Opened, SourceItem
from .cases import LATEST_NS, MAX_STREAMS

NEEDED: Final = frozenset(("call", "start", "duration"))
EXPECTED: Final = "columns call, start and duration in nanoseconds (and the others of an event, path, job and host)"
_PIECE_ROWS: Final = 65_536
_TEXTS: Final = (
    "job", "host", "call", "signature", "path", "layer", "kind", "user", "command", "step", "clock", "file_type",
)  # fmt: skip
_NUMBERS: Final = tuple(name for name in COLUMNS if name not in ("call", "file", "signature", "layer", "kind"))
_WHO: Final = ("job", "host", "rank", "pid", "clock", "user", "command", "step")
_SINCE_1973_NS: Final = 10**17


class _ProcessKey(NamedTuple):
    """Identifies a process."""

    job: str
    host: str
    rank: int
    pid: int
    clock: str
    user: str
    command: str
    step: str


Codes = tuple[npt.NDArray[np.int64], list[str]]
"""Index of the text of each row, and the texts."""


@dataclass(slots=True)
class _Process:
    stream: str
    interner: Interner = field(default_factory=Interner)
    signatures: dict[str, int] = field(default_factory=lambda: {"": 0})

    def signature(self, text: str) -> int:
        number = self.signatures.get(text)
        if number is None:
            number = self.signatures[text] = self.interner.new_signature(text)
        return number


class CallTable:
    """Assigns the rows of a table to the streams of their processes. There is one per job, host, rank and pid."""

    def __init__(self, about: Input) -> None:
        self._about = about
        self._processes: dict[_ProcessKey, _Process] = {}

    def read(self, log: Any) -> Iterator[list[SourceItem]]:
        """Yield the calls of an opened ``pyarrow.parquet.ParquetFile``, at most one row group at a time."""
        names = [name for name in (*_NUMBERS, *_TEXTS) if name in log.schema_arrow.names]
        first = 1
        for rows in log.iter_batches(_PIECE_ROWS, columns=names):
            numbers = {name: _numbers(rows.column(name), name) for name in names if name in _NUMBERS}
            texts = {name: _codes(rows.column(name)) for name in names if name in _TEXTS}
            yield self._take(numbers, texts, rows.num_rows, first)
            first += rows.num_rows
        yield [Closed(process.stream) for process in self._processes.values()]

    def _take(
        self, numbers: dict[str, npt.NDArray[np.int64]], texts: dict[str, Codes], count: int, first: int
    ) -> list[SourceItem]:
        bad = _bad(numbers, texts, count)
        for row in np.flatnonzero(bad).tolist():
            values = ", ".join(f"{name} {column[row]}" for name, column in numbers.items())
            self._about.malformed(first + row, f"a call with {values}"[:300], EXPECTED)
        nothing = np.zeros(count, np.int64)
        keys = [texts[name][0] if name in texts else numbers.get(name, nothing) for name in _WHO]
        _, begins, process_of = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
        items: list[SourceItem] = []
        process_of = process_of.reshape(-1)
        for place, begin in enumerate(begins.tolist()):
            rows = np.flatnonzero((process_of == place) & ~bad)
            if not len(rows):
                continue
            process = self._process(self._process_keys(begin, numbers, texts), int(numbers["start"][rows[0]]), items)
            if process is None:
                self._about.left_out(len(rows), "processes", MAX_STREAMS)
                continue
            self._about.counters["events"] += len(rows)
            batch = make_batch(len(rows), self._columns(process, rows, numbers, texts))
            items.append(Chunk(process.stream, batch, process.interner.take_fresh()))
        return items

    def _process_keys(
        self, row: int, numbers: dict[str, npt.NDArray[np.int64]], texts: dict[str, Codes]
    ) -> _ProcessKey:
        texts_of_row = {name: texts[name][1][texts[name][0][row]] if name in texts else "" for name in _WHO}
        rank, pid = (int(numbers[name][row]) if name in numbers else COLUMNS[name][1] for name in ("rank", "pid"))
        return _ProcessKey(**(texts_of_row | {"rank": rank, "pid": pid}))  # type: ignore[arg-type]

    def _process(self, who: _ProcessKey, start_ns: int, items: list[SourceItem]) -> _Process | None:
        process = self._processes.get(who)
        if process is None and len(self._processes) < MAX_STREAMS:
            about, origin = self._about, self._about.origin
            part = f"{who.job}@{who.host}:{who.rank if who.rank != UNKNOWN_RANK else ''}:{who.pid or ''}"
            again = sum(each[:4] == who[:4] for each in self._processes)
            process = self._processes[who] = _Process(about.stream("parquet", f"{part}#{again + 1}" if again else part))
            unix = who.clock == "unix" or (who.clock != "own" and start_ns >= _SINCE_1973_NS)
            info = StreamInfo(
                job=who.job or origin.job, source="parquet", host=who.host or origin.host, user=who.user or origin.user,
                command=who.command, step=who.step, rank=who.rank, pid=who.pid, origin=about.name,
                clock_offset_ns=0 if unix else None,
            )  # fmt: skip
            items.append(Opened(process.stream, info))
        return process

    def _columns(
        self,
        process: _Process,
        rows: npt.NDArray[np.intp],
        numbers: dict[str, npt.NDArray[np.int64]],
        texts: dict[str, Codes],
    ) -> dict[str, npt.NDArray[Any]]:
        columns: dict[str, npt.NDArray[Any]] = {name: column[rows] for name, column in numbers.items()}
        interner = process.interner
        columns["call"] = _mapped(texts["call"], rows, interner.string)
        if "path" in texts and "file_type" in texts:
            _take_types(process, rows, texts)
        if "path" in texts:
            columns["file"] = _mapped(texts["path"], rows, interner.file)
        if "signature" in texts:
            columns["signature"] = _mapped(texts["signature"], rows, process.signature)
        layers, kinds = (_mapped(texts["call"], rows, lambda call, at=at: int(classify(call)[at])) for at in (0, 1))
        columns["layer"] = _named(texts.get("layer"), rows, Layer.__members__, layers)
        columns["kind"] = _named(texts.get("kind"), rows, Kind.__members__, kinds)
        return columns


def _take_types(process: _Process, rows: npt.NDArray[np.intp], texts: dict[str, Codes]) -> None:
    """Define files whose type does not follow from their path."""
    (paths, names), (types, kinds) = texts["path"], texts["file_type"]
    for path, kind in np.unique(np.stack([paths[rows], types[rows]]), axis=1).T.tolist():
        if kinds[kind] in FileType.__members__:
            process.interner.file(names[path], FileInfo(names[path][:MAX_TEXT], FileType[kinds[kind]]))


def _numbers(column: Any, name: str) -> npt.NDArray[np.int64]:
    import pyarrow as pa

    unknown = COLUMNS[name][1] if name not in NEEDED else -1
    filled = column.cast(pa.int64()).fill_null(unknown)
    return np.asarray(filled.to_numpy(zero_copy_only=False), np.int64)


def _codes(column: Any) -> Codes:
    import pyarrow as pa

    encoded = column if pa.types.is_dictionary(column.type) else column.cast(pa.string()).dictionary_encode()
    texts = ["" if text is None else str(text) for text in encoded.dictionary.to_pylist()]
    places = np.asarray(encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False), np.int64)
    if len(places) and not 0 <= places.min() <= places.max() <= len(texts):  # pyarrow does not check the indices
        raise ValueError("texts that are not in their table")
    return places, [*texts, ""]


def _bad(numbers: dict[str, npt.NDArray[np.int64]], texts: dict[str, Codes], count: int) -> npt.NDArray[np.bool_]:
    places, calls = texts["call"]
    bad = np.array([not call for call in calls])[places] if count else np.zeros(0, np.bool_)
    for name, column in numbers.items():
        limits = np.iinfo(COLUMNS[name][0])
        lowest = 0 if name in NEEDED else limits.min
        bad |= (column < lowest) | (column > min(limits.max, LATEST_NS))
    return bad


def _mapped(codes: Codes, rows: npt.NDArray[np.intp], number: Any) -> npt.NDArray[np.int64]:
    """Return a number for the text of each row. ``number`` is called once per distinct text."""
    places, texts = codes
    mine = places[rows]
    used = np.unique(mine)
    table = np.zeros(len(texts), np.int64)
    table[used] = [number(texts[place]) for place in used.tolist()]
    found: npt.NDArray[np.int64] = table[mine]
    return found


def _named(
    codes: Codes | None, rows: npt.NDArray[np.intp], names: Any, otherwise: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    if codes is None:
        return otherwise
    named = _mapped(codes, rows, lambda text: int(names[text]) if text in names else -1)
    return np.where(named < 0, otherwise, named)
