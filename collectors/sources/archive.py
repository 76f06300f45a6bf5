"""Archives: every call of a job, as ``archive`` keeps them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from os import SEEK_END
from pathlib import Path
from typing import BinaryIO

from ...archive.file.reader import ArchiveReader
from ...events import Definitions, InputError, empty_batch
from ...events.definitions import FileInfo
from ..parser import Input
from ..source import Chunk, Closed, Opened, SourceItem
from ._unpacked import unpacked


def read_archive(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    """Reads an archive, one stream after the other; what is damaged is told, and the rest is read.

    Memory: where what stands in the file, a stream's files, and the call signatures and terminals of one section, of
    at most 4 million calls. One that gzip has packed is unpacked to a temporary file.

    Raises:
        InputError: it is no archive.
    """
    with unpacked(path, about) as file:
        yield from _items(file, about)


def _items(file: BinaryIO, about: Input) -> Iterator[list[SourceItem]]:
    reader = ArchiveReader(file, about.name)
    size = file.seek(0, SEEK_END)
    for done, (number, stream) in enumerate(reader.streams.items()):
        about.counters["bytes_read"] = size * done // len(reader.streams)  # its parts lie all over the file
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
    for problem in reader.problems:
        about.malformed(None, problem.problem, problem.expected)


def _missing(reason: str) -> str:
    """Returns what a counter of the recording means to those who read it later, as a plural."""
    what, _, why = reason.partition(":")
    if what in ("events_left_out", "events_sampled_out"):
        return "calls that were not recorded, as was asked for"
    if what in ("events_dropped", "events_not_archived"):
        return f"calls that were lost while they were recorded ({why})"
    return f"{what.replace('_', ' ')} while this was recorded"
