"""Random walks and power laws called periodic, and uneven jobs that keep their period, by the prior odds of a rhythm.

The last figures are the shares of jobs with a change of their period, with and without intervals that wander as its
rival: under a changing load there is none, and the intervals around two means have one.

Phases are segmented by the known mean distance, so only the evidence for a period decides. IOTIDE_JOBS jobs per kind
(1200), three times as many walks. IOTIDE_SEED selects other jobs than those used to tune the constants.
"""

from __future__ import annotations

import os
from typing import Final

import numpy as np
from iotide.analyzers.periodicity.confidence import finished_job_confidence
from iotide.analyzers.periodicity.estimator import SignalWindow
from iotide.analyzers.periodicity.estimators.segmentation_quality import PeriodCandidate
from iotide.analyzers.periodicity.estimators.segmentation_search import score_candidates
from iotide.analyzers.periodicity.phases.changes import last_change
from iotide.analyzers.periodicity.phases.memoized import clear_memo
from iotide.analyzers.periodicity.phases.phases import Segmenter
from iotide.analyzers.periodicity.tuning import TUNING
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.generators.corpus import Maker, aperiodic_jobs, periodic_jobs
from iotide.benchmarks.generators.irregular import changing_load, uneven_change
from iotide.benchmarks.generators.semisynthetic import Trace
from iotide.results.prediction import PERIODIC_FROM
from msgspec.structs import force_setattr

JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "1200"))
SEED: Final = int(os.environ.get("IOTIDE_SEED", "5720000"))
WALKS: Final = "distances that walk at random"
WITHOUT: Final = (WALKS, "distances of a power law", "phases of random length")
UNEVEN: Final = (
    *("semi-synthetic, sigma/mu 0.5", "semi-synthetic, sigma/mu 1", "semi-synthetic, delays of 22 s"),
    *("bursts, jitter 0.2", "bursts, jitter 0.3", "bursts, skewed, jitter 0.3"),
    "changing load",
)
LOG_ODDS: Final = (2.5, 1.5, 0.5, 0.0)
BINS_PER_PERIOD: Final = 32
FEWEST: Final = 4
NEVER: Final = 1e-300


def candidate_of(job: Trace) -> PeriodCandidate | None:
    """Return the phases of a whole job."""
    starts = job.starts_s if len(job.starts_s) else np.unique(job.start_s[::16])
    if len(starts) < FEWEST:
        return None
    bin_s = float(np.median(np.diff(starts))) / BINS_PER_PERIOD
    # each request is shorter than a bin, or nearly
    signal = np.bincount(((job.start_s + job.end_s) / (2 * bin_s)).astype(np.int64), job.volume)
    view = SignalWindow(signal, bin_s=bin_s, start_s=0.0, now_s=bin_s * len(signal), ended=True)
    return score_candidates(view, Segmenter(signal), 0, float(BINS_PER_PERIOD))


def is_periodic(found: PeriodCandidate | None) -> bool:
    """Return whether a finished job with these phases is called periodic."""
    if found is None:
        return False
    measured = found.regularity
    intervals = max(len(measured.intervals) - measured.missed, 1)
    known = found.quality * found.periodic_share
    return finished_job_confidence(known, measured.clock_spread, intervals) > PERIODIC_FROM


def shares(makers: dict[str, Maker], kinds: tuple[str, ...]) -> dict[str, list[float]]:
    """Return the percentage of jobs called periodic, by kind, for each of the prior odds."""
    found = {}
    for kind in kinds:
        jobs = [candidate_of(makers[kind](SEED + job)) for job in range(JOBS * (3 if kind == WALKS else 1))]
        found[kind] = [100 * float(np.mean(list(map(is_periodic, jobs)))) for _ in map(_use, LOG_ODDS)]
    return found


def _use(log_odds: float) -> None:
    force_setattr(TUNING.intervals, "independent_log_odds", log_odds)
    clear_memo()


def changes() -> list[Figure]:
    """Return the shares of jobs with a change of their period."""
    usual, figures = TUNING.intervals.wandering_share, []
    try:
        for share, label in ((usual, "with"), (NEVER, "without")):
            force_setattr(TUNING.intervals, "wandering_share", share)
            clear_memo()
            for kind, maker in (("changing load", changing_load), ("uneven around another mean", uneven_change)):
                starts = [maker(SEED + job).trace.starts_s for job in range(JOBS // 4)]
                found = 100 * float(np.mean([last_change(np.diff(each)) > 0 for each in starts]))
                figures.append(Figure(f"{kind}, {label} wandering intervals: change found", found, "%"))
    finally:
        force_setattr(TUNING.intervals, "wandering_share", usual)
        clear_memo()
    return figures


def measure() -> list[Figure]:
    usual = TUNING.intervals.independent_log_odds
    try:
        uneven: dict[str, Maker] = {**periodic_jobs(), "changing load": lambda seed: changing_load(seed).trace}
        alarms, kept = shares(aperiodic_jobs(), WITHOUT), shares(uneven, UNEVEN)
    finally:
        _use(usual)
    return [
        *(
            Figure(f"{kind}, log odds {odds:g}: called periodic", value, "%", better="lower")
            for kind, values in alarms.items()
            for odds, value in zip(LOG_ODDS, values, strict=True)
        ),
        *(
            Figure(f"{kind}, log odds {odds:g}: called periodic", value, "%")
            for kind, values in kept.items()
            for odds, value in zip(LOG_ODDS, values, strict=True)
        ),
        *changes(),
    ]


if __name__ == "__main__":
    report(measure())
