"""Invariants of a job under contention, compute time and volume, and the predictions from them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.contention.expected import Cycle, cycle_of
from iotide.analyzers.contention.loads import JobView, Load
from iotide.analyzers.contention.report import contention_of
from iotide.analyzers.contention.scenarios import Expected, draw_scenarios
from iotide.analyzers.contention.settings import ContentionSettings
from iotide.results.base import Estimate
from iotide.results.prediction import NextPhase, Prediction, Window
from support.jobs.job_mixes import T0, JobOutcome, MixedJob, observed_until, simulate, view_of

CAPACITY = {"a": 1e9}
ONE = MixedJob("one", "a", 6, 4e9, 1e9)
BURSTS = Expected("one", 100.0, 3.0, 0.0, 1.0, 9.0, 0.0, 0.0, 300.0, 0.0, 0.0, 4, gap=6.0)


def load(rows: Sequence[tuple[float, float, float]]) -> Load:
    start, end, moved = np.array(rows, float).reshape(-1, 3).T
    return Load("j", "", 1.0, start, end, moved, end - start)


def found(rows: Sequence[tuple[float, float, float]], period: float | None = None, late_s: float = 1.0) -> Cycle | None:
    return cycle_of(load(rows), period, rows[-1][1] + late_s, 0.5)


@given(
    st.floats(0.5, 100), st.floats(0.1, 20), st.integers(7, 60), st.lists(st.floats(0.3, 3.0), min_size=60, max_size=60)
)
def test_gap_and_volume_are_found_however_long_phases_take(
    gap: float, alone: float, count: int, stretched: list[float]
) -> None:
    rows, now = [], 0.0
    for number in range(count):
        lasting = alone * max(1.0, stretched[number])
        rows.append((now, now + lasting, 1e6))
        now += lasting + gap
    cycle = found(rows, late_s=0.1 * gap + 0.6)
    timed = np.diff([start for start, _, _ in rows][-24:])
    if gap > 0.15 * float(np.median(timed)) and 0.1 * gap + 0.6 < 2 * gap:
        assert cycle is not None
        assert cycle.gap == pytest.approx(gap)
        assert (cycle.volume, cycle.regular, cycle.moved) == (1e6, 1.0, 0.0)


def test_contention_does_not_change_what_a_job_keeps_to() -> None:
    done = simulate([ONE, MixedJob("two", "a", 11, 8e9, 1e9), MixedJob("three", "a", 23, 9e9, 1e9)], CAPACITY, 900, 1)
    rows = done[0].phases
    assert max(end - start for start, end, _ in rows) > 1.5 * min(end - start for start, end, _ in rows)
    cycle = found(rows, late_s=1.0)
    assert cycle is not None
    assert cycle.gap == pytest.approx(6, rel=0.01)
    assert cycle.volume == pytest.approx(4e9, rel=0.01)


def test_job_that_keeps_to_times_has_no_cycle() -> None:
    assert found([(10.0 * turn, 10.0 * turn + 2 + turn % 3, 1e6) for turn in range(20)]) is None


def test_irregular_few_or_old_phases_are_no_cycle() -> None:
    chance = np.random.default_rng(1)
    starts = np.cumsum(chance.exponential(10, 40)) + 2 * np.arange(40)
    assert found([(start, start + 1, 1e6) for start in starts]) is None
    regular = [(10.0 * turn + turn % 2, 10.0 * turn + turn % 2 + 1, 1e6) for turn in range(20)]
    assert found(regular) is not None
    assert found(regular[:4]) is None
    assert found(regular, late_s=25.0) is None
    assert found(regular, period=31.0) is None
    starts = [0.0, 11.0, 112.0, 123.0, 224.0]  # no gap is near the median gap
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found([(start, start + 1, 1e6) for start in starts], late_s=0.1) is None


def test_pauses_within_phases_and_small_ones_between_them_do_not_count() -> None:
    rows = []
    for turn in range(12):
        begin = 10.0 * turn
        rows += [(begin, begin + 0.5, 5e5), (begin + 1, begin + 1.5, 5e5), (begin + 5, begin + 5.1, 1e3)]
    cycle = found(rows, period=10.0, late_s=0.6)
    assert cycle is not None
    assert cycle.gap == pytest.approx(8.5, rel=0.01)
    assert cycle.volume == pytest.approx(1e6)


def test_next_phase_follows_the_end_of_the_one_that_goes_on() -> None:
    """Two jobs share the bandwidth now: the phase takes twice as long, and all later phases are delayed."""
    going = replace(BURSTS, under_way=300.0)
    alone = draw_scenarios([going], 100.0, 100.0, 2, 1)
    assert alone.start[0, 0, 1:3].tolist() == pytest.approx([9, 18])
    both = draw_scenarios([going, replace(going, job="two")], 100.0, 100.0, 2, 1)
    assert both.start[0, 0, 1] == pytest.approx(12)


def test_next_phase_of_a_job_that_computes_comes_when_its_gap_is_over() -> None:
    scenarios = draw_scenarios([BURSTS], 100.0, 100.0, 2, 1)
    assert scenarios.start[0, 0, 1:].tolist() == pytest.approx([3, 12, 21, 30])


def test_few_gaps_leave_a_next_start_less_certain_than_many() -> None:
    chance = np.random.default_rng(3)
    gaps = chance.normal(9.0, 0.5, 24)
    starts = np.r_[0.0, np.cumsum(gaps + 1.0)]
    rows = [(start, start + 1, 1e6) for start in starts]
    many, few = found(rows), found(rows[:6])
    assert many is not None
    assert few is not None
    assert many.gap_deviation == pytest.approx(0.5, rel=0.3)
    assert few.gap_deviation > 1.2 * float(np.std(gaps[:5]))


def test_next_start_is_told_by_what_the_other_jobs_take() -> None:
    """One job's phase is in progress: it ends later beside another job, and its next phase starts later."""
    one, two = MixedJob("one", "a", 6, 4e9, 1e9), MixedJob("two", "a", 6, 40e9, 1e9)
    rows = [(10.0 * turn, 10.0 * turn + 4, 4e9) for turn in range(12)]
    until = rows[-1][0] + 1.0
    alone = view_of(observed_until(JobOutcome(one, rows), until), 1, noise=0.0)
    long = [(50.0 * turn - 7.0, 50.0 * turn + 33.0, 40e9) for turn in range(-4, 3)]
    beside = view_of(observed_until(JobOutcome(two, [*long, (until - 0.5, until + 39.5, 40e9)]), until), 1, noise=0.0)
    settings = ContentionSettings(capacity=CAPACITY, horizon_s=60)
    starts = {}
    for name, views in (("alone", [alone]), ("beside", [alone, beside])):
        result = contention_of([without_periodicity(view, until) for view in views], settings, T0 + until)
        (phase,) = (each for each in result.next_phases if each.job == "one")
        assert phase.volume_bytes == pytest.approx(4e9, rel=0.01)
        assert phase.start_s.low <= phase.start_s.value <= phase.start_s.high
        starts[name] = phase.start_s.value - T0 - until
    assert starts["alone"] == pytest.approx(3 + 6, abs=0.3)
    assert starts["beside"] == pytest.approx(6 + 6, abs=0.6)


