"""Changes of the distance between phases."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.periodicity.phases.changes import last_change
from iotide.analyzers.periodicity.phases.phases import Floats


@pytest.mark.parametrize("ratio", [0.4, 0.5, 2.5, 3.5])
def test_change_of_period_is_told_by_two_new_intervals_or_three_if_phases_may_be_missing(ratio: float) -> None:
    rng = np.random.default_rng(2)
    old, new = 50 * (1 + 0.03 * rng.standard_normal(12)), 50 * ratio * (1 + 0.03 * rng.standard_normal(4))
    assert last_change(np.concatenate([old, new[:1]])) == 0
    assert last_change(np.concatenate([old, new[:2]])) == 12
    assert last_change(np.concatenate([old, new])) == 12


def test_double_interval_is_a_missed_phase_until_it_occurs_three_times() -> None:
    old = np.full(12, 50.0)
    assert last_change(np.append(old, [100.0, 100.0])) == 0
    assert last_change(np.append(old, [100.0, 100.0, 100.0])) == 12


def test_uneven_intervals_are_no_change() -> None:
    rng = np.random.default_rng(3)
    assert sum(last_change(rng.lognormal(3, 0.4, 30)) > 0 for _ in range(200)) <= 6


def test_last_of_several_changes_counts() -> None:
    assert last_change(np.repeat([10.0, 25.0, 14.0], 6)) == 12


def walk_between_walls(seed: int) -> Floats:
    """Intervals whose logarithm is a random walk with two reflecting bounds."""
    rng = np.random.default_rng(seed)
    level = np.cumsum(rng.normal(0, rng.uniform(0.2, 0.5), 60))
    return np.asarray(40 * np.exp(np.abs(level % 5.0 - 2.5)))


def test_distances_that_walk_at_random_do_not_change() -> None:
    assert (
        sum(last_change(walk_between_walls(seed)) > 0 for seed in range(100)) <= 8
    )  # 73 without this rule, 10 without its border for many intervals


@pytest.mark.parametrize("seed", range(10))
def test_steps_from_one_period_to_the_next_are_no_walk(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = [50, 31, 19] if seed % 2 else [20, 44, 31]
    intervals = np.repeat(levels, 12) * rng.normal(1, 0.03, 36)
    assert last_change(intervals) == 24


def split_by_trial(intervals: Floats) -> int:
    """Return the split with the smallest sum of squares within two groups of two or more logarithms."""
    level = np.log(intervals)
    splits = range(2, len(level) - 1)
    return min(splits, key=lambda at: float(level[:at].var() * at + level[at:].var() * (len(level) - at)))


@pytest.mark.parametrize("seed", range(40))
def test_a_change_is_where_two_groups_leave_the_least_scatter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    before, after = (int(count) for count in rng.integers(5, 20, 2))
    intervals = 50 * np.repeat([1, rng.uniform(2.2, 2.8)], [before, after]) * rng.normal(1, 0.1, before + after)
    assert last_change(intervals) == split_by_trial(intervals)
