"""Jobs with irregular periods, offline beside ftio-hpc, online beside an oracle that knows the generator.

IOTIDE_JOBS jobs per kind (20). IOTIDE_GENERATOR: ``stumbling`` (``stumbling.py``), ``varied`` (``varied.py``) or
``irregular`` (``irregular.py``), so that one generator can be used for tuning and another for the report. iotide has
its default settings, with all resolutions; IOTIDE_FREQUENCY_HZ=1 holds it to one sample per second, as ftio-hpc always
is. IOTIDE_KINDS: only kinds whose names contain this text. Offline the whole trace is analysed once; the true period of
a drifting job is its present one. Online a job is predicted at 40 random moments from its fourth phase on; a prediction
of the next start is right within a fifth of the period. Moments at which less than a fifth of a phase has been seen are
left out, because the next phase is then a matter of definition. IOTIDE_SEED selects other jobs than those used to tune
the constants. The last column is the result of an observer that sees the exact starts and ends of phases so far, but
not the constants: the lowest median error of several simple predictions of a start (``_observed``), chosen for the kind
in hindsight. It has an asterisk if ours exceeds 1.2 times the larger error of oracle and observer. An error below a
thousandth of a period always counts as met: an oracle's may be 0. Each row, one per kind, is printed as soon as it is
known. An asterisk marks a missed budget.
"""

from __future__ import annotations

import os
from typing import Final

import numpy as np
from iotide.analyzers.offline.trace import detect
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.ftio import Answer, analyse
from iotide.benchmarks.generators.corpus import Moment, follow, settings_of_jobs
from iotide.benchmarks.generators.irregular import KINDS as IRREGULAR
from iotide.benchmarks.generators.semisynthetic import Times
from iotide.benchmarks.generators.stumbling import KINDS as STUMBLING
from iotide.benchmarks.generators.stumbling import Maker, Stumbling
from iotide.benchmarks.generators.varied import KINDS as VARIED
from iotide.results.prediction import PERIODIC_FROM, Prediction

JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "20"))
MOMENTS: Final = 40
SEED: Final = int(os.environ.get("IOTIDE_SEED", "310000"))
ONLY: Final = os.environ.get("IOTIDE_KINDS", "")
GENERATOR: Final = os.environ.get("IOTIDE_GENERATOR", "stumbling")
GENERATORS: Final[dict[str, dict[str, Maker]]] = {"stumbling": STUMBLING, "varied": VARIED, "irregular": IRREGULAR}
PEER_FREQUENCY_HZ: Final = 1.0
CALIBRATED: Final = 5.0  # points
HELD: Final = (86.0, 94.0)  # percent of the intervals
BESIDE_ORACLE: Final = 1.2  # times the oracle's median error
NEGLIGIBLE: Final = 0.1  # percent of a period; twice an error of 0 is 0, and nobody acts on less than this
COLUMNS: Final = (
    *("kind", "period off", "unsure", "right", "said", "predicted", "start right", "said", "held"),
    *("off / oracle's", "observer's"),
)
NEAR: Final = 0.2
SAME: Final = 0.05
PERIOD_ERROR: Final = "mean error of the period"
UNSURE: Final = "no period, or confidence below one half"
PERIOD_RIGHT: Final = "period right"
PERIOD_CONFIDENCE: Final = "mean confidence of the period"
PREDICTED: Final = "predicted"
START_RIGHT: Final = "next start right"
START_CONFIDENCE: Final = "mean confidence"
HELD_SHARE: Final = "90 % interval coverage"
START_ERROR: Final = "median error of the next start"
OBSERVER: Final = "median error of an observer of exact starts"
PEER: Final = "ftio-hpc in process"
_NO_TYPES: Final = np.zeros(0, np.uint8)


