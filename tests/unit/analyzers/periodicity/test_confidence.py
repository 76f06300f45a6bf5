from __future__ import annotations

import math

import numpy as np
import pytest
from iotide.analyzers.periodicity.confidence import (
    calibrated,
    chance_in_time,
    confidence_of_chance,
    finished_job_confidence,
    phases_confidence,
    student_t_within,
)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 30, 60, 61, 200])
@pytest.mark.parametrize("reach", [0.0, 0.2, 1.0, 3.0])
def test_students_probability_is_the_integral_of_its_density(freedom: int, reach: float) -> None:
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    at = np.linspace(-reach, reach, 20_001)
    density = np.exp(log_scale - (freedom + 1) / 2 * np.log1p(at**2 / freedom))
    area = float(((density[1:] + density[:-1]) / 2 * np.diff(at)).sum())
    assert student_t_within(reach, freedom) == pytest.approx(area, abs=1e-3 if freedom > 60 else 3e-5)


def test_certainty_falls_with_what_chance_can_do() -> None:
    assert confidence_of_chance(0.0) == 1.0
    assert confidence_of_chance(0.01) == pytest.approx(0.5)
    assert confidence_of_chance(1.0) < 0.01


def test_calibration_keeps_the_order_and_one_half() -> None:
    values = [calibrated(value) for value in np.linspace(0, 1, 101)]
    assert values == sorted(values)
    assert calibrated(0.0) == 0.0
    assert calibrated(0.5) == pytest.approx(0.5)
    assert calibrated(1.0) == 1.0


def test_doubtful_phases_predict_starts_better_than_their_quality() -> None:
    values = [phases_confidence(value) for value in np.linspace(0, 1, 101)]
    assert values == sorted(values)
    assert values[0] == 0.0
    assert all(phases_confidence(quality) > quality for quality in (0.3, 0.5, 0.9))
    assert values[-1] == 1.0


def test_even_intervals_are_in_time_the_surer_the_more_there_are() -> None:
    chances = [chance_in_time(0.01, count) for count in (1, 2, 3, 5, 10, 40)]
    assert chances == sorted(chances)
    assert chances[0] < 0.5
    assert chances[-1] > 0.99


def test_share_of_uneven_intervals_in_time_follows_a_normal_distribution() -> None:
    rng = np.random.default_rng(1)
    within = np.mean(np.abs(rng.normal(0, 0.4, 200_000)) < 0.2)
    assert chance_in_time(0.4, 500) == pytest.approx(float(within), abs=0.01)


def test_few_intervals_lower_the_confidence_of_a_finished_job_most_if_uneven() -> None:
    for spread in (0.01, 0.2):
        values = [finished_job_confidence(0.9, spread, count) for count in (3, 8, 10, 13, 20, 60)]
        assert values == sorted(values)
        assert values[-1] == pytest.approx(0.9, abs=0.001)
    assert finished_job_confidence(0.85, 0.2, 8) < 0.5 < finished_job_confidence(0.85, 0.01, 8)
