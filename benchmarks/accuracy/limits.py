"""Bounds of accuracy for observers that know the generators, but see no more than the estimator does.

- Coverage of intervals for jobs that change their period: no observer knows the first interval of a new period.
- Confidence for compute times of sigma/mu 2: bursts at random moments with dead times have no period, but look alike.
- False alarms for distances that walk at random, if most jobs with independent distances are to be called periodic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.generators.aperiodic import wandering_distances
from iotide.benchmarks.generators.irregular import quicker_in_steps
from iotide.benchmarks.generators.semisynthetic import COMPUTE_S, PHASE_S

Floats = npt.NDArray[np.float64]

JOBS: Final = 200
DRAWS: Final = 40_000
INTERVALS: Final = 19  # as in the semi-synthetic traces
MOMENTS: Final = 40
FIRST_PHASES: Final = 4  # phases before the first moment, as in ``stumbles``
NEW_PERIOD: Final = 0.2  # minimum change of the logarithm of an interval to a new period
NOMINAL: Final = 90.0  # percent
SEED: Final = 881_000
STEPS: Final = np.linspace(0.3, 0.6, 7)  # deviations of a step
SPREADS: Final = np.linspace(0.05, 0.4, 8)  # spreads of independent distances
MEANS: Final = 80  # mean distances tried
FEWEST: Final = 4
KEPT: Final = 95.0  # percent of the jobs with independent distances that are called periodic


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
    """Return the log likelihood ratio of independent normal distances and a walk between two bounds.

    The bounds are the shortest and the longest distance: an observer does not know them.
    """
    level = np.log(distances)
    low, high = float(level.min()), float(level.max())
    images = np.concatenate([sign * level[1:, None] + shift for sign, shift in _images(low, high)], axis=1)
    steps = (images - level[:-1, None])[None] / STEPS[:, None, None]
    each = np.log(np.exp(-0.5 * steps**2).sum(axis=2)) - np.log(STEPS * np.sqrt(2 * np.pi))[:, None]
    walk = _mean(each.sum(axis=1)) - np.log(high - low) - float(level.sum())
    mean = np.exp(np.linspace(low, high, MEANS))[:, None, None]
    spread = SPREADS[None, :, None]
    off = (distances / mean - 1) / spread
    independent = _mean((-0.5 * off**2 - np.log(spread * mean * np.sqrt(2 * np.pi))).sum(axis=2).ravel())
    return float(independent - walk)


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


def jittered(seed: int, jitter: float) -> Floats:
    """Return independent distances around a mean of one."""
    return np.asarray(np.maximum(np.random.default_rng(seed).normal(1, jitter, 24), 0.3))


def of_compute_times(seed: int) -> Floats:
    """Return distances of phases after compute times of sigma/mu 1."""
    compute = np.random.default_rng(seed).normal(COMPUTE_S, COMPUTE_S, 4 * INTERVALS)
    return np.asarray(PHASE_S + compute[compute > 0][:INTERVALS])


def measure() -> list[Figure]:
    walks = [distances_of(wandering_distances(np.random.default_rng(SEED + job)).start_s) for job in range(JOBS)]
    of_walks = np.array([independence(each) for each in walks if len(each) >= FEWEST])
    figures = [
        Figure("steps: highest coverage of 90 % intervals", NOMINAL * (1 - unforeseen()), "%"),
        Figure("sigma/mu 2: mean confidence of the observer", 100 * confidence_of_phases(), "%"),
    ]
    kept: dict[str, Callable[[int], Floats]] = {
        "jitter of 20 %": lambda seed: jittered(seed, 0.2),
        "jitter of 30 %": lambda seed: jittered(seed, 0.3),
        "sigma/mu 1": of_compute_times,
    }
    for name, maker in kept.items():
        of_jobs = [independence(maker(SEED + job)) for job in range(JOBS)]
        alarms = 100 * float(np.mean(of_walks >= np.percentile(of_jobs, 100 - KEPT)))
        figures.append(Figure(f"walks called periodic, with 95 % of {name}", alarms, "%", better="lower"))
    return figures


if __name__ == "__main__":
    report(measure())
