"""Contention alerts: raised once with enough evidence, resolved once after a period without evidence."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.contention.alerts import Alerts
from iotide.analyzers.contention.settings import AlertSettings, ContentionSettings
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.contention import ContentionWatch
from iotide.daemon.settings import AggregatorSettings
from iotide.results.alerts import Alert
from iotide.results.base import Estimate
from iotide.results.contention import Capacity, Collision, Contention, Delayed, FileSystemState, Slowdown, Verdict

T0 = 1_700_000_000.0
SETTINGS = AlertSettings(looks=2, quiet_s=60, ahead_s=60, probability=0.8, min_delay_s=1)


def at(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


def slowdown(now: float, verdict: Verdict = "slowed", low: float = 1.5, shared_s: float = 0.0) -> Slowdown:
    return Slowdown(
        job="victim", file_system="a", measure="data", verdict=verdict, slowdown=Estimate(value=2, low=low, high=3),
        p_value=1e-5, alone_phases=20, shared_phases=20, last_shared_s=now - shared_s, blocks=12, completeness=1.0,
    )  # fmt: skip


def collision(now: float, probability: float = 0.9, ahead_s: float = 20, delay_s: float = 3) -> Collision:
    jobs = [
        Delayed(job=job, phase=1, start_s=at(now + ahead_s), volume_bytes=1e9, delay_s=at(delay_s))
        for job in ("one", "two")
    ]
    return Collision(
        file_system="a", start_s=at(now + ahead_s), probability=probability, demand=2e9, excess=2.0, jobs=jobs
    )


def look(
    now: float,
    *,
    slowdowns: Sequence[Slowdown] = (),
    collisions: Sequence[Collision] = (),
    ongoing: Sequence[Collision] = (),
    known: str = "learnt",
) -> Contention:
    state = FileSystemState(
        file_system="a", place="shared", capacity=Capacity(known=known, bytes_per_s=at(1e9)), jobs=[], bandwidth=0,
        busy=0,
    )  # fmt: skip
    return Contention(
        made_at_s=now, horizon_s=3600, completeness=1, jobs=2, file_systems=[state], slowdowns=list(slowdowns),
        collisions=list(collisions), ongoing=list(ongoing), abstained=[],
    )  # fmt: skip


def followed(looks: list[Contention]) -> list[list[tuple[str, str]]]:
    alerts = Alerts(SETTINGS)
    return [[(alert.state, alert.kind) for alert in alerts.update(each)] for each in looks]


def test_slowdown_is_raised_at_the_second_look_and_resolved_when_it_has_been_away() -> None:
    alerts = Alerts(SETTINGS)
    times = [T0 + 10 * number for number in range(12)]
    changes: list[Alert] = []
    for number, now in enumerate(times):
        changes += alerts.update(look(now, slowdowns=[slowdown(now)] if number < 4 else []))
    assert [(alert.state, alert.since_s - T0, alert.changed_at_s - T0) for alert in changes] == [
        ("raised", 10, 10),
        ("resolved", 10, 90),
    ]
    assert changes[0].victims == ["victim"]
    assert "2.00 times as long" in changes[0].summary
    assert alerts.raised == []


def test_single_observation_is_no_evidence() -> None:
    now = T0
    looks = [look(T0 + 10 * n, slowdowns=[slowdown(T0 + 10 * n)] if n % 2 else []) for n in range(20)]
    assert not any(followed(looks)), now


def test_weaker_evidence_keeps_an_alert_and_raises_none() -> None:
    looks = [look(now := T0 + 10 * n, slowdowns=[slowdown(now, "unsure")]) for n in range(5)]
    assert not any(followed(looks))
    looks = [look(now := T0 + 10 * n, slowdowns=[slowdown(now, "slowed" if n < 2 else "unsure")]) for n in range(30)]
    assert [row for row in followed(looks) if row] == [[("raised", "slowdown")]]


def test_alert_that_weaker_evidence_keeps_gives_a_reason_for_missing_culprits() -> None:
    alerts = Alerts(SETTINGS)
    for number, verdict in enumerate(("slowed", "slowed", "unsure")):
        alerts.update(look(T0 + 10 * number, slowdowns=[slowdown(T0 + 10 * number, verdict)]))
    (kept,) = alerts.raised
    assert kept.summary.endswith("no culprit is named: the slowdown is uncertain at present")


def test_slowdown_of_an_hour_ago_is_resolved_despite_a_significant_test() -> None:
    looks = [look(now := T0 + 10 * n, slowdowns=[slowdown(now, shared_s=max(0, 10 * n - 30))]) for n in range(30)]
    assert [row for row in followed(looks) if row] == [[("raised", "slowdown")], [("resolved", "slowdown")]]


def test_collisions_that_keep_coming_are_one_alert() -> None:
    looks = [look(now := T0 + 10 * n, collisions=[collision(now)] if n % 4 < 3 and n < 30 else []) for n in range(50)]
    assert [row for row in followed(looks) if row] == [[("raised", "collision")], [("resolved", "collision")]]


def test_collisions_that_are_unlikely_small_far_or_of_unknown_capacity_raise_nothing() -> None:
    for less in ({"probability": 0.5}, {"delay_s": 0.2}, {"ahead_s": 300}):
        assert not any(followed([look(now := T0 + 10 * n, collisions=[collision(now, **less)]) for n in range(5)]))
    looks = [look(now := T0 + 10 * n, collisions=[collision(now)], known="at_least") for n in range(5)]
    assert not any(followed(looks))


def test_measured_collision_is_confirmed_soon_and_a_predicted_one_at_the_usual_interval() -> None:
    watch = ContentionWatch(Aggregator(AggregatorSettings(), lambda: T0), ContentionSettings(interval_s=10))
    intervals, raised = [watch.interval_s], []
    for number in range(3):
        now = T0 + 4 * number
        raised += watch.observe(look(now, ongoing=[collision(now, ahead_s=-3)]))
        intervals.append(watch.interval_s)
    assert intervals == [10, 4, 10, 10]
    assert [(alert.state, alert.since_s - T0, alert.has_begun) for alert in raised] == [("raised", 4, True)]
    predicting = ContentionWatch(Aggregator(AggregatorSettings(), lambda: T0), ContentionSettings(interval_s=10))
    predicting.observe(look(T0, collisions=[collision(T0)]))
    assert predicting.interval_s == 10


def test_alert_names_the_jobs_that_probably_take_part() -> None:
    alerts = Alerts(SETTINGS)
    for now in (T0, T0 + 10):
        expected = collision(now)
        rare = expected.jobs[0].model_copy(update={"job": "rare", "probability": 0.2, "delay_s": at(9)})
        alerts.update(look(now, collisions=[expected.model_copy(update={"jobs": [*expected.jobs, rare]})]))
    (alert,) = alerts.raised
    assert (alert.victims, alert.size, alert.has_begun) == (["one", "two"], at(3), False)
    assert "rare" not in alert.summary


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.5, 0.9])), max_size=60))
def test_raised_and_resolved_come_by_turns(rows: list[tuple[int, float]]) -> None:
    alerts = Alerts(SETTINGS)
    now, open_alerts = T0, set()
    for verdict, probability in rows:
        now += 10
        slowed = [slowdown(now, ("slowed", "unsure", "not_slowed")[verdict])] if verdict < 3 else []
        colliding = [collision(now, probability)] if probability else []
        for alert in alerts.update(look(now, slowdowns=slowed, collisions=colliding)):
            assert (alert.key in open_alerts) is (alert.state == "resolved")
            open_alerts ^= {alert.key}
            assert alert.summary
            assert alert.advice
        assert {alert.key for alert in alerts.raised} == open_alerts
