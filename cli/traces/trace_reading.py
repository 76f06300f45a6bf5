"""Reading of finished traces for the offline commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from ...analyzers.common.sorting import Reiterable
from ...analyzers.file_groups import CHANNEL, SYSTEM, CountRule, as_copied, copies_files
from ...analyzers.offline.member_groups import MemberEvents
from ...analyzers.pipeline.numbering import JobNames, StreamNames
from ...analyzers.signal.selection import ALL_COUNTS, counted
from ...analyzers.totals import mapped_for_reading, mapped_stores
from ...collectors.source import Chunk, Opened, Origin, Problems, UnsupportedData
from ...collectors.sources.file import FileSource
from ...collectors.sources.finished import FinishedSource
from ...collectors.sources.registry import open_file
from ...events import Definitions, DefinitionTable, EventBatch, InputError, Kind, StreamInfo, make_batch
from ...events.files import readable
from ...events.schema import UNKNOWN_RANK
from ...results.jobs.job import NotCounted
from ...results.traces.analysis import GroupKind
from ..common.console.input_problems import print_problems
from ..common.console.progress import reading_progress
from ..common.one_job_bounds import MAX_CALLS, MAX_FILES
from .trace_events import MAX_HELD_BYTES, EventsWithin, TraceEvents


@dataclass(slots=True)
class Stream:
    """One stream of a trace, with its definitions."""

    info: StreamInfo
    definitions: DefinitionTable = field(default_factory=DefinitionTable)

    def of_files(self, value: Callable[[str, int], int], rule: CountRule) -> npt.NDArray[np.uint8]:
        """Return a value computed from path and type of each file number, uint8[file_count]."""
        files = (self.definitions.file(number) for number in range(self.definitions.file_count))
        if copies_files(self.info.command):
            files = (as_copied(file, rule) for file in files)
        return np.array([value(file.path, int(file.type)) for file in files], np.uint8)


class Moved(NamedTuple):
    """Bytes read and written that count towards the signal, and bytes that do not count."""

    read: int
    written: int
    not_counted: NotCounted


@dataclass(slots=True)
class Trace:
    """All events of some files, or those within a window of time.

    Attributes:
        chunks: all events.
        windowed: the events within a window, if the trace was cut to one.
        window_ns: start and end of the window, if the trace was cut to one.
        rule: selects the bytes that count.
    """

    formats: list[str] = field(default_factory=list)
    streams: dict[str, Stream] = field(default_factory=dict)
    chunks: TraceEvents = field(default_factory=TraceEvents)
    windowed: EventsWithin | None = None
    problems: Problems = field(default_factory=Problems)
    unsupported: UnsupportedData = field(default_factory=UnsupportedData)
    window_ns: tuple[int, int] | None = None
    rule: CountRule = CountRule()  # noqa: RUF009  (it is immutable)

    @property
    def selected_events(self) -> TraceEvents | EventsWithin:
        """The selected events."""
        return self.chunks if self.windowed is None else self.windowed

    @property
    def signal(self) -> Iterable[tuple[str, EventBatch]]:
        """The selected events, with the columns for the signal."""
        return Reiterable(self.chunks.of_signal) if self.windowed is None else self.windowed

    @property
    def events(self) -> int:
        """Number of events."""
        return self.selected_events.events

    @property
    def span_ns(self) -> tuple[int, int]:
        """Start of the first event and end of the last one; (0, 0) without events."""
        return self.selected_events.span_ns

    @property
    def wall_clock(self) -> bool:
        """Whether times are Unix time."""
        return all(stream.info.clock_offset_ns is not None for stream in self.streams.values())

    @property
    def stamp_s(self) -> float:
        """Resolution of the coarsest stamps, s; 0 where all are fine enough for any period."""
        return max((stream.info.stamp_ns for stream in self.streams.values()), default=0) / 1e9

    def moved(self) -> Moved:
        """Return the bytes that count towards the signal. It also returns those of the program that do not."""
        group, left_out = cache(self.rule.group), self._left_out()
        groups = {name: stream.of_files(group, self.rule) for name, stream in self.streams.items()}
        counting = Counter[Kind]()
        sums = Counter[tuple[int, int]]()
        mapped = flushed = readable = 0
        readable_files: set[str] = set()
        for name, batch in self.signal:
            every = np.flatnonzero(counted(batch, ALL_COUNTS, "both"))
            counts = counted(batch, left_out[name], "both")[every]
            for kind in (Kind.READ, Kind.WRITE):
                counting[kind] += int(batch.bytes[every[counts & (batch.kind[every] == kind)]].sum())
            rows = every[~counts]
            if len(rows):
                of_file = groups[name][batch.file[rows]]
                for key in ((SYSTEM, Kind.READ), (SYSTEM, Kind.WRITE), (CHANNEL, Kind.READ), (CHANNEL, Kind.WRITE)):
                    chosen = rows[(of_file == key[0]) & (batch.kind[rows] == key[1])]
                    sums[key] += int(batch.bytes[chosen].sum())
            stores = mapped_stores(batch, left_out[name])
            mapped, flushed = mapped + stores[0], flushed + stores[1]
            files, lengths = mapped_for_reading(batch, left_out[name])
            readable += sum(lengths.tolist())
            readable_files.update(self.streams[name].definitions.file(file).path for file in set(files.tolist()))
        not_counted = NotCounted(
            system_read=sums[SYSTEM, Kind.READ],
            system_written=sums[SYSTEM, Kind.WRITE],
            channel_read=sums[CHANNEL, Kind.READ],
            channel_written=sums[CHANNEL, Kind.WRITE],
            mapped_for_writing=mapped,
            flushed_at_most=flushed,
            mapped_for_reading=readable,
            files_mapped_for_reading=len(readable_files),
        )
        return Moved(counting[Kind.READ], counting[Kind.WRITE], not_counted)

    def batches(self) -> Iterable[tuple[EventBatch, npt.NDArray[np.uint8]]]:
        """Pair each batch with the uncounted files of its stream; may be iterated repeatedly.

        After a cut the last batch has an event without bytes at each edge of the window, to mark the observed time.
        """
        left_out = self._left_out()

        def pairs() -> Iterator[tuple[EventBatch, npt.NDArray[np.uint8]]]:
            for name, batch in self.signal:
                yield batch, left_out[name]
            if self.window_ns is not None:
                yield make_batch(2, {"start": np.array(self.window_ns)}), np.zeros(0, np.uint8)

        return Reiterable(pairs)

    def _left_out(self) -> dict[str, npt.NDArray[np.uint8]]:
        of_file = cache(self.rule.left_out)  # streams use the same files
        return {name: stream.of_files(of_file, self.rule) for name, stream in self.streams.items()}

    def with_members(self) -> MemberEvents:
        """Return the events in one numbering of files, with their members."""
        names = JobNames(MAX_CALLS, MAX_FILES, self.rule)
        translators = {name: translator_of(names, stream) for name, stream in self.streams.items()}
        batches = Reiterable(
            lambda: ((translators[name].translate(batch), self.streams[name].info) for name, batch in self.signal)
        )
        return MemberEvents(batches, names.files, names.left_out)

    def within(self, from_ns: int, to_ns: int) -> Trace:
        """Return the events within a window of time. Requests at its edges have their share of the bytes."""
        first, last = self.span_ns
        return Trace(
            formats=self.formats,
            streams=self.streams,
            chunks=self.chunks,
            windowed=EventsWithin(self.selected_events, from_ns, to_ns),
            problems=self.problems,
            unsupported=self.unsupported,
            window_ns=(max(from_ns, first), min(to_ns, last)),
            rule=self.rule,
        )

    def keys(self, by: GroupKind) -> tuple[Iterable[npt.NDArray[np.int64]], list[str]]:
        """Assign numbers to the groups of events.

        Returns:
            The group number of each event, an array for each of ``batches()``; and the groups' names by number. Events
            without a group have the name "".
        """
        numbers: dict[str, int] = {}

        def keys() -> Iterator[npt.NDArray[np.int64]]:
            for name, batch in self.selected_events:
                local, names = _local_keys(self.streams[name], batch, by)
                table = np.array([numbers.setdefault(text, len(numbers)) for text in names], np.int64)
                yield table[local]
            if self.window_ns is not None:
                yield np.full(2, numbers.setdefault("", len(numbers)), np.int64)

        for _ in keys():
            pass
        return Reiterable(keys), list(numbers)


def _local_keys(stream: Stream, batch: EventBatch, by: GroupKind) -> tuple[npt.NDArray[np.intp], list[str]]:
    """Return the number of each event's group within its batch, and the groups' names."""
    if by == "rank":
        ranks, local = np.unique(batch.rank, return_inverse=True)
        known = [stream.info.rank if rank == UNKNOWN_RANK else rank for rank in ranks.tolist()]
        return local, [f"rank {rank}" if rank != UNKNOWN_RANK else "" for rank in known]
    if by == "file":
        files, local = np.unique(batch.file, return_inverse=True)
        return local, [stream.definitions.file(number).path for number in files.tolist()]
    return np.zeros(len(batch), np.intp), [stream.info.host if by == "host" else stream.info.job]


def name_of(paths: Sequence[Path]) -> str:
    """Return the name of several files as one job."""
    first = readable(paths[0].stem)
    return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"


def read_and_report(
    paths: Sequence[Path],
    format_name: str | None,
    rule: CountRule = CountRule(),  # noqa: B008
    *,
    signal_only: bool = False,
    keeps_signal: bool = False,
) -> Trace:
    """Read files to their ends, as one job, with progress and problems on standard error.

    Args:
        paths: the files, and folders of a format that is one.
        format_name: their format; None to detect it from each file's content.
        rule: selects the bytes that count.
        signal_only: only volume, time and member of events are needed.
        keeps_signal: whether the signal is iterated often; see ``TraceEvents``.

    Raises:
        InputError: there is nothing that can be read.
    """
    with reading_progress(paths) as progress:
        trace = read_traces(
            paths, format_name=format_name, job=name_of(paths), progress=progress, signal_only=signal_only,
            keeps_signal=keeps_signal,
        )  # fmt: skip
    trace.rule = rule
    if not trace.events and len(paths) == trace.problems.total == 1:
        raise trace.problems.first[0]
    print_problems(trace.problems, trace.unsupported)
    if not trace.events:
        raise InputError(str(paths[0]), None, "no event was read", "at least one I/O call")
    return trace


def translator_of(names: JobNames, stream: Stream) -> StreamNames:
    """Return the translation of a stream's numbers to those of a job."""
    table = stream.definitions
    translator = StreamNames(names, stream.info.command)
    translator.define(
        Definitions(
            [(number, table.string(number)) for number in range(1, table.string_count)],
            [(number, table.file(number)) for number in range(1, table.file_count)],
        )
    )
    return translator


