"""Bounds of accuracy for observers that know the generators, but see no more than the estimator does.

- Coverage of intervals for jobs that change their period: no observer knows the first interval of a new period.
- Confidence for compute times of sigma/mu 2: bursts at random moments with dead times have no period, but look alike.
- False alarms for distances that walk at random, if most jobs with independent distances are to be called periodic. The
  observer sees each burst.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.generators.aperiodic import wandering_distances
from iotide.benchmarks.generators.corpus import periodic_jobs
from iotide.benchmarks.generators.irregular import quicker_in_steps
from iotide.benchmarks.generators.semisynthetic import COMPUTE_S, PHASE_S

Floats = npt.NDArray[np.float64]

JOBS: Final = 200
WALKS: Final = 4800  # and an eighth of it of each kind with phases
DRAWS: Final = 40_000
INTERVALS: Final = 19  # as in the semi-synthetic traces
MOMENTS: Final = 40
FIRST_PHASES: Final = 4  # phases before the first moment, as in ``stumbles``
NEW_PERIOD: Final = 0.2  # minimum change of the logarithm of an interval to a new period
NOMINAL: Final = 90.0  # percent
SEED: Final = 881_000
STEPS: Final = np.linspace(0.3, 0.6, 7)  # deviations of a step
SCALES: Final = 80  # mean distances tried
BEYOND: Final = np.array([0.02, 0.06, 0.15, 0.3, 0.6, 1.0, 1.6, 2.5])  # of bounds, in the logarithm
WIDEST: Final = 4.0  # distance of the bounds, in the logarithm
NEVER: Final = 1e-300
NORMAL: Final = NormalDist()
FEWEST: Final = 5
KEPT: Final = (99.0, 98.5, 97.0, 95.0)  # percent of the jobs with phases that are called periodic
UNEVEN: Final = (
    *("semi-synthetic, sigma/mu 0.5", "semi-synthetic, sigma/mu 1"),
    *("bursts, jitter 0.2", "bursts, jitter 0.3", "bursts, skewed, jitter 0.3"),
)


def unforeseen() -> float:
    """Return the share of moments whose next phase ends the first interval of a new period."""
    first, seen = 0, 0
    for job in range(JOBS):
        rng = np.random.default_rng(job)
        starts = quicker_in_steps(SEED + job).trace.starts_s
        now = (np.arange(MOMENTS) + rng.uniform(0, 1, MOMENTS)) * starts[-1] / MOMENTS
        upcoming = np.searchsorted(starts, now, side="right")
        upcoming = upcoming[(upcoming >= FIRST_PHASES) & (upcoming < len(starts))]
        level = np.log(np.diff(starts))
        first += int((np.abs(level[upcoming - 1] - level[upcoming - 2]) > NEW_PERIOD).sum())
        seen += len(upcoming)
    return first / seen


def confidence_of_phases() -> float:
    """Return the mean probability of sigma/mu 2, for an observer who knows both generators and sees a job of it.

    The observer sees the spread of the distances and the shortest one over their mean. Both generators are as likely.
    """
    rng = np.random.default_rng(SEED)
    compute = rng.normal(COMPUTE_S, 2 * COMPUTE_S, 2 * DRAWS * INTERVALS)
    phases = PHASE_S + compute[compute > 0][: DRAWS * INTERVALS].reshape(DRAWS, INTERVALS)
    dead = rng.uniform(0.1, 0.5, (DRAWS, 1))
    bursts_at_random = dead + rng.exponential(1 - dead, (DRAWS, INTERVALS))
    edges = [np.linspace(0, 1.2, 41), np.linspace(0, 0.9, 41)]
    own, other = (
        np.histogram2d(each.std(axis=1, ddof=1) / each.mean(axis=1), each.min(axis=1) / each.mean(axis=1), edges)[0]
        for each in (phases, bursts_at_random)
    )
    return float((own * own / np.maximum(own + other, 1)).sum() / own.sum())


def independence(distances: Floats) -> float:
    """Return the log likelihood ratio of independent distances of all kinds with phases, and of a walk.

    The scale of a job and the bounds of a walk are unknown. Both are equally likely in the logarithm. The bounds lie
    beyond the extremes.
    """
    level = np.log(distances)
    return _of_phases(distances) - (_of_walk(level) - float(level.sum()))


def _of_phases(distances: Floats) -> float:
    """Return the log likelihood of distances with any of the distributions, at any scale."""
    scales = float(distances.mean()) * np.exp(np.linspace(-0.5, 0.5, SCALES))
    ratio = distances / scales[:, None]
    jacobian = len(distances) * np.log(scales)
    found = [_normal(ratio, 1.0, spread) for spread in (0.2, 0.3)]
    found.append(_normal(np.log(ratio), 0.0, 0.3) - np.log(ratio).sum(axis=1))
    for relative_sigma in (0.5, 1.0):
        sigma = relative_sigma * COMPUTE_S
        hazard = NORMAL.pdf(-1 / relative_sigma) / (1 - NORMAL.cdf(-1 / relative_sigma))
        mean = PHASE_S + COMPUTE_S + sigma * hazard  # of a normal distribution that is cut at 0
        own = _normal(ratio * mean - PHASE_S, COMPUTE_S, sigma) - len(distances) * np.log(
            NORMAL.cdf(1 / relative_sigma)
        )
        found.append(np.where((ratio * mean).min(axis=1) < PHASE_S, -np.inf, own + len(distances) * np.log(mean)))
    return _mean((np.array(found) - jacobian).ravel())


def _normal(values: Floats, mean: float, deviation: float) -> Floats:
    return (-0.5 * ((values - mean) / deviation) ** 2 - np.log(deviation * np.sqrt(2 * np.pi))).sum(axis=-1)


def _of_walk(level: Floats) -> float:
    """Return the log likelihood of logarithms that walk at random between two unknown bounds."""
    found = []
    for below, its_weight in zip(BEYOND, np.gradient(BEYOND), strict=True):
        for above, weight in zip(BEYOND, np.gradient(BEYOND), strict=True):
            low, width = float(level.min()) - below, float(level.max() - level.min()) + below + above
            images = np.concatenate([sign * level[1:] + shift for sign, shift in _images(low, low + width)])
            steps = (images.reshape(-1, len(level) - 1) - level[:-1]) / STEPS[:, None, None]
            each = np.log(np.exp(-0.5 * steps**2).sum(axis=1) + NEVER) - np.log(STEPS * np.sqrt(2 * np.pi))[:, None]
            found.append(_mean(each.sum(axis=1)) + np.log(its_weight * weight / width))
    # the width of the bounds has a uniform prior
    return _mean(np.array(found)) + np.log(len(found) / WIDEST)


def _images(low: float, high: float) -> list[tuple[float, float]]:
    """Return sign and shift of the images of a level behind reflecting bounds."""
    turns = [2 * turn * (high - low) for turn in (-1, 0, 1)]
    return [*((1.0, turn) for turn in turns), *((-1.0, 2 * low + turn) for turn in turns)]


def _mean(log_likelihoods: Floats) -> float:
    most = float(log_likelihoods.max())
    return most + float(np.log(np.exp(log_likelihoods - most).mean()))


def distances_of(start_s: Floats) -> Floats:
    """Return the distances of bursts of sixteen requests each."""
    return np.diff(np.sort(start_s[::16]))


def kept_walks() -> list[Figure]:
    """Return the shares of walks called periodic, for shares of the jobs with phases that are called periodic."""
    makers = periodic_jobs()
    walks = [distances_of(wandering_distances(np.random.default_rng(SEED + job)).start_s) for job in range(WALKS)]
    of_walks = np.array([independence(each) for each in walks if len(each) >= FEWEST])
    of_jobs = [independence(np.diff(makers[kind](SEED + job).starts_s)) for kind in UNEVEN for job in range(WALKS // 8)]
    return [
        Figure(
            f"walks called periodic, with {kept:g} % of the uneven jobs",
            100 * float(np.mean(of_walks >= np.percentile(of_jobs, 100 - kept))),
            "%",
            better="lower",
        )
        for kept in KEPT
    ]


def measure() -> list[Figure]:
    return [
        Figure("steps: highest coverage of 90 % intervals", NOMINAL * (1 - unforeseen()), "%"),
        Figure("sigma/mu 2: mean confidence of the observer", 100 * confidence_of_phases(), "%"),
        *kept_walks(),
    ]


if __name__ == "__main__":
    report(measure())
