"""Conversion of an analyzer's columns to the public graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ..common.state import State
from .settings import DfgSettings
from .state.concurrency import Concurrency
from .state.nodes_and_edges import Durations, Edges, Nodes
from .state.open_cases import OpenCases

if TYPE_CHECKING:
    from ...results.dfg import ActivityStats, Graph

OTHER_NAME: Final = "(other)"
_NEVER: Final = 2**62


class Counts(State):
    """Scalar counters of a graph.

    Attributes:
        events: events with an activity.
        unmapped: events without an activity.
        late: events that came too late for their position.
        highest: highest activity number so far, -1 before the first.
        first_ns: earliest start, ns.
    """

    def __init__(self) -> None:
        self.events = 0
        self.unmapped = 0
        self.late = 0
        self.highest = -1
        self.first_ns = _NEVER

    def merge(self, other: Counts, highest: int) -> None:
        """Add other counters, whose highest activity has the number ``highest`` here."""
        self.events += other.events
        self.unmapped += other.unmapped
        self.late += other.late
        self.highest = max(self.highest, highest)
        self.first_ns = min(self.first_ns, other.first_ns)


def make_graph(
    settings: DfgSettings,
    counts: Counts,
    nodes: Nodes,
    edges: Edges,
    concurrency: Concurrency,
    durations: Durations,
    cases: OpenCases,
    names: Sequence[str],
    job: str,
    newest_ns: int,
) -> Graph:
    """Create the graph from columns without pending events.

    Raises:
        ValueError: an activity has no name.
    """
    from ...results.dfg import Follows, Graph  # imported on demand, since importing results is slow

    named = min(counts.highest + 1, settings.max_activities)
    if len(names) < named:
        raise ValueError(f"activity {len(names)} has no name")
    name_of = [OTHER_NAME, *names[:named]]
    activities = _activity_stats(name_of, nodes, concurrency, durations, cases)
    follows = [
        Follows(source=name_of[source], target=name_of[target], count=count, mean_gap_s=gap / count / 1e9)
        for source, target, count, gap in zip(*(column.tolist() for column in edges.rows()), strict=True)
    ]
    return Graph(
        job=job,
        mapping=settings.mapping,
        case=settings.case,
        filter=settings.filter,
        cases=cases.opened,
        open_cases=len(cases),
        activities=sorted(activities, key=lambda node: (-node.events, node.name)),
        edges=sorted(follows, key=lambda edge: (-edge.count, edge.source, edge.target)),
        events=counts.events,
        unmapped=counts.unmapped,
        dropped_activities=max(0, counts.highest + 1 - settings.max_activities),
        dropped_events=int(nodes.events[0]),
        late_events=counts.late,
        dropped_edges=edges.dropped,
        evicted_cases=cases.evicted,
        first_s=counts.first_ns / 1e9 if counts.events else 0.0,
        last_s=newest_ns / 1e9 if counts.events else 0.0,
    )


def _activity_stats(
    name_of: Sequence[str], nodes: Nodes, concurrency: Concurrency, durations: Durations, cases: OpenCases
) -> list[ActivityStats]:
    """Return the statistics of each activity with events; open cases end with their last activity."""
    from ...results.dfg import ActivityStats  # imported on demand, since importing results is slow

    ends = nodes.ends.copy()
    np.add.at(ends, cases.last_activities(), 1)
    all_ns = float(nodes.ns.sum())
    return [
        ActivityStats(
            name=name_of[row],
            events=int(nodes.events[row]),
            seconds=float(nodes.ns[row]) / 1e9,
            load=min(float(nodes.ns[row]) / all_ns, 1.0) if all_ns else 0.0,
            bytes=int(nodes.bytes[row]),
            sized=int(nodes.timed[row]),
            rate=float(nodes.rates[row] / nodes.timed[row]) * 1e9 if nodes.timed[row] else None,
            max_concurrency=int(concurrency.most[row]),
            exact=bool(concurrency.exact[row]),
            duration_p50_s=min(median, float(nodes.longest[row])) / 1e9,
            duration_p95_s=min(most, float(nodes.longest[row])) / 1e9,
            duration_max_s=float(nodes.longest[row]) / 1e9,
            cases=int(nodes.cases[row]),
            starts=int(nodes.starts[row]),
            ends=int(ends[row]),
        )
        for row in np.flatnonzero(nodes.events).tolist()
        for median, most in (durations.quantiles(row, (0.5, 0.95)),)
    ]
