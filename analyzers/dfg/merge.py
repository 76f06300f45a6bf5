"""Union of two finished graphs, computed without their events."""

from __future__ import annotations

from collections.abc import Iterable

from ...events import ConfigError
from ...results.dfg import ActivityStats, Follows, Graph


def union_of(green: Graph, red: Graph, job: str = "") -> Graph:
    """Merge two graphs; their cases stay separate.

    Sums, shares and means are exact. The maximum concurrency is the larger of both values, a lower bound if the graphs
    overlap in time. Quantiles are unknown for activities that occur in both.

    Args:
        green: first graph.
        red: second graph, of the same mapping.
        job: name of the union.

    Raises:
        ConfigError: the mappings differ.
    """
    if green.mapping != red.mapping:
        raise ConfigError(f"graphs of the mappings {green.mapping!r} and {red.mapping!r}; expected one mapping")
    both = (green, red)
    apart = green.last_s <= red.first_s or red.last_s <= green.first_s
    seconds = sum(row.seconds for graph in both for row in graph.activities)
    activities: dict[str, ActivityStats] = {}
    for row in (row for graph in both for row in graph.activities):
        before = activities.get(row.name)
        activities[row.name] = row if before is None else _both(before, row, apart=apart)
    loads = {name: min(row.seconds / seconds, 1.0) if seconds else 0.0 for name, row in activities.items()}
    return Graph(
        job=job,
        mapping=green.mapping,
        case=green.case,
        filter=green.filter if green.filter == red.filter else "",
        cases=green.cases + red.cases,
        open_cases=green.open_cases + red.open_cases,
        activities=sorted(
            (row.model_copy(update={"load": loads[name]}) for name, row in activities.items()),
            key=lambda row: (-row.events, row.name),
        ),
        edges=_edges(edge for graph in both for edge in graph.edges),
        events=green.events + red.events,
        unmapped=green.unmapped + red.unmapped,
        dropped_activities=green.dropped_activities + red.dropped_activities,
        dropped_events=green.dropped_events + red.dropped_events,
        late_events=green.late_events + red.late_events,
        first_s=min((graph.first_s for graph in both if graph.events), default=0.0),
        last_s=max((graph.last_s for graph in both if graph.events), default=0.0),
        dropped_edges=green.dropped_edges + red.dropped_edges,
        evicted_cases=green.evicted_cases + red.evicted_cases,
    )


def _both(one: ActivityStats, other: ActivityStats, *, apart: bool) -> ActivityStats:
    sized = one.sized + other.sized
    rates = sum(row.sized * (row.rate or 0.0) for row in (one, other))
    return ActivityStats(
        name=one.name,
        events=one.events + other.events,
        seconds=one.seconds + other.seconds,
        load=0.0,
        bytes=one.bytes + other.bytes,
        sized=sized,
        rate=rates / sized if sized else None,
        max_concurrency=max(one.max_concurrency, other.max_concurrency),
        exact=one.exact and other.exact and apart,
        duration_p50_s=None,
        duration_p95_s=None,
        duration_max_s=max(one.duration_max_s, other.duration_max_s),
        cases=one.cases + other.cases,
        starts=one.starts + other.starts,
        ends=one.ends + other.ends,
        on_data=None if one.on_data is other.on_data is None else bool(one.on_data or other.on_data),
    )


def _edges(rows: Iterable[Follows]) -> list[Follows]:
    edges: dict[tuple[str, str], Follows] = {}
    for row in rows:
        before = edges.get((row.source, row.target))
        if before is not None:
            count = before.count + row.count
            gap = (before.count * before.mean_gap_s + row.count * row.mean_gap_s) / count
            row = before.model_copy(update={"count": count, "mean_gap_s": gap})
        edges[row.source, row.target] = row
    return sorted(edges.values(), key=lambda edge: (-edge.count, edge.source, edge.target))
