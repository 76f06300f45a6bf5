"""Calls as JSON lines, a call a line, which iotide reads again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from ...events import DefinitionTable, EventBatch, Layer
from ...events.archive.reader import ArchiveReader
from ...events.definitions import FileInfo

_NOTHING: Final = FileInfo("")
_NUMBERS: Final = ("offset", "rank", "pid", "tid", "handle", "parent", "depth", "errno", "requested", "flags")
_LAYERS: Final = [json.dumps(layer.name) for layer in Layer]


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
    job, host = (_escaped(_text(value)) for value in (archived.info.job, archived.info.host))
    fields = ['"call": %s', '"path": %s', f'"job": {job}', f'"host": {host}', '"layer": %s']
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
        _texts(batch.file, lambda number: files.get(number, _NOTHING).path),
        [_LAYERS[layer] for layer in batch.layer.tolist()],
    )
    numbers = (getattr(batch, name).tolist() for name in ("start", "duration", "bytes", *_NUMBERS))
    return zip(*texts, *numbers, _texts(batch.signature, table.signature), strict=True)


def _texts(numbers: npt.NDArray[np.integer[Any]], text: Callable[[int], str]) -> list[str]:
    """Returns the texts of numbers as JSON has them, each distinct one made once."""
    made = {number: _text(text(number)) for number in np.unique(numbers).tolist()}
    return [made[number] for number in numbers.tolist()]


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _escaped(text: str) -> str:
    return text.replace("%", "%%")
