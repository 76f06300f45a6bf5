"""Evidence that uneven intervals vary around a mean."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from iotide.analyzers.periodicity.phases.evidence import prior_values
from iotide.analyzers.periodicity.phases.phases import Floats
from iotide.analyzers.periodicity.phases.rhythm import _walk, rhythm_confidence
from iotide.analyzers.periodicity.tuning import TUNING

Draw = Callable[[np.random.Generator], Floats]


def sure_share(draw: Draw, jobs: int = 200) -> float:
    """Return the share of jobs whose intervals vary around a mean with a probability above one half."""
    return float(np.mean([rhythm_confidence(draw(np.random.default_rng(seed))) > 0.5 for seed in range(jobs)]))


def compute_times(rng: np.random.Generator) -> Floats:
    """Draw intervals of a fixed time of I/O and a compute time that varies by its mean."""
    compute = rng.normal(11, 11, 100)
    return np.asarray(10 + compute[compute > 0][:20])


AROUND_A_MEAN: dict[str, Draw] = {
    "normal": lambda rng: rng.normal(10, 2.5, 24).clip(2),
    "log-normal": lambda rng: rng.lognormal(2, 0.3, 24),
    "uniform": lambda rng: rng.uniform(5, 15, 40),
    "compute times": compute_times,
    "slowest of many": lambda rng: 21 + rng.exponential(11, (20, 32)).max(axis=1),
}


def walk(rng: np.random.Generator) -> Floats:
    """Draw intervals whose logarithm walks at random between two bounds."""
    level = np.cumsum(rng.normal(0, rng.uniform(0.3, 0.6), 40))
    return np.asarray(10 * np.exp(np.abs(level % 5.0 - 2.5)))


WITHOUT_A_MEAN: dict[str, Draw] = {
    "walk": walk,
    "power law": lambda rng: 5 * (1 + rng.pareto(1.5, 60)),
    "random moments with a dead time": lambda rng: 3 + rng.exponential(7, 120),
}


@pytest.mark.parametrize("kind", AROUND_A_MEAN)
def test_intervals_around_a_mean_keep_their_confidence(kind: str) -> None:
    assert sure_share(AROUND_A_MEAN[kind]) >= 0.94


@pytest.mark.parametrize("kind", WITHOUT_A_MEAN)
def test_intervals_without_a_mean_lose_it(kind: str) -> None:
    assert sure_share(WITHOUT_A_MEAN[kind]) <= 0.1


def test_a_few_intervals_prove_nothing() -> None:
    assert rhythm_confidence(np.array([5.0, 20.0, 70.0, 9.0])) == 1


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e6])
def test_unit_of_time_does_not_matter(unit: float) -> None:
    intervals = np.random.default_rng(6).lognormal(2, 0.35, 12)
    assert rhythm_confidence(unit * intervals) == pytest.approx(rhythm_confidence(intervals), abs=1e-6)


def test_equal_and_empty_intervals_are_accepted() -> None:
    for intervals in (np.full(8, 3.0), np.zeros(8), np.array([0.0, 1, 2, 0, 1, 2, 5])):
        assert 0 <= rhythm_confidence(intervals) <= 1


def test_likelihood_of_a_walk_is_that_of_each_step_and_its_reflections() -> None:
    level = np.log(np.random.default_rng(7).lognormal(2, 0.4, 9))
    low, high = float(level.min()), float(level.max())
    width = high - low
    likelihoods = []
    for step in prior_values(TUNING.intervals.min_walk_step, TUNING.intervals.max_walk_step):
        likelihood = 1 / width
        for before, after in pairwise(level):
            places = [after + 2 * turn * width for turn in (-1, 0, 1)]
            places += [2 * low - after + 2 * turn * width for turn in (-1, 0, 1)]
            likelihood *= sum(math.exp(-(((place - before) / step) ** 2) / 2) for place in places)
            likelihood /= step * math.sqrt(2 * math.pi)
        likelihoods.append(likelihood)
    assert _walk(level, low, width) == pytest.approx(math.log(np.mean(likelihoods)))