def test_phase_in_progress_is_known_during_a_long_call() -> None:
    """Calls take a second: the last known one ended 0.9 s ago, and the phase is in progress."""
    rows = [(20.0 * turn, 20.0 * turn + 8, 8 * 2.0**20) for turn in range(12)]
    until = rows[-1][0] + 20
    view = view_of(JobOutcome(ONE, [*rows, (until, until + 1, 2.0**20)]), 1, noise=0.0)
    result = contention_of([without_periodicity(view, until)], ContentionSettings(), T0 + until + 1.9)
    (phase,) = result.next_phases
    assert phase.start_s.low > T0 + until + 8
    assert phase.known_until_s == pytest.approx(T0 + until + 1)


def test_next_phase_that_is_due_may_have_begun_before_its_first_call_is_known() -> None:
    due = replace(BURSTS, start=0.0, start_deviation=0.1, gap_deviation=0.1, unseen=0.3)
    first = draw_scenarios([due], 100.0, 100.0, 500, 1).start[:, 0, 1]
    assert first.min() >= -0.3
    assert (first < 0).mean() == pytest.approx(0.5, abs=0.1)
    known = draw_scenarios([replace(due, unseen=0.0)], 100.0, 100.0, 500, 1).start[:, 0, 1]
    assert known.min() >= 0


def test_next_phase_does_not_begin_before_the_one_in_progress_has_ended() -> None:
    going = replace(BURSTS, start=0.0, start_deviation=0.1, unseen=0.3, under_way=100.0, gap=None)
    scenarios = draw_scenarios([going], 100.0, 100.0, 500, 1)
    assert (scenarios.start[0, 0, 0], scenarios.end[0, 0, 0]) == (0.0, 1.0)
    assert scenarios.start[:, 0, 1].min() >= 1.0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("timed", [False, True], ids=["computing", "timers"])
