"""Predicted starts of the phases after the next one."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.periodicity.phases.phases import Floats, Phases
from iotide.analyzers.periodicity.phases.regularity import regularity
from iotide.analyzers.periodicity.upcoming.clock import clock_of
from iotide.analyzers.periodicity.upcoming.next_phase import Following, following_of
from iotide.analyzers.periodicity.upcoming.next_start import next_start_of


def following(start: Floats) -> list[Following]:
    phases = Phases(start, start + 5, np.ones(len(start)), start.astype(np.int64), start.astype(np.int64) + 5)
    measured = regularity(phases)
    assert measured is not None
    clock = clock_of(measured, phases.start)
    next_start = next_start_of(phases, measured, clock, measured.period, start[-1] + 10)
    return following_of(next_start, clock, measured.intervals, measured.drift, measured.period)


def at(intervals: Floats) -> Floats:
    return 10 + np.append(0.0, np.cumsum(intervals))


def test_even_phases_follow_one_another_and_are_sure() -> None:
    start = at(np.full(20, 50.0))
    found = following(start)
    assert [each.start for each in found] == pytest.approx([start[-1] + 50 * ahead for ahead in range(2, 7)], abs=1)
    assert all(each.low <= each.start <= each.high for each in found)
    confidence = [each.in_time for each in found]
    assert confidence == sorted(confidence, reverse=True)
    assert confidence[0] > 0.9


@pytest.mark.parametrize(("intervals", "told"), [(2, 1), (6, 3), (9, 4), (30, 5)])
def test_no_more_are_told_than_half_of_the_intervals_seen(intervals: int, told: int) -> None:
    assert len(following(at(np.full(intervals, 50.0)))) == told


def width(each: Following) -> float:
    return each.high - each.low


def test_phases_on_a_grid_stray_no_farther_later_and_those_that_wait_for_one_another_do() -> None:
    rng = np.random.default_rng(5)
    off = rng.normal(0, 3, 33)
    grid = following(10 + 50 * np.arange(33) + off - off.min())
    waiting = following(at(50 + rng.normal(0, 4.2, 32)))
    assert width(grid[-1]) < 1.3 * width(grid[0])
    assert width(waiting[-1]) > 1.4 * width(waiting[0])


@pytest.mark.parametrize("growth", [-0.02, 0.01, 0.03])
def test_drift_goes_on(growth: float) -> None:
    held = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        start = at(100 * (1 + growth) ** np.arange(26) * rng.normal(1, 0.003, 26))
        found = following(start[:21])
        assert [each.start for each in found] == pytest.approx(start[22:27].tolist(), abs=10)
        held += [each.low <= come <= each.high for each, come in zip(found, start[22:27], strict=True)]
    assert np.mean(held) > 0.8


def test_where_phases_are_missed_now_and_then_a_later_start_is_held() -> None:
    rng = np.random.default_rng(7)
    start = at(50.0 * rng.choice([1, 2], 40, p=[0.85, 0.15]))
    found = following(start)
    assert found[-1].high > found[-1].start + 49
    assert found[-1].in_time < 0.8 * found[0].in_time


def test_ninety_percent_of_the_starts_are_held_and_confidence_is_what_comes() -> None:
    rng = np.random.default_rng(8)
    held, near, said = [], [], []
    for _ in range(200):
        start = at(50 + rng.normal(0, 5, 31))
        for each, came in zip(following(start[:26]), start[27:], strict=True):
            held.append(each.low <= came <= each.high)
            near.append(abs(each.start - came) <= 10)
            said.append(each.in_time)
    assert 0.84 < np.mean(held) < 0.96
    assert np.mean(said) == pytest.approx(np.mean(near), abs=0.1)
