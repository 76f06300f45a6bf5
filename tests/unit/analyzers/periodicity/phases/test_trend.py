from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from iotide.analyzers.periodicity.phases.trend import comparable_with_next

SERIES = 300


def _errors(kind: str, spread: float) -> tuple[float, float]:
    """Return the median relative error of the next value, and that of the mean of all past ones."""
    rng = np.random.default_rng(5)
    ours, plain = [], []
    for _ in range(SERIES):
        values = _values(kind, rng, int(rng.integers(12, 60)), spread)
        past, following = values[:-1], float(values[-1])
        ours.append(abs(float(comparable_with_next(past, 1e-6 * float(past.mean()) ** 2).mean()) / following - 1))
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
    else:
        level = np.ones(past + 1)
    return np.asarray(rng.uniform(1, 1e9) * level * np.maximum(rng.normal(1, spread, past + 1), 0.1))


@pytest.mark.parametrize("spread", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("kind", ["line", "steep", "growth", "decay", "step"])
def test_next_value_follows_trends_and_changes(kind: str, spread: float) -> None:
    ours, plain = _errors(kind, spread)
    assert ours < max(1.5 * spread, 1e-3)
    assert ours < plain / 2


@pytest.mark.parametrize("spread", [0.05, 0.2, 0.4])
@pytest.mark.parametrize("kind", ["level", "each fourth"])
def test_values_without_a_trend_are_as_good_as_their_mean(kind: str, spread: float) -> None:
    ours, plain = _errors(kind, spread)
    assert ours == pytest.approx(plain, rel=0.1)


def test_few_values_and_those_without_a_logarithm_stay_as_they_are() -> None:
    for values in ([3.0], [1.0, 2.0, 3.0], [0.0] * 20, [float(number) for number in range(20)]):
        assert comparable_with_next(np.array(values), 0.0).tolist() == values
