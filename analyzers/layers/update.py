"""Incremental layer analysis of one job, computed from columns of events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np

from ...events import EventBatch, FileInfo, Flag, StreamInfo
from ...events.batch import IntArray, is_constant, representatives
from ..common.grouping import Grouping
from ..common.sorting import is_among
from ..common.state import Ints
from .calls import FREE, PROGRAM, UNTOLD, Calls, joined, no_calls, summed_up
from .intake.event_conversion import BatchBuffer, BufferedEvents, calls_of, clamped
from .intake.leaf_aggregation import LeafAggregator, nodes_of
from .intake.nesting import nest, with_summaries_placed
from .settings import LayersSettings
from .state.arrivals import Arrivals, Sites
from .state.call_tables import CallTables, split_named
from .state.handles import Handles
from .state.registries import Files, Processes
from .state.timeline import Timeline, operation_of

_MIN_AT_ONCE: Final = 1024  # minimum number of calls processed at once
_MAX_CLOSING: Final = 256  # maximum number of ended streams that wait
_MAX_AT_ONCE: Final = 65_536  # limit of ``Sums.add``
_SHARE_AT_ONCE: Final = 16  # divisor of the events so far: small jobs buffer few events


class LayerAnalyzer:
    """Separates calls by the layer that made them ([Layers]).

    The exclusive time of a call is its duration less that of the calls directly nested in it. The enclosing calls are
    known when they have ended; until then a call waits. If too many calls wait, equal ones are summed. A report counts
    waiting calls as made by the program. Events of one thread should be in order of their ends.

    Memory is independent of the number of events. Every bound is a setting with a counter of its cost.
    """

    def __init__(self, settings: LayersSettings) -> None:
        self.settings = settings
        self.events = 0
        self.first_ns = 0
        self.last_ns = 0
        self.orphans = 0
        self.unenclosed = 0
        self.clipped = 0
        self.without_handle = 0
        self.summaries = 0
        self.deepest = 0
        self.processes = Processes(settings.max_processes)
        self.files = Files(settings.max_files, settings.rule)
        self.handles = Handles(settings.max_nodes, settings.max_handles)
        self.sites = Sites()
        self.arrivals = Arrivals(settings.max_rounds)
        self.tables = CallTables.make(settings)
        self.timeline = Timeline(settings.max_marks)
        self._new = BatchBuffer()
        self._closing: dict[str, int] = {}
        self._pids: dict[str, int] = {}
        self._known: Sequence[FileInfo] = ()
        self._waiting = no_calls()

    @property
    def waiting(self) -> int:
        """Number of calls whose enclosing call has not ended yet."""
        self._process_buffered()
        return int(self._waiting.count.sum())

    def update(self, batch: EventBatch, stream: str, info: StreamInfo, files: Sequence[FileInfo]) -> None:
        """Add events of a stream.

        Args:
            batch: events in the job's numbering.
            stream: stream id.
            info: introduction of the stream.
            files: files by the job's numbers, the same for all streams.
        """
        self.update_parts([(batch, stream, info)], files)

    def update_parts(self, parts: Sequence[tuple[EventBatch, str, StreamInfo]], files: Sequence[FileInfo]) -> None:
        """Add events of several streams, which are processed together: each pass is costly."""
        self._known = files
        for batch, stream, info in parts:
            self._put(batch, stream, info)
        if len(self._new) >= min(max(self.events // _SHARE_AT_ONCE, _MIN_AT_ONCE), _MAX_AT_ONCE):
            self._process_buffered()

    def _put(self, batch: EventBatch, stream: str, info: StreamInfo) -> None:
        if stream not in self._pids:
            self._pids[stream] = info.pid
            if info.pid and info.pid in self._closing.values():  # a pid in use again is another process
                self._process_buffered()
        at = 0
        while at < len(batch):
            room = _MAX_AT_ONCE - len(self._new)
            part = batch if not at and len(batch) <= room else batch.select(slice(at, at + room))
            at += len(part)
            self._new.put(part, stream, info)
            if len(self._new) >= _MAX_AT_ONCE:
                self._process_buffered()

    def close_stream(self, stream: str) -> None:
        """End a stream. Calls without an observed end of their enclosing call count as the program's."""
        self._closing[stream] = self._pids.pop(stream, 0)
        # each pass is costly, and jobs of many short processes end streams often
        if len(self._closing) >= _MAX_CLOSING:
            self._process_buffered()

    def compact(self) -> None:
        """Process buffered events and free memory, for a job without activity."""
        self._process_buffered()
        if len(self._waiting):
            self._waiting = summed_up(self._waiting)

    def closed(self) -> LayerAnalyzer:
        """Return a copy in which every call has ended."""
        copy = LayerAnalyzer.restore(self.settings, self.snapshot())
        copy._release(np.ones(len(copy._waiting), np.bool_), count=False)
        return copy

    def losses(self) -> dict[str, int]:
        """Return losses by reason: number of calls, or handles."""
        tables = self.tables
        return {
            "processes": max(0, self.processes.serials + 1 - len(self.processes.known)),
            "files": self.files.overflowed,
            "file_rows": tables.files.dropped,
            "nodes": self.handles.folded,
            "process_nodes": tables.nodes.dropped,
            "handles": self.handles.forgotten,
            "collectives": tables.sites.dropped,
            "rounds": self.arrivals.lost,
            "calls": tables.named.dropped,
            "orphans": self.orphans,
            "unenclosed": self.unenclosed,
            "clipped": self.clipped,
        }

    def merge(self, other: LayerAnalyzer, calls: Sequence[int] | None = None) -> None:
        """Add another part of the same job. Its processes are separate, and files are matched by path.

        Args:
            other: other part; it is not changed, and its waiting calls count as made by the program.
            calls: number here of each of the other's calls; by default the numbering is the same.
        """
        self._process_buffered()
        theirs = other.closed()
        named = split_named(theirs.tables.named.rows()[0])[-1]
        most = max(int(named.max(initial=0)), *theirs.handles.calls, *theirs.sites.calls, *theirs.arrivals.calls)
        numbers = np.arange(most + 1) if calls is None else np.asarray(calls, np.int64)
        processes = self.processes.merge(theirs.processes)
        files, classes = self.files.merge(theirs.files)
        nodes = self.handles.merge(theirs.handles, numbers, classes, self.files.class_groups)
        sites = self.sites.merge(theirs.sites, numbers, classes)
        self.arrivals.merge(theirs.arrivals, numbers, files, classes, processes)
        self.tables.merge(theirs.tables, processes, files, nodes, sites, numbers)
        self.timeline.merge(theirs.timeline, nodes)
        if theirs.events:
            self.first_ns = min(self.first_ns, theirs.first_ns) if self.events else theirs.first_ns
            self.last_ns = max(self.last_ns, theirs.last_ns) if self.events else theirs.last_ns
        self.deepest = max(self.deepest, theirs.deepest)
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(theirs, name))

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data: dicts, lists, numbers, texts and arrays."""
        self._process_buffered()
        return {
            "pids": dict(self._pids),
            "counts": {name: getattr(self, name) for name in (*_COUNTS, "first_ns", "last_ns", "deepest")},
            "waiting": {name: column.copy() for name, column in self._waiting.columns().items()},
            "processes": self.processes.snapshot(),
            "files": self.files.snapshot(),
            "handles": self.handles.snapshot(),
            "sites": self.sites.snapshot(),
            "arrivals": self.arrivals.snapshot(),
            "timeline": self.timeline.snapshot(),
            "tables": {name: table.snapshot() for name, table in self.tables._asdict().items()},
        }

    @classmethod
    def restore(cls, settings: LayersSettings, data: dict[str, Any]) -> Self:
        """Create an analyzer that continues from a snapshot with the same settings."""
        made = cls(settings)
        for name, value in data["counts"].items():
            setattr(made, name, value)
        made._waiting = Calls(**{name: column.copy() for name, column in data["waiting"].items()})
        made._pids = dict(data["pids"])
        made.processes = Processes.restore(data["processes"])
        made.files = Files.restore(data["files"])
        made.handles = Handles.restore(data["handles"])
        made.sites = Sites.restore(data["sites"])
        made.arrivals = Arrivals.restore(data["arrivals"])
        made.timeline = Timeline.restore(data["timeline"])
        made.tables = CallTables(**{name: type(table).restore(data["tables"][name])
                                for name, table in made.tables._asdict().items()})  # fmt: skip
        return made

    def _take(self) -> BufferedEvents:
        batch, serial, host = self._new.take(self.processes, self.files)
        batch, clipped = clamped(batch)
        first, last = int(batch.start.min()), int(batch.end.max())
        self.first_ns = min(self.first_ns, first) if self.events else first
        self.last_ns = max(self.last_ns, last) if self.events else last
        self.events += len(batch)
        self.clipped += clipped
        self.without_handle += len(batch) - _non_zero(batch.handle)
        self.summaries += _non_zero(batch.flags, Flag.AGGREGATE)
        self.deepest = max(self.deepest, int(representatives(batch.depth).max()))
        return BufferedEvents(batch, serial, host)

    def _calls(self, batch: EventBatch, serial: Ints, host: Ints, count: Ints | None = None) -> Calls:
        file = self.files.of(batch.file, host, self._known, count)
        return with_summaries_placed(calls_of(batch, serial, self.processes.row_of(serial), file))

    def _process_buffered(self) -> None:
        """Process buffered calls, many at a time since each pass is costly."""
        if self._new:
            self._process_new()
        if self._closing:
            closing, self._closing = self._closing, {}
            serials = np.array([serial for stream in closing for serial in self.processes.close(stream)], np.int64)
            ended = is_among(self._waiting.serial, serials)
            if ended.any():
                self._release(ended)
            self.handles.close(serials)
            self.arrivals.close(serials)

    def _process_new(self) -> None:
        batch, serial, host = self._take()
        together = representatives(batch.depth).any() or (representatives(batch.flags) & _NOT_ALIKE).any()
        if len(self._waiting) or together:
            self._nest(self._calls(batch, serial, host))
        else:
            self._add_unnested(batch, serial, host)

    def _add_unnested(self, batch: EventBatch, serial: Ints, host: Ints) -> None:
        """Count calls without nesting; equal ones at once."""
        handle = nodes_of(batch, serial, lambda first: self._place(batch.select(first), serial[first], host[first]))
        alike = LeafAggregator(batch, serial, handle)
        rows = alike.rows
        calls = alike.summed(self._calls(batch.select(rows), serial[rows], host[rows], alike.counts))
        file_class, group = self.files.class_of(calls.file), self.files.group_of(calls.file)
        node = handle[rows]
        paths = np.flatnonzero(node < 0)
        if len(paths):
            node[paths] = self.handles.of(calls.take(paths), file_class[paths], self.files.class_groups)
        self.tables.add(calls, node, self.sites.of(calls, file_class), group)
        sized = alike.by_size(calls, Grouping([calls.layer, calls.kind, group, calls.begun]).number)
        self.tables.add_sizes(sized, self.files.group_of(sized.file))
        operation = operation_of(calls.kind)
        rows, columns = alike.by_step(self.timeline.kind_of(node, operation), self.timeline.step_ns)
        self.timeline.add(node[rows], operation[rows], *columns)

    def _place(self, batch: EventBatch, serial: Ints, host: Ints) -> Ints:
        """Return the nodes of handles from their first events, which are counted elsewhere."""
        calls = self._calls(batch, serial, host, np.zeros(len(batch), np.int64))
        return self.handles.of(calls, self.files.class_of(calls.file), self.files.class_groups)

    def _nest(self, new: Calls) -> None:
        nested = nest(joined([self._waiting, new]))
        self.orphans += nested.orphans
        if nested.closed.all():
            self._waiting = no_calls()
            self._add(nested.calls)
            return
        self._waiting = nested.calls.take(~nested.closed)
        self._add(nested.calls.take(nested.closed))
        if len(self._waiting) > self.settings.max_waiting // 2:
            self._waiting = summed_up(self._waiting)
            excess = len(self._waiting) - self.settings.max_waiting // 2
            if excess > 0:
                oldest = np.zeros(len(self._waiting), np.bool_)
                oldest[np.argsort(self._waiting.end, kind="stable")[:excess]] = True
                self._release(oldest)

    def _release(self, rows: Ints | Any, *, count: bool = True) -> None:
        """Count waiting calls as made by the program."""
        calls = self._waiting.take(rows)
        self._waiting = self._waiting.take(~rows)
        calls.over[calls.over == UNTOLD] = PROGRAM
        calls.depth[:] = FREE
        if count:
            self.unenclosed += int(calls.count.sum())
        self._add(calls)

    def _add(self, calls: Calls) -> None:
        if not len(calls):
            return
        kind = self.files.class_of(calls.file)
        node = self.handles.of(calls, kind, self.files.class_groups)
        self.arrivals.add(calls, kind)
        group = self.files.group_of(calls.file)
        self.tables.add(calls, node, self.sites.of(calls, kind), group)
        self.tables.add_sizes(calls, group)
        moved = np.where((calls.around >> calls.layer) & 1 == 0, calls.bytes, 0)
        self.timeline.add(node, operation_of(calls.kind), calls.start, calls.end, calls.count, calls.ns, moved)


def _non_zero(column: IntArray, bits: int | None = None) -> int:
    """Return the number of values with any of the bits set, or non-zero. A constant column is tested once."""
    values = representatives(column)
    found = int(np.count_nonzero(values if bits is None else values & int(bits)))
    return found * len(column) if is_constant(column) else found


_NOT_ALIKE: Final = int(Flag.COLLECTIVE | Flag.SPREAD)
_COUNTS: Final = ("events", "orphans", "unenclosed", "clipped", "without_handle", "summaries")
