"""I/O scheduling policies and the fluid model against cases computed by hand, and common properties of all policies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.clients.schedulers.fluid import Job, simulate
from iotide.clients.schedulers.mixes import JobClass, draw
from iotide.clients.schedulers.predictions import Errors, add_errors, true_forecasts
from iotide.clients.schedulers.study import run
from iotide.scheduling.policies import fair_share, fcfs, lowest_yield, set10
from iotide.scheduling.protocol import Forecast, JobState, Policy, SeenPhases
from iotide.scheduling.volume_first import error_of, trust, volume_first

POLICIES = {
    "fair-share": fair_share,
    "fcfs": fcfs,
    "set-10": set10,
    "lowest-yield": lowest_yield,
    "volume-first": volume_first(),
    "volume-first-0": volume_first(0),
    "volume-first-8": volume_first(8),
}
each_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
FORECASTS = st.none() | st.builds(
    Forecast,
    period_s=st.floats(0.1, 1e4),
    volume=st.floats(1, 1e9),
    gap_s=st.floats(0, 1e4),
    confidence=st.floats(0, 1),
)
WAITING = st.lists(
    st.builds(
        JobState,
        number=st.integers(0, 99),
        limit=st.floats(0.1, 200),
        start_s=st.floats(0, 10),
        forecast=FORECASTS,
        since_s=st.floats(10, 1e4),
        moved=st.floats(0, 1e9),
        done_s=st.floats(0, 1e4),
    ),
    min_size=1,
    max_size=12,
)


@st.composite
def jobs(draw_from: st.DrawFn) -> list[Job]:
    """Draw jobs of a few phases each, with volumes and gaps of very different sizes."""
    made = []
    for number in range(draw_from(st.integers(1, 6))):
        phases = draw_from(st.integers(1, 5))
        gaps = tuple(draw_from(st.floats(0, 100)) for _ in range(phases))
        volumes = tuple(draw_from(st.floats(1e-3, 1e4)) for _ in range(phases))
        limit = draw_from(st.floats(0.5, 200))
        told: tuple[Forecast | None, ...] = true_forecasts(gaps, volumes, limit)
        if draw_from(st.booleans()):
            told = (None,) * phases
        tail = draw_from(st.floats(0, 10))
        made.append(Job(f"j{number}", gaps, volumes, limit, told, draw_from(st.floats(0, 50)), tail))
    return made


def job(gap: float, volume: float, phases: int = 1, limit: float = 100.0) -> Job:
    gaps, volumes = (gap,) * phases, (volume,) * phases
    return Job("job", gaps, volumes, limit, true_forecasts(gaps, volumes, limit))


def max_min(limits: Sequence[float], capacity: float) -> list[float]:
    """The slow reference: the level up to which all limits are filled, by bisection."""
    if math.fsum(limits) <= capacity:
        return list(limits)
    low, high = 0.0, capacity
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.fsum(min(one, middle) for one in limits) < capacity else (low, middle)
    return [min(one, low) for one in limits]


@each_policy
@given(waiting=WAITING, coming=WAITING)
def test_all_bandwidth_that_jobs_can_take_is_given_and_no_more(
    policy: Policy, waiting: list[JobState], coming: list[JobState]
) -> None:
    grant = policy(waiting, coming, 100.0, 2e4)
    limits = [one.limit for one in waiting]
    assert all(0 <= share <= limit * (1 + 1e-9) for share, limit in zip(grant.shares, limits, strict=True))
    assert sum(grant.shares) == pytest.approx(min(100.0, sum(limits)))
    assert sorted(grant.order) == list(range(len(waiting)))


@given(waiting=WAITING)
def test_fair_share_is_the_max_min_solution(waiting: list[JobState]) -> None:
    limits = [one.limit for one in waiting]
    assert fair_share(waiting, [], 100.0, 0.0).shares == pytest.approx(max_min(limits, 100.0))


@each_policy
@settings(deadline=None)
@given(made=jobs(), horizon=st.just(math.inf) | st.floats(1, 300))
def test_volumes_are_conserved_and_the_bandwidth_is_never_left_unused(
    policy: Policy, made: list[Job], horizon: float
) -> None:
    moved, capacity = [0.0] * len(made), 100.0

    def record(begin: float, end: float, waiting: Sequence[JobState], shares: Sequence[float]) -> None:
        limits = [min(made[state.number].limit, capacity) for state in waiting]
        assert end <= horizon
        assert all(share <= limit * (1 + 1e-9) for share, limit in zip(shares, limits, strict=True))
        assert sum(shares) == pytest.approx(min(capacity, sum(limits)))
        for state, share in zip(waiting, shares, strict=True):
            moved[state.number] += share * (end - begin)

    outcomes = simulate(made, policy, capacity, horizon, record=record)
    assert [one.moved for one in outcomes] == pytest.approx(moved, rel=1e-6, abs=1e-6)
    for one, outcome in zip(made, outcomes, strict=True):
        if horizon == math.inf:
            assert outcome.finished
            assert outcome.moved == pytest.approx(math.fsum(one.volumes))
            assert outcome.compute_s == pytest.approx(math.fsum(one.gaps_s) + one.tail_s)
        assert outcome.elapsed_s == pytest.approx(outcome.compute_s + outcome.io_s, abs=1e-6)
        assert 0 <= outcome.job_yield <= 1
        assert outcome.io_slowdown is None or outcome.io_slowdown >= 1


@each_policy
@given(made=jobs())
def test_a_job_alone_takes_the_time_that_it_takes_alone(policy: Policy, made: list[Job]) -> None:
    (outcome,) = simulate(made[:1], policy, 1000.0)
    alone = made[0]
    seconds = math.fsum(alone.gaps_s) + math.fsum(alone.volumes) / alone.limit + alone.tail_s
    assert outcome.elapsed_s == pytest.approx(seconds)
    assert (outcome.io_slowdown, outcome.job_yield) == (pytest.approx(1), pytest.approx(1))


def ends(made: Sequence[Job], policy: Policy) -> list[float]:
    return [outcome.elapsed_s for outcome in simulate(made, policy, 100.0)]


def test_two_jobs_end_by_processor_sharing_and_by_orders() -> None:
    small, large = job(0, 100), job(0, 300)
    assert ends([small, large], fair_share) == pytest.approx([2, 4])
    assert ends([large, small], fcfs) == pytest.approx([3, 4])
    assert ends([large, small], volume_first(0)) == pytest.approx([4, 1])


def test_a_limit_leaves_bandwidth_to_others() -> None:
    slow, fast = job(0, 100, limit=20), job(0, 160)
    assert ends([slow, fast], fair_share) == pytest.approx([5, 2])
    assert ends([slow, fast], fcfs) == pytest.approx([5, 2])


def waiting_job(period: float, done: float = 0.0, volume: float = 1.0) -> JobState:
    return JobState(0, 100.0, forecast=Forecast(period, volume, 1.0), done_s=done)


def test_set10_weighs_sets_by_their_order_of_magnitude_and_serves_one_job_of_each() -> None:
    waiting = [waiting_job(10), waiting_job(12), waiting_job(100)]
    assert set10(waiting, [], 110.0, 0.0).shares == pytest.approx([100, 0, 10])


def test_the_job_with_the_lowest_yield_goes_first() -> None:
    waiting = [waiting_job(10, done=90), waiting_job(10, done=50), waiting_job(10, done=70)]
    assert lowest_yield(waiting, [], 100.0, 100.0).order == [1, 2, 0]


def test_fairness_turns_least_volume_first_into_least_yield_first() -> None:
    waiting = [waiting_job(10, done=90, volume=1), waiting_job(10, done=50, volume=1000)]
    assert volume_first(0)(waiting, [], 100.0, 100.0).order == [0, 1]
    assert volume_first(20)(waiting, [], 100.0, 100.0).order == [1, 0]


def test_without_predictions_the_job_that_lost_most_goes_first() -> None:
    waiting = [JobState(i, 100.0, done_s=done) for i, done in enumerate((90, 50, 70))]
    for fairness in (0, 0.5, 8):
        assert volume_first(fairness)(waiting, [], 100.0, 100.0).order == [1, 2, 0]


def test_unsure_predictions_count_less() -> None:
    told = [
        trust(error_of(confidence)) for confidence in (0, 5e-324, 1e-5, 0.01, 0.1, 0.5, 0.9, math.nextafter(1, 0), 1)
    ]
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, 1)


def test_a_long_phase_predicted_too_short_does_not_pass_others_at_its_end() -> None:
    """A phase beyond its predicted volume has little left only if the prediction is certain."""

    def order(confidence: float) -> list[int]:
        forecast = Forecast(100.0, 1000.0, 1.0, confidence=confidence)
        long = JobState(0, 100.0, forecast=forecast, moved=1001.0, done_s=50.0)
        short = JobState(1, 100.0, forecast=Forecast(100.0, 200.0, 1.0, confidence=confidence), done_s=50.0)
        return volume_first(0)([long, short], [], 100.0, 100.0).order

    assert order(0.1) == [1, 0]


def test_a_grant_tells_when_those_that_wait_will_start() -> None:
    waiting = [waiting_job(10, volume=volume) for volume in (300, 100, 200)]
    grant = volume_first(0)(waiting, [], 100.0, 50.0)
    assert grant.starts(waiting, 100.0, 50.0) == pytest.approx([53, 50, 51])


def test_a_phase_that_the_horizon_cuts_counts_as_if_the_rest_ran_alone() -> None:
    outcomes = simulate([job(0, 300), job(0, 300)], fcfs, 100.0, 4.0)
    assert [one.io_slowdown for one in outcomes] == pytest.approx([1, 2])
    assert [one.moved for one in outcomes] == pytest.approx([300, 100])
    assert [one.job_yield for one in outcomes] == pytest.approx([1, 0.25])


@pytest.mark.parametrize("volume", [0.0, -1.0, math.nan, math.inf])
def test_impossible_jobs_are_refused(volume: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        Job("bad", (1.0,), (volume,), 1.0, (None,))
    with pytest.raises(ValueError, match="capacity"):
        simulate([job(1, 1)], fair_share, 0.0)


CLASSES = [JobClass("short", 3, 10, 0.5, 0.2), JobClass("long", 2, 100, 0.5, drift=0.01, uneven=True)]


def test_a_seed_determines_everything() -> None:
    first, again, other = (draw(CLASSES, 0.5, 1e9, 500, seed) for seed in (1, 1, 2))
    assert first == again != other
    errors = Errors(late=1, wrong=0.5, missing=0.3)
    assert add_errors(first, errors, 7) == add_errors(again, errors, 7) != add_errors(first, errors, 8)
    runs = [simulate(add_errors(first, errors, 7), volume_first(), 1e9, 500) for _ in range(2)]
    assert runs[0] == runs[1]


def test_a_mix_has_its_load() -> None:
    made = draw([JobClass("a", 5, 10), JobClass("b", 5, 100)], 0.8, 1e9, 2000, 1)
    need = sum(one.volumes[1] / (one.gaps_s[1] + one.volumes[1] / one.limit) for one in made)
    assert need == pytest.approx(0.8e9)
    with pytest.raises(ValueError, match="lower the load"):
        draw([JobClass("a", 1, 10, limit=1e8)], 0.8, 1e9, 100, 1)


def test_late_predictions_are_those_of_earlier_phases() -> None:
    gaps, volumes = (1.0, 2.0, 3.0), (10.0, 20.0, 30.0)
    made = Job("job", gaps, volumes, 10.0, true_forecasts(gaps, volumes, 10.0))
    (late,) = add_errors([made], Errors(late=1), 0)
    assert [None if one is None else one.volume for one in late.forecasts] == [None, 10, 20]


def test_missing_predictions_are_as_many_as_asked_for() -> None:
    made = draw([JobClass("a", 400, 10)], 0.5, 1e9, 20, 1)
    without = [one for one in add_errors(made, Errors(missing=0.25), 3) if one.forecasts[0] is None]
    assert len(without) == pytest.approx(100, abs=30)


def seen_phases(*volumes: float, gap_s: float = 90.0) -> SeenPhases:
    seen = SeenPhases()
    for number, volume in enumerate(volumes):
        seen.add(volume, gap_s if number else None)
    return seen


def first_of(*waiting: JobState) -> int:
    return volume_first(0)(waiting, [], 1.0, 100.0).order[0]


def test_a_job_s_own_phases_stand_for_a_prediction_that_is_missing() -> None:
    known = JobState(0, 1.0, forecast=Forecast(100.0, 10.0, 90.0))
    assert first_of(known, JobState(1, 1.0, seen=seen_phases(1, 1, 1))) == 1
    assert first_of(known, JobState(1, 1.0, seen=seen_phases(100, 100, 100))) == 0


def test_a_prediction_counts_against_own_phases_by_how_sure_it_is() -> None:
    """The prediction is a hundredth of the moved volume each time."""
    other = JobState(0, 1.0, forecast=Forecast(100.0, 10.0, 90.0))
    for confidence, first in ((1.0, 1), (0.9, 1), (0.05, 0)):
        told = Forecast(100.0, 1.0, 90.0, confidence=confidence)
        assert first_of(other, JobState(1, 1.0, forecast=told, seen=seen_phases(*[100.0] * 8))) == first


def test_a_prediction_that_was_often_wrong_gives_way_to_own_phases_however_sure_it_says_it_is() -> None:
    told = Forecast(100.0, 1.0, 90.0, confidence=1.0)  # a hundredth of what the job moves
    wrong, right = SeenPhases(), SeenPhases()
    for _ in range(8):
        wrong.add(100.0, 90.0, told)
        right.add(1.0, 90.0, told)
    other = JobState(0, 1.0, forecast=Forecast(100.0, 10.0, 90.0))
    assert (right.forecast_error, wrong.forecast_error > 1) == (0.0, True)
    assert first_of(other, JobState(1, 1.0, forecast=told, seen=right)) == 1
    assert first_of(other, JobState(1, 1.0, forecast=told, seen=wrong)) == 0
    wrong.add(1.0, 90.0, None)
    assert wrong.forecast_error > 1
    right.add(1e-3, 90.0, told)  # a phase cut in two
    assert right.forecast_error == 0.0


def test_phases_alike_make_the_next_one_surer_than_few_or_unlike_ones() -> None:
    alike, few, unlike = seen_phases(*[5.0] * 8), seen_phases(5.0), seen_phases(*[1.0, 25.0] * 4)
    assert alike.volume == pytest.approx(5.0) == few.volume == unlike.volume
    assert alike.error < few.error < unlike.error
    assert (alike.gap_s, few.gap_s) == (pytest.approx(90.0), None)


@pytest.mark.slow
@pytest.mark.parametrize("errors", [Errors(), Errors(wrong=0.5), Errors(late=3), Errors(missing=0.5)])
def test_ours_is_no_worse_than_set10_however_wrong_predictions_are(errors: Errors) -> None:
    classes = [JobClass(f"{period}", 5, period, 0.1, jitter=0.3) for period in (10, 100, 1000)]
    told = {}
    for name, policy in (("set-10", set10), ("ours", volume_first())):
        results = [
            run(name, policy, add_errors(draw(classes, 0.8, 1e9, 4000.0, seed), errors, seed), 1e9, 4000.0)
            for seed in range(10, 12)
        ]
        told[name] = fmean(result.io_slowdown or 1.0 for result in results)
    assert told["ours"] <= 1.02 * told["set-10"]
