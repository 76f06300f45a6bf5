"""Forward fill per group, against a dict that walks the rows."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iotide.events.forward_fill import ForwardFill

ROWS = st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(-9, 9)), max_size=60)


def naive(rows: list[tuple[int, bool, int]]) -> list[int]:
    known: dict[int, int] = {}
    answer = []
    for group, sets, value in rows:
        answer.append(known.get(group, -77))
        if sets:
            known[group] = value
    return answer


@given(ROWS, st.lists(st.integers(0, 60), max_size=4))
def test_any_split_into_batches_recalls_what_a_dict_does(rows: list[tuple[int, bool, int]], places: list[int]) -> None:
    recall = ForwardFill()
    edges = sorted({0, len(rows), *(min(place, len(rows)) for place in places)})
    answer: list[int] = []
    for begin, end in itertools.pairwise(edges):
        group, sets, value = zip(*rows[begin:end], strict=True)
        (got,) = recall.before(np.array(group), np.array(sets), np.array(value), default=-77)
        answer += got.tolist()
        recall = ForwardFill.restore(recall.snapshot())
    assert answer == naive(rows)


def test_groups_beyond_the_limit_are_forgotten_oldest_first_and_counted() -> None:
    recall = ForwardFill(limit=8)
    for first in (0, 8):
        groups = np.arange(first, first + 8)
        recall.before(groups, np.ones(8, np.bool_), groups)
    assert len(recall) <= 8
    assert recall.forgotten == 16 - len(recall)
    (known,) = recall.before(np.array([0, 15]), np.zeros(2, np.bool_), 0, default=-1)
    assert known[0] == -1


def test_several_values_are_set_together() -> None:
    recall = ForwardFill(2)
    both = recall.before(np.array([1, 1, 1]), np.array([True, False, True]), np.array([5, 6, 7]), np.array([8, 9, 10]))
    assert both.tolist() == [[0, 5, 5], [0, 8, 8]]
