from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.periodicity.estimator import SignalWindow
from iotide.analyzers.periodicity.estimators.default_estimator import estimate
from iotide.analyzers.periodicity.estimators.secondary_periods import ended_period, other_periods
from iotide.analyzers.settings import DetectSettings
from iotide.events import Kind, make_batch
from iotide.results.prediction import OtherPeriod

BIN_S = 0.1
LENGTH = 3000
TYPES = np.zeros(0, np.uint8)
Signal = npt.NDArray[np.float64]


def bursts(starts: npt.ArrayLike, width: float, height: float = 1.0, length: int = LENGTH) -> Signal:
    edges = np.arange(length + 1.0)
    values = np.zeros(length)
    for start in np.asarray(starts, float):
        values += np.diff(np.clip(edges, start, start + width))
    return values * height * 1e6


def jittered(period: float, count: int = 58) -> Signal:
    return 5 + period * np.arange(count) + np.random.default_rng(1).normal(0, 1, count)


def others(values: Signal, main_s: float) -> dict[str, OtherPeriod]:
    view = SignalWindow(values, bin_s=BIN_S, start_s=0.0, now_s=len(values) * BIN_S)
    periodicity = estimate(view, DetectSettings())
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(main_s, rel=0.01)
    return {each.relation: each for each in other_periods(view, periodicity.period_s.value)}


@pytest.mark.parametrize("extra", [0.5, 3.0])
def test_each_fifth_phase_that_is_larger_is_a_period_around(extra: float) -> None:
    starts = jittered(50)
    found = others(bursts(starts, 5) + bursts(starts[::5], 5, extra), 5.0)
    assert set(found) == {"around"}
    assert found["around"].period_s.value == pytest.approx(25.0, rel=0.01)
    assert found["around"].phases == 12


