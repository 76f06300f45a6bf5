"""Makes the ranking of finished traces, as they are read: their events are not kept."""

from __future__ import annotations

from pathlib import Path

from ...analyzers.interaction.bounded_table import NEVER
from ...analyzers.interaction.settings import InteractionSettings
from ...analyzers.interaction.update import InteractionAnalyzer
from ...analyzers.pipeline.introductions import introduction
from ...analyzers.pipeline.numbering import JobNames, StreamNames
from ...collectors.source import Changed, Chunk, Omissions, Opened, Origin, Problems
from ...collectors.sources.registry import open_file
from ...events import StreamInfo
from ...events.files import readable
from ...results.interaction import RankReport
from ..common.input_problems import listed, tell
from ..common.progress import reading_progress
from ..traces.trace_reading import MOST_CALLS, MOST_FILES, miss, name_of


def ranked(paths: list[Path], format_name: str | None, settings: InteractionSettings) -> RankReport:
    """Reads traces to their ends and ranks who interacts in them.

    Args:
        paths: the files; with ``by="job"`` one whose streams do not name their job is a job of its own.
        format_name: their format; None to tell it from each file's content.
        settings: how it is ranked.

    Raises:
        InputError: a file cannot be read or recognised.
    """
    names = JobNames(MOST_CALLS, MOST_FILES)
    analyzer = InteractionAnalyzer(settings)
    streams: dict[str, _Stream] = {}
    spaces: dict[tuple[str, str], int] = {}
    sources: set[str] = set()
    problems, omissions = Problems(), Omissions()
    with reading_progress(paths) as progress:
        for path in paths:
            source = open_file(path, Origin(job=path.stem if settings.by == "job" else ""), format=format_name)
            try:
                while not source.finished:
                    for item in source.poll():
                        if isinstance(item, Opened | Changed):
                            info = item.info
                            sources.add(info.source)
                            space = spaces.setdefault((info.job, info.host), len(spaces))
                            if item.stream in streams and isinstance(item, Changed):
                                streams[item.stream].info = info
                            else:
                                streams[item.stream] = _Stream(info, space, len(streams), StreamNames(names))
                        elif isinstance(item, Chunk):
                            streams[item.stream].feed(analyzer, names, item)
                    progress(path, source.counters["bytes_read"])
            finally:
                source.close()
            if len(paths) > 1:
                miss(source, path)
            omissions.merge(source.omissions)
            problems.total += source.problems.total
            problems.first += source.problems.first[: problems.kept - len(problems.first)]
    # archives do not have their streams in the order of time: of several programs of one process the last names it
    for stream in sorted(streams.values(), key=lambda stream: stream.first_ns):
        stream.introduce(analyzer, names)
    tell(problems, omissions)
    ranking = analyzer.ranking(names, list(spaces), name_of(paths))
    if names.overflowed:
        note = f"{names.overflowed:,} calls and files beyond the bound count as unknown"
        ranking = ranking.model_copy(update={"notes": [*ranking.notes, note]})
    return RankReport(
        files=[readable(path) for path in paths],
        source=", ".join(sorted(sources)),
        wall_clock=all(stream.info.clock_offset_ns is not None for stream in streams.values()),
        ranking=ranking,
        problems=listed(problems),
        problems_total=problems.total,
    )


class _Stream:
    """One stream of a trace, and what its numbers mean."""

    def __init__(self, info: StreamInfo, space: int, number: int, translation: StreamNames) -> None:
        self.info = info
        self._space = space
        self._number = number
        self._translation = translation
        self.first_ns = -NEVER

    def introduce(self, analyzer: InteractionAnalyzer, names: JobNames) -> None:
        """Hands on what the stream says of itself."""
        analyzer.introduce_all([introduction(names, self.info, space=self._space, stream=self._number)])

    def feed(self, analyzer: InteractionAnalyzer, names: JobNames, chunk: Chunk) -> None:
        """Hands events on in the numbers of the whole."""
        self._translation.define(chunk.definitions)
        batch = self._translation.translate(chunk.batch)
        if len(batch) and self.first_ns == -NEVER:
            self.first_ns = int(batch.start[0])
        analyzer.update(
            batch,
            names,
            space=self._space,
            stream=self._number,
            pid=self.info.pid,
            rank=self.info.rank,
        )
