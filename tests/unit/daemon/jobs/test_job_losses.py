"""Losses of a job: each is counted once, even if reported again, cut off, or reported to another aggregator."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Closed, Lost, Opened
from iotide.collectors.transport.shipper import Shipper
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.daemon.jobs.job_summary import summary_of
from iotide.daemon.jobs.losses.job_losses import JobLosses
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, StreamInfo
from iotide.events.losses import LEFT_RUNNING, MAX_REASONS, checked, events_of, loss_lines
from iotide.events.network.wire import Batch, Bye, Heartbeat, Hello, decode, encode, encode_batch
from iotide.results.jobs.job import JobSummary
from msgspec.structs import replace as msgspec_replace
from support.servers.troubled_links import INFO, Link, Wire, numbered

RING_FULL = "events_dropped:ring_full"
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("lose"), st.integers(1, 40)),
        st.tuples(st.just("lose_of_job"), st.integers(1, 40)),
        st.tuples(st.just("chunk"), st.integers(1, 40)),
        st.tuples(st.just("step"), st.integers(0, 4)),
        st.tuples(st.just("wait"), st.integers(0, 9)),
        st.tuples(st.just("cut"), st.integers(0, 1)),
    ),
    max_size=60,
)


def aggregator_and_core() -> tuple[Aggregator, IngestCore]:
    aggregator = Aggregator(AggregatorSettings(), lambda: 0.0)
    return aggregator, IngestCore(aggregator, IngestSettings())


def summary_in(aggregator: Aggregator) -> JobSummary:
    return summary_of(aggregator.jobs["job"], 0.0)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(ACTIONS, st.integers(1, 3), st.booleans())
def test_losses_reach_the_job_once_over_a_wire_that_is_cut(
    actions: list[tuple[str, int]], streams: int, restarts: bool
) -> None:
    aggregator, core = aggregator_and_core()
    shipper = Shipper("node:1:abc", CollectorSettings(batch_events=16, away_after_s=600))
    wire = Wire(shipper, core)
    names = [f"s{number}" for number in range(streams)]
    lost, of_job, sent = Counter(), 0, [0] * streams  # type: ignore[var-annotated]
    shipper.take([Opened(name, INFO) for name in names], 0.0)
    for at, (action, much) in enumerate(actions):
        turn = at % streams
        if action == "lose":
            shipper.take([Lost(Counter({RING_FULL: much, "bytes_dropped:ring_full": 8 * much}), names[turn])], wire.now)
            lost[names[turn]] += much
        elif action == "lose_of_job":
            shipper.take([Lost(Counter({"processes_unheard": much}), job="job")], wire.now)
            of_job += much
        elif action == "chunk":
            shipper.take([Chunk(names[turn], numbered(sent[turn], much), Definitions())], wire.now)
            sent[turn] += much
        elif action == "step":
            wire.step(most=much)
        elif action == "wait":
            wire.step(seconds=float(much), most=0)
        else:
            wire.cut(late=bool(much))
            if restarts:
                aggregator, wire.core = aggregator_and_core()
    shipper.take([Chunk(name, numbered(10**6, 1), Definitions()) for name in names], wire.now)
    wire.settle()
    for _ in range(3):
        wire.step(3.0)  # heartbeats: all known losses are sent while the streams are open
    wire.settle()
    summary = summary_in(aggregator)
    total = sum(lost.values())
    assert summary.streams == streams
    assert (summary.events_dropped, summary.bytes_dropped) == (total, 8 * total)
    assert summary.losses.get("processes_unheard", 0) == of_job
    elsewhere = summary.losses.get("streams_taken_elsewhere", 0)  # batches that an aggregator without state had
    assert restarts or not elsewhere
    assert summary.complete == (not total and not of_job and not elsewhere)
    shipper.take([Closed(name, Counter({RING_FULL: lost[name] + 1})) for name in names], wire.now)
    wire.settle()
    assert summary_in(aggregator).events_dropped == total + streams
    assert summary_in(aggregator).streams == 0


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(st.integers(0, 1000))
def test_losses_reach_the_job_once_over_a_link_that_repeats_and_reorders(seed: int) -> None:
    aggregator, core = aggregator_and_core()
    shipper = Shipper("node:1:abc", CollectorSettings(batch_events=16, away_after_s=600))
    link = Link(shipper, core, seed, trouble=0.2)
    shipper.take([Opened("s", INFO)], 0.0)
    for number in range(20):
        shipper.take([Lost(Counter({RING_FULL: 3}), "s"), Chunk("s", numbered(number, 5), Definitions())], link.now)
        link.step(0.5)
    shipper.take([Closed("s", Counter({RING_FULL: 60}))], link.now)
    link.settle()
    assert summary_in(aggregator).events_dropped == 60


def test_stream_that_was_cut_off_and_comes_back_goes_on_from_what_it_had_told() -> None:
    losses = JobLosses()
    losses.open_stream("s")
    assert losses.update_stream("s", {RING_FULL: 5}) == {RING_FULL: 5}
    losses.close_stream("s", {RING_FULL: 5, "streams_cut_off": 1})
    assert (losses.total, losses.cut_off) == ({RING_FULL: 5, "streams_cut_off": 1}, 1)
    losses.open_stream("s")
    assert losses.update_stream("s", {RING_FULL: 7}) == {RING_FULL: 2}
    assert (+losses.total, losses.cut_off, losses.opened) == ({RING_FULL: 7}, 0, 1)


@pytest.mark.parametrize("order", ["loss end next", "loss next end", "next loss end", "next end"])
def test_process_left_running_is_no_loss_once_a_later_collector_reads_it(order: str) -> None:
    job = JobSession("job", AggregatorSettings(), 0.0)
    job.open_stream("c1.1:preload:7:00aa", INFO, 0.0)
    job.open_stream("c1.1:preload:8:00ab", INFO, 0.0)
    left = {LEFT_RUNNING: 1}
    job.close_stream("c1.1:preload:8:00ab", 0.0, left)
    for step in order.split():
        if step == "loss":
            job.update_stream_losses("c1.1:preload:7:00aa", left, 0.0)
        elif step == "end":
            job.close_stream("c1.1:preload:7:00aa", 0.0, left)
        else:
            job.open_stream("c2.1:preload:7:00bb", msgspec_replace(INFO, follows="00aa"), 0.0)
    assert job.losses.all_losses(ended=True) == left
    job.close_stream("c2.1:preload:7:00bb", 0.0, left)
    assert job.losses.all_losses(ended=True) == {LEFT_RUNNING: 2}


def test_events_dropped_by_a_full_backlog_reach_the_job_while_it_runs() -> None:
    aggregator, core = aggregator_and_core()
    shipper = Shipper("node:1:abc", CollectorSettings(backlog_bytes=1 << 16))
    wire = Wire(shipper, core)
    shipper.take([Opened("s", INFO)], 0.0)
    for number in range(10):
        shipper.take([Chunk("s", numbered(1000 * number, 1000), Definitions())], 0.0)
        shipper.flush(0.0)
    wire.settle()
    wire.step(2.0)
    wire.settle()
    summary = summary_in(aggregator)
    assert summary.streams == 1
    assert summary.events + summary.events_dropped == 10_000
    assert summary.losses["events_dropped:shipper_full"] == summary.events_dropped > 0


def test_stream_beyond_the_bound_is_told_in_its_job() -> None:
    aggregator = Aggregator(AggregatorSettings(), lambda: 0.0)
    core = IngestCore(aggregator, IngestSettings(max_streams=1))
    shipper = Shipper("node:1:abc", CollectorSettings())
    wire = Wire(shipper, core)
    shipper.take([Opened("a", INFO), Opened("b", INFO)], 0.0)
    wire.step()
    wire.step()
    shipper.take([Chunk("b", numbered(0, 7), Definitions()), Closed("b")], wire.now)
    wire.step(2.0)
    wire.step(2.0)
    assert summary_in(aggregator).losses == {"events_dropped:rejected": 7, "streams_refused:max_streams": 1}


def test_job_beyond_the_bound_gets_in_once_there_is_room_and_tells_what_it_lost_until_then() -> None:
    now = [1000.0]
    aggregator = Aggregator(AggregatorSettings(max_jobs=1, linger_s=1.0), lambda: now[0])
    aggregator.opened("first", StreamInfo(job="first", source="test"))
    shipper = Shipper("node:1:abc", CollectorSettings())
    wire = Wire(shipper, IngestCore(aggregator, IngestSettings()))

    def send(first: int, count: int) -> None:
        shipper.take([Chunk("s", numbered(int(now[0]) * 10**9 + first, count), Definitions())], wire.now)
        shipper.flush(wire.now)
        wire.settle()

    wire.step()
    shipper.take([Opened("s", INFO)], wire.now)
    send(0, 7)
    assert set(aggregator.jobs) == {"first"}
    assert aggregator.early_losses.refused_streams("job")
    assert aggregator.counters["events_dropped:no_job"] == 7
    aggregator.closed("first", {})
    now[0] += 2.0
    aggregator.tick()
    send(7, 5)
    summary = summary_in(aggregator)
    assert (summary.events, summary.streams, summary.complete) == (5, 1, False)
    assert summary.losses == {"events_dropped:max_jobs": 7, "streams_refused:max_jobs": 1}
    assert not aggregator.early_losses.refused_streams("job")
    assert aggregator.counters["streams_refused:max_jobs"] == 1
    assert next(iter(loss_lines(summary.losses))).endswith("raise max_jobs")
    session = aggregator.jobs["job"]
    assert session.completeness.share(int(999e9), int(1003e9)) == pytest.approx(5 / 12)


def test_jobs_that_are_not_held_are_remembered_to_a_bound() -> None:
    aggregator = Aggregator(AggregatorSettings(max_jobs=1), lambda: 0.0)
    for number in range(1500):
        aggregator.opened(f"s{number}", StreamInfo(job=f"job{number}", source="test"))
        aggregator.batch(f"s{number}", numbered(0, 3), Definitions())
        aggregator.closed(f"s{number}", {})
    assert aggregator.counters["streams_refused:max_jobs"] == 1499
    assert aggregator.counters["events_dropped:no_job"] == 3 * 1499
    assert aggregator.early_losses.forgotten == 499
    assert not aggregator.early_losses.refused_streams("job1")
    assert aggregator.early_losses.refused_streams("job1499")


def test_losses_with_a_collector_are_located_by_the_time_of_day() -> None:
    times = {"steady": 50.0, "day": 1000.0}
    aggregator = Aggregator(AggregatorSettings(), lambda: times["day"], lambda: times["steady"])
    aggregator.opened("a:p1", INFO)
    aggregator.batch("a:p1", numbered(int(999e9), 10), Definitions())
    aggregator.closed("a:p1", {"streams_cut_off": 1})
    aggregator.opened("b:p2", msgspec_replace(INFO, follows="p1", taken_before=40))
    assert aggregator.jobs["job"].losses.total["events_dropped:lost_with_collector"] == 30
    assert aggregator.jobs["job"].completeness.share(int(998e9), int(1001e9)) == pytest.approx(0.25)


def test_collectors_of_before_say_it_at_the_end_alone() -> None:
    aggregator, core = aggregator_and_core()
    for message in (
        encode(Hello(collector="c", stream="s", info=INFO)),
        encode_batch("s", 1, numbered(0, 10), Definitions()),
        encode(Bye(stream="s", last_seq=1, losses={RING_FULL: 4})),
    ):
        core.receive(b"c", message, 0.0)
    assert summary_in(aggregator).events_dropped == 4


def test_message_without_losses_is_read_as_before() -> None:
    message, _ = decode(encode_batch("s", 1, numbered(0, 10), Definitions()))
    assert isinstance(message, Batch)
    assert message.losses == {}
    assert b"losses" not in encode_batch("s", 1, numbered(0, 10), Definitions())[0]


def test_hostile_losses_are_bounded() -> None:
    aggregator, core = aggregator_and_core()
    core.receive(b"c", encode(Hello(collector="c", stream="s", info=INFO)), 0.0)
    hostile = {f"events_dropped:{number}": 1 for number in range(10_000)} | {"x" * 200: 1, "events": 5, RING_FULL: -9}
    core.receive(b"c", encode_batch("s", 1, numbered(0, 1), Definitions(), None, hostile), 0.0)
    core.receive(b"c", encode(Heartbeat(collector="c", losses={"job": hostile, "other": hostile})), 0.0)
    summary = summary_in(aggregator)
    assert len(summary.losses) == MAX_REASONS
    assert summary.events_dropped == 2 * MAX_REASONS
    assert list(aggregator.jobs) == ["job"]


def test_losses_told_before_any_stream_of_the_job_come_with_its_first() -> None:
    aggregator, core = aggregator_and_core()
    core.receive(b"c", encode(Heartbeat(collector="c", losses={"job": {"processes_unheard": 2}})), 0.0)
    assert not aggregator.jobs
    core.receive(b"c", encode(Hello(collector="c", stream="s", info=INFO)), 0.0)
    core.receive(b"c", encode(Heartbeat(collector="c", losses={"job": {"processes_unheard": 3}})), 0.0)
    assert summary_in(aggregator).losses == {"processes_unheard": 3}


@pytest.mark.parametrize(
    ("heard", "unheard"),
    [
        ([(0, 4), (1, 4)], 2),
        ([(0, 4), (1, 4), (2, 4), (3, 4)], 0),
        ([(0, 8), (0, 2), (1, 2)], 7),
        ([(0, 8)], 7),  # `iotide run -- srun -N8`, which sees its own node
        ([(-1, 0), (0, 0), (1, 0)], 0),
    ],
)
def test_ranks_that_never_came_are_told_at_the_end(heard: list[tuple[int, int]], unheard: int) -> None:
    aggregator, _ = aggregator_and_core()
    for number, (rank, ranks) in enumerate(heard):
        aggregator.opened(f"s{number}", StreamInfo(job="job", source="preload", rank=rank, ranks=ranks))
    assert summary_in(aggregator).complete
    aggregator.end_job("job")
    assert summary_in(aggregator).losses == ({"ranks_unheard": unheard} if unheard else {})


def test_losses_after_the_newest_event_are_missing_in_the_window() -> None:
    now = [1.0]
    aggregator = Aggregator(AggregatorSettings(), lambda: now[0])
    aggregator.opened("s", INFO)
    aggregator.batch("s", numbered(10**8, 10).replace(duration=1, bytes=10, kind=8), Definitions())
    now[0] = 100.0
    aggregator.stream_losses("s", {RING_FULL: 90})
    prediction = aggregator.jobs["job"].predict(100.0, whole=True)
    assert prediction is not None
    assert prediction.completeness == pytest.approx(0.1)


@given(st.dictionaries(st.text(), st.integers()))
def test_any_map_is_cut_to_losses(losses: dict[str, int]) -> None:
    taken = checked(losses)
    assert all(0 < count <= 1 << 62 for count in taken.values())
    assert checked(taken) == taken
    assert events_of(taken) >= 0


def test_losses_are_told_with_bytes_and_remedy() -> None:
    lines = list(loss_lines({RING_FULL: 1500, "bytes_dropped:ring_full": 64_000, "events_dropped:new_one": 2}))
    assert lines == [
        "1,500 calls dropped as a thread's ring was full (at least 64,000 bytes): raise --ring-records",
        "2 events dropped, new one",
    ]


@pytest.mark.parametrize(("lost", "claimed"), [(0, True), (1, True), (60, False)])
def test_period_is_not_claimed_from_a_window_with_holes(lost: int, claimed: bool) -> None:
    aggregator, session = Aggregator(AggregatorSettings(), lambda: 60.0), None
    aggregator.opened("s", INFO)
    session = aggregator.jobs["job"]
    for second in range(0, 60, 3):
        writes = numbered(0, 10).replace(
            start=[second * 10**9 + 10**7 * at for at in range(10)], duration=10**7, bytes=1 << 20, kind=8
        )
        aggregator.batch("s", writes, Definitions())
        if second == 30 and lost:
            aggregator.stream_losses("s", {RING_FULL: lost})
    prediction = session.predict(60.0)
    assert prediction is not None
    assert (prediction.period_s is not None) == claimed
    assert prediction.completeness == pytest.approx(200 / (200 + lost), abs=0.02)
