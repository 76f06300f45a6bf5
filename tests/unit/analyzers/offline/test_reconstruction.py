from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.offline.detection import reconstruct
from iotide.analyzers.offline.trace import examine
from iotide.analyzers.settings import DetectSettings
from iotide.cli.traces.trace_reading import read_traces
from iotide.results.prediction import ModeName
from iotide.results.traces.analysis import Reconstruction
from support.places import DATA

signals = st.lists(st.integers(0, 10**6).map(float), min_size=1, max_size=60).map(np.array)


def at_bins(values: np.ndarray) -> np.ndarray:
    return 50.0 + np.arange(len(values)) * 0.1


def wave_of(model: Reconstruction, times_s: np.ndarray) -> np.ndarray:
    """Return the reconstructed bandwidth at the starts of bins, bytes/s, also past the window."""
    at = times_s - model.start_s
    level = np.full(len(at), model.mean)
    for wave in model.waves:
        level += wave.amplitude * np.cos(2 * math.pi * wave.frequency_hz * at + wave.phase_rad)
    return level


@given(signals)
@settings(deadline=None)
def test_all_waves_together_are_the_signal(values: np.ndarray) -> None:
    model = reconstruct(values, 0.1, 50.0, len(values))
    np.testing.assert_allclose(wave_of(model, at_bins(values)), values, atol=1e-8 * (1 + values.max()))
    # the residual is a root: rounding of 1e-16 becomes 1e-8
    assert model.relative_residual == pytest.approx(0.0, abs=1e-6)


@given(signals, st.integers(0, 10))
@settings(deadline=None)
def test_residual_is_what_the_waves_leave_of_the_deviation(values: np.ndarray, count: int) -> None:
    model = reconstruct(values, 0.1, 50.0, count)
    left = values - wave_of(model, at_bins(values))
    if values.std() > 1e-9 * values.max():
        assert model.relative_residual == pytest.approx(left.std() / values.std(), abs=1e-6)
        assert sum(wave.share for wave in model.waves) == pytest.approx(1 - model.relative_residual**2, abs=1e-6)


def test_no_other_choice_of_as_many_waves_leaves_less() -> None:
    values = np.random.default_rng(2).random(64)
    everything = reconstruct(values, 0.1, 50.0, 64)
    best = reconstruct(values, 0.1, 50.0, 3)
    for others in (everything.waves[1:4], everything.waves[3:6]):
        left = values - wave_of(everything.model_copy(update={"waves": others}), at_bins(values))
        assert left.std() > best.relative_residual * values.std()


def test_wave_has_amplitude_and_phase_of_its_cosine() -> None:
    at = np.arange(200) / 10
    values = 7e6 + 3e6 * np.cos(2 * np.pi * 0.5 * at + 0.4) + 1e6 * np.cos(2 * np.pi * 1.5 * at - 1.0)
    model = reconstruct(values, 0.1, 50.0, 1)
    (wave,) = model.waves
    assert model.mean == pytest.approx(7e6)
    assert wave.period_s == pytest.approx(2.0)
    assert wave.amplitude == pytest.approx(3e6)
    assert wave.phase_rad == pytest.approx(0.4)
    assert wave.share == pytest.approx(0.9)
    assert model.relative_residual == pytest.approx(0.1**0.5)


@pytest.mark.parametrize("values", [[], [4.0], [2.0, 2.0, 2.0]])
def test_constant_signal_needs_no_waves(values: list[float]) -> None:
    model = reconstruct(np.array(values), 0.1, 0.0, 5)
    assert model.waves == []
    assert model.relative_residual == 0.0
    assert model.mean == pytest.approx(np.mean(values) if values else 0.0)


# The strongest frequencies of the reference with -n 3 (beside the mean): frequency, |X_k| in MB/s, phase at time 0.
@pytest.mark.parametrize(
    ("mode", "lines"),
    [
        ("write", [(0.51903114, 4259.3646089, 2.60083639), (1.07266436, 3603.91637359, -0.52345218)]),
        ("read", [(0.52830189, 48823.66171864, -1.60577921), (2.1509434, 44697.31435391, -3.12521089)]),
    ],
)
def test_strongest_waves_are_those_of_the_reference(mode: ModeName, lines: list[tuple[float, float, float]]) -> None:
    trace = read_traces([DATA / "tmio-8ranks.jsonl"], format_name=None, job="trace", progress=lambda path, done: None)
    chosen = {"method": "reference", "sampling": "point", "mode": mode, "sampling_frequency_hz": 10.0}
    _, view = examine(trace.batches(), DetectSettings.model_validate(chosen), "trace")
    model = reconstruct(view.window, view.bin_s, view.window_start_s, len(lines))
    for wave, (frequency_hz, magnitude, phase_rad) in zip(model.waves, lines, strict=True):
        assert wave.frequency_hz == pytest.approx(frequency_hz)
        assert wave.amplitude == pytest.approx(2e6 * magnitude / len(view.window), rel=1e-5)
        turned = wave.phase_rad - 2 * np.pi * wave.frequency_hz * view.window_start_s - phase_rad
        assert np.exp(1j * turned) == pytest.approx(1, abs=1e-5)
