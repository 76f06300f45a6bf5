from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.periodicity.confidence import chance_of
from iotide.analyzers.periodicity.phases.phases import Phases, Segmenter, merge, runs
from iotide.analyzers.periodicity.phases.regularity import regularity
from iotide.analyzers.periodicity.scores import scores_of
from iotide.analyzers.periodicity.upcoming.intervals import interval_of
from support.references.naive import runs as slow_runs


def pulses(starts: list[float], width: float, length: int, height: float = 1.0) -> np.ndarray:
    """Bins of a signal that is ``height`` during [start, start + width)."""
    edges = np.arange(length + 1.0)
    values = np.zeros(length)
    for start in starts:
        values += height * np.diff(np.clip(edges, start, start + width))
    return values


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(0, 6))
@settings(deadline=None)
def test_runs_join_over_short_gaps(active: list[bool], shortest_gap: int) -> None:
    first, stop = merge(*runs(np.array(active)), shortest_gap)
    assert list(zip(first.tolist(), stop.tolist(), strict=True)) == slow_runs(active, shortest_gap)


@pytest.mark.parametrize("width", [4.0, 6.3, 12.0])
@pytest.mark.parametrize("offset", [0.0, 0.25, 0.7])
def test_edges_are_found_within_a_bin(width: float, offset: float) -> None:
    starts = [5 + offset + 40.3 * k for k in range(6)]
    segmenter = Segmenter(pulses(starts, width, 250))
    found = segmenter.refined(segmenter.segment(40))
    assert found.start == pytest.approx(starts, abs=0.05)
    assert found.end == pytest.approx([start + width for start in starts], abs=0.05)
    assert found.volume == pytest.approx([width] * 6)


def test_bursts_shorter_than_a_bin_are_placed_by_their_centre() -> None:
    starts = [5.2 + 17.37 * k for k in range(8)]
    segmenter = Segmenter(pulses(starts, 0.8, 150))
    found = segmenter.refined(segmenter.segment(17))
    middle = (found.start + found.end) / 2
    assert middle == pytest.approx([start + 0.4 for start in starts], abs=0.15)


@pytest.mark.parametrize("begun", [9, 11, 14])
@pytest.mark.parametrize("quiet", [0, 1, 2])
def test_running_phase_that_is_shorter_than_a_gap_has_begun(begun: int, quiet: int) -> None:
    """The last bins are quiet while a request goes on; a pause of them and the one before is no pause of both."""
    starts = [6.0 + 40 * k for k in range(8)]
    length = int(starts[-1]) + begun
    values = np.append(pulses(starts, 35, length), np.zeros(quiet))
    found = Segmenter(values).segment_by_pauses(40)
    assert found.start == pytest.approx(starts, abs=0.1)


@pytest.mark.parametrize("slower", [3.6, 4.0, 5.0])
@pytest.mark.parametrize("background", [0.0, 0.02])
def test_requests_at_the_edges_of_a_delayed_phase_belong_to_it(slower: float, background: float) -> None:
    """It moves the usual volume, but some of its requests are slower than the mean of the signal."""
    starts = [10.0, 50.0, 90.0, 130.0, 170.0, 210.0]
    values = pulses(starts[::2], 12, 260)
    for start in starts[1::2]:
        parts = np.array([0.7, 1.2, 1.2, 1.2, 0.7]) / slower
        for number, height in enumerate(parts):
            values += pulses([start + number * 8 * slower / 6], 8 * slower / 6, 260, float(height))
    values += background
    assert 0.7 / slower < values.mean() < 1.2 / slower
    segmenter = Segmenter(values)
    found = segmenter.refined(segmenter.segment(40))
    assert found.start == pytest.approx(starts, abs=0.3)
    length = np.where(np.arange(6) % 2, 8 * slower * 5 / 6, 12)
    assert found.end == pytest.approx(starts + length, abs=0.3)


