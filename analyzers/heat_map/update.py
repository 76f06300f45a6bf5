"""Incremental heat map of a job's I/O.

It takes batches of events, and returns a table of members and times on request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ...events import EventBatch, Kind
from ...events.batch import representatives
from ...events.summaries import busy_ns
from ...results.jobs.heat_map import HeatMap, HeatRow
from ..file_groups import DATA, READS, WRITES
from ..pipeline.analysis_queue import QueuedEvents, Run
from ..pipeline.contract import AnalyzerKind, JobContext
from .grid import BIN_NS, Grid, Ints, summed_bins
from .settings import HeatMapSettings

_MAX_PROCESSES: Final = 4096
"""Maximum number of distinct processes without a rank; all further ones count as the last."""
_MAX_DISTINGUISHED: Final = 65_536
"""Maximum number of ranks whose times are stored separately within a row."""
_AT_ONCE: Final = 8192  # events per piece
_PLANES: Final = np.full(256, 2, np.int64)
_PLANES[Kind.READ], _PLANES[Kind.WRITE] = 0, 1
_MOVES_NOTHING: Final = np.uint8(4)
_BITS: Final = np.array([READS, WRITES, _MOVES_NOTHING], np.uint8)[_PLANES]


class _Rows:
    """Rows of one kind of member: numbers from 0 on, with 2**fold neighbours per row.

    Attributes:
        spent: time of each member in calls, ns, up to the maximum number of members.
    """

    def __init__(self) -> None:
        self.fold = 0
        self.count = 0
        self.spent: Ints = np.zeros(0, np.int64)

    def add(self, member: Ints, busy: Ints) -> None:
        """Add the time of calls."""
        self.count = max(self.count, int(member.max()) + 1)
        known = min(self.count, _MAX_DISTINGUISHED)
        if known > len(self.spent):
            self.spent = np.concatenate([self.spent, np.zeros(known - len(self.spent), np.int64)])
        rows = member < known
        np.add.at(self.spent, member[rows], busy[rows])


class HeatMapAnalyzer:
    """Sums the time in calls of the program on its data. The calls have depth 0; sums are by member and time."""

    def __init__(self, context: JobContext, settings: HeatMapSettings) -> None:
        self._job = context.job
        self._names = context.names
        self._most = settings.rows
        self._grids = (Grid(), Grid())  # of ranks, of processes
        self._rows = (_Rows(), _Rows())
        self._processes: dict[tuple[str, int], int] = {}
        self._commands: list[str] = []
        self._beyond = 0

    def update(self, queued: QueuedEvents) -> None:
        """Add events."""
        run = np.broadcast_to(np.int64(0), (len(queued.batch),))
        if len(queued.runs) > 1:
            run = np.repeat(np.arange(len(queued.runs)), queued.lengths)
        for at in range(0, len(queued.batch), _AT_ONCE):  # columns that fit into the cache take half of the time
            piece = slice(at, at + _AT_ONCE)
            self._add_run(queued.batch.select(piece), queued.runs, run[piece])

    def _add_run(self, batch: EventBatch, runs: list[Run], run: Ints) -> None:
        busy = busy_ns(batch).astype(np.int64, copy=False)
        rows = self._counted_rows(batch, busy)
        if not len(rows):
            return
        start = batch.start.take(rows).astype(np.int64, copy=False)
        end = np.maximum(start + batch.duration.take(rows), start + 1)
        spent = busy.take(rows)
        plane = _PLANES.take(representatives(batch.kind))
        plane = plane.take(rows) if len(plane) == len(batch) else np.broadcast_to(plane, rows.shape)
        ranks = representatives(batch.rank)
        if len(ranks) == 1 and ranks[0] >= 0:
            self._add(0, np.broadcast_to(np.int64(ranks[0]), rows.shape), plane, start, end, spent)
            return
        rank = batch.rank.take(rows).astype(np.int64)
        if (ranks < 0).any():
            rank = np.where(rank < 0, np.array([each.info.rank for each in runs]).take(run.take(rows)), rank)
        ranked, others = np.flatnonzero(rank >= 0), np.flatnonzero(rank < 0)
        if len(ranked):
            self._add(0, rank[ranked], plane[ranked], start[ranked], end[ranked], spent[ranked])
        if len(others):
            member = self._members(batch, runs, run, rows[others])
            self._add(1, member, plane[others], start[others], end[others], spent[others])

    def close_stream(self, stream: str) -> None:
        """Do nothing."""

    def compact(self) -> None:
        """Do nothing; no events are held back."""

    def losses(self) -> dict[str, int]:
        """Return how often a process beyond the bound was counted as the last one."""
        return {"processes": self._beyond} if self._beyond else {}

    def deferred_result(self) -> Callable[[], HeatMap]:
        """Copy the sums and return a function that computes the result."""
        job, grids = self._job, [(grid.cells.copy(), grid.low, grid.used, grid.shift) for grid in self._grids]
        rows = [(each.fold, each.count, each.spent.copy()) for each in self._rows]
        names = [_process_name(*key, command) for key, command in zip(self._processes, self._commands, strict=True)]

        def result() -> HeatMap:
            return _heat_map(job, grids, rows, names)

        return result

    def _counted_rows(self, batch: EventBatch, busy: Ints) -> Ints:
        """Return the rows of calls of the program on its data. Their duration is above 0."""
        left_out, groups = self._names.left_out, self._names.groups
        ways = np.where(groups == DATA, np.uint8(0), _MOVES_NOTHING) | (left_out & np.uint8(READS | WRITES))
        ways[0] = 0  # no file, or an unknown one
        wanted = (representatives(batch.depth) == 0) & (busy > 0)
        if ways.any():
            wanted &= (
                ways.take(representatives(batch.file), mode="clip") & _BITS.take(representatives(batch.kind))
            ) == 0
        return np.flatnonzero(wanted)

    def _members(self, batch: EventBatch, runs: list[Run], run: Ints, rows: Ints) -> Ints:
        """Return the process number of each event, by host and process id."""
        pid = batch.pid.take(rows).astype(np.int64)
        key = (run.take(rows) << 32) | (pid & 0xFFFFFFFF)
        keys, first, which = np.unique(key, return_index=True, return_inverse=True)
        numbers = np.zeros(len(keys), np.int64)
        for at in np.argsort(first).tolist():
            info = runs[int(keys[at]) >> 32].info
            process = (info.host, int(pid[first[at]]) or info.pid)
            number = self._processes.get(process)
            if number is None:
                if len(self._processes) < _MAX_PROCESSES:
                    number = self._processes[process] = len(self._processes)
                    self._commands.append(info.command)
                else:
                    self._beyond += 1
                    number = _MAX_PROCESSES - 1
            if info.command and number < len(self._commands):
                self._commands[number] = info.command  # a process may execute another program
            numbers[at] = number
        members: Ints = numbers[which]
        return members

    def _add(self, kind: int, member: Ints, plane: Ints, start: Ints, end: Ints, busy: Ints) -> None:
        grid, rows = self._grids[kind], self._rows[kind]
        rows.add(member, busy)
        while (rows.count - 1) >> rows.fold >= self._most:
            grid.fold_rows(0, len(grid.cells))
            rows.fold += 1
        grid.add(member >> rows.fold, plane, start, end, busy)


def _heat_map(
    job: str,
    grids: list[tuple[Ints, int, tuple[int, int], int]],
    members: list[tuple[int, int, Ints]],
    names: list[str],
) -> HeatMap:
    """Combine ranks and processes on one time axis."""
    shift = max(each[3] for each in grids)
    spans = [
        (begin >> (shift - own), ((end - 1) >> (shift - own)) + 1) for _, _, (begin, end), own in grids if end > begin
    ]
    low, high = (min(one for one, _ in spans), max(end for _, end in spans)) if spans else (0, 0)
    made = []
    for kind, (cells, first, (begin, end), own) in enumerate(grids):
        if end == begin:
            continue
        bins = np.arange(begin, end)
        whole = summed_bins(cells[:, :, bins - first], (bins >> (shift - own)) - low, high - low)
        fold, count, spent = members[kind]
        width = 1 << fold
        for row, planes in enumerate(whole):
            if not planes.any():
                continue
            from_, to = row * width, min((row + 1) * width, count) - 1
            read, written, other = np.round(planes / 1e9, 9).tolist()
            of_each = spent[from_ : to + 1]
            most = from_ + int(of_each.argmax()) if len(of_each) else from_
            called = f"rank {most}" if kind == 0 else names[min(most, len(names) - 1)]
            name = _rank_name(from_, to) if kind == 0 else called
            if kind == 1 and to > from_:
                name += f" and {to - from_} more"
            made.append(
                HeatRow(
                    name=name,
                    members=to - from_ + 1,
                    most=called if len(of_each) else "",
                    most_seconds=float(of_each.max(initial=0)) / 1e9,
                    read=read,
                    written=written,
                    other=other,
                )
            )
    bin_s = (BIN_NS << shift) / 1e9
    return HeatMap(job=job, start_s=low * bin_s, bin_s=bin_s, members=sum(row.members for row in made), rows=made)


def _rank_name(first: int, last: int) -> str:
    return f"rank {first}" if first == last else f"ranks {first}-{last}"


def _process_name(host: str, pid: int, command: str) -> str:
    program, _, rest = command.partition(" ")
    words = f"{program.rpartition('/')[2]} {rest}".strip()
    return f"{words} ({host}:{pid})" if words and host else words or (f"{host}:{pid}" if host else f"{pid}")


def _make(context: JobContext) -> HeatMapAnalyzer | None:
    settings = context.settings_of("heatmap", HeatMapSettings)
    return HeatMapAnalyzer(context, settings) if settings.enabled else None


KIND: Final = AnalyzerKind("heatmap", _make, settings=HeatMapSettings, result=HeatMap)
