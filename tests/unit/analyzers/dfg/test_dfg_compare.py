"""Comparison of graphs: sides, differences and the distance, by hand and by the axioms of a distance."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.dfg.compare import compare, distance, outlier
from iotide.events import ConfigError
from iotide.results.dfg import ActivityStats, Follows, Graph


def activity(name: str, **given: object) -> ActivityStats:
    plain: dict[str, object] = {
        "events": 1, "seconds": 1.0, "load": 0.0, "bytes": 0, "rate": None, "max_concurrency": 1, "exact": True,
        "duration_p50_s": 1.0, "duration_p95_s": 1.0, "duration_max_s": 1.0, "cases": 1, "starts": 0, "ends": 0,
    }  # fmt: skip
    return ActivityStats.model_validate({"name": name, **plain, **given})


def graph(activities: list[ActivityStats], edges: dict[tuple[str, str], int], mapping: str = "call") -> Graph:
    return Graph(
        mapping=mapping,
        case="stream",
        cases=1,
        open_cases=0,
        activities=activities,
        edges=[Follows(source=a, target=b, count=count, mean_gap_s=0.0) for (a, b), count in edges.items()],
        events=sum(row.events for row in activities),
        unmapped=0,
        dropped_activities=0,
        dropped_events=0,
        late_events=0,
        first_s=0.0,
        last_s=1.0,
    )


GREEN = graph(
    [
        activity("open", events=2, load=0.25, starts=2),
        activity("read", events=4, load=0.75, bytes=4000, rate=200.0, ends=2),
    ],
    {("open", "read"): 2, ("read", "read"): 2},
)
RED = graph(
    [
        activity("open", events=2, load=0.5, starts=2),
        activity("write", events=2, load=0.5, bytes=1000, rate=50.0, ends=1),
        activity("read", events=1, load=0.0, rate=100.0, ends=1),
    ],
    {("open", "write"): 2, ("write", "read"): 1},
)


def test_sides_and_differences_are_those_worked_out_by_hand() -> None:
    found = compare(GREEN, RED, "a", "b")
    assert (found.green, found.red, found.mapping) == ("a", "b", "call")
    nodes = {row.name: row for row in found.nodes}
    assert [row.name for row in found.nodes] == ["read", "write", "open"]
    assert {name: row.side for name, row in nodes.items()} == {"open": "both", "read": "both", "write": "red"}
    read = nodes["read"]
    assert (read.load_difference, read.bytes_difference, read.events_difference, read.rate_ratio) == (
        0.75,
        4000,
        3,
        2.0,
    )
    assert (nodes["write"].green, nodes["write"].bytes_difference, nodes["write"].rate_ratio) == (None, -1000, None)
    edges = {(row.source, row.target): row for row in found.edges}
    # green: 2 starts, 2 + 2 edges, 2 ends = 8; red: 2 starts, 2 + 1 edges, 2 ends = 7
    assert edges["(start)", "open"].share_difference == pytest.approx(2 / 8 - 2 / 7)
    assert (edges["open", "read"].side, edges["open", "read"].green, edges["open", "read"].red) == ("green", 2, 0)
    assert edges["write", "(end)"].side == "red"
    assert edges["read", "(end)"].share_difference == pytest.approx(2 / 8 - 1 / 7)
    # surplus of red: (start)->open 2/7-2/8, open->write 2/7, write->read 1/7, write->(end) 1/7
    assert found.distance == pytest.approx(2 / 7 - 2 / 8 + 4 / 7)
    assert found.load_distance == pytest.approx(0.75)
    assert found.bytes_distance == 1.0


def test_distance_is_that_of_shares_whatever_the_length_of_the_run() -> None:
    longer = graph(
        [activity("open", starts=20), activity("read", ends=20)], {("open", "read"): 20, ("read", "read"): 20}
    )
    assert distance(GREEN, longer) == 0


def test_graphs_of_nothing() -> None:
    nothing = graph([], {})
    assert distance(nothing, nothing) == 0
    assert distance(nothing, GREEN) == distance(GREEN, nothing) == 1
    assert compare(nothing, nothing).nodes == []


def test_graphs_of_other_mappings_are_refused() -> None:
    with pytest.raises(ConfigError, match="'call' and 'call\\+ext'"):
        compare(GREEN, graph([], {}, "call+ext"))


GRAPHS = st.dictionaries(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), st.integers(1, 9), max_size=6).map(
    lambda edges: graph([activity(name, starts=1) for name in "ab"], edges)
)


@given(GRAPHS, GRAPHS, GRAPHS)
@settings(deadline=None)
def test_distance_is_a_metric_in_0_to_1(one: Graph, two: Graph, three: Graph) -> None:
    there, back = compare(one, two), compare(two, one)
    assert 0 <= there.distance <= 1
    assert there.distance == pytest.approx(back.distance)
    assert distance(one, one) == 0
    assert distance(one, three) <= distance(one, two) + distance(two, three) + 1e-12
    assert [row.events_difference for row in there.nodes] == [-row.events_difference for row in back.nodes]
    assert sum(abs(row.share_difference) for row in there.edges) / 2 == pytest.approx(there.distance)


def run(reads: int, writes: int) -> Graph:
    return graph([], {("open", "read"): reads, ("open", "write"): writes})


def test_run_unlike_the_others_is_an_outlier_and_a_usual_one_is_not() -> None:
    baseline = [run(50 + n % 3, 50) for n in range(10)]
    names = [f"run{n}" for n in range(10)]
    same, other = outlier(run(51, 50), baseline, names), outlier(run(80, 20), baseline, names)
    assert same.outlier is False
    assert other.outlier is True
    assert other.names == names
    assert other.distances[0] == pytest.approx(0.3)
    assert other.threshold == pytest.approx(0.06)
    assert other.usual == 0


def test_runs_of_two_kinds_may_both_be_usual() -> None:
    baseline = [run(50, 50), run(51, 50), run(90, 10), run(91, 10)]
    assert outlier(run(90, 10), baseline, list("abcd")).outlier is False
    assert outlier(run(70, 30), baseline, list("abcd")).outlier is True


def test_runs_that_vary_may_vary_as_much_again() -> None:
    baseline = [run(50, 50), run(60, 40), run(70, 30), run(80, 20)]
    found = outlier(run(90, 10), baseline, list("abcd"))
    assert found.usual == pytest.approx(0.1)
    assert found.threshold == pytest.approx(0.16)
    assert found.outlier is False
    assert outlier(run(97, 3), baseline, list("abcd")).outlier is True


def test_two_others_are_too_few_to_tell() -> None:
    found = outlier(run(1, 0), [run(0, 1), run(0, 1)], ["a", "b"])
    assert (found.distances, found.usual, found.threshold, found.outlier) == ([1.0, 1.0], None, None, None)
