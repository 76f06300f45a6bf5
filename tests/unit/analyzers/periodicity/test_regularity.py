"""Changes, missed and extra phases, and drift in the intervals between phases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from iotide.analyzers.periodicity.phases.changes import last_change
from iotide.analyzers.periodicity.phases.phases import Floats, Phases
from iotide.analyzers.periodicity.phases.regularity import (
    Regularity,
    regularity,
    without_extras,
)


def phases_of(start: Floats, length: Floats | float = 5.0) -> Phases:
    end = start + length
    return Phases(start, end, np.ones(len(start)), start.astype(np.int64), end.astype(np.int64))


def measured(intervals: list[float] | Floats, length: Floats | float = 5.0) -> Regularity:
    found = regularity(phases_of(10 + np.append(0.0, np.cumsum(intervals)), length))
    assert found is not None
    return found


@pytest.mark.parametrize(("count", "missed"), [(8, 3), (20, 9), (20, 4), (12, 1)])
def test_missed_phases_make_the_period_no_longer(count: int, missed: int) -> None:
    rng = np.random.default_rng(count + missed)
    steps = np.ones(count)
    steps[rng.permutation(count)[:missed]] = 2
    found = measured(steps * 50 + rng.normal(0, 0.3, count))
    assert found.period == pytest.approx(50, rel=0.01)
    assert found.missed == missed


def test_two_intervals_in_turn_are_no_missed_phases() -> None:
    found = measured([50.0, 100.0] * 8)
    assert found.missed == 0
    assert found.period == pytest.approx(75, rel=0.01)


def test_phases_that_take_longer_now_and_then_miss_none() -> None:
    length = np.where(np.arange(21) % 4 == 1, 60.0, 15.0)
    found = measured((30 + length)[:-1], length)  # computes for 30 bins between them
    assert found.missed == 0
    assert found.period == pytest.approx(float((30 + length)[:-1].mean()), rel=0.01)


@pytest.mark.parametrize("growth", [0.97, 1.01, 1.03])
def test_drift_is_one_and_no_change(growth: float) -> None:
    rng = np.random.default_rng(1)
    intervals = 100 * growth ** np.arange(24) * rng.normal(1, 0.003, 24)
    assert last_change(intervals) == 0
    found = measured(intervals)
    assert found.drift / found.period == pytest.approx(growth - 1, rel=0.35)
    assert found.spread < 0.02


@pytest.mark.parametrize("seed", range(20))
def test_jitter_and_changes_are_no_drift(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert measured(100 * rng.normal(1, 0.1, 24)).drift == 0
    changed = np.concatenate([np.full(10, 100.0), np.full(8, 160.0)]) * rng.normal(1, 0.02, 18)
    assert last_change(changed) == 10
    assert measured(changed).drift == 0


def rest_of(phases: Phases) -> tuple[Phases, Regularity] | None:
    before = regularity(phases)
    assert before is not None
    return without_extras(phases, before)


def test_phases_right_behind_others_are_left_out_where_the_rest_is_regular() -> None:
    start = 10 + 50.0 * np.arange(20)
    phases = phases_of(np.sort(np.append(start, start[[3, 9, 15]] + 8)))
    found = rest_of(phases)
    assert found is not None
    kept, rest = found
    assert kept.start.tolist() == start.tolist()
    assert rest.spread < 0.01
    assert rest_of(phases_of(start)) is None


@pytest.mark.parametrize("seed", range(10))
def test_of_random_phases_none_is_an_extra_one(seed: int) -> None:
    start = np.sort(np.random.default_rng(seed).uniform(0, 2000, 30))
    assert rest_of(phases_of(start, 1.0)) is None


def test_several_long_distances_among_uneven_ones_are_a_heavy_tail_and_no_pauses() -> None:
    rng = np.random.default_rng(4)
    intervals = 10 * np.maximum(rng.normal(1, 0.3, 46), 0.4)
    intervals[[8, 20, 33]] = [60.0, 90.0, 120.0]
    assert measured(intervals, 1.0).stray == 0
    intervals = 10 * rng.normal(1, 0.03, 46)
    intervals[[8, 20, 33]] = [60.0, 90.0, 120.0]
    assert measured(intervals, 1.0).stray == 3


@pytest.mark.parametrize("seed", range(20))
def test_a_heavy_tail_of_distances_is_no_pauses_of_a_period(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = measured(30 * (1 + rng.pareto(1.3, 50)))
    assert found.stray == 0 or found.spread < 0.35


def test_pauses_of_an_even_program_are_none_of_its_intervals() -> None:
    intervals = np.random.default_rng(2).normal(100, 5, 30)
    intervals[[8, 20]] = 900
    found = measured(intervals)
    assert found.stray == 2
    assert found.period == pytest.approx(100, rel=0.03)


@pytest.mark.parametrize("seed", range(20))
def test_first_phase_after_a_further_pause_continues_the_period(seed: int) -> None:
    """A period that went on after the first pause of a program goes on after the next ones."""
    rng = np.random.default_rng(seed)
    period, every, shifts = rng.uniform(20, 400), int(rng.integers(6, 13)), int(rng.integers(2, 5))
    intervals = period * rng.normal(1, rng.uniform(0.002, 0.03), every * shifts)
    intervals[every - 1 :: every] += period * rng.uniform(3, 7) * rng.normal(1, 0.1, shifts)
    found = measured(intervals)
    assert found.stray == shifts
    assert found.period == pytest.approx(period, rel=0.03)
    first = measured(intervals[:every])
    assert first.stray == 0  # of one interval nobody knows whether it is a pause or a new period


@pytest.mark.parametrize("seed", range(20))
def test_uneven_intervals_of_another_length_are_no_new_period(seed: int) -> None:
    rng = np.random.default_rng(seed)
    intervals = np.concatenate([rng.normal(100, 3, 20), 300 * rng.gamma(4, 1 / 4, 20)])
    found = measured(np.maximum(intervals, 10.0))
    assert found.since == 0 or found.spread < 0.2


def late_now_and_then(seed: int, missing: float = 0.0) -> Floats:
    """Intervals of 50 bins; some phases are late by half to one and a half intervals, others are missed."""
    rng = np.random.default_rng(seed)
    steps = 1.0 + (rng.uniform(size=48) < missing)
    steps[5::12] += np.array([0.5, 1.4, 0.7, 1.3])
    return np.asarray(50 * (steps + rng.normal(0, 0.01, 48)))


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_phases_that_were_held_up_make_the_period_no_longer(seed: int, missing: float) -> None:
    found = measured(late_now_and_then(seed, missing))
    assert found.period == pytest.approx(50, rel=0.005)
    assert found.stray == 4
    assert found.spread < 0.03


@pytest.mark.parametrize("spread", [0.1, 0.3, 0.6])
def test_irregular_phases_are_not_taken_for_late_ones(spread: float) -> None:
    rng = np.random.default_rng(round(10 * spread))
    intervals = 50 * rng.gamma(1 / spread**2, spread**2, 40)
    assert measured(intervals, 1.0).stray == 0


def test_phases_that_take_longer_are_not_late() -> None:
    length = np.where(np.arange(31) % 10 == 1, 50.0, 15.0)
    found = measured((60 + length)[:-1], length)
    assert found.stray == 0
    assert found.period == pytest.approx(float((60 + length)[:-1].mean()), rel=0.01)


def test_phases_that_take_longer_are_not_late_although_one_was_missed() -> None:
    length = np.where(np.arange(61) % 10 == 1, 60.0, 15.0)
    start = 10 + np.append(0.0, np.cumsum((60 + length)[:-1]))
    kept = np.arange(61) != 25
    found = regularity(phases_of(start[kept], length[kept]))
    assert found is not None
    assert found.stray <= 1


@pytest.mark.parametrize("seed", range(20))
def test_phases_missed_in_runs_make_the_period_no_longer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = np.where(rng.uniform(size=50) < 0.1, rng.geometric(0.4, 50) + 1.0, 1.0)
    steps[-2:] = 1  # a pause is detected only after its end
    found = measured(60 * (steps + rng.normal(0, 0.01, 50)))
    assert found.period == pytest.approx(60, rel=0.01)
    assert found.missed + found.stray == (steps > 1).sum()


@pytest.mark.parametrize("pause", [120.0, 450.0, 2500.0])
@pytest.mark.parametrize("later", [35.0, 80.0, 170.0])
def test_period_that_is_another_one_after_a_pause_is_the_present_one(pause: float, later: float) -> None:
    rng = np.random.default_rng(round(pause + later))
    intervals = np.concatenate([rng.normal(100, 1, 12), [100 + pause], rng.normal(later, 0.5, 9)])
    assert measured(intervals).period == pytest.approx(later, rel=0.02)


@pytest.mark.parametrize("seed", range(10))
def test_program_that_computes_for_a_fixed_time_is_timed_by_its_pauses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    length = 20 * np.where(rng.uniform(size=40) < 0.25, 5, 1) * rng.normal(1, 0.03, 40)
    intervals = (70 * rng.normal(1, 0.01, 40) + length)[:-1]
    found = measured(intervals, length)
    assert found.pauses is not None
    assert found.clock_spread < 0.02 < 0.2 < found.spread
    assert found.period == pytest.approx(float(intervals.mean()))


@pytest.mark.parametrize("seed", range(10))
def test_requests_within_phases_keep_no_clock_of_their_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    length = rng.uniform(4, 40, 120)
    pauses = np.full(119, 6.0)
    pauses[9::10] = rng.normal(900, 5, len(pauses[9::10]))
    assert measured(pauses + length[:-1], length).pauses is None


def test_a_line_through_the_latest_of_intervals_that_walk_is_no_drift() -> None:
    rng = np.random.default_rng(9)
    walks = [100 * np.exp(np.cumsum(rng.normal(0, 0.4, 40))) for _ in range(60)]
    found = [regularity(Phases(*[np.append(0.0, np.cumsum(walk))] * 3, *[np.arange(41)] * 2)) for walk in walks]
    about_line = [each.spread * each.period for each in found if each is not None and each.drift]
    recent = [float(walk[-16:].mean()) for walk, each in zip(walks, found, strict=True) if each and each.drift]
    assert all(off <= 0.2 * mean * 1.01 for off, mean in zip(about_line, recent, strict=True))


@pytest.mark.parametrize(("growth", "drifts"), [(-0.03, True), (0.03, True), (0.14, False)])
def test_intervals_that_grow_by_more_than_a_program_does_are_no_drift(growth: float, drifts: bool) -> None:
    found = measured(100 * (1 + growth) ** np.arange(16) * np.tile([1.03, 0.97], 8))
    assert bool(found.drift) == drifts


@pytest.mark.parametrize("ratio", [0.4, 1.7, 2.5])
def test_uneven_intervals_around_another_mean_are_a_new_period(ratio: float) -> None:
    found = []
    for seed in range(20):
        spread = np.random.default_rng(seed).uniform(0.1, 0.16)
        rng = np.random.default_rng(100 + seed)
        intervals = 50 * np.repeat([1, ratio], [12, 10]) * np.maximum(rng.normal(1, spread, 22), 0.5)
        found.append(measured(intervals))
    assert sum(abs(each.since - 12) <= 1 for each in found) >= 12  # 10 each if they may spread by 14 % at most


def test_even_intervals_after_a_walk_are_no_new_period() -> None:
    walk = [0.9, 1.2, 1.6, 1.1, 0.7, 1.0, 1.5, 1.2, 1.7, 2.2, 1.4, 1.0, 1.5, 2.0]
    later = [3.1, 2.6, 3.3, 2.7, 3.2, 2.8, 3.4]
    assert measured(100 * np.array([*walk, *later])).since == 0


def test_intervals_of_which_more_than_half_are_missed_or_stray_have_no_period() -> None:
    at_random = [14.2, 27.2, 20.5, 22.6, 80.2, 75.5, 27.9, 28.2, 9.4, 24.5, 48.0, 29.1, 52.2, 51.6, 27.5]
    found = measured(at_random, 2.4)
    assert found.missed == found.stray == 0
    assert found.spread > 0.3


@pytest.mark.parametrize("pauses", [1, 2])
def test_chance_of_regular_intervals_includes_the_choice_of_those_left_out(pauses: int) -> None:
    rng = np.random.default_rng(7)
    intervals = 50 * rng.normal(1, 0.02, 14)
    regular = measured(intervals, 1.0).chance
    places = [4, 9][:pauses]
    found = measured(np.insert(intervals, places, 420.0), 1.0)
    assert found.stray == pauses
    assert found.chance == pytest.approx(regular * math.comb(14 + pauses, pauses), rel=1e-6, abs=0)


def test_of_very_many_intervals_several_may_be_left_out() -> None:
    intervals = np.random.default_rng(5).normal(50, 1, 4_000)
    intervals[100::101] = 420.0
    found = measured(intervals, 1.0)
    assert found.stray > 30
    assert 0 <= found.chance < 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_period_of_intervals_that_repeat_a_pattern_is_their_mean(seed: int) -> None:
    """Long intervals at the same place of each pattern are no missed phases, pauses, or phases of their own."""
    rng = np.random.default_rng(seed)
    cycle, shortest = int(rng.integers(2, 7)), rng.uniform(20, 400)
    pattern = np.where(np.arange(cycle) == 0, rng.uniform(1.4, 1.7), 1.0)
    intervals = shortest * np.tile(pattern, 9) * rng.normal(1, rng.uniform(0.002, 0.02), 9 * cycle)
    found = measured(intervals, 0.1 * shortest)
    assert (found.cycle, found.missed, found.stray) == (cycle, 0, 0)
    assert found.period == pytest.approx(shortest * float(pattern.mean()), rel=0.02)
    assert found.spread < 0.03
    assert found.chance < 1e-6


@pytest.mark.parametrize("distance", [2.3, 3.7, 5.3])
def test_bins_that_hold_two_requests_or_none_repeat_no_pattern(distance: float) -> None:
    """Even requests at a distance of few bins, of which each third or fourth is missing."""
    bins = np.floor(distance * np.arange(400))
    for each in (3, 4, 5):
        found = measured(np.diff(bins[np.arange(400) % each > 0]), 1.0)
        assert found.cycle == 0


def test_even_and_uneven_intervals_repeat_no_pattern() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        assert measured(100 * rng.normal(1, rng.uniform(0.002, 0.05), 24)).cycle == 0
    found = [measured(100 * np.random.default_rng(seed).normal(1, 0.25, 24)).cycle > 0 for seed in range(400)]
    assert sum(found) <= 4
