"""Time of a prediction, beside ftio-hpc's on the same requests."""

from __future__ import annotations

import numpy as np
from _figures import Figure, report, seconds_of
from _ftio import analyse
from _semisynthetic import REQUEST_BYTES
from iotide.analyzers.predictor import Predictor
from iotide.analyzers.settings import DetectSettings
from iotide.events import Kind, make_batch

SAMPLES = 4096
NO_TYPES = np.zeros(0, np.uint8)
PEER = "ftio-hpc in process"


def times() -> list[Figure]:
    """A window of 4096 samples at 10 Hz: a burst of 200 requests every 9.7 s."""
    rng = np.random.default_rng(3)
    bursts = np.arange(2.0, SAMPLES / 10 - 2, 9.7)
    start = np.sort((bursts[:, None] + rng.uniform(0, 0.9, (len(bursts), 200))).ravel())
    end = start + 0.004
    batch = make_batch(
        len(start),
        {
            "start": np.rint(start * 1e9).astype(np.int64),
            "duration": 4_000_000,
            "bytes": REQUEST_BYTES,
            "kind": Kind.WRITE,
        },
    )
    answers = analyse([(start, end, np.full(len(start), REQUEST_BYTES / 0.004))], 10.0, repeats=10)
    peer = None if answers is None else 1e3 * answers[0].analysis_s
    predictor = Predictor("benchmark", DetectSettings(sampling_frequency_hz=10.0))
    predictor.update(make_batch(1, {"start": 0}), NO_TYPES)
    predictor.update(batch, NO_TYPES)
    now_ns = SAMPLES * 10**8
    assert predictor.predict(now_ns, whole=True).window.samples == SAMPLES
    whole = 1e3 * seconds_of(lambda: predictor.predict(now_ns, whole=True), 200)
    for _ in range(3):
        predictor.predict(now_ns)
    adapted = 1e3 * seconds_of(lambda: predictor.predict(now_ns), 200)
    return [
        Figure("prediction, 4096 samples", whole, "ms", "<= 1 ms", PEER, peer, better="lower"),
        Figure("prediction, window cut to three periods", adapted, "ms", "<= 1 ms", better="lower"),
    ]


def measure() -> list[Figure]:
    return times()


if __name__ == "__main__":
    report(measure())
