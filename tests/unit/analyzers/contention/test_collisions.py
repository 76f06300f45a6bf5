"""Predicted collisions: shares of one bandwidth, scenarios, probabilities and delays."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.contention.collisions import collisions_of
from iotide.analyzers.contention.report import contention_of
from iotide.analyzers.contention.scenarios import Expected, draw_scenarios, shares
from iotide.analyzers.contention.settings import ContentionSettings
from iotide.clients.text.contention_text import _collision_text
from iotide.results.base import Estimate
from iotide.results.contention import Collision
from iotide.results.prediction import NextPhase, OtherPeriod, Prediction, Who, Window, WorkShifts
from support.jobs.job_mixes import T0, JobOutcome, MixedJob, simulate, view_of

SURE = Expected("one", 100.0, 5.0, 0.0, 1.0, 20.0, 0.0, 0.0, 300.0, 0.0, 0.0, 4)
OTHER = replace(SURE, job="two", start=6.0, period=50.0)


def collisions(jobs: list[Expected], capacity: float | None = 100.0, **more: float) -> list[Collision]:
    scenarios = draw_scenarios(jobs, capacity, more.get("horizon", 1000.0), 200, 1)
    least = more.get("least", 0.1)
    return collisions_of(jobs, scenarios, capacity, limit=capacity, least=least, now_s=T0, file_system="a")


@given(
    st.lists(st.tuples(st.booleans(), st.integers(1, 100)), min_size=1, max_size=8),
    st.one_of(st.none(), st.integers(1, 300)),
)
def test_bandwidth_is_shared_max_min_fairly(jobs: list[tuple[bool, int]], capacity: int | None) -> None:
    active = np.array([[on for on, _ in jobs]])
    limits = np.array([float(limit) for _, limit in jobs])
    (got,) = shares(active, limits, None if capacity is None else float(capacity))
    wanted = np.where(active[0], limits, 0)
    assert (got <= wanted + 1e-9).all()
    if capacity is None:
        assert (got == wanted).all()
        return
    assert got.sum() == pytest.approx(min(wanted.sum(), capacity))
    below = active[0] & (got < limits - 1e-9)
    if below.any():  # max-min: no job gets more than a job with unmet demand
        assert got.max() <= got[below].min() + 1e-9


def test_two_phases_that_are_sure_collide_surely_and_delay_each_other() -> None:
    first, *_ = collisions([SURE, OTHER])
    assert (first.probability, first.excess, first.demand) == (1.0, 2.0, 200.0)
    assert first.start_s.value == pytest.approx(T0 + 6)
    delays = {each.job: each.delay_s for each in first.jobs}
    assert {name: round(delay.value, 6) for name, delay in delays.items() if delay} == {"one": 2.0, "two": 2.0}
    assert [(each.phase, each.volume_bytes) for each in first.jobs] == [(1, 300.0), (1, 300.0)]


def test_job_alone_is_never_delayed_and_keeps_to_its_period() -> None:
    scenarios = draw_scenarios([SURE], 100.0, 1000.0, 10, 1)
    assert scenarios.start[0, 0, 1:].tolist() == pytest.approx([5, 25, 45, 65])
    assert np.nanmax(np.abs(scenarios.delay)) == pytest.approx(0, abs=1e-9)


def test_rest_postpones_all_later_phases() -> None:
    scenarios = draw_scenarios([replace(SURE, extra=(0.0, 0.0, 30.0, 0.0))], 100.0, 1000.0, 10, 1)
    assert scenarios.start[0, 0, 1:].tolist() == pytest.approx([5, 25, 75, 95])


def test_delayed_job_keeps_its_compute_time() -> None:
    scenarios = draw_scenarios([replace(SURE, gap=17.0, start=5.0), OTHER], 100.0, 1000.0, 2, 1)
    assert scenarios.start[0, 0, 2] == pytest.approx(5 + 20 + 2)


def test_delay_does_not_postpone_the_phases_of_a_timer_unless_they_are_due_before_its_end() -> None:
    scenarios = draw_scenarios([SURE, OTHER], 100.0, 1000.0, 2, 1)
    assert scenarios.start[0, 0, 1:].tolist() == pytest.approx([5, 25, 45, 65])
    assert scenarios.delay[0, 0, 1] == pytest.approx(2)
    long = draw_scenarios([replace(SURE, volume=2500.0)], 100.0, 1000.0, 2, 1)
    assert long.start[0, 0, 1:].tolist() == pytest.approx([5, 30, 55, 80])


def test_phase_that_goes_on_counts() -> None:
    first, *_ = collisions([replace(SURE, under_way=800.0, start=15.0), OTHER])
    assert {each.job: each.phase for each in first.jobs} == {"one": 0, "two": 1}
    assert first.start_s.value == pytest.approx(T0 + 6)


def test_jobs_within_capacity_do_not_collide_and_without_a_capacity_no_delay_is_told() -> None:
    assert collisions([SURE, OTHER], 250.0) == []
    (first, *_) = collisions([SURE, OTHER], None)
    assert all(each.delay_s is None for each in first.jobs)


def test_unlikely_and_late_ones_are_not_told() -> None:
    vague = replace(OTHER, start=40.0, start_deviation=30.0)
    assert all(each.probability >= 0.3 for each in collisions([SURE, vague], least=0.3))
    assert collisions([SURE, OTHER], horizon=4.0) == []


def test_three_jobs_at_once_are_one_collision() -> None:
    three = [SURE, OTHER, replace(OTHER, job="three", start=6.5, period=70.0)]
    first = collisions(three)[0]
    assert [each.job for each in first.jobs] == ["one", "two", "three"]
    assert first.excess == 3.0


@pytest.mark.parametrize("deviation", [1.0, 3.0])
def test_probability_is_how_often_it_happens(deviation: float) -> None:
    """Two phases of 3 s with normally distributed starts: a closed form is known."""
    one = replace(SURE, start=50.0, start_deviation=deviation, phases=1)
    other = replace(one, job="two", start=54.0)
    (found,) = collisions([one, other], 10_000.0 / 60)
    spread = deviation * math.sqrt(2)
    within = 3 * 0.95
    expected = 0.5 * (math.erf((within + 4) / spread / math.sqrt(2)) + math.erf((within - 4) / spread / math.sqrt(2)))
    assert found.probability == pytest.approx(expected, abs=0.1)


def test_probability_is_that_of_a_collision_about_the_predicted_time() -> None:
    """Phases that surely overlap, but not surely within a quarter of the shorter period (5 s) of the reported start."""
    long = replace(SURE, start=40.0, period=90.0, volume=6000.0, phases=1)
    other = replace(SURE, job="two", start=70.0, start_deviation=8.0, phases=1)
    (found,) = collisions([long, other])
    assert found.start_s.value == pytest.approx(T0 + 70, abs=1.5)
    assert found.probability == pytest.approx(math.erf(5 / 8 / math.sqrt(2)), abs=0.1)


def test_each_job_of_a_collision_has_the_probability_of_its_part() -> None:
    rare = replace(OTHER, job="rare", start=8.0, start_deviation=8.0, period=100.0, volume=100.0, phases=1)
    first = collisions([replace(SURE, phases=1), replace(OTHER, phases=1), rare])[0]
    part = {each.job: each.probability for each in first.jobs}
    assert (part["one"], part["two"]) == (1.0, 1.0)
    assert 0.1 < part["rare"] < 0.6
    assert first.demand == pytest.approx(100 * sum(part.values()))
    assert "rare" in (text := _collision_text(first, T0))
    assert f", in {part['rare']:.0%} of cases)" in text
    assert text.count("of cases") == 1


def foreseen(done: JobOutcome, now: float, deviation: float) -> Prediction:
    """Return the prediction of a perfect predictor at some time."""
    job = done.job
    alone = job.volume / job.limit
    before = [end for _, end, _ in done.phases if end <= now]
    start = T0 + (before[-1] if before else 0.0) + job.gap_s
    period = job.gap_s + alone
    spread = 1.645 * max(deviation, 1e-3)
    return Prediction(
        job=job.name, made_at_s=T0 + now, mode="both", method="tide",
        window=Window(start_s=T0, end_s=T0 + now, samples=100), sampling_frequency_hz=10.0,
        period_s=Estimate(value=period, low=period * 0.9, high=period * 1.1), confidence=0.99, dominant=[],
        next_phase=NextPhase(
            confidence=0.9,
            start_s=Estimate(value=start, low=start - spread, high=start + spread),
            duration_s=Estimate(value=alone, low=alone, high=alone),
            volume_bytes=Estimate(value=job.volume, low=job.volume, high=job.volume),
        ),
    )  # fmt: skip


def test_each_period_of_a_job_collides_with_other_jobs_and_none_with_its_own() -> None:
    jobs = [
        MixedJob("both", "a", 17.0, 3e9, 1e9),
        MixedJob("other", "a", 41.0, 9e9, 1e9, start_s=20.0),
    ]
    done = simulate(jobs, {"a": 1e9}, 500, 1)
    # between phases of both jobs
    now = next(
        float(moment)
        for moment in range(300, 400)
        if not any(start - 1 <= moment <= end + 1 for each in done for start, end, _ in each.phases)
    )
    past = [JobOutcome(each.job, [row for row in each.phases if row[1] <= now]) for each in done]
    told, other = (foreseen(each, now, 0.1) for each in past)
    assert told.next_phase is not None
    assert other.next_phase is not None
    whose = Who(kind="ranks", members=["4-7"], share=0.5)
    beside = OtherPeriod(
        relation="beside",
        period_s=Estimate(value=33.0, low=32.5, high=33.5),
        confidence=0.95,
        start_s=T0,
        end_s=T0 + now,
        phases=9,
        who=whose,
        next_phase=told.next_phase.model_copy(update={"start_s": other.next_phase.start_s}),
    )
    both = told.model_copy(update={"others": [beside]})
    settings = ContentionSettings(capacity={"a": 1e9})
    views = [view_of(each, 1, prediction=said) for each, said in zip(past, (both, other), strict=True)]
    found = contention_of(views, settings, T0 + now).collisions
    rows = [{(each.job, each.who is not None) for each in collision.jobs} for collision in found]
    assert any({("both", True), ("other", False)} <= row for row in rows)
    assert all(("other", False) in row for row in rows)
    first = next(each for each, row in zip(found, rows, strict=True) if ("both", True) in row)
    assert first.start_s.value == pytest.approx(other.next_phase.start_s.value, abs=1.0)
    assert "both (ranks 4-7)" in _collision_text(first, T0 + now)


@pytest.mark.parametrize(("rests", "after_s", "collides"), [(False, 25, True), (True, 25, False), (True, 108, True)])
def test_collisions_of_a_job_that_works_in_shifts_are_none_within_its_rests(
    rests: bool, after_s: float, collides: bool
) -> None:
    jobs = [MixedJob("shifts", "a", 17.0, 3e9, 1e9), MixedJob("other", "a", 491.0, 9e9, 1e9)]
    done = simulate(jobs, {"a": 1e9}, 3000, 1)
    now = next(
        float(moment)
        for moment in range(2000, 3000)
        if not any(start - 5 <= moment <= end + 5 for each in done for start, end, _ in each.phases)
    )
    past = [JobOutcome(each.job, [row for row in each.phases if row[1] <= now]) for each in done]
    told = []
    for each, start in zip(past, (5.0, after_s), strict=True):
        said = foreseen(each, now, 0.1)
        assert said.next_phase is not None
        starts = Estimate(value=T0 + now + start, low=T0 + now + start - 0.1, high=T0 + now + start + 0.1)
        told.append(said.model_copy(update={"next_phase": said.next_phase.model_copy(update={"start_s": starts})}))
    if rests:
        rest_s = Estimate(value=100.0, low=99.0, high=101.0)
        shifts = WorkShifts(phases=5, rest_s=rest_s, seen=3, probability=0.99, left=1)
        told[0] = told[0].model_copy(update={"shifts": shifts})
    views = [view_of(each, 1, prediction=said) for each, said in zip(past, told, strict=True)]
    found = contention_of(views, ContentionSettings(capacity={"a": 1e9}), T0 + now).collisions
    assert any(abs(each.start_s.value - T0 - now - after_s) < 9 for each in found) == collides


@pytest.mark.slow
def test_told_probabilities_are_those_of_what_comes() -> None:
    """Predicted probabilities are calibrated: of collisions with probability p, a share of p occurs with true
    predictions.
    """
    told: list[tuple[float, bool]] = []
    chance = random.Random(3)
    for seed in range(160):
        jitter = chance.choice([0.05, 0.1])
        jobs = [
            MixedJob(f"job{at}", "a", chance.uniform(20, 60), chance.uniform(4e9, 9e9), 1e9, jitter=jitter)
            for at in range(3)
        ]
        done = simulate(jobs, {"a": 1e9}, 900, seed)
        now = 600.0
        past = [JobOutcome(each.job, [row for row in each.phases if row[1] <= now]) for each in done]
        views = [view_of(each, seed, prediction=foreseen(each, now, jitter * each.job.gap_s)) for each in past]
        if any(start <= now < end for each in done for start, end, _ in each.phases):
            continue  # ongoing collisions are not in the past phases of this test
        settings = ContentionSettings(capacity={"a": 1e9}, phases_ahead=1)
        for collision in contention_of(views, settings, T0 + now).collisions:
            upcoming = {each.job.name: next((row for row in each.phases if row[0] >= now), None) for each in done}
            rows = [upcoming[each.job] for each in collision.jobs]
            happened = any(
                one and other and min(one[1], other[1]) > max(one[0], other[0])
                for at, one in enumerate(rows)
                for other in rows[at + 1 :]
            )
            told.append((collision.probability, happened))
    sure = [happened for p, happened in told if p > 0.7]
    doubtful = [happened for p, happened in told if p < 0.4]
    assert min(len(sure), len(doubtful)) >= 8
    assert np.mean(sure) > 0.65
    assert np.mean(doubtful) < np.mean(sure) - 0.1
    assert np.mean([p for p, _ in told]) == pytest.approx(np.mean([h for _, h in told]), abs=0.15)
