"""Calibration of both probabilities and of the intervals, on running jobs of every kind.

A start is right if the next phase starts within a fifth of a period of it. A period is right within 5 % of the mean
distance of all phases of the job. A job without phases has no right period. False alarms are finished jobs without a
period that are reported as periodic. IOTIDE_JOBS jobs per kind (20), each predicted at 40 random moments. IOTIDE_SEED
selects other jobs than those used to tune the constants. IOTIDE_KINDS: only the false alarms of kinds whose names
contain this.

"Left out" is the confidence of a kind of job by a monotone map that is fitted to the shares of right predictions of all
other kinds (isotonic regression). Beside the reported one, it shows what the confidence of an unknown kind would be.
"""

from __future__ import annotations

import os
from typing import Final

import numpy as np
import numpy.typing as npt
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.settings import DetectSettings
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.generators.corpus import (
    Maker,
    Moment,
    aperiodic_jobs,
    follow,
    periodic_jobs,
    settings_of_jobs,
)
from iotide.results.base import Estimate
from iotide.results.prediction import PERIODIC_FROM

JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "20"))
MOMENTS: Final = 40
NEAR: Final = 0.2
"""A phase that starts within this share of a period of the predicted start is predicted correctly."""
SAME: Final = 0.05
SEED: Final = int(os.environ.get("IOTIDE_SEED", "70000"))
ONLY: Final = os.environ.get("IOTIDE_KINDS", "")
ROUNDING: Final = 1e-6

Values = npt.NDArray[np.float64]
Rights = npt.NDArray[np.bool_]


def predictions_of(maker: Maker) -> list[Moment]:
    """Return all predictions for jobs of one kind whose next phase is known, or which have no phases."""
    moments: list[Moment] = []
    for job in range(JOBS):
        made = maker(SEED + job)
        for moment in follow(made, settings_of_jobs(), moments=MOMENTS, seed=job):
            over = len(made.starts_s) and np.isnan(moment.start_s)
            if moment.prediction.period_s is not None and not over:
                moments.append(moment)
    return moments


def start_error_periods(moment: Moment) -> float:
    """Return the error of the predicted start in periods; infinite if there is no prediction or no phase."""
    period, phase = moment.prediction.period_s, moment.prediction.next_phase
    if period is None or phase is None or np.isnan(moment.start_s):
        return float("inf")
    return abs(phase.start_s.value - moment.start_s) / period.value


def covered_intervals(moment: Moment) -> tuple[bool, bool, bool]:
    """Return whether the intervals of start, length and volume contain the actual values."""
    phase = moment.prediction.next_phase
    if phase is None:
        return False, False, False
    return (
        _covers(phase.start_s, moment.start_s),
        _covers(phase.duration_s, moment.length_s),
        _covers(phase.volume_bytes, moment.volume),
    )


def _covers(estimate: Estimate, truth: float) -> bool:
    slack = ROUNDING * max(abs(truth), 1.0)
    return estimate.low - slack <= truth <= estimate.high + slack


def next_confidence(moment: Moment) -> float:
    """Return the confidence in the next start; 0 without a prediction."""
    phase = moment.prediction.next_phase
    return 0.0 if phase is None else phase.confidence


def right_period(moment: Moment, mean_s: float) -> bool:
    """Return whether a period equals the mean distance of the job's phases."""
    period = moment.prediction.period_s
    return period is not None and abs(period.value / mean_s - 1) <= SAME


def reliability(what: str, confidence: Values, right: Rights) -> list[Figure]:
    """Return the share of right predictions for each confidence."""
    figures = []
    for low in np.arange(0.1, 1, 0.1):
        rows = (confidence >= low) & (confidence < (low + 0.1 if low < 0.89 else 1.1))
        if rows.any():
            stated_percent = 100 * confidence[rows].mean()
            name = f"{what} right, where {stated_percent:.0f} % sure ({rows.sum()})"
            figures.append(Figure(name, 100 * right[rows].mean(), "%"))
    gap = np.abs([figure.value - float(figure.name.split(", where ")[1].split()[0]) for figure in figures])
    figures.append(Figure(f"{what}: largest calibration error", float(gap.max()), "points", better="lower"))
    return figures


def next_starts(moments: list[Moment]) -> tuple[Values, Rights]:
    """Return the confidences in the next start, and whether it was right."""
    started = [moment for moment in moments if moment.prediction.next_phase is not None]
    right = [start_error_periods(moment) <= NEAR for moment in started]
    return np.array(list(map(next_confidence, started))), np.array(right, bool)


def periods(moments: list[Moment]) -> tuple[Values, Rights]:
    """Return the confidences in the period, and whether it was right."""
    right = [right_period(moment, moment.mean_s) for moment in moments]
    return np.array([moment.prediction.confidence for moment in moments]), np.array(right, bool)


