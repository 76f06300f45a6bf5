"""Change detectors against slow references, on streams with a known change, and on streams without a change."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.online.change_detectors import (
    DETECTORS,
    MIN_DEVIATION,
    Adwin,
    ChangeDetector,
    Cusum,
    PageHinkley,
)

numbers = st.lists(st.floats(-3, 3), max_size=40)


def naive_adwin(values: list[float], delta: float) -> list[float]:
    """Drop the older part at the cut that exceeds its bound the most, repeatedly."""
    while len(values) >= 4 and max(values) > min(values):
        n = len(values)
        log = math.log(2 * math.log(n) / delta)
        variance, span = statistics.pvariance(values), max(values) - min(values)
        excess = []
        for cut in range(1, n):
            m = 1 / (1 / cut + 1 / (n - cut))
            eps = math.sqrt(2 / m * variance * log) + 2 * span / (3 * m) * log
            excess.append(abs(statistics.fmean(values[:cut]) - statistics.fmean(values[cut:])) - eps)
        best = max(excess)
        if best <= 1e-12:
            break
        values = values[excess.index(best) + 1 :]
    return values


@given(numbers, st.sampled_from([0.0, 5.0]))
@settings(deadline=None)
def test_adwin_keeps_what_trying_all_cuts_keeps(values: list[float], jump: float) -> None:
    detector = Adwin(delta=0.5)
    window: list[float] = []
    for at, value in enumerate(values):
        shifted = value + (jump if at > len(values) / 2 else 0)
        before = len(window) + 1
        window = naive_adwin([*window, shifted], 0.5)
        assert detector.update(shifted) == (len(window) < before)
        assert detector.kept == len(window)


@given(numbers)
@settings(deadline=None)
def test_cusum_sums_the_excess_beyond_k_deviations(values: list[float]) -> None:
    detector = Cusum()
    learnt: list[float] = []
    up = down = 0.0
    for value in values:
        alarm = False
        taken = value
        if len(learnt) >= 6:
            mean, deviation = statistics.fmean(learnt), max(statistics.stdev(learnt), MIN_DEVIATION)
            z = min(max((value - mean) / deviation, -3.0), 3.0)
            up, down = max(0.0, up + z - 0.5), max(0.0, down - z - 0.5)
            alarm = max(up, down) > 7.4 + 1e-9
            taken = mean + z * deviation
        assert detector.update(value) == alarm
        if alarm:
            return
        learnt.append(taken)
        assert detector.kept == len(learnt)


@given(numbers)
@settings(deadline=None)
def test_page_hinkley_is_the_height_above_the_minimum(values: list[float]) -> None:
    detector = PageHinkley(learning=0)
    sums = {1: [0.0], -1: [0.0]}
    for at, value in enumerate(values, 1):
        mean = statistics.fmean(values[:at])
        for sign, line in sums.items():
            line.append(line[-1] + sign * (value - mean) - 0.15)
        alarm = any(line[-1] - min(line) > 1.5 + 1e-9 for line in sums.values())
        assert detector.update(value) == alarm
        if alarm:
            return


def intervals(rng: np.random.Generator, count: int, period_s: float, jitter: float) -> list[float]:
    return np.log(np.maximum(rng.normal(period_s, jitter * period_s, count), 0.05 * period_s)).tolist()


def alarms(detector: ChangeDetector, values: list[float]) -> list[int]:
    return [at for at, value in enumerate(values) if detector.update(value)]


@pytest.mark.parametrize("factor", [0.5, 2.0])
@pytest.mark.parametrize("period_s", [0.1, 3600.0])
@pytest.mark.parametrize(("name", "needed"), [("adwin", 20), ("cusum", 3), ("page-hinkley", 4)])
def test_change_by_a_factor_of_two_is_found_and_the_old_numbers_go(
    name: str, needed: int, period_s: float, factor: float
) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        detector = DETECTORS[name]()
        values = [*intervals(rng, 20, period_s, 0.05), *intervals(rng, 20, factor * period_s, 0.05)]
        found = [at for at, value in enumerate(values) if detector.update(value)]
        assert found, seed
        assert 20 <= found[0] < 20 + needed
        assert 15 <= detector.kept <= 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "jitter"),
    [("adwin", 0.05), ("adwin", 0.3), ("cusum", 0.05), ("cusum", 0.3), ("page-hinkley", 0.05), ("page-hinkley", 0.2)],
)
def test_steady_period_raises_an_alarm_less_than_once_in_a_thousand_phases(name: str, jitter: float) -> None:
    found = phases = 0
    for seed in range(40):
        values = intervals(np.random.default_rng(seed), 200, 10.0, jitter)
        found += len(alarms(DETECTORS[name](), values))
        phases += len(values)
    assert found / phases < 1e-3


@pytest.mark.parametrize("name", list(DETECTORS))
def test_one_missed_phase_is_no_change(name: str) -> None:
    values = intervals(np.random.default_rng(1), 40, 10.0, 0.05)
    values[20] = math.log(20.0)
    assert alarms(DETECTORS[name](), values) == []


@pytest.mark.parametrize("name", list(DETECTORS))
def test_a_constant_stream_never_changes(name: str) -> None:
    assert alarms(DETECTORS[name](), [1.0] * 100) == []
