"""Calls as a Chrome trace: JSON for Perfetto and chrome://tracing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from ...archive.file.reader import ArchiveReader
from ...events import DefinitionTable, EventBatch, FileType, Kind, Layer, StreamInfo, file_type_of
from ...events.definitions import FileInfo
from ...events.schema import UNKNOWN_RANK
from .json_rows import Ints, Part, TextColumn, join_rows, text

_NO_FILE = FileInfo("")
_FACTS = ("job", "host", "user", "command", "step", "rank", "pid")
_LAYERS: Final = [layer.name for layer in Layer]
_KINDS: Final = [kind.name for kind in Kind]
_UNKNOWN = {"job": "", "host": "", "user": "", "command": "", "step": "", "rank": UNKNOWN_RANK, "pid": 0}


def write_chrome(reader: ArchiveReader, out: IO[str], show: Callable[[int], None] = lambda calls: None) -> int:
    """Write all calls of an archive as complete events ("ph": "X"); return their number.

    A process is a stream of the archive, numbered from 1 and named by rank, command, host and pid, as two nodes may use
    the same pid. Times are microseconds with three decimals since the first call; ``otherData`` has its Unix time. A
    process whose clock has an unknown zero also begins at 0, and has its first timestamp as ``begin_ns``.

    Raises:
        InputError: a section is broken.
    """
    begins = {
        number: min((section.first_ns for section in reader.sections(number) if section.calls), default=None)
        for number in reader.streams
    }
    clocks = {number: stream.info.clock_offset_ns is not None for number, stream in reader.streams.items()}
    first_ns = min((begin for number, begin in begins.items() if begin is not None and clocks[number]), default=0)
    head = {"displayTimeUnit": "ns", "otherData": {"begin_unix_ns": str(first_ns), **_texts(reader.job)}}
    out.write(json.dumps(head)[:-1] + ', "traceEvents": [')
    separator = "\n"
    calls = 0
    for number, stream in reader.streams.items():
        zero_ns = first_ns if clocks[number] else begins[number] or 0
        for event in _metadata_events(number, stream.info, zero_ns):
            out.write(separator + json.dumps(event, ensure_ascii=False))
            separator = ",\n"
        table = DefinitionTable()
        for each in reader.calls(number):
            table.apply(each.definitions)
            calls += len(each.batch)
            if len(each.batch):
                lines = _lines(number, stream.info, each.batch, table, stream.files, zero_ns)
                out.write(separator + ",\n".join(lines))
            show(calls)
    out.write("\n]}\n")
    return calls


def _texts(job: dict[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in job.items()}


def _metadata_events(number: int, info: StreamInfo, zero_ns: int) -> Iterator[dict[str, Any]]:
    who = [f"rank {info.rank}"] if info.rank >= 0 else []
    who += [info.command or info.source, *([f"on {info.host}"] if info.host else []), f"pid {info.pid}"]
    facts = {name: getattr(info, name) for name in _FACTS if getattr(info, name) != _UNKNOWN[name]}
    if info.clock_offset_ns is None:
        facts |= {"clock": "own", "begin_ns": str(zero_ns)}
    yield {"name": "process_name", "ph": "M", "pid": number, "args": {"name": " ".join(who), **facts}}
    if info.rank >= 0:
        yield {"name": "process_sort_index", "ph": "M", "pid": number, "args": {"sort_index": info.rank}}


def _lines(
    number: int, info: StreamInfo, batch: EventBatch, table: DefinitionTable, files: dict[int, FileInfo], first_ns: int
) -> list[str]:
    """Return calls as complete events; calls with the same arguments are formatted together."""
    arguments = _arguments(info, batch, table, files)
    has = np.zeros(len(batch), np.int64)
    for bit, (_, _, is_known) in enumerate(arguments):
        has |= is_known.astype(np.int64) << bit
    call = TextColumn.of(batch.call, lambda each: text(table.string(each) or "call"))
    layer, kind = TextColumn.of(batch.layer, _LAYERS.__getitem__), TextColumn.of(batch.kind, _KINDS.__getitem__)
    lines = np.empty(len(batch), np.object_)
    for which in np.unique(has).tolist():
        rows = np.flatnonzero(has == which)
        parts: list[Part] = ['{"name": ', call.take(rows), ', "cat": "', layer.take(rows), ",", kind.take(rows)]
        parts += ['", "ph": "X", "ts": ', _microseconds(batch.start.take(rows), first_ns)]
        parts += [', "dur": ', _microseconds(batch.duration.take(rows), 0), f', "pid": {number}, "tid": ']
        parts += [batch.tid.take(rows), ', "args": {']
        present = [(head, column) for bit, (head, column, _) in enumerate(arguments) if which >> bit & 1]
        for at, (head, column) in enumerate(present):
            parts += [", " * (at > 0) + head, column.take(rows)]
        lines[rows] = join_rows([*parts, "}}"], len(rows))
    made: list[str] = lines.tolist()
    return made


def _arguments(
    info: StreamInfo, batch: EventBatch, table: DefinitionTable, files: dict[int, FileInfo]
) -> list[tuple[str, Ints | TextColumn, npt.NDArray[np.bool_]]]:
    """Return the possible arguments of calls. Each has a prefix, the values, and the mask of calls that have it."""
    file = TextColumn.of(batch.file, lambda each: _file(files.get(each, _NO_FILE)))
    signature = TextColumn.of(batch.signature, lambda each: text(signed) if (signed := table.signature(each)) else "")
    made: list[tuple[str, Ints | TextColumn, npt.NDArray[np.bool_]]] = [
        ('"path": ', file, _is_known(file)),
        ('"signature": ', signature, _is_known(signature)),
        ('"offset": ', batch.offset, batch.offset >= 0),
    ]
    for name in ("requested", "bytes", "errno", "handle", "parent", "depth", "flags"):
        column = getattr(batch, name)
        made.append((f'"{name}": ', column, column != 0))
    made.append(('"pid": ', batch.pid, batch.pid != info.pid))
    made.append(('"rank": ', batch.rank, batch.rank != info.rank))
    return made


def _is_known(column: TextColumn) -> npt.NDArray[np.bool_]:
    unsaid = [number for number, spelled in column.texts.items() if not spelled]
    return np.isin(column.numbers, np.array(unsaid, np.int64), invert=True)


def _file(info: FileInfo) -> str:
    if not info.path:
        return ""
    known = info.type in (FileType.UNKNOWN, file_type_of(info.path))
    return text(info.path) + ("" if known else f', "file_type": "{FileType(info.type).name}"')


def _microseconds(nanoseconds: Ints, since_ns: int) -> list[str]:
    # exact to the nanosecond for a hundred days
    return [repr((each - since_ns) / 1000) for each in nanoseconds.tolist()]
