"""Construction of the ranking for finished traces, in one pass without storing their events."""

from __future__ import annotations

from pathlib import Path

from ...analyzers.interaction.bounded_table import NEVER
from ...analyzers.interaction.settings import InteractionSettings
from ...analyzers.pipeline.analysis_queue import QueuedEvents
from ...analyzers.pipeline.job_interactions import JobInteractions
from ...analyzers.pipeline.numbering import StreamNames
from ...analyzers.pipeline.settings import AnalyzerSettings
from ...collectors.source import Changed, Chunk, Opened, Origin, Problems, UnsupportedData
from ...collectors.sources.registry import open_file
from ...events import StreamInfo
from ...events.files import readable
from ...results.interaction import RankReport
from ..common.console.input_problems import print_problems, problem_list
from ..common.console.progress import reading_progress
from ..traces.analysing import context_of
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
    streams: dict[str, _Stream] = {}
    sources: set[str] = set()
    problems, unsupported = Problems(), UnsupportedData()
    with reading_progress(paths) as progress:
        for path in paths:
            source = open_file(path, Origin(job=path.stem if settings.by == "job" else ""), format=format_name)
            try:
                while not source.finished:
                    for item in source.poll():
                        if isinstance(item, Opened | Changed):
                            info = item.info
                            sources.add(info.source)
                            if item.stream in streams and isinstance(item, Changed):
                                streams[item.stream].info = info
                            else:
                                interactions.close_stream(item.stream)
                                interactions.number(item.stream, info)
                                streams[item.stream] = _Stream(info, StreamNames(names, info.command))
                        elif isinstance(item, Chunk):
                            taken = streams[item.stream].translate(item)
                            if len(taken.batch):
                                interactions.update(taken)
                    progress(path, source.counters["bytes_read"])
            finally:
                source.close()
            if len(paths) > 1:
                report_empty(source, path)
            unsupported.merge(source.unsupported)
            problems.total += source.problems.total
            problems.first += source.problems.first[: problems.kept - len(problems.first)]
    # streams of archives are not ordered by time; of several programs of a process, the last one names it
    for name, stream in sorted(streams.items(), key=lambda each: each[1].first_ns):
        interactions.introduce(name, stream.info)
    print_problems(problems, unsupported)
    ranking = interactions.deferred_result()()
    if names.overflowed:
        note = f"{names.overflowed:,} calls and files beyond the bound count as unknown"
        ranking = ranking.model_copy(update={"notes": [*ranking.notes, note]})
    return RankReport(
        files=[readable(path) for path in paths],
        source=", ".join(sorted(sources)),
        wall_clock=all(stream.info.clock_offset_ns is not None for stream in streams.values()),
        ranking=ranking,
        problems=problem_list(problems),
        problems_total=problems.total,
    )


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
