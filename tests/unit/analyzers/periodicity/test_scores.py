"""Burst width and duty cycle; test_phases.py tests the paper's scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.periodicity.scores import scores_of
from support.references.naive import runs


def bursts(period: int, width: int, count: int) -> np.ndarray:
    return np.tile(np.repeat([0.0, 100.0, 0.0], [5, width, period - 5 - width]), count)


def test_burst_width_is_the_length_of_a_phase_and_the_duty_cycle_its_share() -> None:
    found = scores_of(bursts(40, 8, 10), 0.1, 4.0)
    assert found is not None
    assert found.burst_width_s == pytest.approx(0.8)
    assert found.duty_cycle == pytest.approx(0.2)


def test_short_gaps_do_not_end_a_burst_and_long_ones_do() -> None:
    values = bursts(40, 20, 10).reshape(10, 40)
    values[:, 10:19] = 0  # shorter than a quarter of the period
    short = scores_of(values.ravel(), 0.1, 4.0)
    values[:, 10:21] = 0
    long = scores_of(values.ravel(), 0.1, 4.0)
    assert short is not None
    assert long is not None
    assert short.burst_width_s == pytest.approx(2.0)
    assert long.burst_width_s == pytest.approx((0.5 + 0.4) / 2)


def test_constant_signal_is_one_burst() -> None:
    found = scores_of(np.full(100, 5.0), 0.1, 2.0)
    assert found is not None
    assert found.burst_width_s == pytest.approx(2.0)
    assert found.duty_cycle == 1.0


def test_bursts_that_hardly_pause_are_as_wide_as_their_share_of_the_period() -> None:
    values = np.tile(np.repeat([0.0, 100.0], [4, 36]), 10)  # pauses of a tenth of the period
    found = scores_of(values, 0.1, 4.0)
    assert found is not None
    assert found.burst_width_s == pytest.approx(3.6)
    assert found.duty_cycle == pytest.approx(0.9)


@given(st.lists(st.sampled_from([0.0, 1.0, 9.0]), min_size=20, max_size=80).filter(any), st.integers(2, 20))
@settings(deadline=None)
def test_burst_width_is_the_mean_of_the_naive_runs(values: list[float], period: int) -> None:
    found = scores_of(np.array(values), 1.0, float(period))
    assert found is not None
    mean = sum(values) / len(values)
    above = [value > (mean if max(values) > mean else 0.0) for value in values]
    lengths = [stop - first for first, stop in runs(above, period / 4)]
    width = sum(lengths) / len(lengths)
    assert found.burst_width_s == pytest.approx(width if width <= period else found.time_ratio * period)
