"""Predicted against actual collisions of simulated jobs that share one bandwidth.

Six jobs (three with periods near 10 s, three near 40 s; load 0.7) are simulated for 15 minutes. Their calls pass
through a real aggregator with a simulated clock. From the sixth minute on its contention is read every 15 s. The
baseline predicts at random: it reports the same pairs at their long-term collision rate. Two further counts are falsely
accused jobs in mixes with incomplete data, and alerts in hours of jobs that do not slow each other down.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from iotide.benchmarks.common.figures import Figure

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from iotide.analyzers.contention.alerts import Alerts
from iotide.analyzers.contention.report import contention_of
from iotide.analyzers.contention.settings import ContentionSettings
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.contention import copy_results, view_of
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, FileInfo, FileType, Kind, StreamInfo, make_batch
from iotide.results.contention import Collision, Contention
from support.jobs.job_mixes import T0, JobOutcome, MixedJob, random_mix, simulate
from support.jobs.job_mixes import view_of as seen_of

CAPACITY = 1e9
LASTING_S = 900
FIRST_LOOK_S = 360
LOOK_S = 15
MIXES = range(20, 24)  # no constant was tuned on these
CALLS = 16
HOUR_S = 3600
HOURS = 6
HALF_HOUR_S = 1800
INCOMPLETE_MIXES = 1000
JITTERS = (0.0, 0.02, 0.05, 0.1, 0.2)
MIXED_JITTERS = (0.05, 0.2)
HORIZONS = ((0, 10), (10, 30), (30, 60))
NAMES = Definitions([(1, "write")], [(1, FileInfo("/s/x", FileType.REGULAR, "/s", "lustre", True, source="mgs:/s"))])


@dataclass
class Score:
    """Predicted collisions with whether they occurred, and actual ones with whether they were predicted."""

    probabilities: list[tuple[float, bool]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    delays: list[tuple[float, float]] = field(default_factory=list)
    foreseen_collisions: list[bool] = field(default_factory=list)
    chance: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Meeting:
    """Two jobs that did I/O at once from some time on, with the delay of each one's phase."""

    jobs: frozenset[str]
    start_s: float
    delays: dict[str, float]
    within_s: float


class Phases(NamedTuple):
    """I/O phases of a job, each with its start, its end, and its duration alone, s after ``T0``."""

    job: str
    period_s: float
    phases: list[tuple[float, float, float]]


def mix(seed: int, *jitters: float) -> list[MixedJob]:
    """Return six jobs, three with periods near 10 s and three near 40 s, which take the jitters in turn."""
    chance = random.Random(seed)
    jobs = []
    for number in range(6):
        period = (10 if number < 3 else 40) * math.exp(chance.gauss(0, 0.2))
        duty, jitter = 0.7 / 6, jitters[number % len(jitters)]
        jobs.append(MixedJob(f"job{number}", "s", period * (1 - duty), CAPACITY * period * duty, CAPACITY, jitter))
    return jobs


def meetings(done: Sequence[JobOutcome]) -> list[Meeting]:
    """Return the collisions of simulated jobs."""
    return collisions_of(
        [
            Phases(
                each.job.name,
                each.job.gap_s + each.job.volume / each.job.limit,
                [(begin, end, volume / each.job.limit) for begin, end, volume in each.phases],
            )
            for each in done
        ]
    )


def collisions_of(jobs: Sequence[Phases]) -> list[Meeting]:
    """Return the collisions of any two jobs: phases that overlap by more than 5 % of the shorter one alone."""
    found = []
    for at, one in enumerate(jobs):
        for other in jobs[at + 1 :]:
            tolerance = 0.25 * min(one.period_s, other.period_s)
            for begin, end, alone in one.phases:
                for start, stop, alone_too in other.phases:
                    if min(end, stop) - max(begin, start) > 0.05 * min(alone, alone_too):
                        delays = {one.job: end - begin - alone, other.job: stop - start - alone_too}
                        found.append(Meeting(frozenset(delays), max(begin, start), delays, tolerance))
    return found