def test_jobs_that_have_never_been_alone_are_not_delayed_twice(seed: int, timed: bool) -> None:
    """Two jobs always collide, and their phases show only the lengthened times. A third one meets neither."""
    chance = np.random.default_rng(seed)
    volume, period = chance.uniform(0.5e9, 1.6e9), 10.0
    alone = volume / CAPACITY["a"]
    lag = alone * chance.uniform(0.25, 0.6)
    turns = np.arange(40) * period
    # With timers, what varies is the gaps. Else all is steady.
    more = chance.normal(0.0, 0.15 * alone, (2, 40)) if timed else np.zeros((2, 40))
    phases = {
        "one": [(turn, turn + 2 * alone - lag + late, volume) for turn, late in zip(turns, more[0], strict=True)],
        "two": [(turn + lag, turn + 2 * alone + late, volume) for turn, late in zip(turns, more[1], strict=True)],
        "apart": [(turn + 5.0, turn + 5.5, 0.5e9) for turn in turns],
    }
    done = [JobOutcome(MixedJob(name, "a", 1, volume, 1e9), rows) for name, rows in phases.items()]
    until = 24 * period + 7.0
    views = [view_of(observed_until(each, until), 1, noise=0.0) for each in done]
    known = [
        with_period(view, period, T0 + until) if timed else without_periodicity(view, T0 + until) for view in views
    ]
    result = contention_of(known, ContentionSettings(capacity=CAPACITY, horizon_s=80), T0 + until)
    assert len(result.collisions) >= 7
    for collision in result.collisions[:7]:
        assert {job.job for job in collision.jobs if job.probability >= 0.5} == {"one", "two"}
    for turn, collision in enumerate(result.collisions[:4], 25):  # later ones are uncertain by the spread of the gaps
        assert collision.start_s.value - T0 == pytest.approx(turn * period + lag, abs=0.4)
        for job in collision.jobs[:2]:
            assert job.delay_s is not None
            assert job.delay_s.value == pytest.approx(alone - lag, abs=0.3 * alone + 0.05)


def with_period(view: JobView, period: float, now_s: float) -> JobView:
    """Return a job with the prediction of a timer."""
    (use,) = view.use.file_systems
    start, volume = use.phases[-1].start_s + period, use.bytes_written / len(use.phases)
    known = Prediction(
        job=view.summary.job, made_at_s=now_s, mode="both", method="tide", sampling_frequency_hz=10.0,
        window=Window(start_s=T0, end_s=now_s, samples=10), confidence=1.0, dominant=[],
        period_s=Estimate(value=period, low=period - 0.02, high=period + 0.02),
        next_phase=NextPhase(
            confidence=1.0,
            start_s=Estimate(value=start, low=start - 0.05, high=start + 0.05),
            duration_s=Estimate(value=1.0, low=1.0, high=1.0),
            volume_bytes=Estimate(value=volume, low=volume, high=volume),
        ),
    )  # fmt: skip
    return JobView(view.summary, view.use, known)


def without_periodicity(view: JobView, now_s: float) -> JobView:
    known = Prediction(
        job=view.summary.job, made_at_s=now_s, mode="both", method="tide", sampling_frequency_hz=10.0,
        window=Window(start_s=T0, end_s=now_s, samples=10), period_s=None, confidence=0.1, dominant=[],
    )  # fmt: skip
    return JobView(view.summary, view.use, known)


def test_collisions_are_foreseen_of_jobs_whose_signal_has_no_period_as_they_collide() -> None:
    now = 700.0
    done = simulate([ONE, MixedJob("two", "a", 11, 8e9, 1e9), MixedJob("three", "a", 23, 9e9, 1e9)], CAPACITY, 900, 2)
    now = next(end for _, end, _ in done[0].phases if end > now) + 1.0
    views = [without_periodicity(view_of(observed_until(each, now), 1, noise=0.0), T0 + now) for each in done]
    result = contention_of(views, ContentionSettings(capacity=CAPACITY, horizon_s=60), T0 + now)
    assert result.collisions
    assert not result.abstained
    logger = simulate([MixedJob("logger", "a", 2, 2e3, 1e3)], CAPACITY, now, 2)[0]  # writes lines for half of the time
    views.append(without_periodicity(view_of(logger, 1, noise=0.0), T0 + now))
    beside = contention_of(views, ContentionSettings(capacity=CAPACITY, horizon_s=60), T0 + now)
    assert {job.job for each in beside.collisions for job in each.jobs} <= {"one", "two", "three"}
    ended = [JobView(view.summary.model_copy(update={"state": "ended"}), view.use, view.prediction) for view in views]
    silent = contention_of(ended, ContentionSettings(capacity=CAPACITY), T0 + now)
    assert not silent.collisions
    assert {each.what for each in silent.abstained} == {"forecast"}
