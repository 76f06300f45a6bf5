"""Calls as a Chrome trace: JSON that Perfetto and chrome://tracing open."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import IO, Any

from ...archive.file.reader import ArchiveReader
from ...events import DefinitionTable, EventBatch, FileType, Kind, Layer, StreamInfo, file_type_of
from ...events.definitions import FileInfo
from ...events.schema import UNKNOWN_RANK

_NOTHING = FileInfo("")
_FACTS = ("job", "host", "user", "command", "step", "rank", "pid")
_UNSAID = {"job": "", "host": "", "user": "", "command": "", "step": "", "rank": UNKNOWN_RANK, "pid": 0}


def write_chrome(reader: ArchiveReader, out: IO[str], show: Callable[[int], None] = lambda calls: None) -> int:
    """Writes all calls of an archive as complete events ("ph": "X"); returns how many.

    A process is a stream of the archive, numbered from 1 and named by rank, command, host and pid, as two nodes may use
    the same pid. Times are microseconds with three decimals, from the first call on; ``otherData`` has its Unix time.
    A process whose clock has an unknown zero begins at 0, too, and has its first stamp as ``begin_ns``.

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
        for event in _introduce(number, stream.info, zero_ns):
            out.write(separator + json.dumps(event, ensure_ascii=False))
            separator = ",\n"
        table = DefinitionTable()
        for each in reader.calls(number):
            table.apply(each.definitions)
            calls += len(each.batch)
            for event in _events(number, stream.info, each.batch, table, stream.files, zero_ns):
                out.write(separator + json.dumps(event, ensure_ascii=False))
            show(calls)
    out.write("\n]}\n")
    return calls


def _texts(job: dict[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in job.items()}


def _introduce(number: int, info: StreamInfo, zero_ns: int) -> Iterator[dict[str, Any]]:
    who = [f"rank {info.rank}"] if info.rank >= 0 else []
    who += [info.command or info.source, *([f"on {info.host}"] if info.host else []), f"pid {info.pid}"]
    facts = {name: getattr(info, name) for name in _FACTS if getattr(info, name) != _UNSAID[name]}
    if info.clock_offset_ns is None:
        facts |= {"clock": "own", "begin_ns": str(zero_ns)}
    yield {"name": "process_name", "ph": "M", "pid": number, "args": {"name": " ".join(who), **facts}}
    if info.rank >= 0:
        yield {"name": "process_sort_index", "ph": "M", "pid": number, "args": {"sort_index": info.rank}}


def _events(
    number: int,
    info: StreamInfo,
    batch: EventBatch,
    table: DefinitionTable,
    files: dict[int, FileInfo],
    first_ns: int,
) -> Iterator[dict[str, Any]]:
    columns = {name: values.tolist() for name, values in batch.columns().items()}
    for at in range(len(batch)):
        arguments: dict[str, Any] = {}
        file = files.get(columns["file"][at], _NOTHING)
        if file.path:
            arguments["path"] = file.path
            if file.type not in (FileType.UNKNOWN, file_type_of(file.path)):
                arguments["file_type"] = FileType(file.type).name
        if signature := table.signature(columns["signature"][at]):
            arguments["signature"] = signature
        if columns["offset"][at] >= 0:
            arguments["offset"] = columns["offset"][at]
        for name in ("requested", "bytes", "errno", "handle", "parent", "depth", "flags"):
            if columns[name][at]:
                arguments[name] = columns[name][at]
        for name, of_stream in (("pid", info.pid), ("rank", info.rank)):
            if columns[name][at] != of_stream:
                arguments[name] = columns[name][at]
        yield {
            "name": table.string(columns["call"][at]) or "call",
            "cat": f"{Layer(columns['layer'][at]).name},{Kind(columns['kind'][at]).name}",
            "ph": "X",
            "ts": _microseconds(columns["start"][at] - first_ns),
            "dur": _microseconds(columns["duration"][at]),
            "pid": number,
            "tid": columns["tid"][at],
            "args": arguments,
        }


def _microseconds(nanoseconds: int) -> float:
    return nanoseconds / 1000  # exact to the nanosecond for a hundred days
