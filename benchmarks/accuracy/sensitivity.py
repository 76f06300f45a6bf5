"""Effect of halving and doubling each tuned constant on accuracy, calibration and false alarms.

The constants are in ``analyzers/periodicity/tuning.py``. IOTIDE_JOBS jobs per kind (2), from seed IOTIDE_SEED on, which
no constant was tuned on. IOTIDE_NUMBERS: only constants whose names contain this text. Each row, one per constant, is
printed as soon as it is known. For a constant between one half and two, except one itself, its distance from one is
halved and doubled. Integers stay integers, and one stays one.

Columns, each with the change by halving and by doubling, in percentage points: the share of finished jobs with the
right period to 5 %; the share of next starts within a fifth of a period, predicted at IOTIDE_MOMENTS (12) random
moments; the calibration error, which is the root mean square of the predicted less the actual share, of both
probabilities; the share of jobs without a period that are reported as periodic; the share of periods of groups that are
detected with their members, measured for the constants of ``grouping`` only. All columns use the same jobs, so
differences count that are far below those between different sets of jobs.
"""

from __future__ import annotations

import functools
import math
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.periodicity.phases.memoized import clear_memo
from iotide.analyzers.periodicity.tuning import TUNING
from iotide.benchmarks.accuracy.groups import is_predicted, whole_trace
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.generators.corpus import aperiodic_jobs, follow, periodic_jobs, settings_of_jobs
from iotide.benchmarks.generators.grouped import GROUPED, Grouped
from iotide.benchmarks.generators.semisynthetic import Trace
from iotide.benchmarks.generators.stumbling import KINDS
from iotide.results.prediction import PERIODIC_FROM, Prediction
from msgspec.structs import force_setattr

JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "2"))
SEED: Final = int(os.environ.get("IOTIDE_SEED", "990000"))
ONLY: Final = os.environ.get("IOTIDE_NUMBERS", "")
MOMENTS: Final = int(os.environ.get("IOTIDE_MOMENTS", "12"))
SAME: Final = 0.05
NEAR: Final = 0.2
FEWEST_PHASES: Final = 4
SMALLEST: Final = 0.05  # points
ALARMS_EACH: Final = 4  # times as many jobs without a period, because alarms are rare
NO_TYPES: Final = np.zeros(0, np.uint8)
COLUMNS: Final = ("period right", "start right", "error of confidence", "false alarms", "groups told")

Value = int | float | tuple[tuple[float, float], ...]


class Outcome(NamedTuple):
    """The columns, in percent."""

    period: float
    start: float
    confidence: float
    alarms: float
    groups: float


class Job(NamedTuple):
    """A job with a period."""

    trace: Trace
    period_s: float
    seed: int


def numbers() -> Iterator[tuple[str, str]]:
    """Yield group and name of each tuned constant."""
    for group in TUNING.__struct_fields__:
        for name in getattr(TUNING, group).__struct_fields__:
            if ONLY in f"{group}.{name}":
                yield group, name


def scaled(value: Value, factor: float) -> Value:
    """Return a constant times a factor: for a constant near one, its distance from one; for a map, its distance from
    none.
    """
    if isinstance(value, tuple):
        return tuple((stated, stated + factor * (actual - stated)) for stated, actual in value)
    if isinstance(value, int):
        return max(round(value * factor), 1)
    return 1 + (value - 1) * factor if 0.5 < value < 2 and value != 1 else value * factor


@functools.cache
def jobs() -> tuple[list[Job], list[Trace], list[Grouped]]:
    """Return jobs with a period, jobs without, and those whose members have different periods."""
    periodic_ones, others = [], []
    for kind in periodic_jobs().values():
        made = [kind(SEED + number) for number in range(JOBS)]
        periodic_ones += [Job(each, each.period_s, number) for number, each in enumerate(made)]
    for stumbling in KINDS.values():
        stumbled = [stumbling(SEED + number) for number in range(JOBS)]
        periodic_ones += [Job(each.trace, each.period_s, number) for number, each in enumerate(stumbled)]
    for without in aperiodic_jobs().values():
        others += [without(SEED + number) for number in range(ALARMS_EACH * JOBS)]
    return periodic_ones, others, [kind(SEED + number) for kind in GROUPED.values() for number in range(JOBS)]


