"""Interaction graph of one job, from batches in the job's numbering. It is ranked alone or with other jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, StreamInfo, concatenate, is_constant
from ...events.batch import IntArray
from ...events.kernel import COMM, text_about
from ...events.programs import program_name
from ...events.schema import UNKNOWN_RANK
from ..interaction.settings import InteractionSettings
from ..interaction.tables import Tables
from ..interaction.update import InteractionAnalyzer, Introduction
from .analysis_queue import QueuedEvents
from .contract import AnalyzerKind, JobContext
from .numbering import JobNames

if TYPE_CHECKING:
    from ...results.interaction import Ranking

_MAX_HOSTS = 65_536  # maximum number of distinct hosts
_MAX_HELD = 1024  # maximum number of buffered events, or introductions
_ANY = 0  # stream number of events identified by numbers
_UNKNOWN = -1  # number of an unknown host


class JobInteractions:
    """Passes a job's events to the interaction analyzer, with the introductions of streams.

    Args:
        context: the job.
        is_live: whether streams come in order of time and belong to one job. Finished traces guarantee neither: streams
            of several jobs have separate machines, and the caller introduces the streams with ``introduce`` after all
            events.
    """

    def __init__(self, context: JobContext, *, is_live: bool = True) -> None:
        self._job = context.job
        self._is_live = is_live
        self._settings = context.settings.rank
        self._names = context.names
        self._analyzer = InteractionAnalyzer(self._settings)
        self._spaces: dict[tuple[str, str], int] = {}  # by job and host
        self._streams: dict[str, int] = {}
        self._introduced: dict[str, StreamInfo] = {}
        self._introductions: list[Introduction] = []  # buffered, since one costs as much as a thousand
        self._numbered = 0
        self._held: dict[tuple[int, int], list[EventBatch]] = {}
        self._held_events = 0

    def update(self, queued: QueuedEvents) -> None:
        """Add events in the job's numbering."""
        if len(queued.runs) > 1 and self._add_identified(queued):
            return
        for batch, stream, info in queued.parts():
            columns = batch.replace(
                pid=_filled(batch.pid, 0, info.pid), rank=_filled(batch.rank, UNKNOWN_RANK, info.rank)
            )
            space, number = self.number(stream, info)
            self._buffer(columns, space, _ANY if _has_ids(columns) else number)

    def _add_identified(self, queued: QueuedEvents) -> bool:
        """Add the events of several streams of one host at once. This needs numbers for all of them."""
        infos = [run.info for run in queued.runs]
        if any(info.host != infos[0].host for info in infos):
            return False
        batch, lengths = queued.batch, queued.lengths
        pid = np.repeat(np.array([info.pid for info in infos], np.int64), lengths)
        rank = np.repeat(np.array([info.rank for info in infos], np.int64), lengths)
        columns = batch.replace(
            pid=np.where(batch.pid == 0, pid, batch.pid), rank=np.where(batch.rank == UNKNOWN_RANK, rank, batch.rank)
        )
        if not _has_ids(columns):
            return False
        for run in queued.runs:
            space, _ = self.number(run.stream, run.info)
        self._buffer(columns, space, _ANY)
        return True

    def introduce(self, stream: str, info: StreamInfo) -> None:
        """Add the introduction of a finished trace's stream. The last stream of a process names it."""
        self.compact()
        space, number = self.number(stream, info)
        self._analyzer.introduce_all([_introduction(self._names, info, space=space, stream=number)])

    def number(self, stream: str, info: StreamInfo) -> tuple[int, int]:
        """Return the numbers of a stream's host and of the stream. Introduces a new stream of a running job."""
        if stream not in self._streams:
            self._numbered += 1
            self._streams[stream] = self._numbered
        machine = (self._job if self._is_live else info.job), info.host
        if machine not in self._spaces and len(self._spaces) < _MAX_HOSTS:
            self._spaces[machine] = len(self._spaces)
        space, number = self._spaces.get(machine, 0), self._streams[stream]
        if self._is_live and self._introduced.get(stream) is not info:
            self._introduced[stream] = info
            self._introductions.append(_introduction(self._names, info, space=space, stream=number))
            if len(self._introductions) >= _MAX_HELD:
                self._introduce()
        return space, number

    def _buffer(self, columns: EventBatch, space: int, number: int) -> None:
        # events identified by numbers form one batch across streams
        self._held.setdefault((space, number), []).append(columns)
        self._held_events += len(columns)
        if self._held_events >= _MAX_HELD:
            self.compact()

    def close_stream(self, stream: str) -> None:
        """End a stream."""
        self._streams.pop(stream, None)
        self._introduced.pop(stream, None)

    def compact(self) -> None:
        """Process buffered events. A batch of few events costs as much as one of a thousand."""
        self._introduce()
        for (space, number), batches in self._held.items():
            self._analyzer.update(concatenate(batches), self._names, space=space, stream=number)
        self._held.clear()
        self._held_events = 0

    def deferred_result(self) -> Callable[[], Ranking]:
        """Copy the state and return a function that computes the ranking.

        The function can run later and in any thread.
        """
        tables, settings = self.tables(), self._settings
        names, spaces, job = self._names, list(self._spaces), self._job

        def rank() -> Ranking:
            from ..interaction.report.report import ranking_of  # importing SciPy takes a tenth of a second

            return ranking_of(tables, settings, names, spaces, job)

        return rank

    def tables(self) -> Tables:
        """Return a copy of the graph's columns."""
        self.compact()
        return self._analyzer.tables()

    def shared(self) -> tuple[str, Tables, Sequence[str]]:
        """Return a copy of the input that ``rank_jobs`` needs from a job."""
        return self._job, self.tables(), [host for _, host in self._spaces]

    def losses(self) -> dict[str, int]:
        """Return losses by reason."""
        self._introduce()
        return self._analyzer.losses()

    def _introduce(self) -> None:
        introductions, self._introductions = self._introductions, []
        self._analyzer.introduce_all(introductions)