def monotone_shares(confidence: Values, right: Rights) -> tuple[Values, Values]:
    """Return the isotonic regression of right predictions, as confidences in ascending order and their shares.

    Neighbours whose shares decrease are pooled until none do.
    """
    order = np.argsort(confidence, kind="stable")
    pools: list[tuple[float, int]] = []
    for value in right[order].tolist():
        total, count = float(value), 1
        while pools and pools[-1][0] * count >= total * pools[-1][1]:
            total, count = total + pools[-1][0], count + pools[-1][1]
            pools.pop()
        pools.append((total, count))
    shares = np.concatenate([np.full(count, total / count) for total, count in pools])
    return confidence[order], shares


def left_out(what: str, kinds: dict[str, tuple[Values, Rights]], others: tuple[Values, Rights]) -> list[Figure]:
    """Return the confidence of each kind by the shares of all other kinds, and the mean errors of both confidences.

    Args:
        what: name of the confidence.
        kinds: confidences and right predictions by kind.
        others: the same of jobs without phases, which are never left out.
    """
    figures, errors = [], []
    for kind, (confidence, right) in kinds.items():
        rest = [each for name, each in kinds.items() if name != kind] + [others]
        known, shares = monotone_shares(
            np.concatenate([each for each, _ in rest]), np.concatenate([each for _, each in rest])
        )
        mapped = float(np.interp(confidence, known, shares).mean())
        figures.append(Figure(f"{kind}: {what}, left out", 100 * mapped, "%"))
        errors.append((100 * abs(mapped - float(right.mean())), 100 * abs(float(confidence.mean() - right.mean()))))
    for name, each in zip(("left out", "reported"), zip(*errors, strict=True), strict=True):
        figures.append(Figure(f"{what}, {name}: mean error of kinds", float(np.mean(each)), "points", better="lower"))
        figures.append(Figure(f"{what}, {name}: largest error of a kind", float(max(each)), "points", better="lower"))
    return figures


def intervals(kinds: dict[str, list[Moment]]) -> list[Figure]:
    """Return the coverage of 90 % intervals, and the error of the next start by kind of job."""
    every = np.array([covered_intervals(moment) for moments in kinds.values() for moment in moments])
    figures = [
        Figure(f"90 % interval of the next {name}: coverage", 100 * float(every[:, column].mean()), "%", "85 to 95 %")
        for column, name in enumerate(("start", "length", "volume"))
    ]
    for kind, moments in kinds.items():
        errors = np.array([min(start_error_periods(moment), 1.0) for moment in moments])
        figures.append(
            Figure(f"next start, {kind}: median error", 100 * float(np.median(errors)), "% of P", "", better="lower")
        )
        share = 100 * float(np.mean([covered_intervals(moment)[0] for moment in moments]))
        figures.append(Figure(f"next start, {kind}: interval coverage", share, "%"))
    return figures


def false_alarms() -> list[Figure]:
    """Return the share of finished jobs without a period that are reported as periodic."""
    figures = []
    no_types = np.zeros(0, np.uint8)
    rates = {"at 1 Hz": DetectSettings(sampling_frequency_hz=1.0), "at all resolutions": DetectSettings()}
    alarms: list[bool] = []
    for kind, maker in aperiodic_jobs().items():
        if ONLY not in kind:
            continue
        batches = [maker(SEED + job).batch() for job in range(5 * JOBS)]
        for name, rate in rates.items():
            called = [detect([(batch, no_types)], rate, "job").confidence > PERIODIC_FROM for batch in batches]
            figures.append(Figure(f"called periodic {name}: {kind}", 100 * float(np.mean(called)), "%", better="lower"))
            alarms += called
    figures.append(
        Figure("reported as periodic: all of these", 100 * float(np.mean(alarms)), "%", "<= 1 %", better="lower")
    )
    return figures


def measure() -> list[Figure]:
    if ONLY:
        return false_alarms()
    kinds = {kind: predictions_of(maker) for kind, maker in periodic_jobs().items()}
    others = [moment for maker in aperiodic_jobs().values() for moment in predictions_of(maker)]
    with_phases = [moment for moments in kinds.values() for moment in moments]
    figures = reliability("next start", *next_starts(with_phases + others))
    figures += reliability("next start of a job with phases", *next_starts(with_phases))
    figures += left_out("next start", {kind: next_starts(each) for kind, each in kinds.items()}, next_starts(others))
    figures += left_out("period", {kind: periods(each) for kind, each in kinds.items()}, periods([]))
    for kind, moments in kinds.items():
        for name, (confidence, right) in (("period", periods(moments)), ("next start", next_starts(moments))):
            figures.append(Figure(f"{kind}: {name} right", 100 * float(right.mean()), "%"))
            figures.append(Figure(f"{kind}: mean confidence of the {name}", 100 * float(confidence.mean()), "%"))
    figures += reliability("period", *periods(with_phases))
    return [*figures, *intervals(kinds), *false_alarms()]


if __name__ == "__main__":
    report(measure())
