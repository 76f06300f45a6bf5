"""A single large burst hides no period of little I/O, in the same direction or in the other one."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.offline.detection import AnalysisOptions, analyse
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.periodicity.estimator import SignalWindow
from iotide.analyzers.periodicity.phases.dominant_burst import without_bursts
from iotide.analyzers.settings import DetectSettings
from iotide.analyzers.signal.selection import ALL_COUNTS
from iotide.events import EventBatch, Kind, concatenate, make_batch
from iotide.results.prediction import Prediction

PERIOD_S = 1.3
PHASES = 12
GB = 10**9


def requests(start_s: np.ndarray, length_s: float, volume: int, kind: Kind) -> EventBatch:
    start = np.rint(start_s * 1e9).astype(np.int64)
    return make_batch(
        len(start), {"start": start, "duration": round(length_s * 1e9), "bytes": volume, "kind": kind, "file": 1}
    )


def job(burst: Kind | None, at_s: float, phases: Kind = Kind.WRITE, noise: Kind | None = None) -> EventBatch:
    """Small phases every 1.3 s from 5 s on, a gigabyte at some other time, and optional I/O all the time."""
    parts = [requests(5 + PERIOD_S * np.arange(PHASES), 0.02, 50_000, phases)]
    if burst is not None:
        parts.append(requests(at_s + 0.1 * np.arange(20), 0.1, GB // 20, burst))
    if noise is not None:
        moments = np.random.default_rng(3).uniform(0, 20, 300)
        parts.append(requests(moments, 0.01, 40_000, noise))
    return concatenate(parts)


def live(batch: EventBatch) -> Prediction:
    predictor = Predictor("job", DetectSettings())
    end = batch.end
    for moment in np.arange(1, 25) * 10**9:
        new = (end <= moment) & (end > moment - 10**9)
        predictor.update(batch.select(new), ALL_COUNTS, int(moment))
        predictor.predict(int(moment))
    return predictor.predict(int(end.max()), whole=True)


def finished(batch: EventBatch) -> Prediction:
    return detect([(batch, ALL_COUNTS)], DetectSettings(), "job")


@pytest.mark.parametrize("look", [live, finished])
@pytest.mark.parametrize(
    ("burst", "at_s", "phases"),
    [
        (Kind.READ, 1.0, Kind.WRITE),
        (Kind.WRITE, 1.0, Kind.WRITE),
        (Kind.READ, 2.5, Kind.READ),
        (Kind.WRITE, 21.0, Kind.WRITE),
        (None, 0.0, Kind.WRITE),
    ],
)
def test_a_burst_that_happened_once_hides_no_period(look, burst, at_s, phases) -> None:  # type: ignore[no-untyped-def]
    found = look(job(burst, at_s, phases))
    assert found.period_s is not None
    assert found.periodic
    assert found.period_s.value == pytest.approx(PERIOD_S, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("look", [live, finished])
def test_the_direction_that_has_a_period_is_told_where_both_together_have_none(look) -> None:  # type: ignore[no-untyped-def]
    found = look(job(None, 0.0, Kind.WRITE, noise=Kind.READ))
    assert found.mode == "write"
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(PERIOD_S, rel=0.02)
    assert found.confidence > 0.8


def test_all_modes_asked_for_stay_those_that_they_are() -> None:
    batch = job(None, 0.0, Kind.WRITE, noise=Kind.READ)
    prediction, analysis, *_ = analyse([(batch, ALL_COUNTS)], DetectSettings(), "job", AnalysisOptions(all_modes=True))
    assert analysis.modes is not None
    assert [row.mode for row in analysis.modes] == ["read", "write", "both"]
    assert prediction == analysis.modes[1]
    assert not analysis.modes[2].periodic


def test_a_direction_that_was_asked_for_is_the_one_that_is_told() -> None:
    batch = job(None, 0.0, Kind.WRITE, noise=Kind.READ)
    assert detect([(batch, ALL_COUNTS)], DetectSettings(mode="read"), "job").mode == "read"


@pytest.mark.parametrize("seed", range(8))
def test_bursts_at_random_stay_without_a_period(seed: int) -> None:
    random = np.random.default_rng(seed)
    start = np.sort(random.uniform(0, 60, 9))
    batch = concatenate(
        [requests(start[i : i + 1], 0.1, int(random.lognormal(12, 3)), Kind.WRITE) for i in range(len(start))]
    )
    assert not finished(batch).periodic


def test_views_without_bursts_are_shorter_at_the_same_position() -> None:
    values = np.zeros(400)
    values[10:20], values[60:64] = 1e9, 1e7
    values[100::30] = 5.0
    view = SignalWindow(values, bin_s=0.1, start_s=7.0, now_s=47.0)
    shorter = list(without_bursts(view))
    assert [round(each.start_s, 3) for each in shorter] == [9.1, 13.5]
    for each in shorter:
        first = round((each.start_s - view.start_s) / view.bin_s)
        np.testing.assert_array_equal(each.bandwidth, values[first : first + len(each.bandwidth)])
    assert list(without_bursts(SignalWindow(np.zeros(50), 0.1, 0.0, 5.0))) == []
    assert list(without_bursts(SignalWindow(np.ones(50), 0.1, 0.0, 5.0))) == []
    assert list(without_bursts(SignalWindow(np.zeros(0), 0.1, 0.0, 0.0))) == []


def test_closer_phases_like_the_others_are_no_burst() -> None:
    starts = np.concatenate([np.arange(0, 120, 4), np.arange(130, 560, 25)])
    window = np.zeros(600)
    for start in starts:
        window[start : start + 2] = 1e8
    assert not list(without_bursts(SignalWindow(window, bin_s=1.0, start_s=0.0, now_s=600.0)))
    window[:120] *= 4
    assert list(without_bursts(SignalWindow(window, bin_s=1.0, start_s=0.0, now_s=600.0)))
