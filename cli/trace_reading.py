"""Reads finished traces into memory for the offline commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from ..analyzers.file_groups import CHANNEL, SYSTEM, CountRule
from ..analyzers.mapped_stores import mapped_stores
from ..analyzers.offline.members import Apart
from ..analyzers.signal.clipping import clip
from ..analyzers.signal.selection import ALL_COUNTS, counted
from ..collectors.source import Chunk, Omissions, Opened, Origin, Problems
from ..collectors.sources.file import FileSource
from ..collectors.sources.registry import open_file
from ..collectors.sources.whole import WholeSource
from ..daemon.numbering import JobNames, StreamNames
from ..events import Definitions, DefinitionTable, EventBatch, InputError, Kind, StreamInfo, make_batch
from ..events.analysis import GroupKind
from ..events.models import ModeName, NotCounted
from ..events.schema import UNKNOWN_RANK
from .progress import reading_progress
from .telling import tell

MOST_CALLS = 65_536
"""Functions that are told apart in finished traces."""
MOST_FILES = 1_000_000


@dataclass(slots=True)
class Stream:
    """One stream of a trace: who it is, and what its numbers mean."""

    info: StreamInfo
    definitions: DefinitionTable = field(default_factory=DefinitionTable)

    def of_files(self, value: Callable[[str, int], int]) -> npt.NDArray[np.uint8]:
        """Returns what is said of the path and type of each file number, uint8[file_count]."""
        files = (self.definitions.file(number) for number in range(self.definitions.file_count))
        return np.array([value(file.path, int(file.type)) for file in files], np.uint8)


@dataclass(slots=True)
class Trace:
    """All events of some files, or those within a window of time.

    Attributes:
        window_ns: start and end of the window if the events were cut to one.
        rule: says which bytes count.
    """

    formats: list[str] = field(default_factory=list)
    streams: dict[str, Stream] = field(default_factory=dict)
    chunks: list[tuple[str, EventBatch]] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    omissions: Omissions = field(default_factory=Omissions)
    window_ns: tuple[int, int] | None = None
    rule: CountRule = CountRule()  # noqa: RUF009  (it is immutable)

    @property
    def events(self) -> int:
        """Number of events."""
        return sum(len(batch) for _, batch in self.chunks)

    @property
    def span_ns(self) -> tuple[int, int]:
        """Start of the first event and end of the last one; (0, 0) without events."""
        firsts = [int(batch.start.min()) for _, batch in self.chunks]
        lasts = [int(batch.end.max()) for _, batch in self.chunks]
        return min(firsts, default=0), max(lasts, default=0)

    @property
    def wall_clock(self) -> bool:
        """Whether times are Unix time."""
        return all(stream.info.clock_offset_ns is not None for stream in self.streams.values())

    def bytes_of(self, mode: ModeName) -> int:
        """Returns the bytes that count towards the signal."""
        return sum(int(batch.bytes[counted(batch, left_out, mode)].sum()) for batch, left_out in self.batches())

    def not_counted(self) -> NotCounted:
        """Returns the bytes that do not count, though the program itself moved them."""
        group = cache(self.rule.group)
        groups = {name: stream.of_files(group) for name, stream in self.streams.items()}
        sums = Counter[tuple[int, int]]()
        for (name, batch), (_, left_out) in zip(self.chunks, self.batches(), strict=False):
            every = np.flatnonzero(counted(batch, ALL_COUNTS, "both"))
            rows = every[~counted(batch, left_out, "both")[every]]
            if not len(rows):
                continue
            of_file = groups[name][batch.file[rows]]
            for key in ((SYSTEM, Kind.READ), (SYSTEM, Kind.WRITE), (CHANNEL, Kind.READ), (CHANNEL, Kind.WRITE)):
                chosen = rows[(of_file == key[0]) & (batch.kind[rows] == key[1])]
                sums[key] += int(batch.bytes[chosen].sum())
        stores = [mapped_stores(batch, left_out) for batch, left_out in self.batches()]
        return NotCounted(
            system_read=sums[SYSTEM, Kind.READ],
            system_written=sums[SYSTEM, Kind.WRITE],
            channel_read=sums[CHANNEL, Kind.READ],
            channel_written=sums[CHANNEL, Kind.WRITE],
            mapped_for_writing=sum(mapped for mapped, _ in stores),
            flushed_at_most=sum(flushed for _, flushed in stores),
        )

    def batches(self) -> list[tuple[EventBatch, npt.NDArray[np.uint8]]]:
        """Pairs each batch with what does not count of its stream's files.

        After a cut the last batch has an event without bytes at each edge of the window, which is observed up to there.
        """
        of_file = cache(self.rule.left_out)  # streams name the same files
        left_out = {name: stream.of_files(of_file) for name, stream in self.streams.items()}
        batches = [(batch, left_out[name]) for name, batch in self.chunks]
        if self.window_ns is not None:
            batches.append((make_batch(2, {"start": np.array(self.window_ns)}), np.zeros(0, np.uint8)))
        return batches

    def apart(self) -> Apart:
        """Returns the events in one numbering of files, with whose they are."""
        names = JobNames(MOST_CALLS, MOST_FILES, self.rule)
        translators = {name: translator_of(names, stream) for name, stream in self.streams.items()}
        batches = [(translators[name].translate(batch), self.streams[name].info) for name, batch in self.chunks]
        return Apart(batches, names.files, names.left_out)

    def within(self, from_ns: int, to_ns: int) -> Trace:
        """Returns what happened within a window of time; requests at its edges with their share of the bytes."""
        first, last = self.span_ns
        clipped = [(name, clip(batch, from_ns, to_ns)) for name, batch in self.chunks]
        return Trace(
            formats=self.formats,
            streams=self.streams,
            chunks=[(name, batch) for name, batch in clipped if len(batch)],
            problems=self.problems,
            omissions=self.omissions,
            window_ns=(max(from_ns, first), min(to_ns, last)),
            rule=self.rule,
        )

    def keys(self, by: GroupKind) -> tuple[list[npt.NDArray[np.int64]], list[str]]:
        """Numbers the groups that events belong to.

        Returns:
            The group number of each event, an array for each of ``batches()``; and the groups' names by number. What
            does not say where it belongs has the name "".
        """
        numbers: dict[str, int] = {}
        keys = []
        for name, batch in self.chunks:
            local, names = _local_keys(self.streams[name], batch, by)
            table = np.array([numbers.setdefault(text, len(numbers)) for text in names], np.int64)
            keys.append(table[local])
        if self.window_ns is not None:
            keys.append(np.full(2, numbers.setdefault("", len(numbers)), np.int64))
        return keys, list(numbers)


def _local_keys(stream: Stream, batch: EventBatch, by: GroupKind) -> tuple[npt.NDArray[np.intp], list[str]]:
    """Returns the number of each event's group within its batch, and the groups' names."""
    if by == "rank":
        ranks, local = np.unique(batch.rank, return_inverse=True)
        known = [stream.info.rank if rank == UNKNOWN_RANK else rank for rank in ranks.tolist()]
        return local, [f"rank {rank}" if rank != UNKNOWN_RANK else "" for rank in known]
    if by == "file":
        files, local = np.unique(batch.file, return_inverse=True)
        return local, [stream.definitions.file(number).path for number in files.tolist()]
    return np.zeros(len(batch), np.intp), [stream.info.host if by == "host" else stream.info.job]


def name_of(paths: Sequence[Path]) -> str:
    """Returns what files are called together."""
    return paths[0].stem if len(paths) == 1 else f"{paths[0].stem} and {len(paths) - 1} more"


def read_and_tell(paths: Sequence[Path], format_name: str | None, rule: CountRule = CountRule()) -> Trace:  # noqa: B008
    """Reads files to their ends, as one job, and says on standard error how far it is and what is wrong with them.

    Args:
        paths: the files, and folders of a format that is one.
        format_name: their format; None to tell it from each file's content.
        rule: says which bytes count.

    Raises:
        InputError: there is nothing that can be read.
    """
    with reading_progress(paths) as progress:
        trace = read_traces(paths, format_name=format_name, job=name_of(paths), progress=progress)
    trace.rule = rule
    if not trace.events and len(paths) == trace.problems.total == 1:
        raise trace.problems.first[0]
    tell(trace.problems, trace.omissions)
    if not trace.events:
        raise InputError(str(paths[0]), None, "no event was read", "at least one I/O call")
    return trace


def translator_of(names: JobNames, stream: Stream) -> StreamNames:
    """Returns what translates a stream's numbers to those of a job."""
    table = stream.definitions
    translator = StreamNames(names)
    translator.define(
        Definitions(
            [(number, table.string(number)) for number in range(1, table.string_count)],
            [(number, table.file(number)) for number in range(1, table.file_count)],
        )
    )
    return translator