def observations(
    done: Sequence[JobOutcome], lasting_s: int = LASTING_S, first_s: int = FIRST_LOOK_S, step_s: int = LOOK_S
) -> Iterator[Contention]:
    """Feed the jobs' I/O to an aggregator over time, and yield its reports."""
    now = [T0]
    aggregator = Aggregator(AggregatorSettings(prediction_interval_s=1.0), lambda: now[0])
    events: list[tuple[float, str, float, float]] = []
    for each in done:
        aggregator.opened(each.job.name, StreamInfo(job=each.job.name, source="bench", host="n1", pid=7))
        for begin, end, volume in each.phases:
            step = (end - begin) / CALLS
            events += [(begin + (at + 1) * step, each.job.name, step, volume / CALLS) for at in range(CALLS)]
    events.sort()
    at, defined = 0, set()
    settings = ContentionSettings(capacity={"lustre:mgs:/s": CAPACITY})
    for second in range(lasting_s):
        now[0] = T0 + second
        waiting: dict[str, list[tuple[float, float, float]]] = {}
        while at < len(events) and events[at][0] <= second:
            end, job, step, moved = events[at]
            waiting.setdefault(job, []).append((end - step, step, moved))
            at += 1
        for job, rows in waiting.items():
            start, duration, moved = np.array(rows).T
            columns = {
                "start": ((T0 + start) * 1e9).astype(np.int64),
                "duration": (duration * 1e9).astype(np.int64),
                "bytes": moved.astype(np.int64),
                "call": 1, "file": 1, "kind": int(Kind.WRITE), "layer": 1, "pid": 7, "tid": 7,
            }  # fmt: skip
            aggregator.batch(job, make_batch(len(rows), columns), Definitions() if job in defined else NAMES)
            defined.add(job)
        while aggregator.tick():
            pass
        if second >= first_s and second % step_s == 0:
            copied = [copy_results(session, now[0]) for session in aggregator.jobs.values()]
            yield contention_of([view_of(each) for each in copied if each], settings, now[0])


def rate(score: Score, threshold: float) -> tuple[float, float]:
    """Return the share of predicted collisions and the share of false alarms among the predictions."""
    alarms = [came for p, came in score.probabilities if p >= threshold]
    return float(np.mean(score.foreseen_collisions or [0])), 1 - float(np.mean(alarms or [1]))


def judge(
    result: Contention, true: Sequence[Meeting], scores: dict[tuple[int, int], Score], lasting_s: float = LASTING_S
) -> None:
    """Add a report to the scores.

    Args:
        result: the report.
        true: all collisions, their times counted from ``T0``.
        scores: those of each horizon.
        lasting_s: the time in which these collisions occurred.
    """
    now = result.made_at_s - T0
    for horizon, score in scores.items():
        low, high = horizon
        reported = [c for c in result.collisions if low <= c.start_s.value - result.made_at_s < high]
        for collision in reported:
            names = {each.job for each in collision.jobs}
            begin = collision.start_s.value - T0
            near = [m for m in true if m.jobs <= names and abs(m.start_s - begin) <= m.within_s]
            score.probabilities.append((collision.probability, bool(near)))
            if near and collision.probability >= 0.5:
                best = min(near, key=lambda m: abs(m.start_s - begin))
                score.times.append(abs(best.start_s - begin))
                for each in collision.jobs:
                    if each.job in best.delays and each.delay_s is not None:
                        score.delays.append((each.delay_s.value, best.delays[each.job]))
        for meeting in true:
            if low <= meeting.start_s - now < high and meeting.start_s > now:
                score.foreseen_collisions.append(
                    any(
                        c.probability >= 0.5 and meeting.jobs <= {each.job for each in c.jobs}
                        and abs(_told_start_s(c, meeting) - T0 - meeting.start_s) <= meeting.within_s
                        for c in result.collisions
                    )
                )  # fmt: skip
                score.chance.append(_chance(meeting, true, lasting_s))


def _told_start_s(collision: Collision, meeting: Meeting) -> float:
    """Return the start of the predicted common I/O of two colliding jobs."""
    return max(each.start_s.value for each in collision.jobs if each.job in meeting.jobs)


def _chance(meeting: Meeting, true: Sequence[Meeting], lasting_s: float) -> float:
    """Return the probability that a random time is as near to a collision of the same jobs."""
    of_pair = [m.start_s for m in true if m.jobs == meeting.jobs]
    return min(1.0, 2 * meeting.within_s * len(of_pair) / lasting_s)


def scores_of(*jitters: float, seeds: Sequence[int] = MIXES) -> dict[tuple[int, int], Score]:
    scores = {horizon: Score() for horizon in HORIZONS}
    for seed in seeds:
        done = simulate(mix(seed, *jitters), {"s": CAPACITY}, LASTING_S, seed)
        true = meetings(done)
        for result in observations(done):
            if result.made_at_s < T0 + LASTING_S - 70:
                judge(result, true, scores)
    return scores


def show(jitter: str, scores: dict[tuple[int, int], Score]) -> None:
    for (low, high), score in scores.items():
        foreseen, false = rate(score, 0.5)
        time_error = np.median(score.times) if score.times else math.nan
        delay_error = np.median([abs(a - b) for a, b in score.delays]) if score.delays else math.nan
        mean_delay = np.mean([b for _, b in score.delays]) if score.delays else math.nan
        by_chance = np.mean(score.chance or [0])
        print(
            f"| {jitter} | {low} to {high} s | {len(score.foreseen_collisions)} | {foreseen:.0%} |"
            f" {by_chance:.0%} |"
            f" {false:.0%} | {time_error:.2f} s | {delay_error:.2f} s of {mean_delay:.2f} s |"
        )