def _has_ids(columns: EventBatch) -> bool:
    """Return whether all events identify their thread, process or rank by number."""
    for column, unknown in ((columns.tid, 0), (columns.pid, 0), (columns.rank, UNKNOWN_RANK)):
        if is_constant(column) and column[0] != unknown:
            return True
    return bool(len(columns)) and bool(((columns.tid != 0) | (columns.pid != 0) | (columns.rank != UNKNOWN_RANK)).all())


def _filled(column: IntArray, unknown: int, known: int) -> npt.ArrayLike:
    """Return a column with unknown values replaced by that of the stream's introduction."""
    if known == unknown:
        return column
    if is_constant(column):
        return known if column[0] == unknown else column
    return np.where(column == unknown, known, column)


KIND = AnalyzerKind("interactions", lambda context: JobInteractions(context) if context.settings.rank.enabled else None)


def rank_jobs(jobs: Sequence[tuple[str, Tables, Sequence[str]]], settings: InteractionSettings) -> Ranking:
    """Rank jobs by the files through which they interact.

    These are shared files, and node-local ones of a common host.

    Args:
        jobs: name, tables and hosts by number of each job.
        settings: settings of the ranking; vertices are jobs.
    """
    bounds = {"max_uses": max(settings.max_uses, 2**20), "max_actors": max(settings.max_actors, 2 * len(jobs))}
    analyzer = InteractionAnalyzer(settings.model_copy(update={"by": "job", "min_share": 0.0, **bounds}))
    machines: dict[str, int] = {}
    for space, (_, tables, hosts) in enumerate(jobs):
        analyzer.absorb(
            tables, space, [machines.setdefault(host, len(machines)) if host else _UNKNOWN for host in hosts]
        )
    return analyzer.ranking(JobNames(0, 0), [(job, "") for job, _, _ in jobs])


def _introduction(names: JobNames, info: StreamInfo, *, space: int, stream: int) -> Introduction:
    """Return the introduction of a stream: its process, parent process, and name."""
    program = program_name(info.command)
    name = names.file(text_about(COMM, program)[1]) if program else 0
    return Introduction(space, stream, info.pid, info.rank, info.parent_pid, name)
