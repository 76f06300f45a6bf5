"""Numbering of equal rows by the helper and by its fallback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.common import grouping
from iotide.analyzers.common.grouping import Grouping

DTYPES = ("i8", "u4", "i4", "u2", "u1", "?")


@contextmanager
def without_native() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "native", lambda: None)
        yield


@st.composite
def tables(draw: st.DrawFn) -> list[npt.NDArray[np.int64]]:
    length = draw(st.integers(1, 40))
    columns = []
    for dtype in draw(st.lists(st.sampled_from(DTYPES), min_size=1, max_size=12)):
        info = np.iinfo(np.dtype("u1") if dtype == "?" else np.dtype(dtype))
        few = st.sampled_from([0, 1, info.min, info.max]) if dtype != "?" else st.sampled_from([0, 1])
        if draw(st.booleans()):
            columns.append(np.broadcast_to(np.array(draw(few), dtype), (length,)))
        else:
            spread = np.zeros(2 * length, dtype)
            spread[::2] = draw(st.lists(few, min_size=length, max_size=length))
            columns.append(spread[::2] if draw(st.booleans()) else spread[::2].copy())
    return columns


def test_kernel_is_there() -> None:
    assert grouping.native() is not None


@pytest.mark.slow
@given(columns=tables(), seed=st.integers(0, 9))
def test_kernel_does_what_its_fallback_does(columns: list[npt.NDArray[np.int64]], seed: int) -> None:
    values = np.random.default_rng(seed).integers(-(2**40), 2**40, len(columns[0]))
    narrow = values.astype("i4")

    def told() -> list[list[int]]:
        found = Grouping(columns)
        columns_told = [found.number, found.first, found.last, found.counts(), found.sum(values), found.sum(narrow)]
        columns_told += [found.least(values), found.most(values[::-1]), found.sums([values, narrow])]
        return [column.tolist() for column in columns_told]

    with without_native():
        expected = told()
    assert told() == expected


@pytest.mark.slow
@given(columns=tables())
def test_groups_are_numbered_as_they_are_met(columns: list[npt.NDArray[np.int64]]) -> None:
    found, numbers = Grouping(columns), dict[tuple[int, ...], int]()
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert found.number.tolist() == [numbers.setdefault(row, len(numbers)) for row in rows]
    assert [rows[row] for row in found.first] == list(numbers)
    assert [rows[row] for row in found.last] == list(numbers)
    assert len(found) == len(numbers)
    assert found.first.tolist() == [rows.index(row) for row in numbers]
    assert found.last.tolist() == [len(rows) - 1 - rows[::-1].index(row) for row in numbers]


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(-50, 50), st.integers(0, 30), st.integers(0, 2**40)),
        min_size=1,
        max_size=60,
    ),
    step_ns=st.sampled_from([1, 7, 1000]),
)
def test_parts_of_steps_add_up_to_groups_and_steps(rows: list[tuple[int, int, int, int]], step_ns: int) -> None:
    group, start, duration, size = np.array(rows, np.int64).T.copy()
    found = Grouping([group])
    parts = found.steps(start, duration, size, step_ns)
    assert parts is not None
    number, columns = parts
    made = Grouping([number, columns[0] // step_ns])
    sums = made.sums(columns[2:])
    least, most = columns[:2]
    told = [number[made.first], least[made.first] // step_ns, made.least(least), made.most(most), *sums.T]
    naive, end = Grouping([found.number, start // step_ns]), start + duration
    expected = [found.number[naive.first], start[naive.first] // step_ns, naive.least(start), naive.most(end)]
    expected += [naive.counts(), *naive.sums([duration, size]).T]
    assert sorted(zip(*told, strict=True)) == sorted(zip(*expected, strict=True))
    latest = np.maximum.accumulate(start // step_ns)
    if (start // step_ns == latest).all():  # events in order are in one part
        assert len(number) == len(naive)


@given(values=st.lists(st.integers(-9, 9), min_size=1, max_size=20))
def test_first_of_the_least_of_one_group_is_the_first_row_that_has_it(values: list[int]) -> None:
    found = Grouping([np.zeros(len(values), np.int64)])
    assert found.first_of_least(np.array(values)).tolist() == [values.index(min(values))]
