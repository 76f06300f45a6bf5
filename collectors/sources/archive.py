"""Read archives: every call of a job, as stored by the package ``archive``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from os import SEEK_END
from pathlib import Path
from typing import BinaryIO, Final

from ...archive.file.reader import ArchiveReader
from ...events import Definitions, InputError, empty_batch
from ...events.definitions import FileInfo
from ..source import Chunk, Closed, Input, Opened, SourceItem
from ._unpacked import unpacked

_NO_END: Final = (
    "archives without their end mark: the writer was killed or still writes, and its last calls may be missing"
)


def read_archive(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    """Read an archive stream by stream; damage is reported, and the rest is read.

    Memory: the index of the file, one stream's files, and the call signatures and terminals of one section (at most 4
    million calls). A gzip file is decompressed to a temporary file.

    Raises:
        InputError: the file is not an archive.
    """
    with unpacked(path, about) as file:
        yield from _items(file, about)


def _items(file: BinaryIO, about: Input) -> Iterator[list[SourceItem]]:
    reader = ArchiveReader(file, about.name)
    size = file.seek(0, SEEK_END)
    for done, (number, stream) in enumerate(reader.streams.items()):
        about.counters["bytes_read"] = size * done // len(reader.streams)  # a stream's parts are spread over the file
        name = about.stream("archive", stream.name)
        yield [Opened(name, stream.info)]
        last = max(stream.files, default=0)
        files = [(place, stream.files.get(place, FileInfo(""))) for place in range(1, last + 1)]
        if files or stream.handles:
            yield [Chunk(name, empty_batch(), Definitions([], files, list(stream.handles.items())))]
        try:
            for each in reader.calls(number):
                about.counters["events"] += len(each.batch)
                yield [Chunk(name, each.batch, each.definitions)]
        except InputError as error:
            about.malformed(None, error.problem, error.expected)
        for reason, count in stream.losses.items():
            about.counters[reason] += count
            about.unsupported.add(_missing(reason), count)
        yield [Closed(name, Counter(stream.losses))]
    about.counters["bytes_read"] = size
    about.unsupported.add(_NO_END, not reader.complete)
    for problem in reader.problems:
        about.malformed(None, problem.problem, problem.expected)


def _missing(reason: str) -> str:
    """Return the meaning of a recording's counter for later readers, as a plural phrase."""
    what, _, why = reason.partition(":")
    if what in ("events_left_out", "events_sampled_out"):
        return "calls that were not recorded, as was asked for"
    if what in ("events_dropped", "events_not_archived"):
        return f"calls that were lost while they were recorded ({why})"
    return f"{what.replace('_', ' ')} while this was recorded"