def test_gaps_between_the_requests_of_a_phase_do_not_end_it() -> None:
    bursts = [20.0 + 50 * k + step for k in range(5) for step in (0, 4, 8)]
    assert len(Segmenter(pulses(bursts, 2, 280)).segment(50)) == 5


def test_small_unrelated_bursts_are_no_phases() -> None:
    values = pulses([30.0 + 40 * k for k in range(5)], 4, 220) + pulses([2.0, 14.0, 93.0], 1, 220, 0.7)
    assert Segmenter(values).segment(40).first.tolist() == [30, 70, 110, 150, 190]


def test_phases_that_fill_most_of_the_time_are_found_by_their_pauses() -> None:
    values = 10 + np.random.default_rng(3).random(300)
    for start in range(20, 300, 30):
        values[start : start + 2] = 0
    found = Segmenter(values).segment_by_pauses(30)
    assert found.start == pytest.approx([22.0 + 30 * k for k in range(10)], abs=0.3)
    assert found.end[:-1] == pytest.approx([50.0 + 30 * k for k in range(9)], abs=0.3)
    assert found.volume[0] == pytest.approx(28 * 10.5, rel=0.02)


@pytest.mark.parametrize("values", [np.zeros(50), np.ones(50), np.zeros(0)])
def test_signal_without_phases_has_none_or_one(values: np.ndarray) -> None:
    segmenter = Segmenter(values)
    assert len(segmenter.refined(segmenter.segment(10))) <= 1
    assert len(segmenter.segment_by_pauses(10)) <= 1


def phases_at(starts: list[float], width: float = 2.0) -> Phases:
    start = np.array(starts)
    return Phases(start, start + width, np.full(len(start), width), start.astype(int), (start + width).astype(int))


def test_even_phases_are_regular_beyond_chance() -> None:
    found = regularity(phases_at([10.0 * k for k in range(8)]))
    assert found is not None
    assert found.period == 10
    assert found.spread < 0.05
    assert found.chance < 1e-6


def test_start_up_is_not_an_interval() -> None:
    found = regularity(phases_at([0.0, 7, 27, 47, 67, 87, 107]))
    assert found is not None
    assert found.period == pytest.approx(20)


@given(st.integers(9, 40), st.floats(0.1, 0.9), st.floats(40, 80))
def test_trace_that_begins_within_a_phase_has_the_period_of_the_rest(count: int, cut: float, period: float) -> None:
    found = regularity(phases_at([cut * period, *(period * np.arange(1, count))]))
    assert found is not None
    assert found.period == pytest.approx(period, rel=1e-6)


@given(st.integers(6, 16), st.floats(0.008, 0.03), st.floats(30, 80))
def test_drift_is_found_while_intervals_are_still_almost_equal(count: int, growth: float, period: float) -> None:
    intervals = period * (1 + growth) ** np.arange(count)
    found = regularity(phases_at([0.0, *np.cumsum(intervals)]))
    assert found is not None
    assert found.drift == pytest.approx(growth * float(intervals.mean()), rel=0.1)


@given(st.lists(st.sampled_from([-0.02, 0.0, 0.02]), min_size=5, max_size=30), st.floats(10, 80))
def test_starts_that_deviate_within_the_resolution_do_not_drift(off: list[float], period: float) -> None:
    found = regularity(phases_at(period * np.arange(len(off)) + off))
    assert found is not None
    assert found.drift == 0


def test_missed_phase_counts_as_two_intervals() -> None:
    found = regularity(phases_at([0.0, 20, 40, 80, 100, 120, 140]))
    assert found is not None
    assert found.period == pytest.approx(20)
    assert found.missed == 1


def test_phases_that_end_regularly_are_measured_by_their_ends() -> None:
    start = np.array([0.0, 26, 48, 66, 88])
    end = np.array([10.0, 30, 50, 70, 90])
    found = regularity(Phases(start, end, end - start, start.astype(int), end.astype(int)))
    assert found is not None
    assert found.period == pytest.approx(20)
    assert found.spread < 0.05


