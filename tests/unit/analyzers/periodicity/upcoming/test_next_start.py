"""Predicted start of the next phase, given that it has not started yet."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.periodicity.phases.phases import Floats, Phases
from iotide.analyzers.periodicity.phases.regularity import regularity
from iotide.analyzers.periodicity.upcoming.clock import clock_of
from iotide.analyzers.periodicity.upcoming.next_start import NextStart, next_start_of

PERIOD = 50.0


def phases_of(start: Floats, length: Floats | float = 5.0) -> Phases:
    end = start + length
    first = np.floor(start).astype(np.int64)
    return Phases(start, end, np.full(len(start), 1.0), first, np.ceil(end).astype(np.int64))


def seen(start: Floats, now: float, length: Floats | float = 5.0) -> NextStart:
    phases = phases_of(start, length)
    measured = regularity(phases)
    assert measured is not None
    return next_start_of(phases, measured, clock_of(measured, phases.start), measured.period, now)


def even(count: int = 20) -> Floats:
    return 10 + PERIOD * np.arange(count, dtype=np.float64)


def test_even_phases_are_expected_a_period_after_the_last() -> None:
    start = even()
    found = seen(start, start[-1] + 10)
    assert found.start == pytest.approx(start[-1] + PERIOD, abs=0.1)
    assert found.low == pytest.approx(found.start, abs=1)
    assert found.high == pytest.approx(found.start, abs=1)
    assert found.in_time > 0.95


def test_phase_that_is_not_there_when_it_is_due_was_missed_and_the_next_one_is_expected() -> None:
    start = even()
    found = seen(start, start[-1] + 1.4 * PERIOD)
    assert found.start == pytest.approx(start[-1] + 2 * PERIOD, abs=0.5)
    assert found.in_time < 0.9
    assert found.high > start[-1] + 2 * PERIOD + 1


def test_program_that_pauses_is_expected_any_time_and_that_is_no_forecast() -> None:
    start = even()
    found = seen(start, start[-1] + 8 * PERIOD)
    assert found.start == start[-1] + 8 * PERIOD
    assert found.in_time < 0.1
    assert found.high > start[-1] + 20 * PERIOD


def test_job_that_misses_phases_is_as_sure_as_they_come() -> None:
    steps = np.where(np.arange(40) % 5 == 3, 2.0, 1.0)
    start = 10 + PERIOD * np.cumsum(steps)
    found = seen(start, start[-1] + 10)
    assert found.in_time == pytest.approx(0.8, abs=0.04)
    assert found.low == pytest.approx(start[-1] + PERIOD, abs=2)
    assert found.high == pytest.approx(start[-1] + 2 * PERIOD, abs=2)


def test_phase_that_goes_on_may_be_as_long_as_the_longest_before() -> None:
    length = np.where(np.isin(np.arange(24), [2, 3, 8, 11, 19, 22]), 40.0, 10.0)
    start = 10 + np.append(0.0, np.cumsum(30 + length[:-1]))  # computes for 30 bins
    last = start[-1]
    begun = seen(start, last + 5, np.append(length[:-1], 5.0))
    assert begun.low == pytest.approx(last + 40, abs=2)
    assert begun.high == pytest.approx(last + 70, abs=2)
    longer = seen(start, last + 15, np.append(length[:-1], 15.0))
    assert longer.start == pytest.approx(last + 70, abs=1)
    over = seen(start, last + 30, np.append(length[:-1], 10.0))
    assert over.start == pytest.approx(last + 40, abs=1)


@pytest.mark.parametrize("count", [4, 5])
def test_three_pauses_that_are_far_more_even_than_intervals_are_the_clock(count: int) -> None:
    length = np.where(np.arange(count) == 1, 40.0, 10.0)
    start = 10 + np.append(0.0, np.cumsum(60 + length[:-1] + np.array([0.3, -0.2, 0.1, 0.2])[: count - 1]))
    found = seen(start, start[-1] + 30, length)
    assert found.start == pytest.approx(start[-1] + 70, abs=1)
    assert found.in_time > 0.7


@pytest.mark.parametrize("timed", [False, True])
def test_first_long_phase_may_delay_the_next_one(timed: bool) -> None:
    """If lengths vary, the more even of intervals and pauses is the clock; equal lengths do not show which."""
    rng = np.random.default_rng(4)
    length = np.append(10 * rng.normal(1, 0.2, 12), 50.0)
    clock = 60 + rng.normal(0, 0.3, 12)
    start = 10 + np.append(0.0, np.cumsum(clock + (0 if timed else length[:-1])))
    found = seen(start, start[-1] + 52, length)
    assert found.start == pytest.approx(start[-1] + 60 + (0 if timed else 50), abs=2)
    assert found.in_time > 0.8
    equal = np.append(np.full(12, 10.0), 50.0)
    unknown = seen(10 + np.append(0.0, np.cumsum(clock + 10)), start[0] + float(clock.sum()) + 120 + 52, equal)
    assert 0.2 < unknown.in_time < 0.8


@pytest.mark.parametrize("cycle", [2, 3, 4, 6])
@pytest.mark.parametrize("longer", [1.3, 1.5])
def test_intervals_that_repeat_a_pattern_are_expected_at_their_places(cycle: int, longer: float) -> None:
    rng = np.random.default_rng(3)
    intervals = PERIOD * np.where(np.arange(9 * cycle) % cycle == 1, longer, 1) * rng.normal(1, 0.005, 9 * cycle)
    start = 10 + np.append(0.0, np.cumsum(intervals))
    for count in range(6 * cycle, 9 * cycle - 1):
        found = seen(start[: count + 1], start[count] + 10)
        assert found.start == pytest.approx(start[count + 1], abs=0.1 * PERIOD)
        assert found.in_time > 0.8


@pytest.mark.parametrize("last", range(4))
def test_length_of_a_phase_that_goes_on_follows_a_pattern(last: int) -> None:
    """Each fourth phase takes four times as long."""
    count = 24 + last
    length = np.where(np.arange(count) % 4 == 2, 40.0, 10.0)
    start = 10 + np.append(0.0, np.cumsum(30 + length[:-1]))  # computes for 30 bins
    begun = seen(start, start[-1] + 5, np.append(length[:-1], 5.0))
    assert begun.start == pytest.approx(start[-1] + length[-1] + 30, abs=1)
    assert begun.in_time > 0.8


def test_drift_is_followed() -> None:
    intervals = PERIOD * 1.03 ** np.arange(16)
    start = 10 + np.append(0.0, np.cumsum(intervals))
    found = seen(start, start[-1] + 10)
    following = start[-1] + PERIOD * 1.03**16
    assert found.start == pytest.approx(following, abs=0.5)
    assert found.low <= following <= found.high


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.05, 0.2, 0.4, 0.6])
def test_intervals_and_probabilities_are_calibrated(spread: float) -> None:
    rng = np.random.default_rng(round(100 * spread))
    held, near, said = [], [], []
    for _ in range(600):
        intervals = PERIOD * rng.gamma(1 / spread**2, spread**2, 25)
        start = 10 + np.append(0.0, np.cumsum(intervals[:-1]))
        truth = start[-1] + intervals[-1]
        now = start[-1] + rng.uniform(0, 1) * intervals[-1]
        phases = phases_of(start, 0.5)
        measured = regularity(phases)
        assert measured is not None
        found = next_start_of(phases, measured, clock_of(measured, phases.start), measured.period, now)
        held.append(found.low <= truth <= found.high)
        near.append(abs(found.start - truth) <= 0.2 * measured.period)
        said.append(found.in_time)
    assert 0.84 <= np.mean(held) <= 0.96
    assert float(np.mean(said)) == pytest.approx(float(np.mean(near)), abs=0.06)


@given(
    st.lists(st.floats(2, 1e4), min_size=1, max_size=40),
    st.floats(0, 1e5),
    st.floats(0.1, 1.9),
)
def test_outlook_is_in_order_whatever_came(intervals: list[float], silence: float, length: float) -> None:
    start = 10 + np.append(0.0, np.cumsum(intervals))
    found = seen(start, float(start[-1]) + silence, length)
    assert all(map(math.isfinite, (found.start, found.low, found.high)))
    assert found.low <= found.high
    assert found.start >= start[-1] + silence
    assert 0 <= found.in_time <= 1


def test_intervals_hold_while_a_phase_may_go_on_whose_length_varies() -> None:
    rng = np.random.default_rng(5)
    held = []
    for _ in range(400):
        length = 12 * np.maximum(rng.normal(1, 0.08, 20), 0.5) * np.where(np.arange(20) % 4 == rng.integers(4), 4, 1)
        start = 10 + np.append(0.0, np.cumsum(length[:-1] + 40 * rng.normal(1, 0.02, 19)))
        truth = start[-1] + length[-1] + 40 * rng.normal(1, 0.02)
        now = start[-1] + rng.uniform(0.2, 1) * (truth - start[-1])
        requests = length[-1] / 8 * np.arange(1, 9)  # each is seen after its end
        ended = requests[requests <= now - start[-1]]
        seen_length = ended[-1] if len(ended) else 0.5
        found = seen(start, now, np.append(length[:-1], seen_length))
        held.append(found.low <= truth <= found.high)
    assert 0.86 <= np.mean(held) <= 0.97
