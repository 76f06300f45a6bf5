from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.offline.wavelet import MAX_PERIODS, MAX_TIMES, transform, validity_of, wavelet_view
from iotide.results.traces.analysis import Validity

PERIOD = 12


def train(first: int, stop: int, period: int = PERIOD, length: int = 1200, width: int = 3) -> np.ndarray:
    values = np.zeros(length)
    for at in range(first, stop, period):
        values[at : at + width] = 5e6
    return values


def direct(values: np.ndarray, period: float) -> np.ndarray:
    """The definition of the transform, written as a convolution."""
    scale = 6 * period / (2 * math.pi)
    apart = (np.arange(len(values))[None, :] - np.arange(len(values))[:, None]) / scale
    wavelet = math.sqrt(2 / math.pi) * np.exp(6j * apart - apart**2 / 2)
    return (values[None, :] * np.conj(wavelet)).sum(axis=1) / scale


def spans(found: Validity) -> list[tuple[float, float]]:
    return [(row.start_s, row.end_s) for row in found.stretches]


@given(st.lists(st.floats(-1000, 1000), min_size=1, max_size=80), st.floats(4, 60))
@settings(deadline=None)
def test_transform_is_the_convolution_with_the_wavelet(numbers: list[float], period: float) -> None:
    values = np.array(numbers)
    np.testing.assert_allclose(
        transform(values, period), direct(values, period), atol=1e-4 * (1 + np.abs(values).max())
    )


def test_long_signal_is_transformed_piece_by_piece_without_seams() -> None:
    values = np.random.default_rng(6).standard_normal(60_000)
    pieces = transform(values, 50.0)
    for first in (0, 24_300, 49_000, 59_700):
        low, high = max(first - 400, 0), first + 700
        around = transform(values[low:high], 50.0)
        np.testing.assert_allclose(pieces[first : first + 300], around[first - low : first - low + 300], atol=1e-6)


def test_modulus_is_the_amplitude_of_a_cosine() -> None:
    wave = 3e6 * np.cos(2 * np.pi * np.arange(1000) / 40 + 0.7)
    np.testing.assert_allclose(np.abs(transform(wave, 40))[200:800], 3e6, rtol=1e-6)


def test_period_that_was_there_throughout_is_valid_throughout() -> None:
    found = validity_of(train(5, 1195), 0.1, 50.0, 1.2)
    assert spans(found) == [(50.0, 170.0)]
    assert found.share == 1.0


def test_period_of_a_part_is_valid_in_that_part() -> None:
    ((start, end),) = spans(validity_of(train(400, 800), 0.1, 50.0, 1.2))
    assert start == pytest.approx(90.0, abs=1.2)
    assert end == pytest.approx(130.0, abs=1.2)


def test_noise_around_a_part_does_not_move_it() -> None:
    values = train(400, 800) + np.random.default_rng(3).exponential(1e6, 1200)
    ((start, end),) = spans(validity_of(values, 0.1, 50.0, 1.2))
    assert start == pytest.approx(90.0, abs=1.2)
    assert end == pytest.approx(130.0, abs=1.2)


