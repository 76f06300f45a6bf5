"""Phases of two programs in one signal."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.periodicity.phases.interleaved import interleaved, with_hidden
from iotide.analyzers.periodicity.phases.phases import Floats, Phases


def phases_at(start: Floats, length: float = 0.5) -> Phases:
    return Phases(start, start + length, np.ones(len(start)), start.astype(np.int64), (start + length).astype(np.int64))


def train(period: float, until: float, first: float, rng: np.random.Generator, jitter: float = 0.004) -> Floats:
    count = int((until - first) / period)
    return np.asarray(first + period * (np.arange(count) + rng.normal(0, jitter, count)))


@pytest.mark.parametrize("ratio", [1.13, 1.31, 1.618, 1.77, 2.21])
@pytest.mark.parametrize("seed", range(4))
def test_each_phase_is_given_to_its_program(ratio: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = train(50, 1500, 12, rng), train(50 * ratio, 1500, 31, rng)
    start = np.sort(np.concatenate([one, other]))
    start = start[np.append(True, np.diff(start) > 4)]  # a phase right behind another one is hidden by it
    found = interleaved(phases_at(start))
    assert found is not None
    shorter, longer = sorted(found, key=lambda each: each.period)
    assert shorter.period == pytest.approx(50, rel=0.01)
    assert longer.period == pytest.approx(50 * ratio, rel=0.01)
    assert np.isin(start[shorter.members], one).mean() > 0.9
    assert np.isin(start[longer.members], other).mean() > 0.8
    assert max(shorter.chance, longer.chance) < 1e-6


@pytest.mark.parametrize("kind", ["exponential", "gamma", "normal", "even", "two distances"])
def test_phases_of_one_program_or_none_are_no_two(kind: str) -> None:
    rng = np.random.default_rng(5)
    for count in range(12, 72, 3):
        distance = {
            "exponential": lambda n: rng.exponential(10, n),
            "gamma": lambda n: rng.gamma(4, 2.5, n),
            "normal": lambda n: 10 * np.maximum(rng.normal(1, 0.3, n), 0.1),
            "even": lambda n: 10 * rng.normal(1, 0.03, n),
            "two distances": lambda n: 10 * rng.choice([1, 2.3], n) * rng.normal(1, 0.02, n),
        }[kind](count)
        assert interleaved(phases_at(1 + np.cumsum(distance), 0.1)) is None


@pytest.mark.parametrize("other", [50.0, 100.0, 150.0])
def test_phases_locked_to_another_period_are_no_second_program(other: float) -> None:
    rng = np.random.default_rng(1)
    start = np.sort(np.concatenate([train(50, 2000, 10, rng), train(other, 2000, 28, rng)]))
    assert interleaved(phases_at(start)) is None


def test_the_latest_phases_are_looked_at_and_counted_from_the_first() -> None:
    rng = np.random.default_rng(2)
    before = np.cumsum(rng.exponential(20, 80))
    start = np.concatenate([before, before[-1] + np.sort(np.r_[train(50, 2100, 10, rng), train(83, 2100, 31, rng)])])
    found = interleaved(phases_at(start))
    assert found is not None
    assert min(int(each.members.min()) for each in found) >= len(start) - 64


def test_phases_that_the_other_program_hides_are_filled_in() -> None:
    every = 3 + 10.0 * np.arange(12)
    own = np.delete(every, [4, 11])
    both = np.sort(np.append(own, [42.0, 112.5]))
    filled = with_hidden(phases_at(own, 2.0), phases_at(both, 2.0), 10.0)
    assert filled.start.tolist() == pytest.approx(every.tolist())
    assert (filled.end - filled.start).tolist() == pytest.approx([2.0] * 12)
    assert filled.stop.dtype == np.int64


def test_phases_that_are_missing_in_silence_are_not_filled_in() -> None:
    own = 3 + 10.0 * np.delete(np.arange(12), [4, 11])
    assert len(with_hidden(phases_at(own, 2.0), phases_at(own, 2.0), 10.0)) == 10
