"""Signals with hardly any pauses, and phases that differ from each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.periodicity.estimator import PeriodEstimate, SignalWindow
from iotide.analyzers.periodicity.estimators.default_estimator import estimate
from iotide.analyzers.settings import DetectSettings
from iotide.events import Kind, make_batch


def periodicity_of(
    start: list[float], length: list[float], volume: float | npt.NDArray[np.float64], *, ended: bool = False
) -> PeriodEstimate:
    """Analyse phases, in bins of a second."""
    values = signal_of(start, length, volume, start[-1] + length[-1])
    return estimate(SignalWindow(values, 1.0, 0.0, float(len(values)), ended=ended), DetectSettings())


def signal_of(
    start: list[float], length: list[float], volume: float | npt.NDArray[np.float64], until: float
) -> npt.NDArray[np.float64]:
    """Return the bytes/s in each second."""
    edges = np.arange(np.ceil(until) + 1)
    moved = np.zeros(len(edges))
    volumes = np.broadcast_to(volume, len(start)).tolist()
    for begin, lasts, bytes_moved in zip(start, length, volumes, strict=True):
        moved += bytes_moved * np.clip((edges - begin) / lasts, 0, 1)
    return np.diff(moved)


@pytest.mark.parametrize("period", [9.3, 14.1, 21.7])
def test_even_phases_with_pauses_shorter_than_a_bin_are_sure(period: float) -> None:
    start = [3 + period * number for number in range(24)]
    found = periodicity_of(start, [period - 0.8] * 24, 1e9)
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(period, rel=0.01)
    assert found.confidence > 0.9


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("volume_spread", [0.3, 0.5])
def test_mean_distance_of_many_uneven_phases_is_sure_though_the_next_start_is_not(
    seed: int, volume_spread: float
) -> None:
    rng = np.random.default_rng(seed)
    distance = 40 * np.maximum(rng.normal(1, 0.28, 44), 0.5)
    scale = np.maximum(rng.normal(1, volume_spread, 45), 0.35)
    start = (3 + np.append(0.0, np.cumsum(distance))).tolist()
    found = periodicity_of(start, (6 * scale).tolist(), 1e9 * scale, ended=True)
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(float(distance.mean()), rel=0.06)
    assert found.confidence > 0.5
    assert found.next_phase is not None
    assert found.next_phase.confidence < 0.7


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("volume_spread", [0.3, 0.5])
def test_uneven_phases_predict_the_next_start_as_often_as_equal_ones(seed: int, volume_spread: float) -> None:
    """Confidence in the next start depends on the distances, not on the volumes."""
    rng = np.random.default_rng(100 + seed)
    distance = 40 * np.maximum(rng.normal(1, 0.25, 24), 0.5)
    scale = np.maximum(rng.normal(1, volume_spread, 25), 0.35)
    start = (3 + np.append(0.0, np.cumsum(distance))).tolist()
    equal, uneven = (periodicity_of(start, (6 * each).tolist(), 1e9 * each).next_phase for each in (np.ones(25), scale))
    assert equal is not None
    assert uneven is not None
    assert uneven.confidence == pytest.approx(equal.confidence, abs=0.15)


@pytest.mark.parametrize("seed", [7, 13, 15])
def test_line_at_another_period_takes_no_confidence_from_equal_phases(seed: int) -> None:
    rng = np.random.default_rng(seed)
    distance = 10.4 + np.abs(rng.normal(11, 11, 19))
    start = (3 + np.append(0.0, np.cumsum(distance))).tolist()
    assert periodicity_of(start, [10.4] * 20, 1e9, ended=True).confidence > 0.93


@pytest.mark.parametrize("seed", range(6))
def test_few_uneven_phases_are_not_sure(seed: int) -> None:
    rng = np.random.default_rng(seed)
    distance = 40 * np.maximum(rng.normal(1, 0.28, 7), 0.5)
    scale = np.maximum(rng.normal(1, 0.4, 8), 0.35)
    start = (3 + np.append(0.0, np.cumsum(distance))).tolist()
    assert periodicity_of(start, (6 * scale).tolist(), 1e9 * scale, ended=True).confidence < 0.5


@pytest.mark.parametrize(("each", "longer"), [(3, 5), (4, 5), (5, 5), (6, 4), (6, 5), (7, 4), (7, 5)])
@pytest.mark.parametrize("jitter", [0.05, 0.5])
def test_delayed_phases_below_the_mean_bandwidth_are_phases_while_a_period_is_followed(
    each: int, longer: int, jitter: float
) -> None:
    """They move the usual volume, and a program with a fixed computation time starts the next phase after their end."""
    rng = np.random.default_rng(each)
    length = np.full(60, 8.0)
    length[each - 1 :: each] *= longer
    start = 5 + np.append(0.0, np.cumsum(length + rng.normal(20, jitter, 60)))
    until = start[-2] + length[-1] + 8
    values = signal_of(start[:-1].tolist(), length.tolist(), 1e9, until)
    assert 1e9 / (8 * longer) < values.mean()
    period = float(np.diff(start).mean())
    view = SignalWindow(
        values, 1.0, 0.0, until, begin=len(values) - int(6 * period), expected_s=period, thorough=False, followed=1
    )
    found = estimate(view, DetectSettings())
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(period, rel=0.2)  # of the latest phases
    assert found.next_phase is not None
    assert found.next_phase.start_s.value == pytest.approx(float(start[-1]), abs=0.1 * period)
    assert found.next_phase.confidence > 0.9


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 6, 7, 8, 11, 12, 14])
def test_program_that_works_in_even_shifts_has_the_period_of_its_phases(seed: int) -> None:
    """The distance of the shifts is even, too, but the phases have pauses between them, and fill half of the time."""
    rng = np.random.default_rng(seed)
    period, every, shifts = float(rng.uniform(7, 22)), int(rng.integers(5, 10)), int(rng.integers(6, 14))
    steps = period * rng.normal(1, 0.01, shifts * every)
    steps[every::every] += period * rng.uniform(0.5, 0.9) * every * rng.normal(1, 0.1, shifts - 1)
    length = rng.uniform(0.05, 0.35) * period
    found = periodicity_of(np.cumsum(steps).tolist(), [length] * len(steps), 1e9, ended=True)
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(period, rel=0.03)
    assert found.confidence > 0.9


@pytest.mark.parametrize("bursts", [3, 6, 10])
def test_phases_of_bursts_that_fill_little_of_the_time_are_phases(bursts: int) -> None:
    start = [200.0 * phase + 6 * burst for phase in range(20) for burst in range(bursts)]
    found = periodicity_of(start, [2.0] * len(start), 1e9, ended=True)
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(200, rel=0.01)


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize(("one", "other"), [(23.0, 38.4), (31.0, 35.7), (40.0, 66.7)])
def test_two_programs_in_one_signal_have_each_a_period_and_a_next_phase(one: float, other: float, ended: bool) -> None:
    rng = np.random.default_rng(int(10 * other))
    phases = []
    for period, length, volume, first in ((one, 2.5, 1e9, 7.0), (other, 3.4, 8e8, 16.0)):
        count = int((30 * one - first) / period)
        at = first + period * np.arange(count) + rng.normal(0, 0.05, count)
        phases += [(float(start), length, volume) for start in at]
    start, length, volume = zip(*sorted(phases), strict=True)
    found = periodicity_of(list(start), list(length), np.array(volume), ended=ended)
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(one, rel=0.01)
    assert found.confidence > 0.8
    assert found.next_phase is not None
    assert 0 <= found.next_phase.start_s.value - max(start) < 1.3 * one
    (beside,) = found.others
    assert (beside.relation, beside.who) == ("beside", None)
    assert beside.period_s.value == pytest.approx(other, rel=0.02)
    assert beside.next_phase is not None
    assert beside.bytes_per_phase == pytest.approx(8e8, rel=0.3)


def walk(seed: int) -> list[float]:
    """Starts in ten minutes; the distance walks at random between 2.5 and 40 s."""
    rng = np.random.default_rng(seed)
    step = rng.uniform(0.3, 0.6)
    level = rng.normal(0, step, 400)
    level = np.log(rng.uniform(3, 12)) + np.cumsum(level)
    low, high = np.log(2.5), np.log(40.0)
    starts = np.cumsum(np.exp(high - np.abs((level - low) % (2 * (high - low)) - (high - low))))
    kept: list[float] = starts[starts < 599].tolist()
    return kept


@pytest.mark.parametrize("seed", [1300009, 1300015, 1300023, 1300029, 1300032])
def test_distances_that_walk_at_random_and_stay_near_one_value_for_a_while_are_no_period(seed: int) -> None:
    """The seeds have steady ends, a dense part before a steady one, and a stretch on a line."""
    start = walk(seed)
    edges = np.rint(1e9 * (np.array(start)[:, None] + np.linspace(0, 0.8, 17))).astype(np.int64)
    columns = {"start": edges[:, :-1].ravel(), "duration": np.diff(edges, axis=1).ravel()}
    batch = make_batch(16 * len(start), columns | {"bytes": 6_000_000, "kind": int(Kind.WRITE)})
    for settings in (DetectSettings(), DetectSettings(sampling_frequency_hz=1.0)):
        assert not detect([(batch, np.zeros(0, np.uint8))], settings, "job").periodic


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("growth", [0.15, 0.4])
def test_phases_that_take_ever_longer_make_the_period_drift(seed: int, growth: float) -> None:
    """The time between phases stays equal, so the next start is timed from the end of a phase."""
    rng = np.random.default_rng(seed)
    length = 4 + growth * np.arange(40)
    pause = rng.normal(25, 0.3, 40)
    start = 3 + np.append(0.0, np.cumsum(length + pause))
    found = periodicity_of(start[:-1].tolist(), length.tolist(), 1e9, ended=True)
    assert found.period_s is not None
    assert found.drift is not None
    now = float(length[-1]) + 25
    assert found.drift.period_s.value == pytest.approx(now, rel=0.02)
    assert found.drift.per_phase * found.period_s.value == pytest.approx(growth, rel=0.2)
    assert found.next_phase is not None
    assert found.next_phase.start_s.value == pytest.approx(start[-1], abs=1.5)
    assert found.next_phase.duration_s.value == pytest.approx(float(length[-1]) + growth, abs=0.6)
    ahead = len(found.next_phase.following)
    assert ahead == 5
    expected = start[-1] + sum(float(length[-1]) + growth * number + 25 for number in range(1, ahead + 1))
    assert found.next_phase.following[-1].start_s.value == pytest.approx(expected, abs=0.15 * now)


@pytest.mark.parametrize("each_fourth", [2.0, 4.0])
@pytest.mark.parametrize("seed", range(6))
def test_period_does_not_drift_if_some_phases_take_longer(seed: int, each_fourth: float) -> None:
    rng = np.random.default_rng(seed)
    length = 4 * np.where(rng.random(40) < 0.25, each_fourth, 1) * rng.normal(1, 0.05, 40)
    start = 3 + np.append(0.0, np.cumsum(length + rng.normal(25, 0.3, 40)))
    assert periodicity_of(start[:-1].tolist(), length.tolist(), 1e9, ended=True).drift is None


@pytest.mark.parametrize("growth", [-0.02, 0.02, 0.04])
def test_volume_of_the_next_phase_follows_a_growth(growth: float) -> None:
    rng = np.random.default_rng(7)
    volume = 1e9 * (1 + growth) ** np.arange(41) * np.append(rng.normal(1, 0.01, 40), 1)
    start = (3 + np.cumsum(rng.normal(30, 0.3, 40))).tolist()
    found = periodicity_of(start, [4.0] * 40, volume[:-1], ended=True)
    assert found.next_phase is not None
    expected = found.next_phase.volume_bytes
    assert expected.value == pytest.approx(volume[-1], rel=0.03)
    assert expected.low <= volume[-1] <= expected.high


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize("seed", range(24))
def test_period_of_a_pattern_of_intervals_is_their_mean_distance(seed: int, ended: bool) -> None:
    """It is neither the length of the whole pattern nor the shorter interval."""
    rng = np.random.default_rng(seed)
    cycle, shortest = int(rng.integers(2, 7)), float(rng.uniform(20, 60))
    longer = float(rng.uniform(1.2, 1.75))
    count = int(rng.integers(5, 9)) * cycle
    steps = shortest * np.where(np.arange(count) % cycle == 0, longer, 1.0)
    start = (5 + np.append(0.0, np.cumsum(steps * rng.normal(1, rng.uniform(0.002, 0.02), count)))).tolist()
    length = (shortest * float(rng.uniform(0.05, 0.3)) * np.maximum(rng.normal(1, 0.08, count + 1), 0.5)).tolist()
    found = periodicity_of(start, length, 1e9 * rng.normal(1, 0.05, count + 1), ended=ended)
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(float(steps.mean()), rel=0.05)
    assert found.confidence > 0.5


def shifts_of_phases(rng: np.random.Generator, phases: int, rest: float, *, last: int) -> list[float]:
    """Return starts, s, of five shifts 20 s apart within, and a rest after each; ``last``: phases of a sixth one."""
    steps = np.concatenate([np.append(np.full(phases - 1, 20.0), 20 + rest)] * 5 + [np.full(last - 1, 20.0)])
    return (5 + np.append(0.0, np.cumsum(steps + rng.normal(0, 0.2, len(steps))))).tolist()


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize(("phases", "rest"), [(5, 60.0), (8, 100.0), (12, 150.0)])
def test_shifts_are_reported_with_their_rests(phases: int, rest: float, ended: bool) -> None:
    start = shifts_of_phases(np.random.default_rng(phases), phases, rest, last=3)
    found = periodicity_of(start, [4.0] * len(start), 1e9, ended=ended)
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(20, rel=0.02)
    told = found.shifts
    assert found.interruptions is None
    assert told is not None
    assert (told.phases, told.seen, told.resting, told.left) == (phases, 5, False, phases - 3)
    assert told.rest_s.value == pytest.approx(rest + 16, abs=2)
    assert told.rest_s.low <= rest + 16 <= told.rest_s.high
    assert told.probability > 0.9
    coming = start[-1] + (phases - 3) * 20 + 20 + rest
    assert told.next_start_s is not None
    assert told.next_start_s.value == pytest.approx(coming, abs=5)
    assert told.next_start_s.low <= coming <= told.next_start_s.high
    assert found.patterns == []


def test_job_rests_from_the_end_of_a_shift_until_the_next_one() -> None:
    start = shifts_of_phases(np.random.default_rng(1), 6, 100.0, last=6)
    for later, resting in ((1.0, False), (12.0, True), (80.0, True)):
        until = start[-1] + 4 + later
        values = signal_of(start, [4.0] * len(start), 1e9, until)
        found = estimate(SignalWindow(values, 1.0, 0.0, until), DetectSettings())
        assert found.shifts is not None
        assert found.shifts.resting is resting
        assert found.shifts.left == 6
        assert found.next_phase is not None
        assert found.shifts.next_start_s == found.next_phase.start_s
        assert found.next_phase.start_s.value == pytest.approx(start[-1] + 120, abs=5)


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_missing_phases_and_pauses_are_counted(seed: int, ended: bool) -> None:
    rng = np.random.default_rng(seed)
    steps = 20 * rng.normal(1, 0.01, 40)
    at = rng.permutation(np.arange(2, 37, 3))
    missing, paused = at[: seed % 4], at[4 : 4 + seed // 4 + int(seed == 0)]
    steps[missing] += 20 * (1 + np.arange(len(missing)) % 2)
    steps[paused] += 200
    start = (5 + np.append(0.0, np.cumsum(steps))).tolist()
    told = periodicity_of(start, [4.0] * len(start), 1e9, ended=ended).interruptions
    assert told is not None
    assert told.phases == len(start)
    assert told.missing == sum(1 + number % 2 for number in range(len(missing)))
    assert told.pauses == len(paused)
    assert told.longest_pause_s == (pytest.approx(216, abs=3) if len(paused) else 0)


@pytest.mark.parametrize("seed", range(5))
def test_even_jobs_missing_phases_and_rests_at_random_are_no_shifts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for steps in (
        np.full(40, 20.0),
        20 * np.where(rng.uniform(size=40) < 0.1, 2.0, 1.0),
        np.concatenate([[*[20.0] * count, 140.0] for count in (9, 5, 14, 7, 11)]),
    ):
        start = (5 + np.append(0.0, np.cumsum(steps + rng.normal(0, 0.2, len(steps))))).tolist()
        found = periodicity_of(start, [4.0] * len(start), 1e9, ended=True)
        assert found.shifts is None
        assert found.patterns == []


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize("each", [2, 4, 7])
def test_patterns_of_volumes_and_durations_are_reported_from_the_next_phase_on(each: int, ended: bool) -> None:
    rng = np.random.default_rng(each)
    large = np.arange(8 * each) % each == each - 1
    volume = np.where(large, 16e6, 4e6) * rng.normal(1, 0.01, len(large))
    start = (5 + 30 * np.arange(len(large)) + rng.normal(0, 0.2, len(large))).tolist()
    for count in (6 * each, 6 * each + 1, 7 * each - 1, 8 * each - 1):
        found = periodicity_of(start[:count], (volume[:count] / 2e6).tolist(), volume[:count], ended=ended)
        told = {pattern.of: pattern.values for pattern in found.patterns}
        assert set(told) == {"durations", "volumes"}
        # the last phase may still be running
        ahead = np.roll(np.where(np.arange(each) == each - 1, 16e6, 4e6), -count % -each)
        assert told["volumes"] == pytest.approx(ahead.tolist(), rel=0.05)
        assert told["durations"] == pytest.approx((ahead / 2e6).tolist(), abs=0.5)


def test_pattern_of_intervals_is_reported_from_the_next_interval_on() -> None:
    steps = np.tile([30.0, 30.0, 30.0, 50.0], 8)
    for count in (24, 25, 26, 27):
        start = (5 + np.append(0.0, np.cumsum(steps[:count]))).tolist()
        found = periodicity_of(start, [4.0] * len(start), 1e9)
        (told,) = found.patterns
        assert told.of == "intervals"
        assert told.values == pytest.approx(np.roll(steps[:4], -(count % 4)).tolist(), abs=0.5)


@pytest.mark.parametrize("seed", range(12))
def test_each_nth_phase_that_is_several_times_as_large_is_one_phase(seed: int) -> None:
    """Phases that run together by chance are multiples of the others, too, but not at the same places."""
    rng = np.random.default_rng(seed)
    each, times, count = int(rng.integers(3, 6)), int(rng.integers(2, 5)), 40
    scale = np.where(np.arange(count) % each == each - 1, times, 1)
    length = 4.0 * scale * rng.normal(1, 0.02, count)
    start = 5 + np.append(0.0, np.cumsum(length + 30 * rng.normal(1, 0.12, count)))[:-1]
    found = periodicity_of(start.tolist(), length.tolist(), 1e9 * scale * rng.normal(1, 0.005, count))
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(float(np.diff(start).mean()), rel=0.05)
    assert [len(pattern.values) for pattern in found.patterns if pattern.of == "volumes"] == [each]
