"""Reads finished traces into memory for the offline commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..analyzers.selection import counted
from ..collectors.source import Chunk, Opened, Origin, Problems, Source
from ..collectors.sources.registry import open_file
from ..events import DefinitionTable, EventBatch, InputError, StreamInfo
from ..events.models import ModeName


@dataclass(slots=True)
class Stream:
    """One stream of a trace: who it is, and what its numbers mean."""

    info: StreamInfo
    definitions: DefinitionTable = field(default_factory=DefinitionTable)

    def file_types(self) -> npt.NDArray[np.uint8]:
        """Returns the FileType of each file number, uint8[file_count]."""
        return np.array([self.definitions.file(n).type for n in range(self.definitions.file_count)], np.uint8)


@dataclass(slots=True)
class Trace:
    """All events of some files."""

    formats: list[str] = field(default_factory=list)
    streams: dict[str, Stream] = field(default_factory=dict)
    chunks: list[tuple[str, EventBatch]] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)

    @property
    def events(self) -> int:
        """Number of events."""
        return sum(len(batch) for _, batch in self.chunks)

    def bytes_of(self, mode: ModeName) -> int:
        """Returns the bytes that count towards the signal."""
        return sum(int(batch.bytes[counted(batch, types, mode)].sum()) for batch, types in self.batches())

    def batches(self) -> list[tuple[EventBatch, npt.NDArray[np.uint8]]]:
        """Pairs each batch with the file types of its stream."""
        types = {name: stream.file_types() for name, stream in self.streams.items()}
        return [(batch, types[name]) for name, batch in self.chunks]


def read_traces(
    paths: Sequence[Path], *, format_name: str | None, job: str, progress: Callable[[Path, int], None]
) -> Trace:
    """Reads files to their ends, as one job.

    Args:
        paths: the files.
        format_name: their format; None to tell it from each file's content.
        job: job id where the trace has none.
        progress: called with a path and the bytes read of it so far.

    Raises:
        InputError: a file cannot be read or recognised, or files with and without a common clock are mixed.
    """
    trace = Trace()
    for path in paths:
        source = open_file(path, Origin(job=job), format=format_name)
        try:
            _read(source, path, trace, progress)
        finally:
            source.close()
    clocks = {stream.info.clock_offset_ns is None for stream in trace.streams.values()}
    if len(clocks) > 1:
        raise InputError(str(paths[-1]), None, "its clock's zero is unknown and other files' is not", "one clock")
    return trace


def _read(source: Source, path: Path, trace: Trace, progress: Callable[[Path, int], None]) -> None:
    while not source.finished:
        for item in source.poll():
            if isinstance(item, Opened):
                trace.streams[item.stream] = Stream(item.info)
                trace.formats.append(item.info.source)
            elif isinstance(item, Chunk):
                trace.streams[item.stream].definitions.apply(item.definitions)
                if len(item.batch):
                    trace.chunks.append((item.stream, item.batch))
        progress(path, source.counters["bytes_read"])
    trace.problems.total += source.problems.total
    room = trace.problems.kept - len(trace.problems.first)
    trace.problems.first.extend(source.problems.first[:room])
