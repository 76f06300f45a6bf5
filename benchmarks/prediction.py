"""Time and error of a prediction, beside ftio-hpc's on the same requests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from _figures import Figure, report, seconds_of
from _ftio import Requests, analyse
from _semisynthetic import REQUEST_BYTES, Trace, trace
from iotide.analyzers.predictor import Predictor, detect
from iotide.analyzers.settings import DetectSettings
from iotide.events import Kind, make_batch

SAMPLES = 4096
TRACES = 50
FREQUENCY_HZ = 1.0
NO_TYPES = np.zeros(0, np.uint8)
PEER = "ftio-hpc in process"


def requests_of(each: Trace) -> Requests:
    return each.start_s, each.end_s, each.bandwidth


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


def errors(name: str, traces: Sequence[Trace]) -> list[Figure]:
    settings = DetectSettings(sampling_frequency_hz=FREQUENCY_HZ)
    ours = [detect([(each.batch(), NO_TYPES)], settings, "trace").period_s for each in traces]
    answers = analyse([requests_of(each) for each in traces], FREQUENCY_HZ)
    found = [None if period is None else period.value for period in ours]
    theirs = None if answers is None else [answer.period_s for answer in answers]
    figures = []
    for label, statistic in (("mean", np.mean), ("median", np.median)):
        peer = None if theirs is None else 100 * float(statistic(relative(theirs, traces)))
        value = 100 * float(statistic(relative(found, traces)))
        figures.append(Figure(f"{label} error of the period, {name}", value, "%", "", PEER, peer, better="lower"))
    unanswered = None if theirs is None else 100 * sum(row is None for row in theirs) / len(traces)
    share = 100 * sum(row is None for row in found) / len(traces)
    figures.append(Figure(f"unanswered, {name}", share, "%", "", PEER, unanswered, better="lower"))
    return figures


def relative(found: Sequence[float | None], traces: Sequence[Trace]) -> list[float]:
    pairs = zip(found, traces, strict=True)
    return [abs(period - each.period_s) / each.period_s for period, each in pairs if period is not None]


def measure() -> list[Figure]:
    return [
        *times(),
        *errors("periodic", [trace(seed) for seed in range(TRACES)]),
        *errors("sigma/mu 0.5", [trace(1000 + seed, relative_sigma=0.5) for seed in range(TRACES)]),
        *errors("delays of 11 s", [trace(2000 + seed, delay_s=11.0) for seed in range(TRACES)]),
    ]


if __name__ == "__main__":
    report(measure())