@pytest.mark.parametrize("period", [30.0, 37.3])
def test_small_bursts_between_large_ones_are_a_period_within(period: float) -> None:
    small = bursts(5 + period * np.arange(2990 // period), 2, 0.02)
    found = others(small + bursts(15 + 300 * np.arange(10), 20), 30.0)
    assert set(found) == {"within"}
    assert found["within"].period_s.value == pytest.approx(period * BIN_S, rel=0.01)


def test_bursts_within_phases_and_a_log_between_them_are_both_told() -> None:
    phases = bursts([10 + 300 * k + 6 * j for k in range(10) for j in range(4)], 3)
    log = bursts(5 + 26.0 * np.arange(115), 1, 0.2)
    view = SignalWindow(phases + log, bin_s=BIN_S, start_s=0.0, now_s=LENGTH * BIN_S)
    found = sorted(each.period_s.value for each in other_periods(view, 30.0) if each.relation == "within")
    assert found == pytest.approx([0.6, 2.6], rel=0.02)


def test_bursts_that_go_on_between_phases_are_told_once() -> None:
    at = 5 + 20 * np.arange(149)
    large = np.arange(149) % 10 < 2
    values = bursts(at[large], 10, 5.0) + bursts(at[~large], 10, 0.2)
    view = SignalWindow(values, bin_s=BIN_S, start_s=0.0, now_s=LENGTH * BIN_S)
    found = [each for each in other_periods(view, 20.0) if each.relation == "within"]
    assert [each.period_s.value for each in found] == pytest.approx([2.0], rel=0.02)


def test_bursts_that_make_up_a_phase_are_a_period_within() -> None:
    found = others(bursts([10 + 100 * k + 6 * j for k in range(29) for j in range(6)], 2), 10.0)
    assert set(found) == {"within"}
    assert found["within"].period_s.value == pytest.approx(0.6)
    assert found["within"].phases == 29 * 6


def test_periods_before_changes_are_told_with_their_time() -> None:
    starts = np.concatenate([5 + 30.0 * np.arange(20), 620 + 60.0 * np.arange(15), 1520 + 25.0 * np.arange(30)])
    view = SignalWindow(bursts(starts, 5, length=2260), bin_s=BIN_S, start_s=100.0, now_s=326.0)
    found = other_periods(view, 2.5)
    assert [each.relation for each in found] == ["earlier", "earlier"]
    assert [each.period_s.value for each in found] == pytest.approx([6.0, 3.0], rel=0.01)
    assert found[1].start_s == pytest.approx(100.5, abs=0.1)
    assert found[1].end_s == pytest.approx(157.5, abs=0.1)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_one_period_is_not_taken_for_several(noise: float) -> None:
    rng = np.random.default_rng(2)
    assert others(bursts(jittered(50), 5) + 1e6 * noise * rng.exponential(1, LENGTH), 5.0) == {}


def test_volumes_at_random_are_no_pattern() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        values = np.sum([bursts([start], 5, rng.lognormal(0, 0.3)) for start in jittered(50)], axis=0)
        assert other_periods(SignalWindow(values, bin_s=BIN_S, start_s=0.0, now_s=300.0), 5.0) == []


@pytest.mark.parametrize("period", [0.0, 1e-9, 1e9])
def test_senseless_period_finds_nothing(period: float) -> None:
    assert other_periods(SignalWindow(bursts(jittered(50), 5), bin_s=BIN_S, start_s=0.0, now_s=300.0), period) == []
    assert other_periods(SignalWindow(np.zeros(0), bin_s=BIN_S, start_s=0.0, now_s=0.0), 1.0) == []


def test_traces_and_running_jobs_are_searched_for_further_periods() -> None:
    small = np.arange(5, 600, 3.0)
    large = np.arange(5, 600, 30.0)
    start = np.rint(np.concatenate([small, large + 0.2]) * 1e9).astype(np.int64)
    order = np.argsort(start)
    volume = np.concatenate([np.full(len(small), 10**4), np.full(len(large), 10**7)])[order]
    length = np.concatenate([np.full(len(small), 10**8), np.full(len(large), 2 * 10**9)])[order]
    batch = make_batch(
        len(start), {"start": start[order], "duration": length, "bytes": volume, "kind": int(Kind.WRITE)}
    )
    predictor = Predictor("job")
    predictor.update(batch, TYPES)
    now_ns = int((start + 2 * 10**9).max())
    online = [predictor.predict(now_ns) for _ in range(3)][-1]
    offline = detect([(batch, TYPES)], DetectSettings(), "job")
    for prediction in (offline, online, predictor.predict(now_ns, whole=True)):
        assert prediction.period_s is not None
        assert prediction.period_s.value == pytest.approx(30.0, rel=0.01)
        assert [each.relation for each in prediction.others] == ["within"]
        assert prediction.others[0].period_s.value == pytest.approx(3.0, rel=0.02)


@pytest.mark.parametrize("late", [0.0, 0.05, 1.0])
def test_period_that_has_ended_is_told_although_there_is_none_now(late: float) -> None:
    at = np.concatenate([np.arange(100) * 0.05 % 0.5 + 5.0 * (np.arange(100) // 10)])
    last = np.array([150.0])
    batch = make_batch(
        101,
        {
            "start": (np.append(at, last) * 1e9).astype(np.int64),
            "duration": 40_000_000,
            "bytes": np.append(np.full(100, 1_000_000), 1 + int(1e7 * late)),
            "kind": int(Kind.WRITE),
        },
    )
    found = detect([(batch, TYPES)], DetectSettings(), "job")
    assert found.period_s is None
    assert [each.relation for each in found.others] == ["earlier"]
    assert found.others[0].period_s.value == pytest.approx(5.0, rel=0.01)
    assert found.others[0].phases == 10
    assert found.others[0].end_s == pytest.approx(45.0, abs=0.3)


@pytest.mark.parametrize("seed", range(5))
def test_random_bursts_had_no_period(seed: int) -> None:
    at = np.sort(np.random.default_rng(seed).uniform(0, LENGTH - 10, 30))
    assert ended_period(SignalWindow(bursts(at, 3), bin_s=BIN_S, start_s=0.0, now_s=LENGTH * BIN_S)) is None


@pytest.mark.parametrize("values", [np.zeros(0), np.zeros(100), np.ones(100), np.eye(1, 100)[0]])
def test_signal_without_phases_had_no_period(values: Signal) -> None:
    assert ended_period(SignalWindow(values, bin_s=BIN_S, start_s=0.0, now_s=10.0)) is None
