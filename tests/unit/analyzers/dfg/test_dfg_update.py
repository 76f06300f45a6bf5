"""The incremental graph equals the graph of the whole log, for any batches and order of arrival."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.dfg.settings import DfgSettings
from iotide.analyzers.dfg.update import DfgAnalyzer
from iotide.events import Flag, Kind, make_batch
from iotide.events.summaries import sizes_of
from iotide.results.dfg import Graph
from support.references.dfg_naive import Event, directly_follows, feed, logs, most_at_once

NAMES = [f"a{number}" for number in range(200)]
CUTS = st.lists(st.integers(0, 60), max_size=5)


def settings_of(lateness_ns: int = 0, **options: object) -> DfgSettings:
    return DfgSettings.model_validate({"lateness_s": lateness_ns / 1e9, **options})


def graph_of(events: list[Event], options: DfgSettings | None = None) -> Graph:
    analyzer = DfgAnalyzer(options or settings_of())
    feed(analyzer, events)
    return analyzer.graph(NAMES)


def comparable(graph: Graph) -> dict[str, object]:
    """Floats to twelve digits: their sums depend on the order of additions."""

    def rounded(value: object) -> object:
        if isinstance(value, float):
            return float(f"{value:.12g}")
        if isinstance(value, dict):
            return {name: rounded(inner) for name, inner in value.items()}
        return [rounded(inner) for inner in value] if isinstance(value, list) else value

    return {name: rounded(value) for name, value in graph.model_dump().items()}


def placed_in_time(analyzer: DfgAnalyzer) -> None:
    """Let an analyzer process its ripe events, as it does by itself after some hundreds of events."""
    analyzer._process_buffered()
    analyzer._place(analyzer._pending.newest - int(analyzer._settings.lateness_s * 1e9))


@settings(deadline=None)
@given(log=logs())
def test_graph_is_that_of_the_definition(log: list[Event]) -> None:
    graph, naive = graph_of(log), directly_follows(log)
    assert {node.name: node.events for node in graph.activities} == {f"a{a}": n for a, n in naive.nodes.items()}
    assert {node.name: node.starts for node in graph.activities if node.starts} == {
        f"a{a}": n for a, n in naive.starts.items()
    }
    assert {node.name: node.ends for node in graph.activities if node.ends} == {
        f"a{a}": n for a, n in naive.ends.items()
    }
    assert {node.name: node.cases for node in graph.activities} == {f"a{a}": len(c) for a, c in naive.cases_of.items()}
    assert {(edge.source, edge.target): edge.count for edge in graph.edges} == {
        (f"a{a}", f"a{b}"): n for (a, b), n in naive.edges.items()
    }
    for edge in graph.edges:
        pair = int(edge.source[1:]), int(edge.target[1:])
        assert edge.mean_gap_s == pytest.approx(naive.gaps[pair] / naive.edges[pair] / 1e9)
    assert graph.cases == graph.open_cases == len({event.case for event in log})
    assert graph.late_events == graph.dropped_edges == 0


@settings(deadline=None)
@given(log=logs())
def test_statistics_are_those_of_the_definition(log: list[Event]) -> None:
    graph, most = graph_of(log), most_at_once(log)
    total = sum(event.duration for event in log)
    for node in graph.activities:
        mine = [event for event in log if f"a{event.activity}" == node.name]
        rates = [event.size / event.duration * 1e9 for event in mine if event.size >= 0 and event.duration > 0]
        assert node.seconds == pytest.approx(sum(event.duration for event in mine) / 1e9)
        assert node.load == pytest.approx(sum(event.duration for event in mine) / total if total else 0)
        assert node.bytes == sum(max(event.size, 0) for event in mine)
        assert node.sized == len(rates)
        assert node.rate == (pytest.approx(sum(rates) / len(rates)) if rates else None)
        assert node.duration_max_s == max(event.duration for event in mine) / 1e9
        assert node.max_concurrency == most[int(node.name[1:])]
        assert node.exact
        lengths = sorted(event.duration for event in mine)
        for share, told in ((0.5, node.duration_p50_s), (0.95, node.duration_p95_s)):
            exact = lengths[math.ceil(share * len(lengths)) - 1]
            assert told * 1e9 == pytest.approx(exact, rel=0.02, abs=1.1)
    assert graph.first_s == min((event.start for event in log), default=0) / 1e9
    assert graph.last_s == max((event.end for event in log), default=0) / 1e9


@pytest.mark.slow
@settings(deadline=None)
@given(log=logs(span=400), cuts=CUTS)
def test_events_that_start_together_follow_one_another_as_they_came(log: list[Event], cuts: list[int]) -> None:
    tied = [event._replace(start=event.start // 40) for event in log]
    analyzer = DfgAnalyzer(settings_of(1000))
    for first, last in itertools.pairwise([0, *sorted(cuts), len(tied)]):
        feed(analyzer, tied[first:last])
    naive = directly_follows(tied)
    edges = {(edge.source, edge.target): edge.count for edge in analyzer.graph(NAMES).edges}
    assert edges == {(f"a{a}", f"a{b}"): n for (a, b), n in naive.edges.items()}


@settings(deadline=None)
@given(log=logs(), cuts=CUTS)
def test_pieces_give_the_graph_of_the_whole(log: list[Event], cuts: list[int]) -> None:
    analyzer = DfgAnalyzer(settings_of())
    borders = [0, *sorted(cuts), len(log)]
    for first, last in itertools.pairwise(borders):
        feed(analyzer, log[first:last])
        placed_in_time(analyzer)
        analyzer.graph(NAMES)  # queries change nothing
    assert comparable(analyzer.graph(NAMES)) == comparable(graph_of(log))


@settings(deadline=None)
@given(log=logs(), cuts=CUTS, bound=st.integers(0, 100), data=st.data())
def test_any_order_within_the_bound_gives_the_graph_of_the_whole(
    log: list[Event], cuts: list[int], bound: int, data: st.DataObject
) -> None:
    waiting, arrived = list(log), []
    newest = -1
    while waiting:  # events may be reordered as long as no event is late by more than the bound
        may = [event for event in waiting if max(newest, event.end) - waiting[0].start <= bound] or waiting[:1]
        event = data.draw(st.sampled_from(may))
        waiting.remove(event)
        newest = max(newest, event.end)
        arrived.append(event)
    longest = max((event.duration for event in log), default=0)
    options = settings_of(bound + longest)
    analyzer = DfgAnalyzer(options)
    borders = [0, *sorted(cuts), len(arrived)]
    for first, last in itertools.pairwise(borders):
        feed(analyzer, arrived[first:last])
        placed_in_time(analyzer)
    assert comparable(analyzer.graph(NAMES)) == comparable(graph_of(log, options))


@pytest.mark.slow
@settings(deadline=None)
@given(log=logs(sequential=True, cases=1), others=logs(cases=1), cuts=CUTS)
def test_cases_in_order_need_no_bound_however_far_they_are_apart(
    log: list[Event], others: list[Event], cuts: list[int]
) -> None:
    far = [event._replace(case=1, activity=100 + event.activity, start=event.start + 10**9) for event in others]
    analyzer = DfgAnalyzer(settings_of())
    for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), 60], strict=False):
        feed(analyzer, far[first:last])
        feed(analyzer, log[first:last])
        placed_in_time(analyzer)
    assert comparable(analyzer.graph(NAMES)) == comparable(graph_of(log + far))


def test_event_later_than_the_bound_is_in_the_statistics_but_not_in_the_edges() -> None:
    analyzer = DfgAnalyzer(settings_of(10))
    feed(analyzer, [Event(0, 0, 100, 10, 1), Event(0, 0, 200, 10, 1)])
    placed_in_time(analyzer)
    feed(analyzer, [Event(0, 1, 50, 10, 5)])
    graph = analyzer.graph(NAMES)
    assert graph.late_events == 1
    assert [(edge.source, edge.target, edge.count) for edge in graph.edges] == [("a0", "a0", 1)]
    assert {node.name: (node.events, node.bytes) for node in graph.activities} == {"a0": (2, 2), "a1": (1, 5)}


def test_events_without_an_activity_drop_out_before_edges_are_drawn() -> None:
    graph = graph_of([Event(0, 0, 0, 1, -1), Event(0, -1, 5, 1, -1), Event(0, 1, 9, 1, -1)])
    assert [(edge.source, edge.target) for edge in graph.edges] == [("a0", "a1")]
    assert (graph.events, graph.unmapped) == (2, 1)


def test_empty_graph() -> None:
    analyzer = DfgAnalyzer(settings_of())
    feed(analyzer, [])
    feed(analyzer, [Event(0, -1, 0, 0, -1)])
    graph = analyzer.graph([])
    assert (graph.cases, graph.activities, graph.edges, graph.unmapped) == (0, [], [], 1)
    assert (graph.first_s, graph.last_s) == (0.0, 0.0)


def test_absurd_times_are_kept_within_limits() -> None:
    big = 2**63 - 1
    graph = graph_of([Event(0, 0, -big, big, -1), Event(0, 0, big, -5, 3), Event(0, 1, 0, big, 3)])
    assert graph.events == 3
    assert sum(node.load for node in graph.activities) == pytest.approx(1)


def test_graph_wants_a_name_for_each_activity() -> None:
    analyzer = DfgAnalyzer(settings_of())
    feed(analyzer, [Event(0, 3, 0, 1, -1)])
    with pytest.raises(ValueError, match="activity 2 has no name"):
        analyzer.graph(["a", "b"])


@pytest.mark.slow
@settings(deadline=None)
@given(log=logs(), at=st.integers(0, 60), case=st.integers(0, 3))
def test_case_that_was_closed_begins_anew(log: list[Event], at: int, case: int) -> None:
    analyzer = DfgAnalyzer(settings_of())
    feed(analyzer, log[:at])
    analyzer.close_case(case)
    feed(analyzer, log[at:])
    apart = [event._replace(case=99) if event.case == case else event for event in log[:at]] + log[at:]
    graph, expected = analyzer.graph(NAMES), graph_of(apart)
    closed = any(event.case == 99 for event in apart)
    assert graph.open_cases == expected.open_cases - closed
    assert comparable(graph.model_copy(update={"open_cases": expected.open_cases})) == comparable(expected)


@pytest.mark.slow
@settings(deadline=None)
@given(log=logs(), at=st.integers(0, 60))
def test_snapshot_goes_on_as_the_original_would(log: list[Event], at: int) -> None:
    options = settings_of(30)
    analyzer = DfgAnalyzer(options)
    feed(analyzer, log[:at])
    analyzer.close_case(1)
    placed_in_time(analyzer)
    kept = pickle.dumps(analyzer.snapshot())
    restored = DfgAnalyzer.restore(options, pickle.loads(kept))
    for each in (analyzer, restored):
        feed(each, log[at:])
    assert restored.graph(NAMES) == analyzer.graph(NAMES)
    again = DfgAnalyzer.restore(options, pickle.loads(kept))
    assert again.graph(NAMES) == DfgAnalyzer.restore(options, pickle.loads(kept)).graph(NAMES)


@pytest.mark.slow
@settings(deadline=None)
@given(log=logs(), at=st.integers(0, 60), swapped=st.booleans())
def test_merged_graph_is_that_of_both_logs(log: list[Event], at: int, swapped: bool) -> None:
    parts = [[e for e in log if e.case < 2], [e for e in log if e.case >= 2]]
    merged, other = DfgAnalyzer(settings_of()), DfgAnalyzer(settings_of())
    numbers = list(reversed(range(5))) if swapped else None
    feed(merged, parts[0])
    feed(other, [e._replace(activity=4 - e.activity) for e in parts[1]] if swapped else parts[1])
    before = other.snapshot()
    merged.merge(other, numbers)
    assert pickle.dumps(other.snapshot()) == pickle.dumps(before)
    graph, union = merged.graph(NAMES), graph_of(log)
    for node, exact in zip(graph.activities, union.activities, strict=True):
        assert node.max_concurrency == exact.max_concurrency if node.exact else True
        assert node.max_concurrency <= exact.max_concurrency
    same = {node.name: (node.max_concurrency, node.exact) for node in union.activities}
    activities = [
        node.model_copy(update={"max_concurrency": same[node.name][0], "exact": same[node.name][1]})
        for node in graph.activities
    ]
    adjusted = graph.model_copy(update={"activities": activities, "open_cases": union.open_cases})
    assert comparable(adjusted) == comparable(union)
    assert graph.open_cases == len({event.case for event in parts[0]})


def test_merge_of_disjoint_times_is_exact() -> None:
    early, late = DfgAnalyzer(settings_of()), DfgAnalyzer(settings_of())
    feed(early, [Event(0, 0, 0, 50, -1), Event(1, 0, 10, 50, -1)])
    feed(late, [Event(0, 0, 60, 10, -1)])
    late.merge(early)
    node = late.graph(NAMES).activities[0]
    assert (node.max_concurrency, node.exact, node.events) == (2, True, 3)


def test_merge_wants_a_number_for_each_activity() -> None:
    one, other = DfgAnalyzer(settings_of()), DfgAnalyzer(settings_of())
    feed(other, [Event(0, 2, 0, 1, -1)])
    with pytest.raises(ValueError, match="activity 2"):
        one.merge(other, [0, 1])


@settings(deadline=None)
@given(log=logs(activities=9), bound=st.integers(1, 8))
def test_activities_beyond_the_bound_are_summed_up_and_counted(log: list[Event], bound: int) -> None:
    graph = graph_of(log, settings_of(max_activities=bound))
    beyond = [event for event in log if event.activity >= bound]
    other = [node for node in graph.activities if node.name == "(other)"]
    assert graph.dropped_events == len(beyond) == sum(node.events for node in other)
    assert graph.dropped_activities == max(0, max((event.activity for event in log), default=-1) + 1 - bound)
    assert sum(node.events for node in graph.activities) == len(log)
    assert sum(edge.count for edge in graph.edges) == sum(directly_follows(log).edges.values())


def test_longest_idle_cases_are_closed_past_the_bound_and_counted() -> None:
    analyzer = DfgAnalyzer(settings_of(max_cases=8))
    feed(analyzer, [Event(case, 0, case, 1, -1) for case in range(20)])
    placed_in_time(analyzer)
    feed(analyzer, [Event(19, 0, 100, 1, -1), Event(0, 0, 101, 1, -1)])
    graph = analyzer.graph(NAMES)
    assert graph.evicted_cases > 0
    assert graph.cases == 21
    assert graph.open_cases <= 8
    assert (graph.activities[0].starts, graph.activities[0].ends) == (21, 21)
    assert [edge.count for edge in graph.edges] == [1]


def test_case_that_is_busy_stays_open_past_the_bound() -> None:
    analyzer = DfgAnalyzer(settings_of(max_cases=8))
    feed(analyzer, [Event(0, 0, 1000, 1, -1), *[Event(case, 0, case, 1, -1) for case in range(1, 20)]])
    placed_in_time(analyzer)
    feed(analyzer, [Event(0, 0, 2000, 1, -1)])
    graph = analyzer.graph(NAMES)
    assert (graph.cases, [edge.count for edge in graph.edges]) == (20, [1])


def test_merge_adds_what_either_graph_has_lost() -> None:
    one, other = (DfgAnalyzer(settings_of(max_cases=4, max_edges=16)) for _ in range(2))
    for analyzer in (one, other):
        feed(analyzer, [Event(case, 0, case, 1, -1) for case in range(9)])
        feed(analyzer, [Event(50, at * 7 % 40, 100 + at, 1, -1) for at in range(40)])
        placed_in_time(analyzer)
    before = one.graph(NAMES)
    assert before.evicted_cases > 0
    assert before.dropped_edges > 0
    one.merge(other)
    after = one.graph(NAMES)
    assert after.evicted_cases == 2 * before.evicted_cases
    kept = sum(edge.count for edge in after.edges)
    assert kept + after.dropped_edges == 2 * (sum(edge.count for edge in before.edges) + before.dropped_edges)


def test_calls_that_failed_or_move_nothing_have_no_size() -> None:
    kind = np.array([Kind.WRITE, Kind.WRITE, Kind.READ, Kind.SEEK], np.uint8)
    flags = np.array([0, Flag.FAILED, 0, 0], np.uint8)
    batch = make_batch(4, {"kind": kind, "flags": flags, "bytes": 10})
    assert sizes_of(batch).tolist() == [10, -1, 10, -1]


def test_case_in_the_place_of_a_closed_one_shares_nothing_with_it() -> None:
    analyzer = DfgAnalyzer(settings_of())
    for case in range(3):
        feed(analyzer, [Event(case, 0, 10 * case, 1, -1)])
        placed_in_time(analyzer)
        analyzer.close_case(case)
        placed_in_time(analyzer)
    node = analyzer.graph(NAMES).activities[0]
    assert (node.cases, node.starts, node.ends) == (3, 3, 3)


def test_event_at_the_time_of_the_last_one_is_not_late() -> None:
    analyzer = DfgAnalyzer(settings_of())
    for activity in range(2):
        feed(analyzer, [Event(0, activity, 10, 0, -1)])
        placed_in_time(analyzer)
    graph = analyzer.graph(NAMES)
    assert (graph.late_events, [(edge.source, edge.target) for edge in graph.edges]) == (0, [("a0", "a1")])


def test_event_at_the_time_of_the_last_one_is_not_late_beside_one_that_is() -> None:
    analyzer = DfgAnalyzer(settings_of())
    feed(analyzer, [Event(0, 0, 10, 0, -1)])
    placed_in_time(analyzer)
    feed(analyzer, [Event(0, 2, 5, 0, -1), Event(0, 1, 10, 0, -1)])
    graph = analyzer.graph(NAMES)
    assert (graph.late_events, [(edge.source, edge.target) for edge in graph.edges]) == (1, [("a0", "a1")])


def test_activities_summed_up_by_a_merge_have_a_lower_bound_of_concurrency() -> None:
    few, other = DfgAnalyzer(settings_of(max_activities=1)), DfgAnalyzer(settings_of())
    feed(other, [Event(0, 1, 0, 10, -1), Event(0, 2, 0, 10, -1)])
    few.merge(other)
    node = few.graph(NAMES).activities[0]
    assert (node.name, node.events, node.max_concurrency, node.exact) == ("(other)", 2, 1, False)


def test_many_events_wait_only_up_to_the_bound() -> None:
    analyzer = DfgAnalyzer(settings_of(3_600 * 10**9, max_held=1024))
    rng = np.random.default_rng(1)
    log = [Event(int(rng.integers(4)), int(rng.integers(3)), at, 1, -1) for at in range(5000)]
    for at in range(0, len(log), 100):
        feed(analyzer, log[at : at + 100])
        assert analyzer.waiting <= 1024 + 100
    assert comparable(analyzer.graph(NAMES)) == comparable(graph_of(log))


def test_memory_does_not_grow_with_the_number_of_events() -> None:
    analyzer = DfgAnalyzer(settings_of(10**6))
    rng = np.random.default_rng(1)
    sizes = []
    for round_number in range(30):
        n = 4096
        start = round_number * n * 1000 + np.arange(n) * 1000
        analyzer.update(
            rng.integers(0, 8, n), rng.integers(0, 20, n).astype(np.int32), start, rng.integers(1, 5000, n), start * 0
        )
        analyzer.compact()
        sizes.append(len(pickle.dumps(analyzer.snapshot())))
    assert max(sizes[15:]) <= 1.2 * max(sizes[:15])


@settings(deadline=None)
@given(log=logs(), lateness=st.integers(0, 1000))
def test_top_activities_are_those_of_the_graph(log: list[Event], lateness: int) -> None:
    analyzer = DfgAnalyzer(settings_of(lateness))
    feed(analyzer, log[: len(log) // 2])
    placed_in_time(analyzer)
    feed(analyzer, log[len(log) // 2 :])
    graph = analyzer.graph(NAMES)
    top = analyzer.top(3)
    assert [row.events for row in top] == [node.events for node in graph.activities[:3]]
    nodes = {node.name: node for node in graph.activities}
    for row in top:
        node = nodes[f"a{row.activity}"]
        assert (row.events, row.bytes) == (node.events, node.bytes)
        assert row.seconds == pytest.approx(node.seconds)


def test_settled_analyzer_waits_for_nothing() -> None:
    analyzer = DfgAnalyzer(settings_of(1000))
    feed(analyzer, [Event(0, 0, 0, 1, -1), Event(0, 1, 5, 1, -1)])
    before = analyzer.graph(NAMES)
    assert analyzer.waiting == 2
    analyzer.compact()
    assert analyzer.waiting == 0
    assert analyzer.graph(NAMES) == before