def offline(kind: str, jobs: list[Stumbling]) -> list[Figure]:
    """Return the error of the period, the share of jobs without a period of confidence above one half, and the
    confidence.
    """
    settings = settings_of_jobs()
    ours = [detect([(job.trace.batch(), _NO_TYPES)], settings, "job") for job in jobs]
    theirs = analyse([(job.trace.start_s, job.trace.end_s, job.trace.bandwidth) for job in jobs], PEER_FREQUENCY_HZ)
    found = list(map(present_period_s, ours))
    figures = [_error(kind, PERIOD_ERROR, found, theirs, jobs)]
    sure = [period if each.confidence >= PERIODIC_FROM else None for period, each in zip(found, ours, strict=True)]
    unsure = 100 * sum(period is None for period in sure) / len(jobs)
    figures.append(Figure(f"{kind}: {UNSURE}", unsure, "%", better="lower"))
    right = [each is not None and abs(each / job.period_s - 1) <= SAME for each, job in zip(found, jobs, strict=True)]
    figures.append(Figure(f"{kind}: {PERIOD_RIGHT}", 100 * float(np.mean(right)), "%"))
    mean_confidence = 100 * float(np.mean([each.confidence for each in ours]))
    figures.append(Figure(f"{kind}: {PERIOD_CONFIDENCE}", mean_confidence, "%"))
    if len(jobs[0].periods_s) > 1:
        figures.append(
            Figure(
                f"{kind}: all periods detected", 100 * float(np.mean(list(map(all_periods_reported, ours, jobs)))), "%"
            )
        )
    return figures


def present_period_s(prediction: Prediction) -> float | None:
    """Return the present period."""
    if prediction.drift is not None:
        return prediction.drift.period_s.value
    return None if prediction.period_s is None else prediction.period_s.value


def all_periods_reported(prediction: Prediction, job: Stumbling) -> bool:
    """Return whether each program's period is the main period or one of the secondary ones."""
    reported_s = [each.period_s.value for each in prediction.others]
    if prediction.period_s is not None:
        reported_s.append(prediction.period_s.value)
    return all(any(abs(each / period - 1) <= SAME for each in reported_s) for period in job.periods_s)


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
    """Return the results of the next start: right, covered by its interval, and its error beside the oracle's."""
    ours: list[float] = []
    oracle: list[float] = []
    observed: list[list[float]] = []
    held: list[bool] = []
    confidence: list[float] = []
    moments = 0
    for number, job in enumerate(jobs):
        ends_s = _ends_s(job)
        for moment in follow(job.trace, settings_of_jobs(), moments=MOMENTS, seed=number):
            if np.isnan(moment.start_s) or moment.phases_seen < 4 or moment.start_s <= moment.now_s:
                continue
            moments += 1
            if moment.prediction.next_phase is None:
                continue
            start = moment.prediction.next_phase.start_s
            ours.append(abs(start.value - moment.start_s) / job.period_s)
            oracle.append(abs(_known(job, moment) - moment.start_s) / job.period_s)
            expected = _observed(job.trace.starts_s[: moment.phases_seen], ends_s[: moment.phases_seen], moment.now_s)
            observed.append([abs(max(each, moment.now_s) - moment.start_s) / job.period_s for each in expected])
            held.append(start.low <= moment.start_s <= start.high)
            confidence.append(moment.prediction.next_phase.confidence)
    right = np.array(ours) <= NEAR
    return [
        Figure(f"{kind}: {PREDICTED}", 100 * len(ours) / max(moments, 1), "%"),
        Figure(f"{kind}: {START_RIGHT}", 100 * float(right.mean()), "%"),
        Figure(f"{kind}: {START_CONFIDENCE}", 100 * float(np.mean(confidence)), "%"),
        Figure(f"{kind}: {HELD_SHARE}", 100 * float(np.mean(held)), "%", "86 to 94 %"),
        Figure(
            f"{kind}: {START_ERROR}", 100 * float(np.median(ours)), "% of P", "",
            "an oracle", 100 * float(np.median(oracle)), better="lower",
        ),
        Figure(f"{kind}: {OBSERVER}", 100 * float(np.median(observed, axis=0).min()), "% of P", better="lower"),
    ]  # fmt: skip


def _known(job: Stumbling, moment: Moment) -> float:
    """Return the start that the oracle expects, or now if that has passed."""
    number = int(np.argmin(np.abs(job.trace.starts_s - moment.start_s)))
    return max(float(job.expected_s[number - 1]), moment.now_s)


def _ends_s(job: Stumbling) -> Times:
    """Return the end of each phase."""
    ends_s = np.full(len(job.trace.starts_s), -np.inf)
    own = job.trace.phase >= 0
    np.maximum.at(ends_s, job.trace.phase[own], job.trace.end_s[own])
    return ends_s


