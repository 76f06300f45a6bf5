"""Incremental call statistics for advice, computed from columns of events."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag, Kind
from ...events.batch import IntArray, representatives
from ...events.programs import is_interpreter
from ...events.summaries import busy_ns, calls_in, summary_rows
from ..common.grouping import Grouping
from ..common.state import Ints, Rows
from ..file_groups import DATA
from ..pipeline.analysis_queue import QueuedEvents
from ..pipeline.contract import JobContext
from .call_sums import BETWEEN, DEEP, KIND_OF_CALL, THROUGH, TOGETHER, Table, cell_key, place_key
from .datasets import DatasetTable
from .extents import ExtentTable, Positions, jumps_of
from .gaps import gaps_and_orders, gaps_before, sizes_of
from .settings import AdviceSettings

if TYPE_CHECKING:
    from ...results.advice import Advice
    from ...results.prediction import Prediction

from .threads import Threads

CELL: Final = ("calls", "ns", "bytes")
PLACE: Final = ("calls", "ns", "bytes", "jumps", "backwards", "jump_ns", "unaligned")
_MAX_NS: Final = 2**46
"""Maximum plausible duration of a call, ns (19 hours)."""
_ORDERED: Final = np.zeros(256, np.bool_)
_ORDERED[[Kind.CREATE, Kind.SEEK, Kind.READ, Kind.WRITE]] = True


class AdviceAnalyzer:
    """Sums calls by thread, file and kind. It also analyzes the order of a job's first calls.

    Only top-level calls (depth 0) cost the program time. Nested calls are summed separately, because they show how a
    library translates requests.
    """

    def __init__(self, context: JobContext, settings: AdviceSettings) -> None:
        self._job = context.job
        self._names = context.names
        self._settings = settings
        self._threads = Threads(settings.max_threads)
        self._cells = Table(settings.max_rows, len(CELL))
        self._places = Table(settings.max_rows, len(PLACE))
        self._positions = Positions(settings.max_handles)
        self._datasets = DatasetTable(settings.max_rows)
        self._extents = ExtentTable(settings.max_extents)
        self._events = 0
        self._ordered = 0

    def update(self, queued: QueuedEvents) -> None:
        """Add events."""
        batch = queued.batch
        if not len(batch):
            return
        self._events += len(batch)
        stream = self._streams(queued)
        groups = self._names.groups
        data = groups.take(representatives(batch.file), mode="clip") == DATA
        self._sum_up(batch, stream)
        if (room := self._settings.max_ordered_calls - self._events + len(batch)) > 0 and summary_rows(batch) is None:
            self._sum_gaps(queued, stream, room)
        if self._ordered < self._settings.max_ordered_calls and summary_rows(batch) is None:
            self._put_in_order(batch, stream, np.broadcast_to(data, (len(batch),)))
        self._datasets.update(batch, stream, np.broadcast_to(data, (len(batch),)))
        if summary_rows(batch) is None:
            self._extents.update(batch, stream, self._threads, np.broadcast_to(data, (len(batch),)))

    def close_stream(self, stream: str) -> None:
        """End a stream."""
        self._extents.close_stream(self._threads.number(stream))
        self._threads.close(stream)

    def compact(self) -> None:
        """Store buffered sums and byte ranges in less memory."""
        self._cells.merge()
        self._places.merge()
        self._datasets.merge()
        self._extents.pack()

    def losses(self) -> dict[str, int]:
        """Return losses by reason: number of calls, threads, handles or extents without room."""
        losses = {
            "calls": self._cells.dropped,
            "ordered_calls": self._places.dropped,
            "dataset_calls": self._datasets.dropped,
            "threads": self._threads.beyond,
            "handles": self._positions.forgotten,
            "extents": self._extents.left_out,
        }
        return {reason: count for reason, count in losses.items() if count}

    def deferred_result(self) -> Callable[..., Advice]:
        """Copy the state and return a function that computes the advice.

        The function may run later and in another thread. Its optional arguments are a ``Prediction`` of the job's
        period and the duration of the run, s.
        """
        from .call_statistics import CallStatistics

        gaps, places = gaps_and_orders(self._places.rows())
        statistics = CallStatistics(
            job=self._job,
            events=self._events,
            settings=self._settings,
            threads=list(self._threads.known),
            files=list(self._names.files),
            cells=self._cells.rows(),
            gaps=gaps,
            places=places,
            datasets=self._datasets.rows(),
            extents=self._extents.extents(),
            flushes=self._extents.flushes(),
            losses=self.losses(),
        )

        def result(periodicity: Prediction | None = None, run_s: float | None = None) -> Advice:
            from .report import advice_of

            return advice_of(statistics, periodicity, run_s)

        return result

    def _streams(self, queued: QueuedEvents) -> Ints:
        numbers = [self._threads.stream(run.stream, run.info) for run in queued.runs]
        if len(numbers) == 1:
            return np.broadcast_to(np.int64(numbers[0]), (len(queued.batch),))
        return np.repeat(np.array(numbers, np.int64), queued.lengths)

    def _sum_up(self, batch: EventBatch, stream: Ints) -> None:
        kind = self._kinds(batch)
        alike = Grouping([stream, batch.tid, batch.file, batch.layer, kind, batch.depth, batch.flags])
        first = alike.first
        if summary_rows(batch) is None:
            counts, sums = (
                np.where(batch.flags[first] & int(Flag.BEGUN), 0, alike.counts()),
                alike.sums([batch.duration, batch.bytes]),
            )
            columns = [counts, np.maximum(sums[:, 0], 0), np.maximum(sums[:, 1], 0)]
        else:
            every = alike.sums([calls_in(batch), np.clip(busy_ns(batch), 0, _MAX_NS), batch.bytes])
            columns = [every[:, 0], every[:, 1], np.clip(every[:, 2], 0, None)]
        key, fallback = self._cell_keys(batch, stream, kind, first)
        self._cells.add(
            key,
            columns,
            batch.start[first].astype(np.int64),  # events are in order of their ends
            batch.start[alike.last] + batch.duration[alike.last],
            fallback,
        )

    def _cell_keys(self, batch: EventBatch, stream: Ints, kind: IntArray, at: Rows) -> tuple[Ints, Ints]:
        """Return the keys of some events, and those without thread and file."""
        thread = self._threads.of(stream[at], batch.tid[at], batch.pid[at], batch.rank[at])
        file = batch.file[at].astype(np.int64)
        file = np.where(file < len(self._names.groups), file, 0)
        group = self._names.groups.take(file).astype(np.int64)
        bits = np.where(batch.depth[at] > 0, DEEP, 0)
        bits |= np.where(batch.flags[at] & int(Flag.COLLECTIVE), TOGETHER, 0)
        bits |= np.where(batch.flags[at] & int(Flag.THROUGH), THROUGH, 0)
        kept = np.where(group == DATA, file, 0)
        tail = (batch.layer[at], kind[at], group, bits)
        return cell_key(thread, kept, *tail), cell_key(np.zeros_like(thread), np.zeros_like(file), *tail)

    def _sum_gaps(self, queued: QueuedEvents, stream: Ints, room: int) -> None:
        """Sum the time that may belong to calls, up to a number of calls."""
        batch = queued.batch
        interpreted = np.repeat([is_interpreter(run.info.command) for run in queued.runs], queued.lengths)
        gaps = gaps_before(batch, stream, interpreted, room)
        if not len(rows := gaps.row):
            return
        kind = self._kinds(batch)
        alike = Grouping([each[rows] for each in (stream, batch.tid, batch.file, batch.layer, kind, batch.flags)])
        sums = alike.sums([gaps.most, *sizes_of(batch.duration[rows]), gaps.sure])
        first = rows[alike.first]
        key, fallback = self._cell_keys(batch, stream, kind, first)
        start = batch.start[first].astype(np.int64)
        none = np.zeros(len(first), np.int64)
        columns = [alike.counts(), *sums.T]
        columns += [none] * (len(PLACE) - len(columns))
        self._places.add(key | BETWEEN, columns, start, start, fallback | BETWEEN)

    def _kinds(self, batch: EventBatch) -> IntArray:
        """Return the kind of each call for its key."""
        names = self._names.calls
        made = np.flatnonzero(np.bincount(representatives(batch.call))).tolist()
        special = {number: kind for number in made if (kind := KIND_OF_CALL.get(names[number]))}
        if not special:
            return batch.kind
        table = np.zeros(max(made) + 1, np.uint8)
        table[list(special)] = list(special.values())
        found = table.take(batch.call)
        return np.where(found > 0, found, batch.kind)

    def _put_in_order(self, batch: EventBatch, stream: Ints, data: npt.NDArray[np.bool_]) -> None:
        """Find the file positions of calls and sum them by thread, file and kind."""
        wanted = _ORDERED.take(batch.kind) & data & (batch.depth == 0) & (batch.file != 0)
        wanted &= (batch.flags & int(Flag.FAILED | Flag.BEGUN)) == 0
        rows: Rows = np.flatnonzero(wanted)[: self._settings.max_ordered_calls - self._ordered]
        if not len(rows):
            return
        self._ordered += len(rows)
        placed = self._positions.place(batch, rows, stream[rows])
        at = placed.row
        if not len(at):
            return
        jump, backwards = jumps_of(placed)
        size = batch.bytes[at].astype(np.int64)
        ns = np.clip(batch.duration[at], 0, _MAX_NS)
        alike = Grouping([stream[at], batch.tid[at], batch.file[at], batch.kind[at], batch.layer[at]])
        first = at[alike.first]
        stripe = self._stripes(batch.file[first].astype(np.int64))[alike.number]
        within = placed.offset % np.maximum(stripe, 1)
        # A part of a stripe that continues the previous one is no other server's or process's.
        misaligned_calls = (stripe > 0) & (size > 0) & (within != 0) & (jump | (within + size > stripe))
        flags = [each.astype(np.int64) for each in (jump, backwards)]
        sums = alike.sums([ns, size, *flags, np.where(jump, ns, 0), misaligned_calls.astype(np.int64)])
        thread = self._threads.of(stream[first], batch.tid[first], batch.pid[first], batch.rank[first])
        file, kind, layer = batch.file[first].astype(np.int64), batch.kind[first], batch.layer[first]
        self._places.add(
            place_key(thread, file, kind, layer),
            [alike.counts(), *sums.T],
            alike.least(placed.offset),
            alike.most(placed.offset + size),
            place_key(np.zeros_like(thread), np.zeros_like(file), kind, layer),
        )

    def _stripes(self, file: Ints) -> Ints:
        files = self._names.files
        stripes = [files[each].stripe_bytes if files[each].stripes > 1 else 0 for each in file.tolist()]
        return np.array(stripes, np.int64)


def make(context: JobContext) -> AdviceAnalyzer | None:
    """Create an analyzer for a job; None if disabled."""
    settings = context.settings_of("advice", AdviceSettings)
    return AdviceAnalyzer(context, settings) if settings.enabled else None
