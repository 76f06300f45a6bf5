"""CPU time of a prediction by kind of job and age, and of a prediction that searches a period.

A job is predicted after each phase, at all resolutions, as the aggregator does. The table has jobs of 100, 1,000 and
10,000 phases, and the mean over the 64 predictions after them. Up to 192 predictions precede these. A prediction that
repeats the last result has no search. Of kinds with a period of 10 s, the share of predictions with this period to 5 %
and a confidence of one half is reported, too. IOTIDE_KINDS: only kinds whose names contain this. IOTIDE_PHASES: other
ages. IOTIDE_SEED: other jobs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.settings import DetectSettings
from iotide.benchmarks.common.figures import Figure, report
from iotide.events import Kind, make_batch
from iotide.results.prediction import PERIODIC_FROM, Prediction

ONLY: Final = os.environ.get("IOTIDE_KINDS", "")
AGES: Final = tuple(map(int, os.environ.get("IOTIDE_PHASES", "100,1000,10000").split(",")))
SEED: Final = int(os.environ.get("IOTIDE_SEED", "1"))
BEFORE: Final = 192
MEASURED: Final = 64
PERIOD_S: Final = 10.0
REQUESTS: Final = 8
VOLUME: Final = 1e8
SAME: Final = 0.05
WITHOUT: Final = ("no period", "no period, dense", "drift")  # kinds without a period of 10 s
NO_TYPES: Final = np.zeros(0, np.uint8)

Values = npt.NDArray[np.float64]
Phases = tuple[Values, Values, Values]
"""Starts, lengths (s) and volumes (bytes) of phases, in order of their starts."""


def periodic(rng: np.random.Generator, count: int) -> Phases:
    """Equal phases at equal distances."""
    return _phases(np.full(count, PERIOD_S))


def jittered(rng: np.random.Generator, count: int) -> Phases:
    """Distances that vary by 15 %."""
    return _phases(PERIOD_S * np.maximum(rng.normal(1, 0.15, count), 0.3))


def weak(rng: np.random.Generator, count: int) -> Phases:
    """Equal phases, and half as many others of all sizes at random times."""
    start, length, volume = _phases(np.full(count - count // 3, PERIOD_S))
    others = rng.uniform(0, float(start[-1]), count // 3)
    sizes = rng.lognormal(0, 1, len(others))
    return _in_order(np.append(start, others), np.append(length, 0.8 * sizes), np.append(volume, VOLUME * sizes))


def aperiodic(rng: np.random.Generator, count: int) -> Phases:
    """Log-normal distances and volumes, both with a sigma of 1."""
    return _phases(0.2 + PERIOD_S * rng.lognormal(-0.5, 1, count), rng.lognormal(-0.5, 1, count))


def dense(rng: np.random.Generator, count: int) -> Phases:
    """Bursts of all sizes at random times, one per second, so that there is nearly always I/O."""
    return _phases(rng.exponential(1, count), 3 * rng.lognormal(-0.5, 1, count))


def two_programs(rng: np.random.Generator, count: int) -> Phases:
    """Two programs with periods of 10 and 16.4 s."""
    end_s = PERIOD_S * count / (1 + 1 / 1.64)
    parts = [_phases(np.full(int(end_s / period_s), period_s)) for period_s in (PERIOD_S, 1.64 * PERIOD_S)]
    start, length, volume = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return _in_order(start, length, volume)


def drift(rng: np.random.Generator, count: int) -> Phases:
    """Distances that grow from 10 to 20 s."""
    return _phases(np.linspace(PERIOD_S, 2 * PERIOD_S, count) * rng.normal(1, 0.005, count))


def pauses(rng: np.random.Generator, count: int) -> Phases:
    """Distances that vary by 1 %, with a pause of 3 to 40 periods in every twenty."""
    distance = PERIOD_S * rng.normal(1, 0.01, count)
    distance[::20] += PERIOD_S * rng.uniform(3, 40, len(distance[::20]))
    return _phases(distance)


KINDS: Final[dict[str, Callable[[np.random.Generator, int], Phases]]] = {
    "periodic": periodic,
    "jitter of 15 %": jittered,
    "weak period": weak,
    "no period": aperiodic,
    "no period, dense": dense,
    "two programs": two_programs,
    "drift": drift,
    "pauses": pauses,
}


def predicted(phases: Phases, age: int) -> tuple[float, float, float]:
    """Returns the mean CPU time of a prediction, and of one with a search, ms, and the share of sure and right ones."""
    start, length, volume = phases
    predictor = Predictor("benchmark", DetectSettings())
    predictor.update(make_batch(1, {"start": 0}), NO_TYPES)
    begin = max(age - BEFORE, 2)
    _feed(predictor, (start[:begin], length[:begin], volume[:begin]))
    took, searched, right, window_end_s = [], [], [], -1.0
    for at in range(begin, len(start)):
        _feed(predictor, (start[at : at + 1], length[at : at + 1], volume[at : at + 1]))
        now_ns = round((float(start[at]) + float(length[at]) + 0.05) * 1e9)
        since = time.process_time()
        prediction = predictor.predict(now_ns)
        spent = 1e3 * (time.process_time() - since)
        if at >= age:
            took.append(spent)
            right.append(is_right(prediction))
            if prediction.window.end_s != window_end_s:
                searched.append(spent)
        window_end_s = prediction.window.end_s
    return float(np.mean(took)), float(np.mean(searched or [np.nan])), float(np.mean(right))


def is_right(prediction: Prediction) -> bool:
    """Return whether the period is 10 s, and sure."""
    period = prediction.period_s
    sure = prediction.confidence >= PERIODIC_FROM
    return period is not None and sure and abs(period.value / PERIOD_S - 1) <= SAME


def measure() -> list[Figure]:
    figures = []
    for kind, maker in KINDS.items():
        if ONLY not in kind:
            continue
        for age in AGES:
            # some kinds drop phases
            mean, search, right = predicted(maker(np.random.default_rng(SEED), age + MEASURED), age)
            name = f"{kind}, {age:,} phases"
            figures.append(Figure(f"{name}: a prediction", mean, "ms", "<= 1 ms", better="lower"))
            figures.append(Figure(f"{name}: one with a search", search, "ms", better="lower"))
            if kind not in WITHOUT:
                figures.append(Figure(f"{name}: period right and sure", 100 * right, "%"))
    return figures


def _phases(distance: Values, size: Values | None = None) -> Phases:
    """Returns phases of 0.8 s and equal volume, or of a multiple of both, that do not overlap."""
    size = np.ones(len(distance)) if size is None else size
    return 2 + np.cumsum(distance), np.minimum(0.8 * size, 0.9 * np.append(distance[1:], np.inf)), VOLUME * size


def _in_order(start: Values, length: Values, volume: Values) -> Phases:
    order = np.argsort(start)
    return start[order], length[order], volume[order]


def _feed(predictor: Predictor, phases: Phases) -> None:
    start, length, volume = phases
    edges = np.rint(1e9 * (start[:, None] + np.linspace(0, 1, REQUESTS + 1) * length[:, None])).astype(np.int64)
    columns = {
        "start": edges[:, :-1].ravel(),
        "duration": np.diff(edges, axis=1).ravel(),
        "bytes": np.repeat(np.maximum(volume / REQUESTS, 1), REQUESTS).astype(np.int64),
        "kind": int(Kind.WRITE),
    }
    predictor.update(make_batch(REQUESTS * len(start), columns), NO_TYPES)


if __name__ == "__main__":
    report(measure())
