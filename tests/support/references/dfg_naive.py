"""Slow, obvious references of the directly-follows graph, one event at a time."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from iotide.analyzers.dfg.update import DfgAnalyzer


class Event(NamedTuple):
    case: int
    activity: int
    start: int
    duration: int
    size: int

    @property
    def end(self) -> int:
        return self.start + self.duration


@dataclass
class Naive:
    """The directly-follows graph by its definition in the paper."""

    nodes: Counter[int] = field(default_factory=Counter)
    edges: Counter[tuple[int, int]] = field(default_factory=Counter)
    gaps: defaultdict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    starts: Counter[int] = field(default_factory=Counter)
    ends: Counter[int] = field(default_factory=Counter)
    cases_of: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))


def directly_follows(events: Sequence[Event]) -> Naive:
    """Build the graph of events that all have an activity."""
    graph = Naive()
    for case in {event.case for event in events}:
        trace = sorted((event for event in events if event.case == case), key=lambda event: event.start)
        graph.starts[trace[0].activity] += 1
        graph.ends[trace[-1].activity] += 1
        for event in trace:
            graph.nodes[event.activity] += 1
            graph.cases_of[event.activity].add(case)
        for before, after in itertools.pairwise(trace):
            graph.edges[before.activity, after.activity] += 1
            graph.gaps[before.activity, after.activity] += after.start - before.end
    return graph


def most_at_once(events: Sequence[Event]) -> dict[int, int]:
    """Return the largest number of events per activity that run at the start of one of them."""
    most: dict[int, int] = {}
    for activity in {event.activity for event in events}:
        runs = [(event.start, max(event.end, event.start + 1)) for event in events if event.activity == activity]
        most[activity] = max(sum(start <= at < end for start, end in runs) for at, _ in runs)
    return most


def feed(analyzer: DfgAnalyzer, events: Sequence[Event]) -> None:
    """Feed events to an analyzer in one batch."""
    columns = np.array(events, np.int64).reshape(-1, 5).T
    analyzer.update(columns[0], columns[1].astype(np.int32), columns[2], columns[3], columns[4])


@st.composite
def logs(
    draw: st.DrawFn,
    *,
    max_size: int = 60,
    cases: int = 4,
    activities: int = 5,
    span: int = 200,
    sequential: bool = False,
) -> list[Event]:
    """Draw events with distinct starts, in order; with ``sequential`` events of one case do not overlap."""
    starts = sorted(draw(st.lists(st.integers(0, span), unique=True, max_size=max_size)))
    events: list[Event] = []
    for at, start in enumerate(starts):
        later = starts[at + 1] - start if at + 1 < len(starts) else span
        events.append(
            Event(
                draw(st.integers(0, cases - 1)),
                draw(st.integers(0, activities - 1)),
                start,
                draw(st.integers(0, later if sequential else span // 3)),
                draw(st.integers(-1, 1000)),
            )
        )
    return events
