"""Construction of the ranking for finished traces, in one pass without storing their events."""

from __future__ import annotations

from pathlib import Path

from ...analyzers.interaction.bounded_table import NEVER
from ...analyzers.interaction.settings import InteractionSettings
from ...analyzers.pipeline.analysis_queue import QueuedEvents
from ...analyzers.pipeline.job_interactions import JobInteractions
from ...analyzers.pipeline.numbering import JobNames, StreamNames
from ...analyzers.pipeline.settings import AnalyzerSettings
from ...collectors.source import Changed, Chunk, Opened, Origin, Problems, SourceItem, UnsupportedData
from ...collectors.sources.registry import open_file
from ...events import StreamInfo
from ...events.files import readable
from ...results.interaction import RankReport
from ..common.console.input_problems import print_problems, problem_list
from ..common.console.progress import reading_progress
from ..traces.trace_analysis import context_of
from ..traces.trace_reading import name_of, report_empty


def rank_traces(paths: list[Path], format_name: str | None, settings: InteractionSettings) -> RankReport:
    """Read traces to their ends and rank their interacting members.

    Args:
        paths: the files; with ``by="job"``, a file whose streams have no job id is a job of its own.
        format_name: their format; None to detect it from each file's content.
        settings: settings of the ranking.

    Raises:
        InputError: a file cannot be read or recognised.
    """
    context = context_of(name_of(paths), AnalyzerSettings(rank=settings))
    names, interactions = context.names, JobInteractions(context, is_live=False)
    reading = _TraceReading(names, interactions)
    problems, unsupported = Problems(), UnsupportedData()
    with reading_progress(paths) as progress:
        for path in paths:
            source = open_file(path, Origin(job=path.stem if settings.by == "job" else ""), format=format_name)
            try:
                while not source.finished:
                    for item in source.poll():
                        reading.add(item)
                    progress(path, source.counters["bytes_read"])
            finally:
                source.close()
            if len(paths) > 1:
                report_empty(source, path)
            unsupported.merge(source.unsupported)
            problems.total += source.problems.total
            problems.first += source.problems.first[: problems.kept - len(problems.first)]
    reading.introduce_streams()
    print_problems(problems, unsupported)
    ranking = interactions.deferred_result()()
    if names.overflowed:
        note = f"{names.overflowed:,} calls and files beyond the bound count as unknown"
        ranking = ranking.model_copy(update={"notes": [*ranking.notes, note]})
    return RankReport(
        files=[readable(path) for path in paths],
        source=", ".join(sorted(reading.formats)),
        wall_clock=reading.has_wall_clock,
        ranking=ranking,
        problems=problem_list(problems),
        problems_total=problems.total,
    )


class _TraceReading:
    """Passes the items of traces to the ranking.

    Attributes:
        formats: formats of the traces.
    """

    def __init__(self, names: JobNames, interactions: JobInteractions) -> None:
        self.formats: set[str] = set()
        self._names, self._interactions = names, interactions
        self._streams: dict[str, _Stream] = {}

    def add(self, item: SourceItem) -> None:
        """Process one item of a trace."""
        if isinstance(item, Opened | Changed):
            self._describe(item)
        elif isinstance(item, Chunk):
            events = self._streams[item.stream].translate(item)
            if len(events.batch):
                self._interactions.update(events)

    def _describe(self, item: Opened | Changed) -> None:
        self.formats.add(item.info.source)
        if item.stream in self._streams and isinstance(item, Changed):
            self._streams[item.stream].info = item.info
        else:
            self._interactions.close_stream(item.stream)
            self._interactions.number(item.stream, item.info)
            self._streams[item.stream] = _Stream(item.info, StreamNames(self._names, item.info.command))

    def introduce_streams(self) -> None:
        """Name the processes after their streams, in the order of time.

        Streams of archives are not ordered by time. Of several programs of a process, the last one names it.
        """
        for name, stream in sorted(self._streams.items(), key=lambda each: each[1].first_ns):
            self._interactions.introduce(name, stream.info)

    @property
    def has_wall_clock(self) -> bool:
        """Whether the times of all streams are wall-clock times."""
        return all(stream.info.clock_offset_ns is not None for stream in self._streams.values())


class _Stream:
    """One stream of a trace, with the translation of its numbers."""

    def __init__(self, info: StreamInfo, translation: StreamNames) -> None:
        self.info = info
        self._translation = translation
        self.first_ns = -NEVER

    def translate(self, chunk: Chunk) -> QueuedEvents:
        """Return events in the numbers of the whole trace."""
        self._translation.define(chunk.definitions)
        batch = self._translation.translate(chunk.batch)
        if len(batch) and self.first_ns == -NEVER:
            self.first_ns = int(batch.start[0])
        return QueuedEvents.of(batch, chunk.stream, self.info)
