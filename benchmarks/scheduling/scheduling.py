"""Effect of I/O scheduling policies on mixes of periodic jobs, and its dependence on the predictions.

IOTIDE_SEEDS mixes (8), from seed IOTIDE_SEED on (1000); the form and default of our policy were chosen on 0 to 3.
Tables: 60 jobs in three classes of iteration length (Set-10's paper), the use case of FTIO's paper, and predictions
from perfect to wrong, late and missing. Columns: means over the mixes of the mean I/O slowdown and of the highest one,
of the lowest yield, and of the share of time that jobs compute.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Sequence
from statistics import fmean
from typing import Final, NamedTuple

from iotide.benchmarks.common.figures import Figure, report
from iotide.clients.schedulers.mixes import JobClass, draw
from iotide.clients.schedulers.predictions import Errors, add_errors
from iotide.clients.schedulers.study import run
from iotide.scheduling.named_policies import policy_named

SEEDS: Final = int(os.environ.get("IOTIDE_SEEDS", "8"))
SEED: Final = int(os.environ.get("IOTIDE_SEED", "1000"))
HORIZON_S: Final = 20_000.0
CAPACITY: Final = 1e9
OURS: Final = ("volume-first:0", "volume-first", "volume-first:1", "volume-first:2", "volume-first:4", "volume-first:8")
ALL: Final = ("fair-share", "fcfs", "set-10", "lowest-yield", *OURS)


def _classes(spread: float, *, uneven: bool = False, jitter: float = 0.0) -> tuple[JobClass, ...]:
    return tuple(JobClass(f"{period} s", 20, period, spread, jitter, uneven=uneven) for period in (10, 100, 1000))


USE_CASE: Final = (JobClass("19.2 s", 1, 19.2), JobClass("384 s", 15, 384.0))
PREDICTIONS: Final = (
    ("perfect", Errors()),
    ("wrong 0.05", Errors(wrong=0.05)),
    ("wrong 0.2", Errors(wrong=0.2)),
    ("wrong 0.5", Errors(wrong=0.5)),
    ("wrong 1", Errors(wrong=1.0)),
    ("wrong 2", Errors(wrong=2.0)),
    ("late 3", Errors(late=3)),
    ("late 10", Errors(late=10)),
    ("missing 0.2", Errors(missing=0.2)),
    ("missing 0.5", Errors(missing=0.5)),
    ("missing 1", Errors(missing=1.0)),
)


def six_jobs(spread: float) -> tuple[JobClass, ...]:
    """Return the jobs of ``six_programs.py``, with periods near 2 and near 10 s that differ by the spread."""
    periods = [near * (1 + off) for near in (2.0, 10.0) for off in (-spread, 0.0, spread)]
    return tuple(JobClass(f"{place}, {period:g} s", 1, period, jitter=0.05) for place, period in enumerate(periods))


class Case(NamedTuple):
    """One policy on one mix."""

    classes: tuple[JobClass, ...]
    load: float
    policy: str
    errors: Errors
    seed: int


class Row(NamedTuple):
    """Results of that policy."""

    slowdown: float
    highest: float
    lowest_yield: float
    utilisation: float
    cpu_s: float


def outcome_of(case: Case) -> Row:
    """Simulate one policy on one mix."""
    jobs = add_errors(draw(case.classes, case.load, CAPACITY, HORIZON_S, case.seed), case.errors, case.seed)
    began = time.process_time()
    result = run(*policy_named(case.policy), jobs, CAPACITY, HORIZON_S)
    spent = time.process_time() - began
    assert result.io_slowdown is not None
    assert result.io_slowdown_highest is not None
    return Row(result.io_slowdown, result.io_slowdown_highest, result.yield_lowest, result.utilisation, spent)


def table(
    title: str,
    classes: tuple[JobClass, ...],
    load: float,
    policies: Sequence[str],
    told: Sequence[tuple[str, Errors]] = PREDICTIONS[:1],
) -> dict[tuple[str, str], Row]:
    """Print one row for each policy and kind of prediction; return the means over the mixes."""
    keys = [(policy, name) for policy in policies for name, _ in told]
    errors = dict(told)
    cases = [
        Case(classes, load, policy, errors[name], seed) for policy, name in keys for seed in range(SEED, SEED + SEEDS)
    ]
    print(f"\n{title}, load {load:g}, {SEEDS} mixes")
    print(f"{'policy':<16} {'predictions':<12} {'slowdown':>9} {'highest':>9} {'lowest yield':>13} {'computing':>10}")
    rows = {}
    with multiprocessing.Pool() as pool:
        outcomes = pool.imap(outcome_of, cases)
        for key in keys:
            rows[key] = row = Row(
                *(fmean(column) for column in zip(*(next(outcomes) for _ in range(SEEDS)), strict=True))
            )
            print(
                f"{key[0]:<16} {key[1]:<12} {row.slowdown:>9.3f} {row.highest:>9.2f} {row.lowest_yield:>13.4f} "
                f"{row.utilisation:>10.4f}",
                flush=True,
            )
    return rows


def measure() -> list[Figure]:
    """Print the tables; return the documented figures."""
    near = table("60 jobs, 20 each near 10, 100 and 1000 s (spread 0.1)", _classes(0.1), 0.8, ALL)
    wide = table("the same, spread 0.5", _classes(0.5), 0.8, ALL)
    table("the same, spread 0.5, unequal parts of the load", _classes(0.5, uneven=True), 0.8, ALL)
    for load in (0.6, 0.8, 0.95):
        case = table("use case of FTIO: one job of 19.2 s, fifteen of 384 s", USE_CASE, load, ALL[:6])
    for spread in (0.1, 0.05, 0.0):
        table(f"six jobs, periods near 2 and 10 s that differ by {spread:g}", six_jobs(spread), 0.75, ALL[:6])
    some = ("set-10", "volume-first")
    table("60 jobs (spread 0.1) whose gaps and volumes vary by 30 %", _classes(0.1, jitter=0.3), 0.8, some, PREDICTIONS)

    def of(policy: str) -> Row:
        return near[policy, "perfect"]

    return [
        Figure(
            "I/O slowdown, 60 jobs",
            of("volume-first").slowdown,
            "",
            "15 % below",
            "Set-10",
            of("set-10").slowdown,
            "lower",
        ),
        Figure(
            "I/O slowdown, 60 jobs, spread 0.5",
            wide["volume-first", "perfect"].slowdown,
            "",
            "",
            "Set-10",
            wide["set-10", "perfect"].slowdown,
            "lower",
        ),
        Figure("lowest yield, 60 jobs", of("volume-first").lowest_yield, "", "", "Set-10", of("set-10").lowest_yield),
        Figure(
            "lowest yield, fairness 4",
            of("volume-first:4").lowest_yield,
            "",
            "at least as high",
            "lowest yield first",
            of("lowest-yield").lowest_yield,
        ),
        Figure(
            "I/O slowdown, fairness 4",
            of("volume-first:4").slowdown,
            "",
            "",
            "lowest yield first",
            of("lowest-yield").slowdown,
            "lower",
        ),
        Figure(
            "I/O slowdown, use case",
            case["volume-first", "perfect"].slowdown,
            "",
            "",
            "Set-10",
            case["set-10", "perfect"].slowdown,
            "lower",
        ),
        Figure("20,000 s of 60 jobs, CPU time", of("volume-first").cpu_s, "s", "<= 5 s"),
    ]


if __name__ == "__main__":
    report(measure())