def calibration(scores: Sequence[Score]) -> float:
    """Print predicted against actual probabilities and return the mean difference, weighted by the number of
    predictions.
    """
    forecasts = [row for score in scores for row in score.probabilities]
    off = 0.0
    for low in np.arange(0.1, 1.0, 0.15):
        rows = [(p, came) for p, came in forecasts if low <= p < low + 0.15 or (low > 0.8 and p >= low)]
        if rows:
            mean, true = np.mean([p for p, _ in rows]), np.mean([came for _, came in rows])
            off += abs(mean - true) * len(rows) / len(forecasts)
            print(f"| {low:.2f} to {min(low + 0.15, 1):.2f} | {len(rows)} | {mean:.2f} | {true:.2f} |")
    return float(off)


def within_capacity(seed: int) -> list[JobOutcome]:
    """Two to six jobs with a total demand within the capacity, for an hour."""
    chance = random.Random(seed)
    count = chance.randint(2, 6)
    jobs = []
    for number in range(count):
        period = 10 ** chance.uniform(0.7, 1.8)
        limit, duty = CAPACITY * chance.uniform(0.3, 1) / count, chance.uniform(0.05, 0.5)
        jitter = chance.choice([0.0, 0.05, 0.2])
        jobs.append(MixedJob(f"job{number}", "s", period * (1 - duty), limit * period * duty, limit, jitter))
    return simulate(jobs, {"s": CAPACITY}, HOUR_S, seed)


def by_turns(seed: int) -> list[JobOutcome]:
    """Two to four jobs of one period, each using the whole bandwidth in turn, for an hour."""
    chance = random.Random(seed)
    count, period = chance.randint(2, 4), 10 ** chance.uniform(1, 1.8)
    lasting = 0.4 * period / count
    done = []
    for number in range(count):
        job = MixedJob(f"job{number}", "s", period - lasting, lasting * CAPACITY, CAPACITY)
        starts = [
            (turn + number / count) * period + chance.uniform(0, 0.3 * period / count)
            for turn in range(int(HOUR_S / period) - 1)
        ]
        done.append(JobOutcome(job, [(start, start + lasting, job.volume) for start in starts]))
    return done


def false_alerts() -> int:
    """Return the number of alerts in hours of jobs that do not slow each other down, with the default settings."""
    raised = 0
    for seed in range(HOURS):
        alerts = Alerts(ContentionSettings().alerts)
        for look in observations((within_capacity if seed % 2 else by_turns)(seed), HOUR_S, 10, 10):
            for alert in alerts.update(look):
                raised += alert.state == "raised"
                print(f"hour {seed}: {alert.state} {alert.summary}")
    return raised


def false_accusations() -> tuple[int, int]:
    """Return the number of falsely and of all named culprits, in mixes with incomplete data."""
    wrong = named = 0
    for seed in range(INCOMPLETE_MIXES):
        jobs, capacity = random_mix(seed)
        done = simulate(jobs, capacity, HALF_HOUR_S, seed)
        seen = {each.job.name: each for each in done if not each.job.hidden}
        views = [seen_of(each, seed) for each in seen.values()]
        for slowdown in contention_of(views, ContentionSettings(), T0 + HALF_HOUR_S).slowdowns:
            for culprit in slowdown.culprits:
                truth = seen[slowdown.job]
                named += 1
                wrong += truth.crowded.get(culprit.job, 0.0) <= 0.05 * truth.together[culprit.job]
    return wrong, named


def measure() -> list[Figure]:
    wrong, named = false_accusations()
    alerts = false_alerts()
    print("| jitter | ahead | collisions | predicted | by chance | false alarms | error of time | error of delay |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    by_jitter = {}
    for jitter in JITTERS:
        by_jitter[jitter] = scores_of(jitter)
        show(f"{jitter:.2f}", by_jitter[jitter])
        sys.stdout.flush()
    show("0.05, 0.20", scores_of(*MIXED_JITTERS, seeds=MIXES[:2]))
    print("| predicted | number | mean predicted | occurred |\n| --- | --- | --- | --- |")
    off = calibration([score for scores in by_jitter.values() for score in scores.values()])
    near = by_jitter[0.05][HORIZONS[0]]
    foreseen, false = rate(near, 0.5)
    by_chance = float(np.mean(near.chance))
    return [
        Figure("collisions of the next 10 s predicted, jitter 0.05", foreseen, "", "", "at random", by_chance),
        Figure("false alarms among the predictions", false, "", "<= 0.2", better="lower"),
        Figure(f"falsely accused in {INCOMPLETE_MIXES} mixes, of {named} culprits", wrong, "", "0", better="lower"),
        Figure(f"alerts in {HOURS} hours of jobs that do not collide", alerts, "", "0", better="lower"),
        Figure("error of the predicted probability, mean", off, "", "<= 0.1", better="lower"),
    ]  # fmt: skip
