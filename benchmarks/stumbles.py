"""Jobs whose rhythm stumbles, offline beside ftio-hpc, online beside one who knows the generator.

IOTIDE_JOBS of a kind (20). Offline the whole trace is looked at once; the period of one that drifts is its present one.
Online a job is predicted at 40 random moments; a prediction of the next start is right within a fifth of the period.
IOTIDE_SEED draws other jobs than those that constants were tuned on.
"""

from __future__ import annotations

import os
from typing import Final

import numpy as np
from _corpus import Moment, follow, settings_at_one_hertz
from _figures import Figure, report
from _ftio import Answer, analyse
from _stumbling import KINDS, Stumbling
from iotide.analyzers.offline.trace import detect
from iotide.results.models import PERIODIC_FROM, Prediction

JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "20"))
MOMENTS: Final = 40
SEED: Final = int(os.environ.get("IOTIDE_SEED", "310000"))
FREQUENCY_HZ: Final = 1.0
NEAR: Final = 0.2
SAME: Final = 0.05
PEER: Final = "ftio-hpc in process"
_NO_TYPES: Final = np.zeros(0, np.uint8)


def offline(kind: str, jobs: list[Stumbling]) -> list[Figure]:
    """Returns error of the period, and the share of jobs that have no answer, or none above one half."""
    settings = settings_at_one_hertz()
    ours = [detect([(job.trace.batch(), _NO_TYPES)], settings, "job") for job in jobs]
    theirs = analyse([(job.trace.start_s, job.trace.end_s, job.trace.bandwidth) for job in jobs], FREQUENCY_HZ)
    found = list(map(present_period_s, ours))
    figures = [_error(kind, "mean error of the period", found, theirs, jobs)]
    sure = [period if each.confidence >= PERIODIC_FROM else None for period, each in zip(found, ours, strict=True)]
    unsure = 100 * sum(period is None for period in sure) / len(jobs)
    figures.append(Figure(f"{kind}: unanswered, or confidence below one half", unsure, "%", better="lower"))
    if len(jobs[0].periods_s) > 1:
        figures.append(Figure(f"{kind}: all periods told", 100 * float(np.mean(list(map(all_told, ours, jobs)))), "%"))
    return figures


def present_period_s(prediction: Prediction) -> float | None:
    """Returns the period as it is now."""
    if prediction.drift is not None:
        return prediction.drift.period_s.value
    return None if prediction.period_s is None else prediction.period_s.value


def all_told(prediction: Prediction, job: Stumbling) -> bool:
    """Tells whether each program's period is the answer's, or one of its others."""
    told = [each.period_s.value for each in prediction.others]
    if prediction.period_s is not None:
        told.append(prediction.period_s.value)
    return all(any(abs(each / period - 1) <= SAME for each in told) for period in job.periods_s)


def _error(
    kind: str, label: str, found: list[float | None], theirs: list[Answer] | None, jobs: list[Stumbling]
) -> Figure:
    value = _relative(found, jobs)
    peer = None if theirs is None else _relative([each.period_s for each in theirs], jobs)
    return Figure(f"{kind}: {label}", value, "%", "", PEER, peer, better="lower")


def _relative(found: list[float | None], jobs: list[Stumbling]) -> float:
    off = [abs(each / job.period_s - 1) for each, job in zip(found, jobs, strict=True) if each is not None]
    return 100 * float(np.mean(off)) if off else float("nan")


def online(kind: str, jobs: list[Stumbling]) -> list[Figure]:
    """Returns how the next start came: right, held by its interval, and how far off beside the oracle's."""
    ours: list[float] = []
    oracle: list[float] = []
    held: list[bool] = []
    confidence: list[float] = []
    moments = 0
    for number, job in enumerate(jobs):
        for moment in follow(job.trace, settings_at_one_hertz(), moments=MOMENTS, seed=number):
            if np.isnan(moment.start_s) or moment.phases_seen < 4:
                continue
            moments += 1
            if moment.prediction.next_phase is None:
                continue
            start = moment.prediction.next_phase.start_s
            ours.append(abs(start.value - moment.start_s) / job.period_s)
            oracle.append(abs(_known(job, moment) - moment.start_s) / job.period_s)
            held.append(start.low <= moment.start_s <= start.high)
            confidence.append(moment.prediction.next_phase.confidence)
    right = np.array(ours) <= NEAR
    return [
        Figure(f"{kind}: predicted", 100 * len(ours) / max(moments, 1), "%"),
        Figure(f"{kind}: next start right", 100 * float(right.mean()), "%"),
        Figure(f"{kind}: mean confidence", 100 * float(np.mean(confidence)), "%"),
        Figure(f"{kind}: 90 % interval holds it", 100 * float(np.mean(held)), "%", "86 to 94 %"),
        Figure(
            f"{kind}: median error of the next start", 100 * float(np.median(ours)), "% of P", "",
            "an oracle", 100 * float(np.median(oracle)), better="lower",
        ),
    ]  # fmt: skip


def _known(job: Stumbling, moment: Moment) -> float:
    """Returns what the oracle expects; now, where that has passed."""
    number = int(np.argmin(np.abs(job.trace.starts_s - moment.start_s)))
    return max(float(job.expected_s[number - 1]), moment.now_s)


def measure() -> list[Figure]:
    figures: list[Figure] = []
    for number, (kind, maker) in enumerate(KINDS.items()):
        jobs = [maker(SEED + 1000 * number + job) for job in range(JOBS)]
        figures += offline(kind, jobs) + online(kind, jobs)
    return figures


if __name__ == "__main__":
    report(measure())
