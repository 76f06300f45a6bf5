"""Hundreds of short jobs: the same results for less work, with bounds instead of growth."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.pipeline.contract import Analyzer, AnalyzerKind, JobContext
from iotide.analyzers.registry import ANALYZERS
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings, IngestStats
from iotide.daemon.jobs import job_analyzers
from iotide.daemon.jobs.job_state import State
from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.pressure import Allowance, Pressure
from iotide.daemon.publish.metrics import AggregatorCollector
from iotide.daemon.settings import AggregatorSettings
from iotide.events import EventBatch, Interner, Kind, StreamInfo, make_batch
from iotide.events.network.wire import Ack, Hello, decode, encode, encode_batch
from iotide.results.jobs.job import JobDetail, JobSummary
from iotide.results.prediction import Prediction
from support.jobs.analyzer_kinds import replace_analyzer
from support.servers.sinks import RememberingSink

NOW = 1_700_000_000.0


def batch_of(interner: Interner, offsets_ms: list[int]) -> EventBatch:
    """Writes of 1 kB at these times, of two files in turn."""
    count = len(offsets_ms)
    files = np.array([interner.file("/scratch/a"), interner.file("/scratch/b")])
    return make_batch(
        count,
        {
            "start": (NOW * 1e9 + np.sort(np.array(offsets_ms)) * 1e6).astype(np.int64),
            "duration": 1_000_000,
            "call": interner.string("write"),
            "kind": int(Kind.WRITE),
            "layer": 1,
            "pid": 7,
            "tid": 7,
            "file": files[np.arange(count) % 2],
            "bytes": 1000,
        },
    )


class Running:
    """An aggregator with a simulated clock."""

    def __init__(self, **options: object) -> None:
        self.now = NOW
        self.aggregator = Aggregator(AggregatorSettings.model_validate(options), lambda: self.now)
        self.told: list[JobSummary] = []
        self.aggregator.on_job(self.told.append)

    def begin(self, job: str, *batches: list[int]) -> None:
        interner = Interner()
        self.aggregator.opened(job, StreamInfo(job=job, source="test", host="n1", pid=7))
        for offsets in batches:
            self.aggregator.batch(job, batch_of(interner, offsets), interner.take_fresh())

    def end(self, job: str, after_s: float = 6.0) -> None:
        self.aggregator.closed(job, {})
        self.now += after_s
        self.aggregator.tick()


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(st.lists(st.lists(st.integers(0, 900), min_size=1, max_size=60), min_size=1, max_size=4))
def test_short_job_is_told_of_as_if_each_event_were_analysed_at_once(batches: list[list[int]]) -> None:
    def details(fewest: int) -> tuple[JobDetail, object, object]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(job_analyzers, "_MIN_BATCH_EVENTS", fewest)
            running = Running()
            running.begin("job", *batches)
            running.end("job")
            session = running.aggregator.jobs["job"]
            assert session.state is State.ENDED
            assert session.graph is not None
            assert session.interactions is not None
            return detail_of(session, running.now), session.graph.graph(), session.interactions.deferred_result()()

    assert details(768) == details(1)


def test_short_job_without_queries_is_not_analysed(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(*_: object) -> None:
        raise AssertionError

    for name in ANALYZERS:
        replace_analyzer(monkeypatch, name, made)
    running = Running(retain_s=10)
    running.begin("job", list(range(100)))
    running.end("job")
    running.now += 11
    running.aggregator.tick()
    assert not running.aggregator.jobs
    assert [(job.state, job.events) for job in running.told][1:] == [("ended", 100), ("ended", 100)]
    assert all(not job.failures for job in running.told)


def test_scrape_has_short_jobs_analysed_for_what_it_shows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    for kind in list(ANALYZERS.values()):

        def noted(context: JobContext, kind: AnalyzerKind = kind) -> Analyzer | None:
            made.append(kind.name)
            return kind.make(context)

        replace_analyzer(monkeypatch, kind.name, noted)
    running = Running(retain_s=10)
    running.begin("job", list(range(100)), list(range(100, 200)))
    collector = AggregatorCollector(running.aggregator, IngestStats, 10, lambda: running.now)
    events = [
        sample.value for family in collector.collect() for sample in family.samples if "activity_ev" in sample.name
    ]
    assert sum(events) == 200
    running.end("job")
    assert sorted(made) == ["graph", "totals"]
    session = running.aggregator.jobs["job"]
    assert session.layers is not None
    assert sorted(made) == ["graph", "layers", "totals"]
    assert sum(row.calls for row in detail_of(session, running.now).files) == 200


def test_short_jobs_beyond_their_share_are_ended_without_a_period_and_counted() -> None:
    running = Running(short_jobs_share=0.0)
    running.aggregator._prediction_step._short_jobs.spend(2.0)
    running.begin("short", list(range(0, 900, 100)))
    running.begin("long", list(range(0, 9000, 1000)))
    running.aggregator.closed("long", {})
    running.end("short")
    last = {job.job: job.last_word for job in running.told if job.state == "ended"}
    assert last["short"] is not None
    assert (last["short"].method, last["short"].period_s, last["short"].confidence) == ("none", None, 0.0)
    assert last["short"].window.end_s - last["short"].window.start_s == pytest.approx(0.8, abs=0.05)
    assert last["long"] is not None
    assert last["long"].period_s is not None
    assert running.aggregator.counters["last_words_skipped"] == 1


def test_short_jobs_get_no_period_while_messages_of_collectors_wait_and_long_ones_do() -> None:
    running = Running()
    methods = []
    for crowded in (False, True, False):
        running.aggregator.pressure.is_backlogged = crowded
        running.begin("short", list(range(0, 900, 100)))
        running.end("short", after_s=5.5)
        methods.append(running.told[-1].last_word.method if running.told[-1].last_word else None)
        running.now += 1000
        while running.aggregator.tick() or running.aggregator.pressure.behind_s:
            continue
    assert methods == ["tide", "none", "tide"]
    running.aggregator.pressure.is_backlogged = True
    running.begin("long", list(range(0, 9000, 1000)))
    running.end("long")
    assert running.told[-1].last_word is not None
    assert running.told[-1].last_word.period_s is not None
    assert running.aggregator.counters["last_words_skipped"] == 1


def test_jobs_of_less_than_a_second_are_not_looked_at_while_the_aggregator_says_that_it_is_behind() -> None:
    running = Running(prediction_interval_s=1.0)
    heard: list[Prediction] = []
    running.aggregator.on_prediction(heard.append)
    for name in ("early", "late"):
        running.begin(name, list(range(0, 900, 100)))
        running.now += 2.0 if name == "early" else 20.0  # so long it had no time for due work
        running.aggregator.tick()
    assert [(each.job, each.method) for each in heard[:2]] == [("early", "tide"), ("late", "none")]
    assert running.aggregator.counters["last_words_skipped"] == 1


def test_ended_jobs_are_bounded_and_the_first_goes_first() -> None:
    running = Running(max_ended_jobs=3, linger_s=0)
    for number in range(6):
        running.begin(f"job{number}", [0, 100])
        running.end(f"job{number}", after_s=1.0)
    assert list(running.aggregator.jobs) == ["job3", "job4", "job5"]
    assert running.aggregator.counters["jobs_removed_early"] == 3
    assert running.aggregator.counters["jobs_removed"] == 3


def test_ended_jobs_make_room_for_new_ones_and_running_jobs_do_not() -> None:
    running = Running(max_jobs=2, linger_s=0)
    running.begin("ended", [0])
    running.end("ended", after_s=1.0)
    for name in ("one", "two", "three"):
        running.begin(name, [0])
    assert set(running.aggregator.jobs) == {"one", "two"}
    assert running.aggregator.counters["jobs_removed_early"] == 1
    assert running.aggregator.counters["streams_refused:max_jobs"] == 1


def test_job_that_goes_on_after_its_end_is_not_the_oldest_ended_one() -> None:
    running = Running(max_ended_jobs=1, linger_s=0)
    for name in ("first", "first", "second"):
        running.begin(name, [0])
        if name == "second":
            running.begin("first", [0])
        running.end(name, after_s=1.0)
    assert set(running.aggregator.jobs) == {"first", "second"}
    assert running.aggregator.jobs["first"].state is not State.ENDED


def test_aggregator_that_is_behind_says_so_once_and_holds_collectors_back(caplog: pytest.LogCaptureFixture) -> None:
    running = Running(linger_s=0, end_after_s=1e9)
    core = IngestCore(running.aggregator, IngestSettings(credit=64))
    running.begin("job", [0])
    running.aggregator.closed("job", {})
    assert running.aggregator.pressure.share == 1.0
    running.now += 100
    for _ in range(3):
        running.aggregator.pressure.update(running.aggregator._ages.late_s(running.now))
    assert running.aggregator.pressure.behind_s == pytest.approx(100)
    core.credit_share = running.aggregator.pressure.share
    core.receive(b"p", encode(Hello(collector="c", stream="s", info=StreamInfo(job="other", source="test"))), 0.0)
    interner = Interner()
    message = encode_batch("s", 1, batch_of(interner, [1]), interner.take_fresh())
    ((_, answer),) = core.receive(b"p", message, 0.0)
    assert decode(answer)[0] == Ack(stream="s", seq=1, credit=1)
    while running.aggregator.tick():
        continue
    running.aggregator.tick()
    assert running.aggregator.pressure.share == 1.0
    assert [record.levelno for record in caplog.records] == [logging.WARNING, logging.WARNING]
    assert "100.0 s behind" in caplog.text


def test_credit_is_at_least_one_however_far_behind() -> None:
    core = IngestCore(RememberingSink(), IngestSettings(credit=4))
    pressure = Pressure()
    shares = []
    for behind_s in (0.0, 0.9, 1.1, 5.0, 50.0, 5000.0):
        pressure.update(behind_s)
        shares.append(pressure.share)
    assert shares == sorted(shares, reverse=True)
    core.credit_share = shares[-1]
    core.receive(b"p", encode(Hello(collector="c", stream="s", info=StreamInfo(job="j", source="test"))), 0.0)
    interner = Interner()
    ((_, answer),) = core.receive(b"p", encode_batch("s", 1, batch_of(interner, [1]), interner.take_fresh()), 0.0)
    ack = decode(answer)[0]
    assert isinstance(ack, Ack)
    assert ack.credit == 1


def test_allowance_is_a_share_of_the_time_that_passes() -> None:
    allowance = Allowance(0.25, 0.0)
    spent, now = 0.0, 0.0
    while now < 100.0:
        now += 0.01
        if allowance.has_time(now):
            allowance.spend(0.02)
            spent += 0.02
    assert spent == pytest.approx(1.0 + 25.0, abs=0.05)
