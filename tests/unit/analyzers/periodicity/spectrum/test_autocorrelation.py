from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.offline.autocorrelation import autocorrelation, find_period, merge
from iotide.analyzers.offline.trace import examine
from iotide.analyzers.settings import DetectSettings
from iotide.cli.traces.trace_reading import read_traces
from iotide.results.prediction import ModeName
from iotide.results.traces.analysis import AutocorrelationAnswer
from support.jobs.result_factories import make_prediction
from support.places import DATA


def bursts(periods: int, period: int, width: int, *, jitter: int = 0, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = np.zeros(periods * period + width)
    for number in range(periods):
        at = number * period + int(rng.integers(0, jitter + 1))
        values[at : at + width] = 5e6
    return values


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=50).filter(lambda row: len(set(row)) > 1))
@settings(deadline=None)
def test_autocorrelation_is_that_of_the_definition(numbers: list[int]) -> None:
    values = np.array(numbers, float)
    off = values - values.mean()
    direct = [float(off[: len(off) - lag] @ off[lag:]) / float(off @ off) for lag in range(len(off))]
    np.testing.assert_allclose(autocorrelation(values), direct, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("values", [[], [3.0], [3.3] * 40])
def test_constant_signals_are_like_nothing(values: list[float]) -> None:
    assert autocorrelation(np.array(values)).tolist() == [0.0] * len(values)
    assert find_period(np.array(values), 0.1).period_s is None
    assert find_period(np.array(values), 0.1, as_reference=True).period_s is None


def test_period_of_bursts_is_found_and_certain() -> None:
    found = find_period(bursts(12, 50, 8), 0.1)
    assert found.period_s == pytest.approx(5.0, abs=0.01)
    assert found.confidence > 0.9
    assert found.outliers_s == []


def test_irregular_bursts_are_less_certain_than_regular_ones() -> None:
    steady, shaky = find_period(bursts(12, 50, 8), 0.1), find_period(bursts(12, 50, 8, jitter=12), 0.1)
    assert shaky.period_s == pytest.approx(5.0, rel=0.05)
    assert shaky.confidence < steady.confidence - 0.1


def test_interval_over_a_missing_peak_is_an_outlier() -> None:
    # one wave of 5.0 s, and a faster one with a fifth of its amplitude that moves some peaks
    at = np.arange(600)
    values = np.maximum(np.cos(2 * np.pi * at / 50), 0) + np.where(at % 170 < 9, 0.9, 0.0)
    found = find_period(values, 0.1)
    assert found.period_s == pytest.approx(5.0, rel=0.02)
    assert all(abs(row - 5.0) > 1.2 for row in found.outliers_s)
    assert len(found.intervals_s) + len(found.outliers_s) == len(found.peaks_s)


@pytest.mark.parametrize("seed", range(5))
def test_noise_and_a_long_write_have_no_period(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert find_period(rng.exponential(1.0, 2000), 0.1).period_s is None
    assert find_period(np.repeat([0.0, 1.0, 0.0], [200, 900, 300]), 0.1).period_s is None


# Output of the reference with --autocorrelation at 10 Hz.
@pytest.mark.parametrize(
    ("name", "mode", "outlier", "period_s", "confidence"),
    [
        ("tmio-8ranks.jsonl", "write", "zscore", 1.9266667, 0.8924805),
        ("tmio-8ranks.jsonl", "read", "zscore", 1.8928571, 0.8157088),
        ("tmio-8ranks.jsonl", "read", "peaks", 1.8928571, 0.9914501),
        ("tmio-custom-ranks.json", "write", "zscore", 2.6875, 0.9950842),
    ],
)
def test_merged_answers_are_those_of_the_reference(
    name: str, mode: ModeName, outlier: str, period_s: float, confidence: float
) -> None:
    trace = read_traces([DATA / name], format_name=None, job="trace", progress=lambda path, done: None)
    chosen = {"method": "reference", "sampling": "point", "mode": mode, "outlier": outlier}
    found, view = examine(
        trace.batches(), DetectSettings.model_validate({**chosen, "sampling_frequency_hz": 10.0}), "trace"
    )
    answer = find_period(view.window, view.bin_s, as_reference=True)
    merged = merge(found, answer, view.window, view.bin_s)
    assert merged.period_s is not None
    assert merged.period_s.value == pytest.approx(period_s, rel=1e-6)
    assert merged.confidence == pytest.approx(confidence, abs=2e-6)


def answered(period_s: float | None, confidence: float) -> AutocorrelationAnswer:
    return AutocorrelationAnswer(period_s=period_s, confidence=confidence, peaks_s=[], intervals_s=[], outliers_s=[])


def test_merging_falls_back_on_whichever_has_an_answer() -> None:
    signal = bursts(12, 50, 8)
    without, answer = make_prediction(period_s=None), answered(5.0, 0.9)
    merged = merge(without, answer, signal, 0.1)
    assert merged.period_s is not None
    assert merged.period_s.low < merged.period_s.value == 5.0 < merged.period_s.high
    assert merged.confidence == pytest.approx(0.3)
    assert merged.scores is not None
    assert merge(without, answered(None, 0.0), signal, 0.1) is without
