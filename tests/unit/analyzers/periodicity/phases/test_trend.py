from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.periodicity.phases.trend import at_next, comparable_with_next, cycle_of, latest
from iotide.analyzers.periodicity.upcoming.intervals import interval_of

SERIES = 300


def _errors(kind: str, spread: float) -> tuple[float, float]:
    """Return the median relative error of the next value, and that of the mean of all past ones."""
    rng = np.random.default_rng(5)
    ours, plain = [], []
    for _ in range(SERIES):
        values = _values(kind, rng, int(rng.integers(12, 60)), spread)
        past, following = values[:-1], float(values[-1])
        ours.append(abs(float(comparable_with_next(past, 1e-6 * float(past.mean()) ** 2).like.mean()) / following - 1))
        plain.append(abs(float(past.mean()) / following - 1))
    return float(np.median(ours)), float(np.median(plain))


def _values(kind: str, rng: np.random.Generator, past: int, spread: float) -> npt.NDArray[np.float64]:
    at = np.arange(past + 1)
    if kind == "line":
        level = 1 + rng.uniform(0.01, 0.05) * at
    elif kind == "steep":
        level = 1 + rng.uniform(0.1, 1) * at
    elif kind == "growth":
        level = (1 + rng.uniform(0.01, 0.04)) ** at
    elif kind == "decay":
        level = (1 - rng.uniform(0.01, 0.04)) ** at
    elif kind == "step":
        level = np.where(at < rng.integers(4, past - 4), 1, rng.uniform(2, 5))
    elif kind == "each fourth":
        level = np.where(at % 4 == 3, rng.uniform(2, 5), 1)
    elif kind == "a fourth":
        level = np.where(rng.uniform(size=past + 1) < 0.25, rng.uniform(2, 5), 1)
    else:
        level = np.ones(past + 1)
    return np.asarray(rng.uniform(1, 1e9) * level * np.maximum(rng.normal(1, spread, past + 1), 0.1))


@pytest.mark.parametrize("spread", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("kind", ["line", "steep", "growth", "decay", "step", "each fourth"])
def test_next_value_follows_trends_changes_and_patterns(kind: str, spread: float) -> None:
    ours, plain = _errors(kind, spread)
    assert ours < max(1.5 * spread, 1e-3)
    assert ours < plain / 2


@pytest.mark.parametrize("kind", ["line", "growth", "decay"])
@pytest.mark.parametrize("count", [6, 12, 40])
def test_interval_of_the_next_value_of_a_trend_holds_nine_of_ten(kind: str, count: int) -> None:
    """Deviations are a share of the values, so the next one deviates by another width than the past ones."""
    rng = np.random.default_rng(count)
    held = []
    for _ in range(1500):
        values = _values(kind, rng, count, 0.005)
        following = at_next(latest(values[:-1]))
        reach = interval_of(following)
        held.append(abs(float(following.mean()) - float(values[-1])) <= reach)
    assert 0.85 < np.mean(held) < 0.95


@pytest.mark.parametrize("spread", [0.05, 0.2, 0.4])
@pytest.mark.parametrize("kind", ["level", "a fourth"])
def test_values_without_a_trend_are_as_good_as_their_mean(kind: str, spread: float) -> None:
    ours, plain = _errors(kind, spread)
    assert ours == pytest.approx(plain, rel=0.1)


@pytest.mark.parametrize("cycle", range(2, 9))
def test_values_at_the_place_of_the_next_one_predict_it(cycle: int) -> None:
    pattern = np.where(np.arange(cycle) == 1, 3.0, 1.0)
    rng = np.random.default_rng(cycle)
    values = np.tile(pattern, 6) * rng.normal(1, 0.02, 6 * cycle)
    for count in range(max(4 * cycle + 2, 11), 6 * cycle + 1):
        assert cycle_of(values[:count], 0.0) == cycle
        for skipped in (0, 1):
            like = comparable_with_next(values[:count], 0.0, skipped).like
            assert float(like.mean()) == pytest.approx(pattern[(count + skipped) % cycle], rel=0.05)
            assert len(like) >= count // cycle - 1
    # equal values count, at whichever place
    assert cycle == 2 or len(comparable_with_next(values, 0.0).like) > 6


@pytest.mark.parametrize("kind", ["level", "a fourth", "line", "growth", "step"])
def test_other_values_repeat_no_pattern(kind: str) -> None:
    rng = np.random.default_rng(11)
    found = [cycle_of(_values(kind, rng, 24, 0.2), 0.0) > 0 for _ in range(400)]
    assert np.mean(found) < 0.02


@given(st.lists(st.floats(0.1, 1e6), min_size=1, max_size=60), st.floats(0, 10), st.integers(0, 3))
def test_comparable_values_are_some_of_the_values_or_in_a_trend(
    values: list[float], resolved: float, skip: int
) -> None:
    found = comparable_with_next(np.array(values), resolved, skip).like
    assert 1 <= len(found) <= len(values)
    assert np.isfinite(found).all()


def test_few_values_and_those_without_a_logarithm_stay_as_they_are() -> None:
    for values in ([3.0], [1.0, 2.0, 3.0], [0.0] * 20, [float(number) for number in range(20)]):
        assert comparable_with_next(np.array(values), 0.0).like.tolist() == values
