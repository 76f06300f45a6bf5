"""A job's graph of events of many streams at once equals that of the same events stream by stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.pipeline.analysis_queue import AnalysisQueue, QueuedEvents
from iotide.analyzers.pipeline.job_graph import JobGraph
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.events import EventBatch, FileInfo, FileType, Kind, StreamInfo, make_batch
from support.jobs.analyzer_kinds import context

CALLS = ("open", "write", "close")
PATHS = ("/scratch/a/x", "/home/ann/y")
ALL = "path=/*"  # a filter that selects every event, but uses another code path
STREAMS = {
    name: StreamInfo(job="j", source="test", host=host, pid=pid, rank=rank)
    for name, host, pid, rank in (("a", "n1", 7, 0), ("b", "n1", 8, 1), ("c", "n2", 7, 0))
}


def graph_with(**settings: Any) -> JobGraph:
    names = JobNames(10, 10)
    for call in CALLS:
        names.call(call)
    for path in PATHS:
        names.file(FileInfo(path, FileType.REGULAR))
    return JobGraph(context(names, dfg=settings))


def calls(first: int, count: int, stream: str) -> EventBatch:
    numbers = np.arange(first, first + count)
    info = STREAMS[stream]
    return make_batch(
        count,
        {
            "start": 10**18 + 1000 * numbers,
            "duration": 100,
            "call": 1 + numbers * 7 % 5 % len(CALLS),
            "kind": int(Kind.WRITE),
            "file": 1 + numbers // 3 % len(PATHS),
            "bytes": numbers,
            "pid": info.pid,
            "tid": info.pid,
            "rank": info.rank,
        },
    )


def told(graph: JobGraph) -> tuple[Any, dict[str, int]]:
    return graph.graph().model_dump(), graph.losses()


PIECES = st.lists(st.tuples(st.sampled_from(sorted(STREAMS)), st.integers(1, 5)), min_size=1, max_size=12)


@pytest.mark.parametrize("case", ["stream", "rank", "host", "pid"])
@settings(deadline=None, max_examples=15)
@given(pieces=PIECES)
def test_streams_at_once_are_as_one_after_the_other(case: str, pieces: list[tuple[str, int]]) -> None:
    held, graphs = AnalysisQueue(), [graph_with(case=case, filter=chosen) for chosen in ("", ALL, "", ALL)]
    at = 0
    for stream, count in pieces:
        batch = calls(at, count, stream)
        at += count
        held.put(batch, stream, STREAMS[stream])
        for graph in graphs[2:]:
            graph.update(QueuedEvents.of(batch, stream, STREAMS[stream]))
    whole = held.since(0)
    for graph in graphs[:2]:
        graph.update(whole)
    plain, filtered, by_turns, both = map(told, graphs)
    assert plain == by_turns
    assert filtered == both
    assert plain[0]["events"] == at
    assert {**filtered[0], "filter": ""} == plain[0]


def test_a_filter_leaves_out_the_same_events_of_each_stream() -> None:
    held, graph = AnalysisQueue(), graph_with(filter=f"path={PATHS[0]}")
    for at, stream in enumerate("aba"):
        held.put(calls(6 * at, 6, stream), stream, STREAMS[stream])
    graph.update(held.since(0))
    found = graph.graph()
    assert (found.events, found.cases) == (9, 2)
    assert {node.name.partition(":")[2] for node in found.activities} == {"/scratch/a"}
    graph.update(QueuedEvents.of(calls(3, 3, "c"), "c", STREAMS["c"]))  # all of another path
    assert graph.graph() == found


@pytest.mark.parametrize("chosen", ["", ALL])
def test_a_stream_that_has_ended_is_not_the_one_that_has_its_name_next(chosen: str) -> None:
    graph = graph_with(filter=chosen)
    for again in range(3):
        graph.update(QueuedEvents.of(calls(4 * again, 4, "a"), "a", STREAMS["a"]))
        graph.close_stream("a")
        graph.close_stream("never seen")
    found = graph.graph()
    assert (found.cases, found.open_cases) == (3, 0)
    assert sum(edge.count for edge in found.edges) == 3 * 3


def test_the_top_activities_have_the_names_of_the_graph() -> None:
    graph = graph_with(mapping="call", max_activities=2)
    graph.update(QueuedEvents.of(calls(0, 50, "a"), "a", STREAMS["a"]))
    counts = {node.name: node.events for node in graph.graph().activities}
    assert {name: row.events for name, row in graph.top(10)} == counts
    assert "(other)" in counts
    assert [row.events for _, row in graph.top(10)] == sorted(counts.values(), reverse=True)
    assert len(graph.top(1)) == 1
