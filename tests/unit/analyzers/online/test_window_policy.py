"""The window of the signal for the online period detection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.online.window_policy import WindowPolicy, clear_change, onsets, share_at_period
from iotide.analyzers.periodicity.estimator import SignalWindow
from iotide.analyzers.settings import DetectSettings
from iotide.events import Flag, make_batch
from support.jobs.changing_period import changing_job, predictions_during
from support.jobs.periodic_jobs import TYPES

SECOND = 10**9


def windows(**options: object) -> WindowPolicy:
    return WindowPolicy(DetectSettings.model_validate(options))


def signal(starts: list[int], length: int, burst: int = 3) -> np.ndarray:
    values = np.zeros(length)
    for start in starts:
        values[start : start + burst] = 1.0
    return values


def test_hits_cut_to_three_periods_and_a_miss_brings_all_back() -> None:
    chosen = windows()
    assert chosen.start(0, 100 * SECOND, hits=2, period_s=5.0) == 0
    assert chosen.start(0, 100 * SECOND, hits=3, period_s=5.0) == 85 * SECOND
    assert chosen.start(90 * SECOND, 100 * SECOND, hits=3, period_s=5.0) == 90 * SECOND


def test_fixed_window_has_its_length() -> None:
    chosen = windows(window="fixed", window_s=30.0)
    assert chosen.start(0, 100 * SECOND, hits=9, period_s=5.0) == 70 * SECOND
    assert chosen.start(0, 20 * SECOND, hits=0, period_s=0.0) == 0


def test_whole_window_never_adapts() -> None:
    assert windows(window="whole").start(7, 100 * SECOND, hits=9, period_s=5.0) == 7


def test_flushes_reach_back_to_the_first_request_of_the_oldest_that_counts() -> None:
    chosen = windows(window="flushes", window_flushes=2)
    assert chosen.start(1, 100, hits=0, period_s=0.0) == 1
    for first in (10, 20, 30):
        chosen.flush(first, first + 5)
    assert chosen.start(1, 100, hits=0, period_s=0.0) == 20


def test_streams_that_flush_together_are_one_flush() -> None:
    chosen = windows(window="flushes", window_flushes=2)
    for first in (10, 20):
        for stream in range(50):
            chosen.flush(first + stream % 3, first + 8)
    assert chosen.start(1, 100, hits=0, period_s=0.0) == 10


def test_aggregate_batches_and_ends_of_streams_are_flushes() -> None:
    predictor = Predictor("job", DetectSettings(window="flushes", window_flushes=1))
    columns = {"duration": SECOND, "bytes": 5, "kind": 8}
    for start in (10, 20):
        batch = make_batch(1, columns | {"start": start * SECOND, "flags": int(Flag.AGGREGATE)})
        predictor.update(batch, TYPES)
    assert predictor.predict(30 * SECOND).window.start_s == 20
    predictor.update(make_batch(1, columns | {"start": 25 * SECOND}), TYPES)
    predictor.flush()
    assert predictor.predict(30 * SECOND).window.start_s == 21  # since the previous flush


def test_window_in_flushes_follows_a_program_that_flushes_each_phase() -> None:
    program = changing_job(3.0, 3.0, flags=Flag.AGGREGATE)
    predictor = Predictor("job", DetectSettings(window="flushes", window_flushes=5))
    rows = predictions_during(predictor, program, 1.0)
    assert rows[-1].period_s is not None
    assert rows[-1].period_s.value == pytest.approx(3.0, rel=0.02)
    assert rows[-1].window.end_s - rows[-1].window.start_s == pytest.approx(13.0, abs=1.5)


def naive_onsets(values: list[float], period: float) -> list[int]:
    level = sum(values) / len(values)
    found: list[list[int]] = []
    for at, value in enumerate(values):
        if value <= level * (1 + 1e-9):
            continue
        if found and at - found[-1][1] < max(period / 4, 1.0):
            found[-1][1] = at + 1
        else:
            found.append([at, at + 1])
    volumes = [sum(values[first:stop]) for first, stop in found]
    usual = sum(volumes) / max(len(volumes), 1)
    return [first for (first, _), volume in zip(found, volumes, strict=True) if volume >= usual / 5 - 1e-9 and first]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 30))
@settings(deadline=None)
def test_onsets_are_rises_above_the_mean_after_a_pause(values: list[int], period: int) -> None:
    found = onsets(np.array(values, float), float(period))
    assert found.tolist() == naive_onsets([float(value) for value in values], float(period))


@pytest.mark.parametrize(
    ("intervals", "first_new"),
    [
        ([10, 10, 10, 20, 20, 20], 3),
        ([10, 11, 9, 10, 5, 5, 5], 4),
        ([10, 10, 10, 10, 20, 20, 20, 20], 4),
        ([10, 10, 10, 20, 20], 0),  # two are not enough
        ([10, 10, 10, 20, 10, 20], 0),  # missed phases
        ([10, 10, 10, 12, 12, 12], 0),  # the window adapts to this by itself
        ([10, 40, 3, 20, 7, 20, 20, 20], 0),  # there was no period before
        ([10, 10, 10, 15, 30, 22], 0),  # and there is none now
        ([10] * 9, 0),
        ([], 0),
    ],
)
def test_change_is_clear_when_three_alike_intervals_differ_from_a_steady_past(
    intervals: list[float], first_new: int
) -> None:
    assert clear_change(np.array(intervals, float)) == first_new


def test_change_is_clear_in_spite_of_jitter_and_jitter_is_none() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        steady = 10 * rng.lognormal(0, 0.1, 14)
        changed = np.concatenate([steady, 20 * rng.lognormal(0, 0.1, 4)])
        assert 12 <= max(clear_change(changed[:stop]) for stop in range(6, 19)) <= 14
        assert not any(clear_change(steady[:stop]) for stop in range(6, 15))


def test_period_lasts_where_its_intervals_fill_the_stretch() -> None:
    def view(starts: list[int]) -> SignalWindow:
        return SignalWindow(signal(starts, 200), bin_s=0.1, start_s=0.0, now_s=20.0)

    assert share_at_period(view(list(range(5, 200, 10))), 1.0) > 0.9
    assert share_at_period(view([*range(5, 45, 10), *range(160, 200, 10)]), 1.0) < 0.5
    assert share_at_period(view([]), 1.0) == 0.0
