"""Distinct values, pairs and membership of integers, compared with NumPy's."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, integer_dtypes
from iotide.analyzers.common.sorting import distinct_pairs, is_among, sorted_distinct

NUMBERS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-(2**62), 2**62) | st.integers(-3, 3)), max_size=20)


@given(arrays(integer_dtypes(), array_shapes(max_dims=2, min_side=0)))
def test_distinct_values_are_those_of_numpy(values: np.ndarray) -> None:
    np.testing.assert_array_equal(sorted_distinct(values), np.unique(values))


@given(NUMBERS, NUMBERS)
def test_pairs_and_members_are_those_of_numpy(rows: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    first, second = np.array(rows, np.int64).reshape(-1, 2).T
    some = np.array(others, np.int64).reshape(-1, 2)[:, 1]
    np.testing.assert_array_equal(distinct_pairs(first, second), np.unique(np.stack([first, second]), axis=1))
    np.testing.assert_array_equal(is_among(second, some), np.isin(second, some))
