"""Evidence that uneven intervals vary around a mean."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from iotide.analyzers.periodicity.estimator import SignalWindow
from iotide.analyzers.periodicity.estimators.segmentation_search import score_candidates
from iotide.analyzers.periodicity.phases.evidence import prior_values, wandering_around_one_level
from iotide.analyzers.periodicity.phases.phases import Floats, Segmenter
from iotide.analyzers.periodicity.phases.rhythm import _walk, no_walk_confidence, rhythm_confidence
from iotide.analyzers.periodicity.tuning import TUNING
from scipy.stats import multivariate_normal

Draw = Callable[[np.random.Generator], Floats]


def sure_share(draw: Draw, jobs: int = 200) -> float:
    """Return the share of jobs whose intervals vary around a mean with a probability above one half."""
    return float(np.mean([rhythm_confidence(draw(np.random.default_rng(seed))) > 0.5 for seed in range(jobs)]))


def compute_times(rng: np.random.Generator) -> Floats:
    """Draw intervals of a fixed time of I/O and a compute time that varies by its mean."""
    compute = rng.normal(11, 11, 100)
    return np.asarray(10 + compute[compute > 0][:20])


def changing_load(rng: np.random.Generator) -> Floats:
    """Draw intervals of equal work on a node whose other load changes slowly."""
    level = np.empty(60)
    level[0] = rng.normal(0, 0.25)
    for number in range(1, len(level)):
        level[number] = 0.7 * level[number - 1] + rng.normal(0, 0.25 * math.sqrt(1 - 0.7**2))
    return np.asarray(10 * np.exp(level))


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


def test_intervals_that_wander_around_a_mean_keep_most_of_it() -> None:
    assert sure_share(changing_load) >= 0.85


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


HIDDEN_WALKS = {
    "a short interval": [7, 13, 14, 31, 36, 32, 20, 22, 30, 40, 26, 39, 34, 23, 15, 37, 24, 29, 23, 18, 26, 26, 14],
    "another": [8, 11, 14, 30, 22, 31, 24, 25, 33, 13, 39, 34, 25, 32, 38, 31, 36, 40, 40, 30, 27],
    "many before the latest": [
        *(11, 6, 4, 3, 3, 3, 3, 7, 8, 5, 3, 4, 7, 5, 14, 10, 15, 13, 13, 14, 22, 38, 33, 25, 32, 39, 28, 32, 29, 33),
        *(25, 20, 31, 27),
    ],
    "many between others": [
        *(4, 4, 6, 4, 4, 3, 3, 4, 3, 8, 9, 12, 14, 25, 15, 16, 9, 6, 10, 11, 20, 16, 12, 16, 19, 16, 14, 10, 20, 38),
        *(30, 35, 36, 19, 31, 34, 29),
    ],
}
"""Distances of bursts that walk at random, with short ones that a segmentation by the median distance closes."""


@pytest.mark.parametrize("kind", HIDDEN_WALKS)
def test_a_walk_whose_short_intervals_are_closed_is_not_periodic(kind: str) -> None:
    distances = np.array(HIDDEN_WALKS[kind], float)
    start = np.rint((5 + np.cumsum([0, *distances])) * 32 / np.median(distances)).astype(int)
    signal = np.zeros(start[-1] + 32)
    signal[start] = signal[start + 1] = 1.0
    view = SignalWindow(signal, bin_s=1.0, start_s=0.0, now_s=float(len(signal)), ended=True)
    found = score_candidates(view, Segmenter(signal), 0, 32.0)
    assert found is not None
    assert found.quality * found.periodic_share < 0.1


def test_walks_are_told_from_changes_and_doubled_phases() -> None:
    rng = np.random.default_rng(8)
    change = np.append(6 + rng.normal(0, 0.4, 12), 40 + rng.normal(0, 4, 15))
    doubled = np.tile([*rng.normal(30, 6, 9), 2.0, 28.0], 3)
    assert no_walk_confidence(change) > 0.9
    assert no_walk_confidence(doubled) > 0.9
    assert np.mean([no_walk_confidence(walk(np.random.default_rng(seed))) for seed in range(100)]) < 0.1


@pytest.mark.parametrize("spread", [0.05, 0.35])
def test_wandering_values_have_the_likelihood_of_a_normal_distribution(spread: float) -> None:
    off = np.random.default_rng(3).normal(0, 0.3, 9)
    apart = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
    # the unknown level adds its variance to all
    covariances = [spread**2 * kept**apart + TUNING.intervals.level_deviation**2 for kept in (0.3, 0.5, 0.7, 0.85)]
    each = [multivariate_normal(np.zeros(9), covariance).logpdf(off) for covariance in covariances]
    expected = np.logaddexp.reduce(each) - math.log(4 / TUNING.intervals.wandering_share)
    assert wandering_around_one_level(off, np.array([spread])) == pytest.approx(expected)
