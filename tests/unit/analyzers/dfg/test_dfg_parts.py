"""The parts of a graph: concurrency, durations, edges within a budget, waiting events, numbering of cases."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.common.sorting import grouped
from iotide.analyzers.common.state import distinct
from iotide.analyzers.dfg.state.concurrency import Concurrency
from iotide.analyzers.dfg.state.nodes_and_edges import Durations, Edges
from iotide.analyzers.dfg.state.reorder_buffer import ReorderBuffer
from support.references.dfg_naive import Event, most_at_once

INTERVALS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 60), st.integers(0, 25)), max_size=40)
FAR = 2**60


def swept(pieces: list[list[Event]]) -> Concurrency:
    concurrency = Concurrency(8)
    for piece in pieces:
        if piece:
            columns = np.array(piece, np.int64).T
            concurrency.add(grouped(columns[1].astype(np.intp), *columns[2:]))
    return concurrency


def log_of(intervals: list[tuple[int, int, int]]) -> list[Event]:
    return [Event(0, activity, start, length, -1) for activity, start, length in intervals]


# ---- groups ----


@settings(deadline=None)
@given(
    values=st.lists(st.tuples(st.sampled_from([0, 3, 255, 256, 70_000]), st.integers(-5, 5)), min_size=1, max_size=50)
)
def test_events_of_an_activity_stand_together_in_their_order(values: list[tuple[int, int]]) -> None:
    activity, start = np.array(values, np.int64).T
    groups = grouped(activity.astype(np.intp), start, start + 1, start + 2)
    assert groups.spread(groups.rows).tolist() == sorted(activity.tolist())
    for row, head, length in zip(groups.rows, groups.heads, groups.lengths, strict=True):
        mine = [when for which, when in values if which == row]
        assert groups.start[head : head + length].tolist() == mine
    assert ((groups.duration - groups.start == 1) & (groups.size - groups.start == 2)).all()


# ---- concurrency ----


@settings(deadline=None)
@given(intervals=INTERVALS, cuts=st.lists(st.integers(0, 40), max_size=4), apart=st.sampled_from([1, FAR // 60]))
def test_concurrency_is_that_of_the_naive_sweep(
    intervals: list[tuple[int, int, int]], cuts: list[int], apart: int
) -> None:
    log = sorted(log_of([(a, s * apart, d * apart) for a, s, d in intervals]), key=lambda event: event.start)
    concurrency = swept([log[a:b] for a, b in itertools.pairwise([0, *sorted(cuts), len(log)])])
    assert {a: int(n) for a, n in enumerate(concurrency.most) if n} == most_at_once(log)
    assert concurrency.exact.all()


@settings(deadline=None)
@given(intervals=INTERVALS, cut=st.integers(0, 40))
def test_concurrency_of_unordered_events_is_marked_as_a_lower_bound(
    intervals: list[tuple[int, int, int]], cut: int
) -> None:
    log = log_of(intervals)
    concurrency = swept([log[:cut], log[cut:]])
    for activity, most in most_at_once(log).items():
        if concurrency.exact[activity]:
            assert concurrency.most[activity] == most
        assert 1 <= concurrency.most[activity] <= most


def test_event_that_comes_after_later_ones_makes_the_figure_a_lower_bound() -> None:
    concurrency = swept([log_of([(0, 0, 10), (0, 20, 10), (1, 0, 1)]), log_of([(0, 5, 3)])])
    assert (concurrency.most[0], concurrency.exact.tolist()[:2]) == (1, [False, True])


def test_events_of_one_moment_are_there_at_once_whatever_piece_they_come_in() -> None:
    moment = [log_of([(0, 7, 0)])] * 3
    concurrency = swept(moment)
    assert (concurrency.most[0], concurrency.exact[0]) == (3, True)


def test_end_and_start_at_one_time_do_not_overlap() -> None:
    assert swept([log_of([(0, 0, 5), (0, 5, 5)])]).most[0] == 1


def test_concurrency_excludes_events_that_ended_before() -> None:
    # the first of three ends before the third starts
    assert swept([log_of([(0, 0, 4), (0, 2, 10), (0, 6, 10)])]).most[0] == 2


# ---- durations ----


@settings(deadline=None)
@given(
    values=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**53)), min_size=1, max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=3),
    share=st.sampled_from([0.05, 0.5, 0.95, 1.0]),
)
def test_quantiles_are_those_of_the_sorted_durations_within_two_percent(
    values: list[tuple[int, int]], cuts: list[int], share: float
) -> None:
    sketch = Durations(4)
    for first, last in itertools.pairwise([0, *sorted(cuts), len(values)]):
        if values[first:last]:
            columns = np.array(values[first:last], np.int64).T
            sketch.add(grouped(columns[0].astype(np.intp), columns[1], columns[1], columns[1]))
    for activity in range(4):
        mine = sorted(max(d, 1) for a, d in values if a == activity)
        exact = mine[int(np.ceil(share * len(mine))) - 1] if mine else 0.0
        assert sketch.quantiles(activity, [share])[0] == pytest.approx(exact, rel=0.02)


@pytest.mark.slow
@settings(deadline=None)
@given(one=INTERVALS, other=INTERVALS)
def test_merged_durations_are_those_of_all(one: list[tuple[int, int, int]], other: list[tuple[int, int, int]]) -> None:
    def sketch(rows: list[tuple[int, int, int]]) -> Durations:
        made = Durations(4)
        if rows:
            columns = np.array(rows, np.int64).T
            made.add(grouped(columns[0].astype(np.intp), columns[1], columns[2] ** 5, columns[1]))
        return made

    merged, whole = sketch(one), sketch(one + other)
    merged.merge(sketch(other), np.arange(4))
    for activity, share in itertools.product(range(4), (0.1, 0.5, 0.99)):
        assert merged.quantiles(activity, [share]) == whole.quantiles(activity, [share])


# ---- edges ----

PAIRS = st.lists(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30), max_size=6)


@settings(deadline=None)
@given(pieces=PAIRS, budget=st.integers(1, 20))
def test_edges_that_stay_and_those_that_go_are_all_that_came(pieces: list[list[tuple[int, int]]], budget: int) -> None:
    edges = Edges(budget, 8)
    for piece in pieces:
        pairs = np.array(piece, np.intp).reshape(-1, 2)
        edges.add(pairs[:, 0], pairs[:, 1], np.arange(len(pairs)))
    source, target, count, _ = edges.rows()
    true = Counter(pair for piece in pieces for pair in piece)
    assert len(count) <= budget
    assert int(count.sum()) + edges.dropped == true.total()
    for pair, times in zip(zip(source.tolist(), target.tolist(), strict=True), count.tolist(), strict=True):
        assert times <= true[pair]
    if len(true) <= budget:
        assert edges.dropped == 0


def test_frequent_edges_survive_a_flood_of_rare_ones() -> None:
    rng = np.random.default_rng(1)
    edges = Edges(100, 128)
    for _ in range(50):
        often = rng.integers(0, 5, (900, 2))
        rare = rng.integers(5, 128, (100, 2))
        both = rng.permutation(np.concatenate([often, rare]))
        edges.add(both[:, 0], both[:, 1], np.zeros(1000, np.int64))
    source, target, count, _ = edges.rows()
    assert (source[:25] < 5).all()
    assert (target[:25] < 5).all()
    assert count[:25].sum() == 50 * 900


def test_wider_edges_are_the_same_edges() -> None:
    edges = Edges(10, 2)
    edges.add(np.array([0, 1]), np.array([1, 1]), np.array([5, 7]))
    edges.grow(5)
    edges.add(np.array([0, 4]), np.array([1, 4]), np.array([1, 0]))
    assert [column.tolist() for column in edges.rows()] == [[0, 1, 4], [1, 1, 4], [2, 1, 1], [6.0, 7.0, 0.0]]


# ---- waiting events ----


@settings(deadline=None)
@given(
    steps=st.lists(st.tuples(st.lists(st.integers(0, 50), min_size=1, max_size=12), st.integers(0, 60)), max_size=8),
    at_most=st.integers(1, 20),
)
def test_events_leave_once_each_in_the_order_of_their_arrival(steps: list[tuple[list[int], int]], at_most: int) -> None:
    pending, waiting, number = ReorderBuffer(), [], 0
    for starts, until in steps:
        ids = np.arange(number, number + len(starts))
        number += len(starts)
        waiting += list(zip(starts, ids.tolist(), strict=True))
        start = np.array(starts, np.int64)
        # every other event is rejected
        both = np.repeat(np.arange(len(ids)), 2)
        columns = ids, ids.astype(np.int32), start, start * 0, ids
        assert pending.put(*(column[both] for column in columns)) == len(waiting) + len(ids)
        pending.accept(np.arange(0, 2 * len(ids), 2))
        taken = pending.take(until, at_most)
        left = [(s, i) for s, i in waiting if i not in set(taken.case.tolist())]
        assert taken.start.tolist() == [s for s, i in waiting if (s, i) not in left]
        assert len(taken.start) >= sum(s <= until for s, _ in waiting)
        # events of equal time are removed together
        assert not {s for s, _ in left} & set(taken.start.tolist())
        assert all(s <= min((t for t, _ in left), default=s) for s in taken.start.tolist())
        assert len(left) <= at_most + at_most // 2
        assert taken.case.tolist() == taken.activity.tolist() == taken.size.tolist()
        waiting = left
        assert [*zip(pending.events.start.tolist(), pending.events.case.tolist(), strict=True)] == waiting
        pending = ReorderBuffer.restore(pickle.loads(pickle.dumps(pending.snapshot())))


# ---- numbering ----


@settings(deadline=None)
@given(
    values=st.one_of(
        st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=40),
        st.lists(st.integers(-5, 5), min_size=1, max_size=40),
        st.lists(st.sampled_from([[7] * 20, [2**40] * 30, [1, 2]]), min_size=1).map(
            lambda runs: [*itertools.chain(*runs)]
        ),
    )
)
def test_distinct_values_and_their_rows(values: list[int]) -> None:
    found, which = distinct(np.array(values, np.int64))
    assert sorted(found.tolist()) == sorted(set(values))
    assert found[which].tolist() == values
