"""Reduction of a trace of any format to the calls of leaders, as an archive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...archive.file.writer import ArchiveWriter
from ...collectors.source import Changed, Chunk, Closed, Opened, Origin
from ...collectors.sources.registry import open_file, read_all
from ...events import Definitions, EventBatch, Layer, StreamInfo
from ...results.interaction import Ranking
from ..common.atomic_files import complete_file
from ..common.console.progress import reading_progress
from .text_reduction import Threads, threads_of_leaders

Mask = npt.NDArray[np.bool_]


def write_archive(target: Path, source: Path, format_name: str | None, ranking: Ranking) -> tuple[int, int]:
    """Write the calls of the leaders, and calls that affect them. The file appears when it is complete.

    Returns:
        The number of kept calls, and of all calls.

    Raises:
        InputError: the trace cannot be read.
        click.ClickException: the archive cannot be written.
    """
    kept = _LeaderEvents(ranking)
    with complete_file(target) as partial, partial.open("wb") as file:
        file.writelines(kept.archive(source, format_name))
    return kept.calls, kept.whole


class _LeaderEvents:
    def __init__(self, ranking: Ranking) -> None:
        self.calls = self.whole = 0
        self._job = ranking.job
        self._threads: Threads = threads_of_leaders(ranking)
        leaders = {number for component in ranking.components for number in component.leaders}
        ranks = {actor.rank for actor in ranking.actors if actor.id in leaders and not actor.tids}
        self._ranks = np.array(sorted(ranks - {-1}), np.int64)

    def archive(self, path: Path, format_name: str | None) -> Iterator[bytes]:
        """Yield the bytes; streams without kept calls are omitted."""
        writer = ArchiveWriter()
        infos: dict[str, StreamInfo] = {}
        waiting: dict[str, list[Definitions]] = {}
        begun: set[str] = set()
        source = open_file(path, Origin(job=self._job), format=format_name)
        yield writer.begin({"job": self._job, "traces": [path.name]})
        with reading_progress([path]) as progress:
            for item in read_all(source):
                if isinstance(item, Opened | Changed):
                    infos[item.stream] = item.info
                    if item.stream in begun:
                        yield writer.opened(item.stream, item.info)
                elif isinstance(item, Chunk):
                    chosen = item.batch.select(self._mask(item.batch, infos[item.stream]))
                    self.calls, self.whole = self.calls + len(chosen), self.whole + len(item.batch)
                    if item.stream not in begun:
                        waiting.setdefault(item.stream, []).append(item.definitions)
                        if not len(chosen):
                            continue
                        begun.add(item.stream)
                        yield writer.opened(item.stream, infos[item.stream])
                        for earlier in waiting.pop(item.stream)[:-1]:
                            yield writer.batch(item.stream, item.batch.select(slice(0, 0)), earlier)
                    yield writer.batch(item.stream, chosen, item.definitions)
                elif isinstance(item, Closed):
                    waiting.pop(item.stream, None)
                    if item.stream in begun:
                        yield writer.closed(item.stream, item.losses)
                progress(path, source.counters["bytes_read"])
        yield writer.end()

    def _mask(self, batch: EventBatch, info: StreamInfo) -> Mask:
        mine = self._threads.get(info.host, np.zeros(0, np.int64))
        pid = np.where(batch.pid == 0, info.pid, batch.pid)
        thread = np.where(batch.tid == 0, pid, batch.tid)
        kept = np.isin(thread, mine) | np.isin(pid, mine)
        kept |= (batch.layer == int(Layer.KERNEL)) & np.isin(batch.handle, mine)
        if len(self._ranks):
            kept |= (thread == 0) & np.isin(np.where(batch.rank < 0, info.rank, batch.rank), self._ranks)
        return kept