def outcome(*, groups: bool = True) -> Outcome:
    """Measure the estimator with the current constants; NaN for columns that are not measured."""
    periodic_ones, others, _ = jobs()
    settings = settings_of_jobs()
    right, near = [], []
    off: list[float] = []
    for job in periodic_ones:
        found = detect([(job.trace.batch(), NO_TYPES)], settings, "job")
        right.append(_is_period(found, job.period_s))
        off.append(found.confidence - right[-1])
        for moment in follow(job.trace, settings, moments=MOMENTS, seed=job.seed):
            if np.isnan(moment.start_s) or moment.phases_seen < FEWEST_PHASES:
                continue
            phase = moment.prediction.next_phase
            near.append(phase is not None and abs(phase.start_s.value - moment.start_s) <= NEAR * job.period_s)
            off.append((0.0 if phase is None else phase.confidence) - near[-1])
    alarms = [detect([(each.batch(), NO_TYPES)], settings, "job").confidence > PERIODIC_FROM for each in others]
    error = math.sqrt(float(np.square(off).mean()))
    columns = np.mean(right), np.mean(near), error, np.mean(alarms), groups_detected() if groups else math.nan
    return Outcome(*(100 * float(each) for each in columns))


def groups_detected() -> float:
    """Return the share of periods of groups that are detected with their members."""
    told = []
    for job in jobs()[2]:
        prediction = whole_trace(job)
        told += [is_predicted(prediction, each, job)[1] for each in job.programs if each.period_s is not None]
    return float(np.mean(told))


def _is_period(found: Prediction, period_s: float) -> bool:
    """Return whether a period is right; for a drifting job, the present period counts."""
    estimate = found.period_s if found.drift is None else found.drift.period_s
    return estimate is not None and abs(estimate.value / period_s - 1) <= SAME


def outcome_with(changed: tuple[str, str, float]) -> Outcome:
    """Measure the estimator with one constant multiplied by a factor."""
    group, name, factor = changed
    own, usual = getattr(TUNING, group), getattr(getattr(TUNING, group), name)
    force_setattr(own, name, scaled(usual, factor))
    clear_memo()
    try:
        return outcome(groups=group == "grouping")
    except (ArithmeticError, IndexError, ValueError):  # outside the allowed range of the constant
        return Outcome(*[math.nan] * len(COLUMNS))
    finally:
        force_setattr(own, name, usual)
        clear_memo()


def measure() -> list[Figure]:
    """Print the table row by row; return the columns as tuned, and the largest change by each constant."""
    jobs()  # created before processes are forked
    chosen = list(numbers())
    tasks = [(group, name, factor) for group, name in chosen for factor in (0.5, 2.0)]
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        usual = pool.apply(outcome)
        print("as tuned: " + ", ".join(f"{each} {value:.1f} %" for each, value in zip(COLUMNS, usual, strict=True)))
        print(f"| number | value | {' | '.join(COLUMNS)} |", flush=True)
        figures = [Figure(f"as tuned: {each}", value, "%") for each, value in zip(COLUMNS, usual, strict=True)]
        found = pool.imap(outcome_with, tasks)
        for group, name in chosen:
            figures.append(
                _row(f"{group}.{name}", getattr(getattr(TUNING, group), name), usual, (next(found), next(found)))
            )
    return figures


def _row(name: str, value: Value, usual: Outcome, changed: Sequence[Outcome]) -> Figure:
    differences = [[other - own for other, own in zip(each, usual, strict=True)] for each in changed]
    cells = " | ".join(" ".join(map(_change, pair)) for pair in zip(*differences, strict=True))
    print(f"| {name} | {'map' if isinstance(value, tuple) else f'{value:.4g}'} | {cells} |", flush=True)
    largest = max((abs(each) for row in differences for each in row if not math.isnan(each)), default=math.nan)
    return Figure(f"{name}: largest change", largest, "points")


def _change(points: float) -> str:
    return "-" if math.isnan(points) else "0" if abs(points) < SMALLEST else f"{points:+.1f}"


if __name__ == "__main__":
    report(measure())
