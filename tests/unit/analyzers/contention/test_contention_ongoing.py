"""Ongoing collisions are reported from measurements, without any period, and only if there are some."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.contention.alerts import Alerts
from iotide.analyzers.contention.loads import Load
from iotide.analyzers.contention.report import contention_of, ongoing_of
from iotide.analyzers.contention.settings import AlertSettings, ContentionSettings
from iotide.results.alerts import Alert
from iotide.results.contention import Contention
from support.jobs.job_mixes import T0, JobOutcome, MixedJob, observed_until, simulate, view_of

CAPACITY = {"a": 1e9}
KNOWN = ContentionSettings(capacity=CAPACITY)
ONE = MixedJob("one", "a", 6, 4e9, 1e9)


def looks(done: Sequence[JobOutcome], until_s: float, step_s: float = 10.0) -> Iterator[Contention]:
    for number in range(1, int(until_s / step_s)):
        now_s = number * step_s
        views = [view_of(observed_until(each, now_s), 1, noise=0.0) for each in done if not each.job.hidden]
        yield contention_of([view for view in views if view.use.file_systems[0].phases], KNOWN, T0 + now_s)


def first_shared_s(done: Sequence[JobOutcome]) -> float:
    return min(
        max(start, begin)
        for start, end, _ in done[0].phases
        for begin, stop, _ in done[1].phases
        if min(end, stop) > max(start, begin)
    )


def first_collision_s(done: Sequence[JobOutcome]) -> float:
    """Return the start of the first overlap that delayed a job by one and a half seconds."""
    return min(
        max(start, begin)
        for start, end, volume in done[0].phases
        for begin, stop, _ in done[1].phases
        if min(end, stop) > max(start, begin) and end - start - volume / 1e9 > 1.5
    )


@pytest.mark.parametrize("seed", range(5))
def test_alert_comes_within_thirty_seconds_of_the_first_collision_of_jobs_without_a_period(seed: int) -> None:
    irregular = replace(ONE, jitter=0.5)
    late = MixedJob("two", "a", 6, 4e9, 1e9, 0.5, start_s=100)
    done = simulate([irregular, late], CAPACITY, 300, seed)
    alerts = Alerts(AlertSettings())
    raised: list[Alert] = []
    for look in looks(done, 300):
        assert not look.collisions
        raised += alerts.update(look)
    begun_s = T0 + first_collision_s(done)
    assert (raised[0].kind, raised[0].state, raised[0].victims) == ("collision", "raised", ["one", "two"])
    assert raised[0].since_s <= begun_s + 30
    assert " s longer" in raised[0].summary


def test_delay_is_what_the_jobs_lost_in_the_time_looked_at() -> None:
    done = simulate([ONE, MixedJob("two", "a", 13, 4e9, 1e9)], CAPACITY, 600, 3)
    views = [view_of(each, 1, noise=0.0) for each in done]
    loads = [Load.of(view, view.use.file_systems[0], 0.0) for view in views]
    facts = {"least": 1.0, "since_s": T0, "now_s": T0 + 600, "file_system": "a"}
    told = ongoing_of(loads, CAPACITY["a"], **facts)  # type: ignore[arg-type]
    assert told is not None
    lost = {each.job.name: sum(end - start - volume / 1e9 for start, end, volume in each.phases) for each in done}
    assert {each.job: each.delay_s and each.delay_s.value for each in told.jobs} == pytest.approx(lost, rel=0.1)
    assert told.excess == pytest.approx(2, rel=0.1)
    assert told.start_s.value == pytest.approx(T0 + first_shared_s(done))


def calm_mix(seed: int) -> list[MixedJob]:
    """Jobs with a total demand within the bandwidth; an unseen job may use a fifth."""
    chance = random.Random(seed)
    count = chance.randint(2, 8)
    jobs = []
    for number in range(count):
        period = 10 ** chance.uniform(0.5, 1.8)
        limit = CAPACITY["a"] * chance.uniform(0.3, 1) / count
        duty = chance.uniform(0.05, 0.6)
        jitter = chance.choice([0.0, 0.05, 0.3])
        jobs.append(MixedJob(f"job{number}", "a", period * (1 - duty), limit * period * duty, limit, jitter))
    return jobs


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6))
def test_jobs_that_want_no_more_than_there_is_do_not_collide(seed: int) -> None:
    done = simulate(calm_mix(seed), CAPACITY, 300, seed)
    assert not any(look.ongoing for look in looks(done, 300, 20.0))


LOGGER = MixedJob("logger", "a", 2, 2e3, 1e3)
"""Writes lines during two of four seconds."""


def test_job_that_wants_nearly_nothing_is_no_part_of_a_collision_of_others() -> None:
    done = simulate([ONE, MixedJob("two", "a", 13, 4e9, 1e9), LOGGER], CAPACITY, 600, 3)
    told = [each for look in looks(done, 600, 40.0) for each in look.ongoing]
    assert {job.job for each in told for job in each.jobs} == {"one", "two"}


def test_job_with_full_bandwidth_beside_one_with_little_demand_does_not_collide() -> None:
    done = simulate([ONE, LOGGER], CAPACITY, 400, 3)
    assert not [each for look in looks(done, 400, 40.0) for each in look.ongoing]


@pytest.mark.slow
def test_unseen_load_is_no_collision_of_the_seen_jobs() -> None:
    """Both get a fifth of the bandwidth, because a hidden job with many processes uses the rest."""
    jobs = [
        ONE,
        MixedJob("two", "a", 5, 4e9, 1e9),
        *(MixedJob(f"h{n}", "a", 0.1, 1e11, 1e9, hidden=True) for n in range(8)),
    ]
    done = simulate([replace(job, start_s=200.0) if job.hidden else job for job in jobs], CAPACITY, 500, 1)
    late = [each for look in looks(done, 500) if look.made_at_s > T0 + 230 for each in look.ongoing]
    assert not late


@pytest.mark.slow
def test_nothing_is_measured_of_jobs_whose_calls_were_lost_or_without_a_capacity() -> None:
    done = simulate([ONE, MixedJob("two", "a", 13, 4e9, 1e9, lost=0.1)], CAPACITY, 600, 3)
    assert not any(look.ongoing for look in looks(done, 600))
    whole = simulate([ONE, MixedJob("two", "a", 13, 4e9, 1e9)], CAPACITY, 100, 3)
    views = [view_of(each, 1) for each in whole]
    assert not contention_of(views, ContentionSettings(), T0 + 100).ongoing
    assert math.isfinite(contention_of(views, KNOWN, T0 + 100).made_at_s)
