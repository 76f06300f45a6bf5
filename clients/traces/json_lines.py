"""Calls as JSON lines, a call a line, which iotide reads again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from ...archive.file.reader import ArchiveReader
from ...events import DefinitionTable, EventBatch, FileType, Kind, Layer, file_type_of
from ...events.definitions import FileInfo

_NOTHING: Final = FileInfo("")
_NUMBERS: Final = ("offset", "rank", "pid", "tid", "handle", "parent", "depth", "errno", "requested", "flags")
_LAYERS: Final = [json.dumps(layer.name) for layer in Layer]
_KINDS: Final = [json.dumps(kind.name) for kind in Kind]
_FACTS: Final = ("user", "command", "step")


def write_json_lines(reader: ArchiveReader, out: IO[str], show: Callable[[int], None] = lambda calls: None) -> int:
    """Writes all calls of an archive, stream after stream; returns how many.

    Raises:
        InputError: a section is broken.
    """
    calls = 0
    for number in reader.streams:
        for lines in lines_of(reader, number):
            out.writelines(lines)
            calls += len(lines)
            show(calls)
    return calls


def lines_of(reader: ArchiveReader, stream: int) -> Iterator[list[str]]:
    """Yields a stream's calls with their signatures as lines of JSON, at most 65,536 at a time.

    Raises:
        InputError: a section is broken.
    """
    archived = reader.streams[stream]
    info = archived.info
    told = {"job": info.job, "host": info.host, "stream": archived.name}
    told |= {name: getattr(info, name) for name in _FACTS if getattr(info, name)}
    told |= {"clock": "own"} if info.clock_offset_ns is None else {}
    fields = ['"call": %s', '"path": %s', *(f'"{name}": {_escaped(_text(value))}' for name, value in told.items())]
    fields += ['"layer": %s', '"kind": %s']
    fields += ['"start_ns": %d', '"dur_ns": %d', '"size": %d', *(f'"{name}": %d' for name in _NUMBERS)]
    fields += ['"signature": %s']
    line = "{" + ", ".join(fields) + "}\n"
    table = DefinitionTable()
    for each in reader.calls(stream):
        table.apply(each.definitions)
        yield [line % row for row in _rows(each.batch, table, archived.files)]


def _rows(batch: EventBatch, table: DefinitionTable, files: dict[int, FileInfo]) -> Iterator[tuple[str | int, ...]]:
    texts = (
        _texts(batch.call, table.string),
        _texts(batch.file, lambda number: files.get(number, _NOTHING), _file),
        [_LAYERS[layer] for layer in batch.layer.tolist()],
        [_KINDS[kind] for kind in batch.kind.tolist()],
    )
    numbers = (getattr(batch, name).tolist() for name in ("start", "duration", "bytes", *_NUMBERS))
    return zip(*texts, *numbers, _texts(batch.signature, table.signature), strict=True)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _texts(
    numbers: npt.NDArray[np.integer[Any]], meaning: Callable[[int], Any], spell: Callable[[Any], str] = _text
) -> list[str]:
    """Returns what numbers mean as JSON has it, each distinct one made once."""
    made = {number: spell(meaning(number)) for number in np.unique(numbers).tolist()}
    return [made[number] for number in numbers.tolist()]


def _file(info: FileInfo) -> str:
    """Returns a path, and the file's type where the path does not tell it."""
    known = info.type in (FileType.UNKNOWN, file_type_of(info.path))
    told = "" if known else f', "file_type": "{FileType(info.type).name}"'
    return _text(info.path) + told


def _escaped(text: str) -> str:
    return text.replace("%", "%%")