def read_traces(
    paths: Sequence[Path],
    *,
    format_name: str | None,
    job: str,
    progress: Callable[[Path, int], None],
    signal_only: bool = False,
    keeps_signal: bool = False,
    most_bytes: int = MAX_HELD_BYTES,
) -> Trace:
    """Read files to their ends, as one job.

    Args:
        paths: the files, and folders of a format that is one.
        format_name: their format; None to detect it from each file's content.
        job: job id for traces that contain none.
        progress: callback with a path and the bytes read of it so far.
        signal_only: only volume, time and member of events are needed.
        keeps_signal: whether the signal is iterated often; see ``TraceEvents``.
        most_bytes: maximum bytes of events in memory.

    Raises:
        InputError: a file cannot be read or recognised, or the files have no common clock.
    """
    events = TraceEvents(signal_only=signal_only, keeps_signal=keeps_signal, most_bytes=most_bytes)
    trace = Trace(chunks=events)
    introduced: list[StreamInfo] = []
    for path in paths:
        source = open_file(path, Origin(job=job), format=format_name)
        try:
            _read(source, path, trace, introduced, progress)
        finally:
            source.close()
    check_clocks(introduced, paths[-1])
    return trace


def _read(
    source: FileSource | FinishedSource,
    path: Path,
    trace: Trace,
    introduced: list[StreamInfo],
    progress: Callable[[Path, int], None],
) -> None:
    events = trace.chunks
    events.begin(path)
    while not source.finished:
        for item in source.poll():
            if isinstance(item, Opened):
                introduced.append(item.info)
                # an archive's streams name an earlier origin; here the file counts
                trace.streams[item.stream] = Stream(msgspec.structs.replace(item.info, origin=str(path)))
                trace.formats.append(item.info.source)
            elif isinstance(item, Chunk):
                trace.streams[item.stream].definitions.apply(item.definitions)
                if len(item.batch):
                    events.add(item.stream, item.batch)
        progress(path, source.counters["bytes_read"])
    report_empty(source, path)
    trace.unsupported.merge(source.unsupported)
    trace.problems.total += source.problems.total
    room = trace.problems.kept - len(trace.problems.first)
    trace.problems.first.extend(source.problems.first[:room])


def report_empty(source: FileSource | FinishedSource, path: Path) -> None:
    """Report a file that was read completely and had no event."""
    if not source.counters["events"] and not source.problems.total:
        source.problems.add(InputError(str(path), None, "no event was read", "at least one I/O call"))


def check_clocks(infos: Iterable[StreamInfo], last: Path) -> None:
    """Refuse inputs without a common clock.

    Args:
        infos: descriptions of the streams of all inputs.
        last: the last input; the message names it.

    Raises:
        InputError: some times are relative and others are Unix time, or several files of ``strace -r`` are given, whose
            times count from each file's own first line.
    """
    clocks: set[bool] = set()
    relative: set[str] = set()
    for info in infos:
        clocks.add(info.clock_offset_ns is None)
        if info.source == "strace" and info.clock_offset_ns is None:
            relative.add(info.origin)
    if len(clocks) > 1:
        raise InputError(
            str(last), None, "its times are relative, and those of other inputs are Unix time", "one clock"
        )
    if len(relative) > 1:
        raise InputError(
            str(last),
            None,
            f"strace -r counts times from a file's own first line, so {len(relative)} files have no common clock",
            "one of the files alone, or a trace with Unix time: strace -ff -ttt -T -y -o FILE COMMAND",
        )
