"""The union of two graphs, computed from the graphs alone, reports the same as the graph of all their events."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.dfg.merge import union_of
from iotide.analyzers.dfg.settings import DfgSettings
from iotide.analyzers.dfg.update import DfgAnalyzer
from iotide.events import ConfigError
from iotide.results.dfg import Graph
from support.references.dfg_naive import Event, feed, logs

NAMES = [f"a{number}" for number in range(5)]


def graph_of(events: list[Event]) -> Graph:
    analyzer = DfgAnalyzer(DfgSettings(lateness_s=0))
    feed(analyzer, events)
    return analyzer.graph(NAMES)


@pytest.mark.slow
@settings(deadline=None)
@given(log=logs(), apart=st.booleans())
def test_union_is_the_graph_of_both_logs(log: list[Event], apart: bool) -> None:
    one = [event for event in log if event.case < 2]
    other = [event._replace(start=event.start + 1000 * apart) for event in log if event.case >= 2]
    union, whole = union_of(graph_of(one), graph_of(other)), graph_of(one + other)
    assert [node.name for node in union.activities] == [node.name for node in whole.activities]
    for node, exact in zip(union.activities, whole.activities, strict=True):
        assert (node.max_concurrency <= exact.max_concurrency) if not node.exact else True
        if node.exact:
            assert node.max_concurrency == exact.max_concurrency
        if node.duration_p50_s is not None:
            assert (node.duration_p50_s, node.duration_p95_s) == (exact.duration_p50_s, exact.duration_p95_s)
        same = {"max_concurrency", "exact", "duration_p50_s", "duration_p95_s", "rate", "seconds", "load"}
        assert node.model_dump(exclude=same) == exact.model_dump(exclude=same)
        assert node.rate == (None if exact.rate is None else pytest.approx(exact.rate))
        assert (node.seconds, node.load) == (pytest.approx(exact.seconds), pytest.approx(exact.load))
    if apart:
        assert all(node.exact for node in union.activities)
    assert [(edge.source, edge.target, edge.count) for edge in union.edges] == [
        (edge.source, edge.target, edge.count) for edge in whole.edges
    ]
    for edge, true in zip(union.edges, whole.edges, strict=True):
        assert edge.mean_gap_s == pytest.approx(true.mean_gap_s)
    rest = {"activities", "edges"}
    assert union.model_dump(exclude=rest) == whole.model_dump(exclude=rest)


def test_graphs_of_different_mappings_have_no_union() -> None:
    one = graph_of([])
    with pytest.raises(ConfigError, match="expected one mapping"):
        union_of(one, one.model_copy(update={"mapping": "call"}))


def test_mean_time_between_weighs_each_occurrence_alike() -> None:
    one = graph_of([Event(0, 0, 0, 0, -1), Event(0, 1, 10, 0, -1)])
    many = graph_of([Event(0, at % 2, 100 * at, 0, -1) for at in range(6)])
    (edge,) = (edge for edge in union_of(one, many).edges if (edge.source, edge.target) == ("a0", "a1"))
    assert (edge.count, edge.mean_gap_s) == (4, pytest.approx((10 + 3 * 100) / 4 / 1e9))
