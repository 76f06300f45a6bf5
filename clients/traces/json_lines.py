"""Calls as JSON lines, one call per line, which iotide can read back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import IO, Final

from ...archive.file.reader import ArchiveReader
from ...events import DefinitionTable, EventBatch, FileType, Kind, Layer, file_type_of
from ...events.definitions import FileInfo
from .json_rows import Part, TextColumn, join_rows, text

_NO_FILE: Final = FileInfo("")
_NUMBERS: Final = {
    "start_ns": "start", "dur_ns": "duration", "size": "bytes",
    **{name: name for name in ("offset", "rank", "pid", "tid", "handle", "parent", "depth", "errno")},
    **{name: name for name in ("requested", "flags")},
}  # fmt: skip
"""Name in a line -> column."""
_LAYERS: Final = [json.dumps(layer.name) for layer in Layer]
_KINDS: Final = [json.dumps(kind.name) for kind in Kind]
_OPTIONAL_FIELDS: Final = ("user", "command", "step")
"""Fields of a stream that lines have if they are set."""


def write_json_lines(reader: ArchiveReader, out: IO[str], show: Callable[[int], None] = lambda calls: None) -> int:
    """Write all calls of an archive, stream after stream; return their number.

    Raises:
        InputError: a section is broken.
    """
    calls = 0
    for number in reader.streams:
        for lines in json_lines(reader, number):
            out.writelines(lines)
            calls += len(lines)
            show(calls)
    return calls


def json_lines(reader: ArchiveReader, stream: int) -> Iterator[list[str]]:
    """Yield a stream's calls with their signatures as JSON lines. A piece has at most 65,536 lines.

    Raises:
        InputError: a section is broken.
    """
    archived = reader.streams[stream]
    info = archived.info
    identity = {"job": info.job, "host": info.host, "stream": archived.name}
    identity |= {name: getattr(info, name) for name in _OPTIONAL_FIELDS if getattr(info, name)}
    identity |= {"clock": "own"} if info.clock_offset_ns is None else {}
    same = "".join(f', "{name}": {text(value)}' for name, value in identity.items())
    table = DefinitionTable()
    for each in reader.calls(stream):
        table.apply(each.definitions)
        yield join_rows(_parts(each.batch, table, archived.files, same), len(each.batch))


def _parts(batch: EventBatch, table: DefinitionTable, files: dict[int, FileInfo], same: str) -> Iterator[Part]:
    yield from ('{"call": ', TextColumn.of(batch.call, lambda number: text(table.string(number))))
    yield from (', "path": ', TextColumn.of(batch.file, lambda number: _file(files.get(number, _NO_FILE))))
    yield from (same, ', "layer": ', TextColumn.of(batch.layer, _LAYERS.__getitem__))
    yield from (', "kind": ', TextColumn.of(batch.kind, _KINDS.__getitem__))
    for name, column in _NUMBERS.items():
        yield from (f', "{name}": ', getattr(batch, column))
    yield from (', "signature": ', TextColumn.of(batch.signature, lambda number: text(table.signature(number))), "}\n")


def _file(info: FileInfo) -> str:
    """Return a path, and the file's type if the path does not imply it."""
    is_implied = info.type in (FileType.UNKNOWN, file_type_of(info.path))
    type_field = "" if is_implied else f', "file_type": "{FileType(info.type).name}"'
    return text(info.path) + type_field
