"""Jobs with groups of members that have different periods, beside ftio-hpc and our own result by rank.

IOTIDE_JOBS jobs per kind (20); IOTIDE_SEED is the seed of the first. A period is detected if it is within 5 % of the
true one and assigned to the right members (of ranks, to a tenth, because more than 32 are reported as ranges). Online a
job is predicted at twenty moments. A moment counts if each of its periods has shown five phases and continues. The last
kinds must not be split. IOTIDE_VARIED=1 uses the kinds of ``grouped_varied.py``, which draws every constant anew, and
also measures the CPU time that groups add to a prediction and to an event, compared with the job's own signal in the
same run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Final

import numpy as np
from iotide.analyzers.groups.update import GroupAnalyzer
from iotide.analyzers.offline.member_groups import MemberEvents, with_groups
from iotide.analyzers.offline.trace import detect, examine
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.settings import DetectSettings
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.ftio import analyse
from iotide.benchmarks.generators.grouped import GROUPED, WHOLE, Grouped, Program
from iotide.benchmarks.generators.grouped_varied import GROUPED_VARIED, WHOLE_VARIED
from iotide.results.prediction import PERIODIC_FROM, NextPhase, Prediction, Who

JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "20"))
SEED: Final = int(os.environ.get("IOTIDE_SEED", "620_000"))
VARIED: Final = bool(os.environ.get("IOTIDE_VARIED"))
MOMENTS: Final = 20
FEWEST_PHASES: Final = 5
SAME: Final = 0.05
LIKE: Final = 0.9
NEAR: Final = 0.2
PEER: Final = "ftio-hpc in process, of the whole job"
_COUNTS: Final = np.zeros(64, np.uint8)


def whole_trace(job: Grouped) -> Prediction:
    """Return the detected periods and groups of a finished trace."""
    settings, batches = DetectSettings(), job.batches()
    prediction, view = examine([(batch, _COUNTS) for batch, _ in batches], settings, "job")
    return with_groups(prediction, view, MemberEvents(batches, job.files, _COUNTS), settings)[0]


def present_periods(prediction: Prediction) -> Iterator[tuple[float, Who | None, NextPhase | None]]:
    """Yield each detected present period: its length, its members, and its next phase."""
    if prediction.period_s is not None and prediction.confidence > PERIODIC_FROM:
        yield prediction.period_s.value, prediction.who, prediction.next_phase
    for other in prediction.others:
        if other.relation != "earlier":
            yield other.period_s.value, other.who, other.next_phase


def is_predicted(prediction: Prediction, program: Program, job: Grouped) -> tuple[bool, bool, NextPhase | None]:
    """Return whether a program's period is detected, whether its members are right, and its next phase."""
    period_s = program.period_s or 0.0
    near = [(who, phase) for period, who, phase in present_periods(prediction) if abs(period / period_s - 1) <= SAME]
    for who, phase in near:
        if who is not None and _has_members(who, program, job):
            return True, True, phase
    return bool(near), False, near[0][1] if near else None


def _has_members(who: Who, program: Program, job: Grouped) -> bool:
    if who.kind == "ranks":
        ranks = {rank for each in who.members for rank in _range(each)}
        own = set(program.rank.tolist())
        return len(ranks & own) >= LIKE * len(ranks | own)
    if who.kind == "commands":
        return len(who.members) == 1 and _is_kind(program.command, who.members[0])
    if who.kind == "hosts":
        return who.members == [program.host]
    paths = {job.files[number].path for number in set(program.path.tolist())}
    return who.kind == "files" and all(any(_is_kind(path, kind) for kind in who.members) for path in paths)


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _is_kind(path: str, kind: str) -> bool:
    first, *_, last = kind.split("*") if "*" in kind else (kind, kind)
    return path.startswith(first) and path.endswith(last)


