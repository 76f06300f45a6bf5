"""Effect of lost calls on the reported period, by share of lost calls. IOTIDE_JOBS jobs per kind (20).

The peer is the same estimator on the same requests without losses. Kinds of losses: random calls; the last calls of
each burst (a full ring); all calls in one interval (a disconnected collector); and all calls in stalls at even
distances (a collector that is scheduled periodically), which add a period of their own to the signal.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

import numpy as np
from iotide.analyzers.online.predictor import Predictor
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.generators.aperiodic import LENGTH_S, SIGNALS
from iotide.benchmarks.generators.corpus import bursts
from iotide.benchmarks.generators.semisynthetic import Trace
from iotide.events import make_batch
from iotide.results.prediction import COMPLETE_FROM

JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "20"))
SHARES: Final = (0.003, 0.01, 0.03, 0.1, 0.3)
WRONG: Final = 0.05
STALLS: Final = 40
NO_TYPES: Final = np.zeros(0, np.uint8)

Loss = Callable[[Trace, float, np.random.Generator], "np.ndarray"]


def even_writer(rng: np.random.Generator) -> Trace:
    """Requests all the time, a hundred per second, of about one size."""
    edges = np.arange(0, LENGTH_S / 10, 0.01)
    return Trace(
        edges[:-1], edges[1:], 1e6 * rng.uniform(0.8, 1.2, len(edges) - 1), np.zeros(0), np.full(len(edges) - 1, -1)
    )


def at_random(job: Trace, share: float, rng: np.random.Generator) -> np.ndarray:
    return rng.random(len(job.start_s)) >= share


def last_of_bursts(job: Trace, share: float, rng: np.random.Generator) -> np.ndarray:
    order = np.argsort(job.start_s, kind="stable")
    begins = np.append(True, np.diff(job.start_s[order]) > 1.0)
    burst = np.cumsum(begins) - 1
    place = np.arange(len(order)) - np.flatnonzero(begins)[burst]
    kept = np.empty(len(order), bool)
    kept[order] = place < np.ceil(np.bincount(burst)[burst] * (1 - share))
    return kept


def one_stretch(job: Trace, share: float, rng: np.random.Generator) -> np.ndarray:
    order = np.argsort(job.start_s, kind="stable")
    count = round(share * len(order))
    first = rng.integers(0, len(order) - count + 1)
    kept = np.ones(len(order), bool)
    kept[order[first : first + count]] = False
    return kept


def in_stalls(job: Trace, share: float, rng: np.random.Generator) -> np.ndarray:
    begin, end = job.start_s.min(), job.end_s.max()
    turn = (end - begin) / STALLS
    return (job.start_s - begin + rng.uniform(0, turn)) % turn >= share * turn


LOSSES: Final[dict[str, Loss]] = {
    "at random": at_random,
    "last of bursts": last_of_bursts,
    "one stretch": one_stretch,
    "in even stalls": in_stalls,
}


def period_of(job: Trace, kept: np.ndarray | None = None) -> float | None:
    """Return the final period, or None."""
    chosen = np.ones(len(job.start_s), bool) if kept is None else kept
    left = Trace(job.start_s[chosen], job.end_s[chosen], job.volume[chosen], job.starts_s, job.phase[chosen])
    predictor = Predictor("job")
    predictor.update(make_batch(1, {"start": 0}), NO_TYPES)
    predictor.update(left.batch(), NO_TYPES)
    found = predictor.predict(round(float(job.end_s.max()) * 1e9), whole=True)
    return found.period_s.value if found.periodic and found.period_s is not None else None


def invented(share: float, loss: Loss, jobs: list[Trace]) -> float:
    """Return the percentage of jobs without a period for which one is reported."""
    rng = np.random.default_rng(1)
    return 100 * float(np.mean([period_of(job, loss(job, share, rng)) is not None for job in jobs]))


def wrong(share: float, loss: Loss, jobs: list[Trace]) -> float:
    """Return the percentage of periodic jobs with no period or another one."""
    rng = np.random.default_rng(1)
    found = [(period_of(job, loss(job, share, rng)), job.period_s) for job in jobs]
    return 100 * float(np.mean([period is None or abs(period / true - 1) > WRONG for period, true in found]))


def main() -> None:
    rng = np.random.default_rng(0)
    kinds = [*SIGNALS.values(), even_writer, even_writer, even_writer]
    aperiodic = [kind(rng) for kind in kinds for _ in range(max(JOBS // 4, 1))]
    periodic = [bursts(seed, jitter=0.05) for seed in range(JOBS)]
    figures = []
    for title, rate, jobs in (("invented", invented, aperiodic), ("wrong or none", wrong, periodic)):
        whole = rate(0.0, at_random, jobs)
        for name, loss in LOSSES.items():
            for share in SHARES:
                value = rate(share, loss, jobs)
                bound = f"<= {whole + 5:.3g} %" if share <= 1 - COMPLETE_FROM + 1e-9 else ""
                label = f"{title}: {share:.1%} lost {name}"
                figures.append(Figure(label, value, "% of jobs", bound, "nothing lost", whole, better="lower"))
    report(figures)


if __name__ == "__main__":
    main()