def test_one_phase_has_no_period_and_two_have_no_regularity() -> None:
    assert regularity(phases_at([0.0])) is None
    two = regularity(phases_at([0.0, 10.0]))
    assert two is not None
    assert (two.period, two.chance) == (10.0, 1.0)


@pytest.mark.parametrize(("intervals", "spread"), [(2, 0.3), (3, 0.3), (4, 0.4), (6, 0.5)])
def test_chance_is_the_share_of_random_moments_that_are_as_regular(intervals: int, spread: float) -> None:
    drawn = np.random.default_rng(7).exponential(1, (200_000, intervals))
    measured = drawn.std(axis=1, ddof=1) / drawn.mean(axis=1)
    assert chance_of(spread, intervals) == pytest.approx(float(np.mean(measured <= spread)), rel=0.1)


def test_chance_is_never_more_than_certain() -> None:
    assert chance_of(5.0, 10) == 1.0
    assert chance_of(0.1, 1) == 1.0


@pytest.mark.parametrize("count", [3, 5, 10, 30, 60])
def test_nine_of_ten_next_values_lie_within_the_interval(count: int) -> None:
    drawn = np.random.default_rng(11).normal(10, 2, (4000, count + 1))
    held = [abs(row[-1] - row[:-1].mean()) <= interval_of(row[:-1]) for row in drawn]
    assert 0.88 <= np.mean(held) <= 0.92


def test_one_value_has_no_spread() -> None:
    assert interval_of(np.array([4.0])) == 4.0
    assert interval_of(np.array([3.0, 3.0]), least=0.5) == 0.5


def test_even_bursts_score_as_periodic() -> None:
    found = scores_of(pulses([5.0 + 20 * k for k in range(10)], 4, 200, height=100.0), 0.1, 2.0)
    assert found is not None
    assert found.sigma_vol == pytest.approx(0, abs=1e-9)
    assert found.sigma_time == pytest.approx(0, abs=1e-9)
    assert found.time_ratio == pytest.approx(0.2)
    assert found.bandwidth == pytest.approx(100)
    assert found.bytes_per_phase == pytest.approx(0.2 * 100 * 2.0)
    assert found.periodicity == pytest.approx(1)


def test_uneven_volumes_and_lengths_lower_the_score() -> None:
    values = pulses([5.0 + 40 * k for k in range(5)], 4, 200, height=100.0)
    values += pulses([25.0 + 40 * k for k in range(5)], 8, 200, height=100.0)
    found = scores_of(values, 0.1, 2.0)
    assert found is not None
    assert found.sigma_vol == pytest.approx(np.std([0.5, 1.0] * 5), abs=0.03)
    assert found.sigma_time == pytest.approx(np.std([0.2, 0.4] * 5), abs=0.01)
    assert found.periodicity == pytest.approx(1 - found.sigma_vol - found.sigma_time)


def test_bytes_per_phase_are_those_of_phases_and_not_of_periods_before_the_first() -> None:
    signal = np.zeros(90)
    signal[25::10] = 100.0
    found = scores_of(signal, 1.0, 10.0)
    assert found is not None
    assert found.bytes_per_phase == pytest.approx(100.0)


def test_no_whole_period_means_no_scores() -> None:
    assert scores_of(np.ones(10), 0.1, 2.0) is None
    assert scores_of(np.zeros(100), 0.1, 2.0) is None


def test_bursts_inside_a_phase_start_on_their_own_if_they_are_as_large_as_a_phase() -> None:
    signal = np.zeros(400)
    for at in (20, 100, 180, 260, 340):
        signal[at : at + 4] = 1.0
    signal[190:194] = 1.0  # another one
    signal[110:112] = 1.0  # half of one
    segmenter = Segmenter(signal)
    phases = segmenter.segment(80.0)
    assert phases.start.tolist() == [20, 100, 180, 260, 340]
    assert segmenter.starts_of_bursts(phases).tolist() == [20, 100, 180, 190, 260, 340]