@pytest.mark.parametrize("later", [PERIOD // 2, 2 * PERIOD, 3 * PERIOD])
def test_period_ends_where_the_period_changes(later: int) -> None:
    values = train(5, 600) + train(600, 1195, later)
    ((start, end),) = spans(validity_of(values, 0.1, 50.0, 1.2))
    assert start == 50.0
    assert end == pytest.approx(110.0, abs=1.8)


def test_two_parts_are_two_stretches() -> None:
    values = train(0, 300) + train(700, 1195)
    first, second = spans(validity_of(values, 0.1, 50.0, 1.2))
    assert first == (50.0, pytest.approx(80.0, abs=1.2))
    assert second == (pytest.approx(120.0, abs=1.2), 170.0)


def test_long_periods_are_looked_at_in_coarser_bins() -> None:
    fine = validity_of(train(40_000, 80_000, 1200, 120_000, 300), 0.1, 50.0, 120.0)
    ((start, end),) = spans(fine)
    assert start == pytest.approx(4050.0, abs=120)
    assert end == pytest.approx(8050.0, abs=120)


@pytest.mark.parametrize("values", [[], [1.0], [2.0] * 50])
def test_signals_without_waves_are_valid_nowhere(values: list[float]) -> None:
    assert validity_of(np.array(values), 0.1, 50.0, 1.0).stretches == []
    assert wavelet_view(np.array(values), 0.1, 50.0) is None


def test_view_shows_each_period_where_and_when_it_was() -> None:
    at = np.arange(4000)
    values = 5.0 + np.where(at < 2000, np.cos(2 * np.pi * at / 20), np.cos(2 * np.pi * at / 200))
    view = wavelet_view(values, 0.1, 50.0)
    assert view is not None
    power, periods, times = np.array(view.power), np.array(view.periods_s), np.array(view.times_s)
    assert power.shape == (len(periods), len(times)) == (MAX_PERIODS, MAX_TIMES)
    early, late = power[:, np.abs(times - 150).argmin()], power[:, np.abs(times - 350).argmin()]
    assert periods[early.argmax()] == pytest.approx(2.0, rel=0.05)
    assert periods[late.argmax()] == pytest.approx(20.0, rel=0.05)
    # rectified: there are only these two waves
    assert early.max() == pytest.approx(1.0, abs=0.05)
    assert late.max() == pytest.approx(1.0, abs=0.05)
    assert times[0] == pytest.approx(50.0, abs=0.5)
    assert times[-1] == pytest.approx(450.0, abs=0.5)


@pytest.mark.slow
def test_rows_of_the_view_are_means_of_the_direct_transform() -> None:
    values = np.random.default_rng(4).random(900)
    view = wavelet_view(values, 1.0, 0.0)
    assert view is not None
    off = values - values.mean()
    for row in (0, 40, 90):
        period = view.periods_s[row]
        expected = np.abs(direct(off, period)) ** 2 / (2 * off.var())
        edges = np.append(np.floor(np.arange(len(view.times_s)) * 900 / len(view.times_s)).astype(int), 900)
        means = np.array([expected[a:b].mean() for a, b in pairwise(edges)])
        np.testing.assert_allclose(np.mean(view.power[row]), expected.mean(), rtol=0.1)
        assert np.corrcoef(view.power[row], means)[0, 1] > 0.95


def test_cone_excludes_periods_that_the_edges_touch() -> None:
    view = wavelet_view(train(5, 1195), 0.1, 50.0)
    assert view is not None
    cone = np.array(view.cone_s)
    assert cone.argmax() in (len(cone) // 2 - 1, len(cone) // 2)
    # sqrt(2) scales of 6/(2 pi) periods
    assert cone.max() == pytest.approx(60 / (math.sqrt(2) * 6 / (2 * math.pi)), rel=0.01)


def test_view_begins_at_a_quarter_of_the_period_that_was_found() -> None:
    view = wavelet_view(train(5, 1195, period=60), 0.1, 50.0, 6.0)
    assert view is not None
    assert view.periods_s[0] == pytest.approx(1.5)
    assert view.periods_s[-1] == pytest.approx(60.0)


def test_view_of_a_long_signal_is_bounded() -> None:
    view = wavelet_view(np.random.default_rng(5).random(2**18 + 77), 0.1, 0.0)
    assert view is not None
    assert len(view.power) == MAX_PERIODS
    assert {len(row) for row in view.power} == {MAX_TIMES}


def test_three_sharp_phases_are_valid_from_the_first_to_the_last() -> None:
    values = np.zeros(2001)
    values[[0, 1000, 2000]] = 1e8
    assert validity_of(values, 0.01, 0.0, 10.0).share == 1.0
