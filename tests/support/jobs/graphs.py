"""Directly-follows graphs built by hand."""

from __future__ import annotations

from iotide.results.dfg import ActivityStats, Follows, Graph


def activity(name: str, events: int = 10, **more: object) -> ActivityStats:
    fields: dict[str, object] = {
        "name": name, "events": events, "seconds": 0.5, "load": 0.1, "bytes": 4096 * events, "rate": 2.1e8,
        "max_concurrency": 3, "exact": True, "duration_p50_s": 0.001, "duration_p95_s": 0.002, "duration_max_s": 0.1,
        "cases": 2, "starts": 0, "ends": 0,
    }  # fmt: skip
    return ActivityStats.model_validate(fields | more)


def graph_of(activities: list[ActivityStats], edges: dict[tuple[str, str], int], **more: object) -> Graph:
    rows = [Follows(source=a, target=b, count=count, mean_gap_s=0.25) for (a, b), count in edges.items()]
    fields: dict[str, object] = {
        "job": "job 7", "mapping": "call+dirs:2", "case": "rank", "cases": 4, "open_cases": 0, "activities": activities,
        "edges": rows, "events": sum(row.events for row in activities), "unmapped": 0, "dropped_activities": 0,
        "dropped_events": 0, "late_events": 0, "first_s": 0.0, "last_s": 1.0,
    }  # fmt: skip
    return Graph.model_validate(fields | more)