def offline(kind: str, jobs: list[Grouped]) -> list[Figure]:
    """Return the number of detected periods: of the whole job, by group and by rank."""
    ours = [whole_trace(job) for job in jobs]
    detected = [
        is_predicted(each, program, job)[:2] for each, job in zip(ours, jobs, strict=True) for program in _periodic(job)
    ]
    theirs = analyse([job.requests() for job in jobs], 1.0)
    peer = None
    if theirs is not None:
        near = [
            each.period_s is not None and abs(each.period_s / program.period_s - 1) <= SAME
            for each, job in zip(theirs, jobs, strict=True)
            for program in _periodic(job)
            if program.period_s is not None
        ]
        peer = 100 * float(np.mean(near))
    return [
        Figure(
            f"{kind}: periods detected, offline",
            100 * float(np.mean([one for one, _ in detected])),
            "%",
            "",
            PEER,
            peer,
        ),
        Figure(f"{kind}: with the right members", 100 * float(np.mean([both for _, both in detected])), "%"),
        Figure(f"{kind}: detected by a query per rank", 100 * by_rank(jobs), "%"),
    ]


def by_rank(jobs: list[Grouped]) -> float:
    """Return the share of periods detected in one rank of each program alone, as a user may query it."""
    near = []
    for job in jobs:
        batches = job.batches()
        for program in _periodic(job):
            rank = program.rank[0]
            own = [(batch.select(np.flatnonzero(batch.rank == rank)), _COUNTS) for batch, _ in batches]
            found = detect([each for each in own if len(each[0])], DetectSettings(), "rank")
            period = found.period_s
            sure = found.confidence > PERIODIC_FROM
            near.append(sure and period is not None and abs(period.value / (program.period_s or 1) - 1) <= SAME)
    return float(np.mean(near))


def online(kind: str, jobs: list[Grouped]) -> list[Figure]:
    """Return the share of a running job's periods detected with their members, and the accuracy of next starts."""
    detected, start_right, covered = [], [], []
    for job in jobs:
        for now_s, prediction in running_predictions(job):
            programs = _periodic(job)
            if any((each.starts_s <= now_s).sum() < FEWEST_PHASES or each.starts_s[-1] <= now_s for each in programs):
                continue
            for program in programs:
                coming = program.starts_s[program.starts_s > now_s]
                _, who, phase = is_predicted(prediction, program, job)
                detected.append(who)
                if who and phase is not None:
                    off = abs(phase.start_s.value - float(coming[0])) / (program.period_s or 1)
                    start_right.append(min(off, abs(phase.start_s.value - now_s)) <= NEAR if off > NEAR else True)
                    covered.append(phase.start_s.low <= float(coming[0]) <= phase.start_s.high)
    return [
        Figure(f"{kind}: with the right members, online", 100 * float(np.mean(detected)), "%"),
        Figure(f"{kind}: next start of a group right", 100 * float(np.mean(start_right)) if start_right else 0.0, "%"),
        Figure(f"{kind}: 90 % interval coverage", 100 * float(np.mean(covered)) if covered else 0.0, "%"),
    ]


def running_predictions(job: Grouped) -> Iterator[tuple[float, Prediction]]:
    """Predict a running job from requests that have ended by then."""
    settings = DetectSettings()
    predictor, groups = Predictor("job", settings), GroupAnalyzer(settings)
    batches = job.batches()
    ends = [np.sort(batch.end) for batch, _ in batches]
    until = max(int(end[-1]) for end in ends if len(end))
    done = [0] * len(batches)
    for moment in range(1, 5 * MOMENTS + 1):
        now_ns = until * moment // (5 * MOMENTS)
        for at, (batch, info) in enumerate(batches):
            upto = int(np.searchsorted(ends[at], now_ns, side="right"))
            if upto > done[at]:
                fresh = batch.select(slice(done[at], upto))
                predictor.update(fresh, _COUNTS)
                groups.update(fresh, info, job.files, _COUNTS)
                done[at] = upto
        prediction = groups.answer(predictor.predict(now_ns), now_ns)
        if moment % 5 == 0:
            yield now_ns / 1e9, prediction