def _observed(start_s: Times, end_s: Times, now_s: float) -> list[float]:
    """Return what simple predictions of the next start give for exact times of at least four phases.

    The interval after the last start is the mean, the median, the mean near the median, the mean since the last change,
    or extrapolated. Otherwise the last start or end is followed by a grid of starts or by a usual pause.

    Args:
        start_s: starts of the phases so far.
        end_s: their ends; the last one is unknown if it is later than ``now_s``.
        now_s: time of the prediction.
    """
    steps, last_s = np.diff(start_s), float(start_s[-1])
    usual = float(np.median(steps))
    changes = np.flatnonzero(np.abs(steps / np.median(steps[-3:]) - 1) >= NEAR)
    since = steps[changes[-1] + 1 :] if len(changes) and changes[-1] + 1 < len(steps) else steps[-1:]
    since = since if len(changes) else steps
    numbers = np.arange(len(steps))
    after_last = [
        float(steps.mean()),
        usual,
        _mean_near(steps),
        float(since.mean()),
        float(np.exp(np.polyval(np.polyfit(numbers, np.log(steps), 1), len(steps)))),
    ]
    times = np.maximum(np.rint(steps / usual), 1)
    stray = np.flatnonzero(np.abs(steps - times * usual) > NEAR * usual)
    first = int(stray[-1]) + 1 if len(stray) else 0
    places = np.append(0, np.cumsum(times[first:]))
    grid = np.polyfit(places, start_s[first:], 1) if len(places) > 2 else np.array([usual, last_s - usual * places[-1]])
    if end_s[-1] <= now_s:
        ended_s = float(end_s[-1])
    else:
        lengths = (end_s - start_s)[:-1]
        longer = lengths[lengths > now_s - last_s]
        ended_s = last_s + float(np.median(longer)) if len(longer) else now_s
    from_end = ended_s + _mean_near(start_s[1:] - end_s[:-1])
    return [*(last_s + each for each in after_last), float(np.polyval(grid, places[-1] + 1)), from_end]


def _mean_near(values: Times) -> float:
    """Return the mean of the values near their median, which is one of these."""
    usual = float(np.sort(values)[len(values) // 2])
    return float(values[np.abs(values - usual) <= NEAR * abs(usual)].mean())


def row_of(kind: str, figures: list[Figure]) -> str:
    """Return a kind's figures as a table row."""
    found = {figure.name.removeprefix(f"{kind}: "): figure for figure in figures}

    def value(name: str) -> float:
        return found[name].value

    right, confidence = value(PERIOD_RIGHT), value(PERIOD_CONFIDENCE)
    start, start_said = value(START_RIGHT), value(START_CONFIDENCE)
    held, off = value(HELD_SHARE), found[START_ERROR]
    oracle, observer = off.peer_value or 0.0, value(OBSERVER)
    cells = [
        kind,
        f"{value(PERIOD_ERROR):.2g} %",
        f"{value(UNSURE):.0f} %",
        f"{right:.0f} %",
        f"{confidence:.0f} %{_unless(abs(confidence - right) <= CALIBRATED)}",
        f"{value(PREDICTED):.0f} %",
        f"{start:.0f} %",
        f"{start_said:.0f} %{_unless(abs(start_said - start) <= CALIBRATED)}",
        f"{held:.0f} %{_unless(HELD[0] <= held <= HELD[1])}",
        f"{off.value:.2g} / {oracle:.2g}{_unless(off.value <= max(BESIDE_ORACLE * oracle, NEGLIGIBLE))}",
        f"{observer:.2g}{_unless(off.value <= max(BESIDE_ORACLE * max(observer, oracle), NEGLIGIBLE))}",
    ]
    return f"| {' | '.join(cells)} |"


def _unless(met: bool) -> str:
    return "" if met else " *"


def measure() -> list[Figure]:
    """Print the table row by row; return all figures."""
    figures: list[Figure] = []
    print(f"| {' | '.join(COLUMNS)} |")
    print("|" + " --- |" * len(COLUMNS), flush=True)
    for number, (kind, maker) in enumerate(GENERATORS[GENERATOR].items()):
        if ONLY not in kind:
            continue
        jobs = [maker(SEED + 1000 * number + job) for job in range(JOBS)]
        found = offline(kind, jobs) + online(kind, jobs)
        print(row_of(kind, found), flush=True)
        figures += found
    return figures


if __name__ == "__main__":
    report(measure())
