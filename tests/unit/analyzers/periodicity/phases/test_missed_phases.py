"""Classification of intervals between phases: on time, over missed phases, irregular."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.periodicity.phases.missed_phases import classify_intervals


@pytest.mark.parametrize("seed", range(20))
def test_intervals_over_missed_phases_are_told_with_how_many_they_span(seed: int) -> None:
    rng = np.random.default_rng(seed)
    spanned = rng.geometric(0.7, 40)
    reading = classify_intervals(rng.uniform(5, 200) * (spanned + rng.normal(0, 0.02, 40)))
    counted = reading.multiple > 0  # a rare, long one may also be a pause
    assert counted.mean() >= 0.9
    assert reading.multiple[counted].tolist() == spanned[counted].tolist()
    assert reading.likelihood - reading.plain > 20


@pytest.mark.parametrize("seed", range(20))
def test_intervals_that_are_no_multiple_went_astray(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = np.ones(40)
    late = rng.permutation(40)[:5]
    steps[late] = rng.choice([1.4, 1.6, 2.45, 7.5], 5)
    reading = classify_intervals(50 * (steps + rng.normal(0, 0.01, 40)))
    assert sorted(np.flatnonzero(reading.multiple == 0)) == sorted(late)
    assert reading.likelihood - reading.plain > 20


@pytest.mark.parametrize(("shape", "most"), [(1, 10), (4, 1), (25, 1)])
def test_intervals_of_one_kind_are_seldom_read_as_another(shape: int, most: int) -> None:
    readings = [
        classify_intervals(50 * np.random.default_rng(seed).gamma(shape, 1 / shape, 30).clip(0.05))
        for seed in range(100)
    ]
    assert sum(each.likelihood - each.plain > 6 for each in readings) <= most


@given(st.lists(st.floats(0.5, 1e6), min_size=2, max_size=60))
def test_whatever_the_intervals_are_they_are_read(intervals: list[float]) -> None:
    reading = classify_intervals(np.array(intervals))
    assert len(reading.multiple) == len(intervals)
    assert (reading.multiple >= 0).all()
    assert np.isfinite([reading.likelihood, reading.plain]).all()
