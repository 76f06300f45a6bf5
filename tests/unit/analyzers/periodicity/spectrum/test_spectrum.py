from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.periodicity.spectrum.spectrum import Spectrum, describe, find_candidates, spectrum_of, z_scores
from iotide.analyzers.settings import DetectSettings
from support.references.naive import power_spectrum, without_harmonics

DEFAULTS = DetectSettings()


def lines(powers: dict[int, float], samples: int = 400) -> Spectrum:
    """A spectrum with power at some k over a low floor."""
    transform = np.full(samples // 2, 0.01 + 0j)
    for k, power in powers.items():
        transform[k - 1] = np.sqrt(power * samples)
    return Spectrum(transform, samples, 10.0)


@given(st.lists(st.floats(0, 1e6), min_size=4, max_size=40))
@settings(deadline=None)
def test_power_is_that_of_the_discrete_fourier_transform(values: list[float]) -> None:
    fast = spectrum_of(np.array(values), 10.0)
    slow = power_spectrum(values)[1:]
    np.testing.assert_allclose(fast.power, slow, rtol=1e-6, atol=1e-6 * (1 + max(values)) ** 2)


@pytest.mark.parametrize("samples", [100, 101])
def test_signal_is_the_sum_of_its_cosines(samples: int) -> None:
    values = np.random.default_rng(1).random(samples)
    spectrum = spectrum_of(values, 10.0)
    at = np.arange(samples) / 10.0
    waves = spectrum.amplitude[:, None] * np.cos(
        2 * np.pi * spectrum.frequency_hz[:, None] * at + np.angle(spectrum.transform)[:, None]
    )
    np.testing.assert_allclose(values.mean() + waves.sum(axis=0), values, atol=1e-12)


def test_z_scores_measure_the_distance_from_the_mean_in_population_deviations() -> None:
    assert z_scores(np.array([1.0, 1.0, 1.0, 5.0])) == pytest.approx([0.57735, 0.57735, 0.57735, 1.73205], abs=1e-5)


def test_flat_spectrum_has_no_outliers() -> None:
    assert z_scores(np.full(50, 3.3)).tolist() == [0.0] * 50
    assert find_candidates(spectrum_of(np.zeros(50), 1.0), DEFAULTS).bins.tolist() == []


def test_lone_line_is_the_one_candidate_and_certain() -> None:
    found = find_candidates(lines({20: 50.0}), DEFAULTS)
    assert found.bins.tolist() == [19]
    assert found.confidence.tolist() == [1.0]


def test_lines_below_the_tolerance_lower_the_confidence_only() -> None:
    found = find_candidates(lines({20: 50.0, 31: 25.0}), DEFAULTS)
    z = found.z
    assert found.bins.tolist() == [19]
    assert found.confidence[0] == pytest.approx(0.5 * (1 + z[19] / (z[19] + z[30])))


def test_lower_tolerance_admits_weaker_lines() -> None:
    found = find_candidates(lines({20: 50.0, 31: 25.0}), DetectSettings(tolerance=0.3))
    assert found.bins.tolist() == [19, 30]


def test_harmonics_are_dropped_counted_and_left_out_of_the_confidence() -> None:
    found = find_candidates(lines({20: 50.0, 40: 48.0, 60: 46.0}), DEFAULTS)
    assert found.bins.tolist() == [19]
    assert found.dropped == 2
    assert found.confidence.tolist() == [1.0]


def test_harmonic_may_lie_a_bin_beside_the_multiple() -> None:
    near = lines({60: 50.0, 121: 48.0})
    assert find_candidates(near, DEFAULTS).bins.tolist() == [59]
    assert find_candidates(near, DEFAULTS, harmonics="modulo").bins.tolist() == [59, 120]


@given(st.sets(st.integers(1, 190), min_size=1, max_size=5))
@settings(deadline=None)
def test_fundamentals_are_those_of_the_rule(found: set[int]) -> None:
    kept = find_candidates(lines(dict.fromkeys(found, 50.0)), DetectSettings(tolerance=0.5)).bins + 1
    assert kept.tolist() == without_harmonics(sorted(found), 0.02)


def test_amplitude_spectrum_raises_weak_lines() -> None:
    spectrum = lines({20: 50.0, 31: 36.0})
    assert find_candidates(spectrum, DEFAULTS).bins.tolist() == [19]
    assert find_candidates(spectrum, DetectSettings(spectrum="amplitude")).bins.tolist() == [19, 30]


def test_description_has_the_wave_in_units_of_the_signal() -> None:
    at = np.arange(200) / 10
    spectrum = spectrum_of(7 + 3 * np.cos(2 * np.pi * 0.5 * at + 0.4), 10.0)
    (line,) = describe(spectrum, find_candidates(spectrum, DEFAULTS))
    assert line.frequency_hz == pytest.approx(0.5)
    assert line.period_s == pytest.approx(2.0)
    assert line.amplitude == pytest.approx(3.0)
    assert line.phase_rad == pytest.approx(0.4)


@pytest.mark.parametrize("samples", [0, 1, 2, 3])
def test_tiny_signals_have_no_candidates(samples: int) -> None:
    spectrum = spectrum_of(np.ones(samples), 10.0)
    assert describe(spectrum, find_candidates(spectrum, DEFAULTS)) == []


def test_rounding_of_a_constant_signal_is_no_line() -> None:
    values = np.full(625, 1e7)
    values[::7] *= 1 + 2e-16
    spectrum = spectrum_of(values + 3e-9 * np.sin(np.arange(625)), 10.0)
    assert not spectrum.transform.any()
    assert not len(find_candidates(spectrum, DetectSettings()).bins)
    assert spectrum_of(values + 1e-3 * np.sin(np.arange(625)), 10.0).transform.any()