def read_traces(
    paths: Sequence[Path], *, format_name: str | None, job: str, progress: Callable[[Path, int], None]
) -> Trace:
    """Reads files to their ends, as one job.

    Args:
        paths: the files, and folders of a format that is one.
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


def _read(source: FileSource | WholeSource, path: Path, trace: Trace, progress: Callable[[Path, int], None]) -> None:
    while not source.finished:
        for item in source.poll():
            if isinstance(item, Opened):
                # an archive's streams say where they came from before; here the file counts
                trace.streams[item.stream] = Stream(msgspec.structs.replace(item.info, origin=str(path)))
                trace.formats.append(item.info.source)
            elif isinstance(item, Chunk):
                trace.streams[item.stream].definitions.apply(item.definitions)
                if len(item.batch):
                    trace.chunks.append((item.stream, item.batch))
        progress(path, source.counters["bytes_read"])
    miss(source, path)
    trace.omissions.merge(source.omissions)
    trace.problems.total += source.problems.total
    room = trace.problems.kept - len(trace.problems.first)
    trace.problems.first.extend(source.problems.first[:room])


def miss(source: FileSource | WholeSource, path: Path) -> None:
    """Reports a file that was read to its end and had no event."""
    if not source.counters["events"] and not source.problems.total:
        source.problems.add(InputError(str(path), None, "no event was read", "at least one I/O call"))
