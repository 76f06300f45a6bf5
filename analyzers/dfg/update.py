"""Incremental directly-follows graph of one job, computed from columns of events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ...events.batch import IntArray
from ..common.sorting import grouped, is_among, order_of
from ..common.state import Ints, Rows, distinct
from . import compiled
from .graph import Counts, make_graph
from .settings import DfgSettings
from .state.concurrency import Concurrency
from .state.nodes_and_edges import Durations, Edges, Nodes
from .state.open_cases import NOTHING, OpenCases
from .state.reorder_buffer import Events, ReorderBuffer

if TYPE_CHECKING:
    from ...results.dfg import Graph

OTHER: Final = 0
"""Row of activities beyond the bound; activity ``a`` has row ``a + 1``."""
_NARROWEST: Final = 8  # initial number of activity rows
_LONGEST_NS: Final = 2**53  # maximum plausible duration, ns
_LATEST_NS: Final = 2**61  # maximum plausible time, ns
_MIN_AT_ONCE: Final = 512  # minimum number of events placed at once
_MAX_AT_ONCE: Final = 16_384  # maximum number of events placed at once
_SHARE_AT_ONCE: Final = 16  # divisor of the events so far: small jobs buffer few events
_RENAMED: Final = -(2**63)  # first id of ended cases with waiting events


class ActivityRow(NamedTuple):
    """Sums of one activity; -1 for activities beyond the bound."""

    activity: int
    events: int
    seconds: float
    bytes: int


class DfgAnalyzer:
    """Counts directly-following activities per case, with statistics ([DFG]).

    Events wait in a buffer until their start is ``lateness_s`` before the newest end, and are then sorted by case and
    start, many at a time. Events of equal start keep their order of arrival. A graph includes events that still wait.
    An event that starts before an already placed event of its case is late: it is counted in the statistics and as
    late, but not in the edges.

    Memory is independent of the number of events. Every bound is a setting with a counter of its cost.
    """

    def __init__(self, settings: DfgSettings) -> None:
        self._settings = settings
        self._counts = Counts()
        self._closing: list[int] = []
        self._renamed = 0
        self._due = _MIN_AT_ONCE
        self._pending = ReorderBuffer()
        self._parts = _Parts.make(settings, _NARROWEST)

    @property
    def events(self) -> int:
        """Number of added events with an activity."""
        self._process_buffered()
        return self._counts.events

    @property
    def waiting(self) -> int:
        """Number of events not yet placed."""
        self._process_buffered()
        return len(self._pending)

    def update(
        self,
        case: npt.ArrayLike,
        activity: IntArray,
        start: IntArray,
        duration: IntArray,
        size: IntArray,
    ) -> None:
        """Add events in arrays of shape (n,). Events of equal start follow one another in this order.

        Args:
            case: case of each event, or of all, int64; above -2**62.
            activity: activity numbers from 0 in order of appearance; -1 for events dropped by the mapping.
            start: start times, ns.
            duration: durations, ns.
            size: sizes, bytes; -1 for events without a size.
        """
        count = len(activity)
        if count <= _MAX_AT_ONCE:
            self._put(case, activity, start, duration, size)
            return
        cases = np.asarray(case, np.int64)
        for at in range(0, count, _MAX_AT_ONCE):
            rows = slice(at, at + _MAX_AT_ONCE)
            self._put(cases[rows] if cases.ndim else cases, activity[rows], start[rows], duration[rows], size[rows])

    def close_case(self, case: int) -> None:
        """End a case: its last activity gets an edge to the end marker.

        A later event of the same case opens a new one.
        """
        if not self._pending.held:
            self._end(case)
            return
        self._renamed += 1
        self._process_buffered()
        name = _RENAMED + self._renamed  # distinguishes later events under the same id from waiting ones
        waits = self._pending.rename(case, name)
        self._parts.cases.rename(case, name)
        if waits:
            self._closing.append(name)
        else:
            self._end(name)

    def compact(self) -> None:
        """Place all waiting events and free memory, for a job without activity."""
        self._place(None)
        self._pending.fit()

    def top(self, number: int) -> list[ActivityRow]:
        """Return the activities with the most events, then seconds; cheaper than a graph."""
        self._process_buffered()
        nodes, waiting = self._parts.nodes, self._pending.events
        rows = self._rows(waiting.activity)
        width = max(len(nodes.events), int(rows.max(initial=0)) + 1)
        columns = (np.bincount(rows, minlength=width), np.bincount(rows, waiting.duration, minlength=width))
        events, ns, moved = columns[0], columns[1].astype(np.float64), np.zeros(width, np.int64)
        np.add.at(moved, rows, np.maximum(waiting.size, 0))
        used = len(nodes.events)
        events[:used] += nodes.events
        ns[:used] += nodes.ns
        moved[:used] += nodes.bytes
        order = np.lexsort((np.arange(width), -ns, -events))[:number]
        return [
            ActivityRow(int(row) - 1, int(events[row]), float(ns[row]) / 1e9, int(moved[row]))
            for row in order
            if events[row]
        ]

    def losses(self) -> dict[str, int]:
        """Return losses by reason: number of events, edge occurrences, or cases."""
        return {
            "late_events": self._counts.late,
            "other_activities": int(self._parts.nodes.events[OTHER]),
            "rare_edges": self._parts.edges.dropped,
            "evicted_cases": self._parts.cases.evicted,
        }

    def graph(self, names: Sequence[str], job: str = "") -> Graph:
        """Return the graph as if all cases ended now.

        Args:
            names: activity names by number.
            job: name of the graph.
        """
        self._process_buffered()
        whole = DfgAnalyzer.restore(self._settings, self.snapshot()) if len(self._pending) or self._closing else self
        whole._place(None)
        parts = whole._parts
        return make_graph(
            whole._settings, whole._counts, parts.nodes, parts.edges, parts.concurrency, parts.durations, parts.cases,
            names, job, whole._pending.newest,
        )  # fmt: skip

    def merge(self, other: DfgAnalyzer, activities: Sequence[int] | None = None) -> None:
        """Add another graph, as if its events were in separate, finished cases.

        If events of one activity overlap in time, its maximum concurrency is a lower bound from then on.

        Args:
            other: graph of the same mapping; it is not changed.
            activities: number here of each of the other's activities; by default the numbering is the same.
        """
        theirs = DfgAnalyzer.restore(other._settings, other.snapshot())
        theirs._place(None)
        self._place(None)
        highest = theirs._counts.highest
        numbers = np.arange(highest + 1) if activities is None else np.asarray(activities[: highest + 1], np.int64)
        if len(numbers) <= highest:
            raise ValueError(f"activity {len(numbers)} of the other graph has no number here")
        width = len(theirs._parts.nodes.events)
        self._counts.merge(theirs._counts, int(numbers.max(initial=-1)))
        rows = np.zeros(width, np.intp)
        named = min(highest + 1, width - 1)
        rows[1 : named + 1] = self._rows(numbers[:named])
        self._grow(int(rows.max()) + 1)
        self._parts.merge(theirs._parts, rows)
        self._pending.newest = max(self._pending.newest, theirs._pending.newest)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data: dicts, lists, numbers and arrays."""
        self._process_buffered()
        return {
            "counts": self._counts.snapshot(),
            "closing": list(self._closing),
            "renamed": self._renamed,
            "due": self._due,
            "pending": self._pending.snapshot(),
            **{name: part.snapshot() for name, part in self._parts._asdict().items()},
        }

    @classmethod
    def restore(cls, settings: DfgSettings, data: dict[str, Any]) -> Self:
        """Create an analyzer that continues from a snapshot with the same settings."""
        made = cls.__new__(cls)
        made._settings = settings
        made._counts = Counts.restore(data["counts"])
        made._closing, made._renamed, made._due = list(data["closing"]), data["renamed"], data["due"]
        made._pending = ReorderBuffer.restore(data["pending"])
        made._parts = _Parts(
            nodes=Nodes.restore(data["nodes"]),
            edges=Edges.restore(data["edges"]),
            concurrency=Concurrency.restore(data["concurrency"]),
            durations=Durations.restore(data["durations"]),
            cases=OpenCases.restore(data["cases"]),
        )
        return made

    def _put(
        self, case: npt.ArrayLike, activity: IntArray, start: IntArray, duration: IntArray, size: IntArray
    ) -> None:
        if self._pending.put(case, activity, start, duration, size) >= self._due:
            self._process_buffered()
            self._place(self._pending.newest - int(self._settings.lateness_s * 1e9))

    def _process_buffered(self) -> None:
        """Count buffered new events and accept those with an activity.

        It accepts many at a time, since each pass is costly.
        """
        new = self._pending.new
        if not len(new.start):
            return
        counts, mapped = self._counts, None
        if new.activity.min() < 0:
            mapped = np.flatnonzero(new.activity >= 0)
            counts.unmapped += len(new.activity) - len(mapped)
            if not len(mapped):
                self._pending.accept(mapped)
                return
        if new.start.min() < -_LATEST_NS or new.start.max() > _LATEST_NS:
            np.clip(new.start, -_LATEST_NS, _LATEST_NS, out=new.start)
        if new.duration.min() < 0 or new.duration.max() > _LONGEST_NS:
            np.clip(new.duration, 0, _LONGEST_NS, out=new.duration)
        starts = new.start if mapped is None else new.start[mapped]
        counts.events += len(starts)
        counts.highest = max(counts.highest, int(new.activity.max()))
        counts.first_ns = min(counts.first_ns, int(starts.min()))
        self._pending.accept(mapped)

    def _rows(self, activity: IntArray) -> Rows:
        rows = activity.astype(np.intp)
        rows += 1
        if self._counts.highest >= self._settings.max_activities:
            rows[rows > self._settings.max_activities] = OTHER
        return rows

    def _grow(self, width: int) -> None:
        before = len(self._parts.nodes.events)
        if width > before:
            most = self._settings.max_activities + 1
            for part in self._parts:
                part.grow(max(width, min(2 * before, most)))

    def _place(self, until_ns: int | None) -> None:
        """Add waiting events that start up to a time, or all, to the graph."""
        self._process_buffered()
        if len(self._pending):
            if until_ns is None:
                events = self._pending.take(2 * _LATEST_NS, 0)
            else:
                events = self._pending.take(until_ns, self._settings.max_held // 2)
            at_once = min(max(self._counts.events // _SHARE_AT_ONCE, _MIN_AT_ONCE), _MAX_AT_ONCE)
            self._due = min(max(at_once, 2 * len(self._pending)), self._settings.max_held)
            if len(events.start):
                self._add(events)
            if at_once < _MAX_AT_ONCE:
                self._pending.fit()
        if self._closing:
            waits = is_among(np.array(self._closing, np.int64), self._pending.events.case)
            for case in [case for case, still in zip(self._closing, waits, strict=True) if not still]:
                self._end(case)
            self._closing = [case for case, still in zip(self._closing, waits, strict=True) if still]

    def _end(self, case: int) -> None:
        if (last := self._parts.cases.close(case)) != NOTHING:
            self._parts.nodes.ends[last] += 1

    def _add(self, events: Events) -> None:
        rows = self._rows(events.activity)
        self._grow(int(rows.max()) + 1)
        parts = self._parts
        times = (events.start, events.duration)
        fast = compiled.library(len(rows))
        if fast is not None:
            compiled.tally(fast, parts.nodes, parts.durations, rows, *times, events.size)
        if fast is None or not compiled.sweep(fast, parts.concurrency, rows, *times):
            groups = grouped(rows, *times, events.size)
            parts.concurrency.add(groups)
            if fast is None:
                parts.nodes.add(groups)
                parts.durations.add(groups)
        found, group = distinct(events.case)
        slots = parts.cases.slots(found)
        of_events = slots if len(slots) == 1 else slots.take(group)
        if fast is None or not compiled.follow(fast, parts.nodes, parts.edges, parts.cases, of_events, rows, *times):
            new = parts.cases.note(slots.take(group), rows)
            parts.nodes.cases += np.bincount(new, minlength=len(parts.nodes.cases))
            self._follow(slots, group, rows, events.start, events.start + events.duration)
        np.add.at(parts.nodes.ends, parts.cases.evict(), 1)

    def _follow(self, slots: Rows, group: Rows, activity: Rows, start: Ints, end: Ints) -> None:
        """Count the edges of events of several cases; ``group`` is each event's index into ``slots``."""
        cases, nodes = self._parts.cases, self._parts.nodes
        lengths = np.bincount(group, minlength=len(slots))
        heads = np.cumsum(lengths) - lengths
        if len(slots) > 1:
            order = order_of(group, len(slots))
            activity, start, end = activity.take(order), start.take(order), end.take(order)
        back = start[1:] < start[:-1]
        back[heads[1:] - 1] = False
        if back.any():
            order = np.lexsort((start, np.repeat(np.arange(len(slots)), lengths)))
            activity, start, end = activity.take(order), start.take(order), end.take(order)
        if (start[heads] < cases.last_start[slots]).any():
            in_time = start >= np.repeat(cases.last_start[slots], lengths)
            self._counts.late += len(start) - int(np.count_nonzero(in_time))
            if not in_time.any():
                return
            lengths = np.add.reduceat(in_time, heads, dtype=np.intp)
            slots, lengths = slots[lengths > 0], lengths[lengths > 0]
            heads = np.cumsum(lengths) - lengths
            activity, start, end = activity[in_time], start[in_time], end[in_time]
        before, gap = np.empty_like(activity), np.empty_like(start)
        before[1:], before[heads] = activity[:-1], cases.last[slots]
        gap[1:], gap[heads] = end[:-1], cases.last_end[slots]
        np.subtract(start, gap, out=gap)
        first = heads[cases.last[slots] == NOTHING]
        np.add.at(nodes.starts, activity[first], 1)
        if len(first):
            inner = np.ones(len(before), np.bool_)
            inner[first] = False
            self._parts.edges.add(before[inner], activity[inner], gap[inner])
        else:
            self._parts.edges.add(before, activity, gap)
        tails = np.append(heads[1:], len(start)) - 1
        cases.last[slots], cases.last_start[slots], cases.last_end[slots] = activity[tails], start[tails], end[tails]


class _Parts(NamedTuple):
    nodes: Nodes
    edges: Edges
    concurrency: Concurrency
    durations: Durations
    cases: OpenCases

    @classmethod
    def make(cls, settings: DfgSettings, width: int) -> Self:
        return cls(
            nodes=Nodes(width),
            edges=Edges(settings.max_edges, width),
            concurrency=Concurrency(width),
            durations=Durations(width),
            cases=OpenCases(settings.max_cases, width),
        )

    def merge(self, other: _Parts, rows: Rows) -> None:
        """Add parts without pending events; their activity ``a`` is ``rows[a]`` here."""
        first, last = np.full(len(self.nodes.first), 2**62), np.full(len(self.nodes.first), -(2**62))
        np.minimum.at(first, rows, other.nodes.first)
        np.maximum.at(last, rows, other.concurrency.last_ns())
        disjoint = (self.concurrency.last_ns() <= first) | (last <= self.nodes.first)
        # activities that share a row may overlap among themselves
        disjoint[OTHER] &= np.count_nonzero(other.nodes.events[rows == OTHER]) <= 1
        self.nodes.merge(other.nodes, rows)
        self.edges.merge(other.edges, rows)
        self.concurrency.merge(other.concurrency, rows, disjoint)
        self.durations.merge(other.durations, rows)
        np.add.at(self.nodes.ends, rows[other.cases.last_activities()], 1)
        self.cases.opened += other.cases.opened
        self.cases.evicted += other.cases.evicted