def split(kind: str, jobs: list[Grouped]) -> list[Figure]:
    """Return the number of single-group jobs that are split, offline and at any moment online."""
    finished = [_is_split(whole_trace(job)) for job in jobs]
    running = [_is_split(prediction) for job in jobs for _, prediction in running_predictions(job)]
    return [
        Figure(f"{kind}: split, offline", 100 * float(np.mean(finished)), "%", "<= 1 %", better="lower"),
        Figure(f"{kind}: split, online", 100 * float(np.mean(running)), "%", "<= 1 %", better="lower"),
    ]


def _is_split(prediction: Prediction) -> bool:
    return prediction.who is not None or any(other.who is not None for other in prediction.others)


def _periodic(job: Grouped) -> list[Program]:
    return [program for program in job.programs if program.period_s is not None]


def cost(kind: str, jobs: list[Grouped]) -> list[Figure]:
    """Return the CPU time of groups and of the whole job's signal, per prediction and per event, over 150 moments."""
    settings, spent, events, predictions = DetectSettings(), np.zeros(4), 0, 0
    for job in jobs:
        predictor, groups = Predictor("job", settings), GroupAnalyzer(settings)
        batches = job.batches()
        ends = [np.sort(batch.end) for batch, _ in batches]
        until, done = max(int(end[-1]) for end in ends if len(end)), [0] * len(batches)
        for now_ns in (until * moment // 150 for moment in range(1, 151)):
            for at, (batch, info) in enumerate(batches):
                upto = int(np.searchsorted(ends[at], now_ns, side="right"))
                if upto > done[at]:
                    fresh = batch.select(slice(done[at], upto))
                    events, done[at], begun = events + upto - done[at], upto, time.process_time()
                    predictor.update(fresh, _COUNTS)
                    between = time.process_time()
                    groups.update(fresh, info, job.files, _COUNTS)
                    spent[:2] += between - begun, time.process_time() - between
            begun = time.process_time()
            prediction = predictor.predict(now_ns)
            between = time.process_time()
            groups.answer(prediction, now_ns)
            spent[2:] += between - begun, time.process_time() - between
            predictions += 1
    event, own_event, prediction_s, own = spent / np.array([events, events, predictions, predictions])
    peer = "the whole job's signal, in the same run"
    return [
        Figure(
            f"{kind}: groups, a prediction", float(1e3 * own), "ms", "", peer, float(1e3 * prediction_s), better="lower"
        ),
        Figure(
            f"{kind}: groups, per event", float(1e6 * own_event), "us", "", peer, float(1e6 * event), better="lower"
        ),
    ]


def varied() -> list[Figure]:
    """Return the figures of jobs with every constant drawn anew."""
    figures: list[Figure] = []
    for number, (kind, maker) in enumerate(GROUPED_VARIED.items()):
        jobs = [maker(SEED + 1000 * number + job) for job in range(JOBS)]
        figures += offline(kind, jobs) + online(kind, jobs) + cost(kind, jobs[:3])
    for number, (kind, maker) in enumerate(WHOLE_VARIED.items()):
        jobs = [maker(SEED + 100_000 + 1000 * number + job) for job in range(JOBS)]
        figures += split(kind, jobs) + cost(kind, jobs[:3])
    return figures


def measure() -> list[Figure]:
    if VARIED:
        return varied()
    figures: list[Figure] = []
    for number, (kind, maker) in enumerate(GROUPED.items()):
        jobs = [maker(SEED + 1000 * number + job) for job in range(JOBS)]
        figures += offline(kind, jobs) + online(kind, jobs)
    for number, (kind, maker) in enumerate(WHOLE.items()):
        figures += split(kind, [maker(SEED + 100_000 + 1000 * number + job) for job in range(JOBS)])
    return figures


if __name__ == "__main__":
    report(measure())
