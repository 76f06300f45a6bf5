"""Time of a prediction, beside ftio-hpc on the same requests.

A job writes a burst of 200 requests every 9.7 s and is predicted after each, 100 times, at 10 Hz. Its ring contains
4096 samples. The window is all of them, or the last three periods after three hits. Periodic work (checks of other
resolutions and of further periods) is part of the mean.
"""

from __future__ import annotations

import time
from typing import Literal

import numpy as np
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.settings import DetectSettings
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.ftio import analyse
from iotide.benchmarks.generators.semisynthetic import REQUEST_BYTES
from iotide.events import Kind, make_batch

SAMPLES = 4096
FREQUENCY_HZ = 10.0
PERIOD_S = 9.7
LENGTH_S = 0.004
REQUESTS = 200
PREDICTIONS = 100
NO_TYPES = np.zeros(0, np.uint8)
PEER = "ftio-hpc in process"


def burst(number: int) -> np.ndarray:
    """Return the starts of a burst's requests in seconds."""
    return 2 + number * PERIOD_S + np.sort(np.random.default_rng(number).uniform(0, 0.9, REQUESTS))


def predicting(window: Literal["whole", "hits"]) -> tuple[float, float]:
    """Return mean and median time of a prediction, ms."""
    settings = DetectSettings(sampling_frequency_hz=FREQUENCY_HZ, ring_bins=SAMPLES, window=window)
    predictor = Predictor("benchmark", settings)
    predictor.update(make_batch(1, {"start": 0}), NO_TYPES)
    before = int(SAMPLES / FREQUENCY_HZ / PERIOD_S) + 1
    took = []
    for number in range(before + PREDICTIONS):
        start = np.rint(burst(number) * 1e9).astype(np.int64)
        columns = {"start": start, "duration": round(LENGTH_S * 1e9), "bytes": REQUEST_BYTES, "kind": int(Kind.WRITE)}
        predictor.update(make_batch(REQUESTS, columns), NO_TYPES)
        if number >= before:
            now_ns = int(start[-1]) + 2 * 10**9
            begin = time.perf_counter()
            prediction = predictor.predict(now_ns)
            took.append(1e3 * (time.perf_counter() - begin))
            assert prediction.period_s is not None
            assert window == "hits" or prediction.window.samples == SAMPLES
    return float(np.mean(took)), float(np.median(took))


def peer_ms() -> float | None:
    start = np.concatenate([burst(number) for number in range(int((SAMPLES / FREQUENCY_HZ - 3) / PERIOD_S))])
    end = start + LENGTH_S
    answers = analyse([(start, end, np.full(len(start), REQUEST_BYTES / LENGTH_S))], FREQUENCY_HZ, repeats=10)
    return None if answers is None else 1e3 * answers[0].analysis_s


def measure() -> list[Figure]:
    mean, median = predicting("whole")
    cut_mean, cut_median = predicting("hits")
    return [
        Figure("prediction, 4096 samples, median", median, "ms", "<= 1 ms", PEER, peer_ms(), better="lower"),
        Figure("prediction, 4096 samples, mean", mean, "ms", "<= 1 ms", better="lower"),
        Figure("prediction, window cut to three periods, median", cut_median, "ms", "<= 1 ms", better="lower"),
        Figure("prediction, window cut to three periods, mean", cut_mean, "ms", "<= 1 ms", better="lower"),
    ]


if __name__ == "__main__":
    report(measure())
