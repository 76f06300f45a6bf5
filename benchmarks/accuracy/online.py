"""Time until the period of a running job is known, and its stability. IOTIDE_JOBS jobs per kind (20).

Early: error after the job's second to fifth phase has ended, beside ftio-hpc on the same requests. Change: phases of a
new period until it is reported permanently. Steady: change of the period with the sampling frequency, or if all
timestamps are 10 ms later.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

import numpy as np
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.settings import DetectSettings
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.ftio import analyse
from iotide.benchmarks.generators.corpus import bursts
from iotide.benchmarks.generators.semisynthetic import Trace, trace
from iotide.events import EventBatch, Kind, make_batch

JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "20"))
BOUNDS: Final = {2: "<= 10 %", 3: "<= 5 %", 4: "<= 4 %", 5: "<= 3 %"}
FREQUENCY_HZ: Final = 1.0
PEER: Final = "ftio-hpc in process"
NO_TYPES: Final = np.zeros(0, np.uint8)
CLOSE: Final = 0.1
JITTERS: Final = (0.0, 0.02, 0.05)
PERIODS_S: Final = ((10.0, 20.0), (20.0, 10.0), (10.0, 25.0), (30.0, 12.0), (40.0, 10.0), (40.0, 6.0))
OLD_PHASES, NEW_PHASES = 12, 8


def known_after(job: Trace, phases: int) -> tuple[Trace, float]:
    """Return the requests that have ended when a job's k-th phase has, and that time."""
    now_s = float(job.end_s[job.phase == phases - 1].max())
    done = job.end_s <= now_s + 1e-9
    return Trace(job.start_s[done], job.end_s[done], job.volume[done], job.starts_s[:phases], job.phase[done]), now_s


def early(name: str, made: Callable[[int], Trace], *, bounded: bool) -> list[Figure]:
    figures = []
    jobs = [made(seed) for seed in range(JOBS)]
    for phases, bound in BOUNDS.items():
        known = [known_after(job, phases) for job in jobs]
        answers = analyse([(seen.start_s, seen.end_s, seen.bandwidth) for seen, _ in known], FREQUENCY_HZ)
        ours = []
        for seen, now_s in known:
            predictor = Predictor("job", DetectSettings(sampling_frequency_hz=FREQUENCY_HZ))
            predictor.update(make_batch(1, {"start": 0}), NO_TYPES)
            predictor.update(seen.batch(), NO_TYPES)
            period = predictor.predict(round(now_s * 1e9)).period_s
            ours.append(None if period is None else period.value)
        peer = None if answers is None else _median([each.period_s for each in answers], jobs)
        value = _median(ours, jobs)
        budget = bound if bounded else ""
        figures.append(
            Figure(f"{name}: median error after {phases} phases", value, "%", budget, PEER, peer, better="lower")
        )
    return figures


def _median(found: list[float | None], jobs: list[Trace]) -> float:
    """Return the median error in percent; a missing period is an error of 100 %."""
    errors = [
        1.0 if period is None else abs(period / job.period_s - 1) for period, job in zip(found, jobs, strict=True)
    ]
    return 100 * float(np.median(errors))


def phases_until_known(seed: int, old_s: float, new_s: float, jitter: float) -> int:
    """Return the number of ended phases of the new period when it is reported permanently; predicted each second."""
    rng = np.random.default_rng(seed)
    distances = np.repeat([old_s, new_s], [OLD_PHASES, NEW_PHASES])
    starts = 5 + np.cumsum(distances * (1 + jitter * rng.standard_normal(len(distances))))
    length = 0.2 * min(old_s, new_s)
    edges = np.rint((starts[:, None] + np.linspace(0, length, 33)) * 1e9).astype(np.int64)
    predictor = Predictor("job")
    predictor.update(make_batch(1, {"start": 0}), NO_TYPES)
    known, moments = [], np.arange(1.0, starts[-1] + length + 1)
    for moment in moments:
        ended = (edges[:, 1:] > (moment - 1) * 1e9) & (edges[:, 1:] <= moment * 1e9)
        if ended.any():
            predictor.update(_writes(edges[:, :-1][ended], edges[:, 1:][ended]), NO_TYPES)
        period = predictor.predict(round(moment * 1e9)).period_s
        known.append(period is not None and abs(period.value / new_s - 1) < CLOSE)
    after = [known[int(np.searchsorted(moments, start + length))] for start in starts[OLD_PHASES:]]
    return next((number + 1 for number in range(len(after)) if all(after[number:])), len(after) + 1)


def _writes(start: np.ndarray, end: np.ndarray) -> EventBatch:
    columns = {"start": start, "duration": end - start, "bytes": 2**20, "kind": int(Kind.WRITE)}
    return make_batch(len(start), columns)


def change() -> list[Figure]:
    figures = []
    for old_s, new_s in PERIODS_S:
        counts = [phases_until_known(seed, old_s, new_s, jitter) for jitter in JITTERS for seed in range(JOBS // 4)]
        for label, value in (("median", float(np.median(counts))), ("most", float(max(counts)))):
            name = f"from {old_s:g} to {new_s:g} s: new phases until known, {label}"
            figures.append(Figure(name, value, "phases", "<= 3" if label == "median" else "", better="lower"))
    return figures


def steady(name: str, made: Callable[[int], Trace]) -> list[Figure]:
    largest = {"from 10 to 11 Hz": 0.0, "to 20 Hz": 0.0, "stamps 10 ms later": 0.0}
    for seed in range(JOBS):
        batch = made(seed).batch()
        usual = _period(batch, 10.0)
        others = (
            _period(batch, 11.0),
            _period(batch, 20.0),
            _period(batch.replace(start=batch.start + 10_000_000), 10.0),
        )
        for what, other in zip(largest, others, strict=True):
            moved = 1.0 if other is None or usual is None else abs(other / usual - 1)
            largest[what] = max(largest[what], moved)
    return [
        Figure(f"{name}: largest change of the period, {what}", 100 * value, "%", better="lower")
        for what, value in largest.items()
    ]


def _period(batch: EventBatch, frequency_hz: float) -> float | None:
    found = detect([(batch, NO_TYPES)], DetectSettings(sampling_frequency_hz=frequency_hz), "job").period_s
    return None if found is None else found.value


def measure() -> list[Figure]:
    return [
        *early("even", lambda seed: trace(seed), bounded=True),
        *early("even, noise", lambda seed: trace(seed, noise=0.1), bounded=True),
        *early("jitter 0.1", lambda seed: bursts(seed, jitter=0.1), bounded=False),
        *change(),
        *steady("even", lambda seed: trace(seed)),
        *steady("sigma/mu 1", lambda seed: trace(seed, relative_sigma=1.0)),
        *steady("delays of 11 s", lambda seed: trace(seed, delay_s=11.0)),
        *steady("jitter 0.1", lambda seed: bursts(seed, jitter=0.1)),
    ]


if __name__ == "__main__":
    report(measure())
