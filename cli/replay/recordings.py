"""Traces as recordings for a replay. All formats become archives, which are read in order of time."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import msgspec

from ...archive.blocks import MAGIC
from ...archive.file.reader import ArchiveReader
from ...archive.file.writer import ArchiveWriter
from ...collectors.replay_source import Recorded, recorded_streams
from ...collectors.source import Origin, Problems, SourceItem, UnsupportedData
from ...collectors.sources.file import FileSource
from ...collectors.sources.finished import FinishedSource
from ...collectors.sources.registry import open_file
from ...collectors.sources.sniffing import is_archive
from ...events import InputError, StreamInfo
from ...events.files import open_regular
from ...results.traces.analysis import Replayed
from ..archive.source_items import write_items
from ..common.console.progress import reading_progress
from ..common.job_names import default_job
from ..traces.trace_reading import check_clocks, report_empty


@dataclass(slots=True)
class Recording:
    """Streams to replay, and problems of their input."""

    streams: list[Recorded] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    unsupported: UnsupportedData = field(default_factory=UnsupportedData)
    jobs: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """Number of calls."""
        return sum(stream.calls for stream in self.streams)

    @property
    def first_ns(self) -> int:
        """Start of the first call."""
        return min((stream.first_ns for stream in self.streams), default=0)

    @property
    def last_ns(self) -> int:
        """End of the last call."""
        return max((stream.last_ns for stream in self.streams), default=0)

    def job_renaming(self, job: str | None, *, unix: bool) -> Callable[[StreamInfo], StreamInfo]:
        """Return a function that sets the job id of streams. It also sets whether their times are Unix time."""

        def change(info: StreamInfo) -> StreamInfo:
            return msgspec.structs.replace(info, job=job or info.job, clock_offset_ns=0 if unix else None)

        return change

    def report(self, **facts: Any) -> Replayed:
        """Return the public result."""
        recorded_s = (self.last_ns - self.first_ns) / 1e9
        return Replayed(jobs=self.jobs, streams=len(self.streams), calls=self.calls, recorded_s=recorded_s, **facts)


@contextlib.contextmanager
def open_recording(files: Sequence[Path], *, job: str | None, format_name: str | None) -> Iterator[Recording]:
    """Open traces for a replay. Those that are not archives are written to a private temporary one.

    Raises:
        InputError: a file cannot be read or recognised, there are no calls, or their clocks differ.
    """
    origin = Origin(job=job or default_job((files[0].name,), {}))
    recording = Recording()
    with contextlib.ExitStack() as stack, reading_progress(files) as progress:
        archives = [path for path in files if format_name in (None, "archive") and _is_archive(path)]
        others = [(path, open_file(path, origin, format=format_name)) for path in files if path not in archives]
        readers = [ArchiveReader(stack.enter_context(open_regular(path)), str(path)) for path in archives]
        if others:
            kept = stack.enter_context(tempfile.TemporaryFile())
            _convert_to_archive(others, origin.job, kept, recording, progress)
            readers.append(ArchiveReader(cast(BinaryIO, kept), str(others[0][0])))
        recording.streams = recorded_streams(readers)
        for reader in readers:
            for problem in reader.problems:
                recording.problems.add(problem)
        _check(recording, files)
        names = {job or stream.reader.streams[stream.number].info.job for stream in recording.streams}
        recording.jobs = sorted(names)
        yield recording


def _convert_to_archive(
    sources: Sequence[tuple[Path, FileSource | FinishedSource]],
    job: str,
    out: IO[bytes],
    recording: Recording,
    progress: Callable[[Path, int], None],
) -> None:
    writer = ArchiveWriter()
    out.write(writer.begin({"job": job}))
    for path, source in sources:
        write_items(writer, _read_with_progress(path, source, progress), out)
        report_empty(source, path)
        _merge(recording.problems, source.problems)
        recording.unsupported.merge(source.unsupported)
    out.write(writer.end())
    out.seek(0)


def _read_with_progress(
    path: Path, source: FileSource | FinishedSource, progress: Callable[[Path, int], None]
) -> Iterator[SourceItem]:
    try:
        while not source.finished:
            yield from source.poll()
            progress(path, source.counters["bytes_read"])
    finally:
        source.close()


def _merge(problems: Problems, more: Problems) -> None:
    problems.total += more.total
    problems.first.extend(more.first[: problems.kept - len(problems.first)])


def _check(recording: Recording, files: Sequence[Path]) -> None:
    if not recording.streams:
        raise InputError(str(files[0]), None, "no event was read", "at least one I/O call")
    check_clocks((each.reader.streams[each.number].info for each in recording.streams), files[-1])


def _is_archive(path: Path) -> bool:
    with contextlib.suppress(OSError), open_regular(path) as file:
        return is_archive(file.read(len(MAGIC)))
    return False
