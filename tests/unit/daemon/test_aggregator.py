"""Jobs and their lives, without sockets and with a simulated clock."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.jobs.job_state import TRANSITIONS, JobEvent, State, next_state
from iotide.daemon.jobs.job_summary import detail_of, summary_of
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, FileInfo, FileType, Flag, Interner, Kind, ProtocolError, StreamInfo, make_batch
from iotide.events.losses import TAKEN_ELSEWHERE
from iotide.results.jobs.job import JobSummary
from iotide.results.prediction import Prediction
from support.servers.running_aggregator import PERIOD_S, periodic_batch

NOW = 1_700_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def make(**options: object) -> tuple[Aggregator, Clock]:
    clock = Clock()
    return Aggregator(AggregatorSettings.model_validate(options), clock), clock


def feed(aggregator: Aggregator, stream: str = "s", job: str = "job", until_s: float = NOW) -> Interner:
    interner = Interner()
    aggregator.opened(stream, StreamInfo(job=job, source="test", host="n1", rank=0, ranks=4))
    batch = periodic_batch(interner, until_s=until_s)
    aggregator.batch(stream, batch, interner.take_fresh())
    return interner


@pytest.mark.parametrize(("state", "event"), list(itertools.product(State, JobEvent)))
def test_only_the_transitions_of_the_table_change_a_state(state: State, event: JobEvent) -> None:
    assert next_state(state, event) is TRANSITIONS.get((state, event), state)


def test_every_state_can_be_reached_and_only_removal_is_final() -> None:
    reached = {target for _, target in TRANSITIONS.items()}
    assert reached == set(State)
    assert {source for source, _ in TRANSITIONS} == set(State) - {State.REMOVED}


def test_periodic_job_is_predicted() -> None:
    aggregator, _ = make()
    heard: list[Prediction] = []
    aggregator.on_prediction(heard.append)
    feed(aggregator)
    aggregator.tick()
    (prediction,) = heard
    assert prediction.period_s is not None
    assert prediction.period_s.value == pytest.approx(PERIOD_S, rel=0.02)
    assert prediction.next_phase is not None
    assert prediction.next_phase.start_s.value >= NOW


@pytest.mark.parametrize(("period_s", "predictions"), [(30.0, 1), (600.0, 2)])
def test_each_burst_is_predicted_once_and_shown_as_soon_as_the_signal_has_it(period_s: float, predictions: int) -> None:
    """A bin of the signal is as long as 0.64 s or 10 s here, and a prediction sees only complete bins."""
    aggregator, clock = make()
    heard: list[Prediction] = []
    aggregator.on_prediction(heard.append)
    aggregator.opened("s", StreamInfo(job="job", source="test"))

    def burst(*ago_s: float) -> None:
        starts = [int((clock.now - ago) * 1e9) for ago in ago_s]
        columns = {"start": np.array(starts), "kind": int(Kind.WRITE), "bytes": 1 << 20}
        aggregator.batch("s", make_batch(len(starts), columns), Definitions())

    def wait(seconds: float) -> None:
        until_s = clock.now + seconds
        while clock.now < until_s:
            aggregator.tick()
            clock.now += 0.1

    aggregator.stream_losses("s", {TAKEN_ELSEWHERE: 1})  # after a takeover without the earlier state
    burst(*(period_s * number for number in range(8, -1, -1)))
    wait(12.0)
    assert len(heard) == predictions
    wait(period_s - 12.0)
    heard.clear()
    for _ in range(3):
        at_s = clock.now
        burst(0.0)
        wait(12.0)
        assert len(heard) <= predictions
        assert heard[0].made_at_s < at_s + 1.2
        following = heard[-1].next_phase
        assert following is not None
        assert following.start_s.value == pytest.approx(at_s + period_s, abs=0.1 * period_s)
        wait(period_s - (clock.now - at_s))
        assert len(heard) <= predictions
        heard.clear()


@pytest.mark.slow
def test_events_that_wait_for_analysis_are_bounded_while_jobs_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each job almost fills the room that it has, which is a smaller part of the bound the more jobs there are."""
    monkeypatch.setattr("iotide.daemon.aggregator._QUEUED_EVENTS", 20_000)
    aggregator, _ = make(queue_share=0.0)
    most, events, sums = 0, 0, []
    for number in range(30):
        interner = Interner()
        aggregator.opened(f"s{number}", StreamInfo(job=f"job {number}", source="test"))
        for _ in range(max(min(20_000 // (number + 1), 16_384) // 300 - 1, 4)):
            start = np.arange(300) + int(NOW * 1e9)
            columns = {"start": start, "kind": int(Kind.WRITE), "bytes": 1, "call": interner.string("write")}
            aggregator.batch(f"s{number}", make_batch(300, columns), interner.take_fresh())
            events += 300
            queued = [session.analyzers.queued_in_room for session in aggregator.jobs.awake]
            sums.append(sum(queued))
            most = max(most, *queued)
    assert max(sums) <= 20_000
    assert max(sums) > 15_000
    assert most > 15_000  # a job that is alone has all the room
    assert sum(session.analyzers.totals.events for session in aggregator.jobs.awake) == events


def test_job_goes_through_its_life_and_vanishes() -> None:
    aggregator, clock = make(idle_after_s=10, linger_s=5, retain_s=100)
    states: list[JobSummary] = []
    aggregator.on_job(states.append)
    feed(aggregator)
    clock.now += 11
    aggregator.tick()
    aggregator.closed("s", {})
    clock.now += 6
    aggregator.tick()
    assert aggregator.jobs["job"].state is State.ENDED
    clock.now += 101
    aggregator.tick()
    assert not aggregator.jobs
    assert [summary.state for summary in states] == ["running", "idle", "ended", "ended"]


def test_job_with_a_silent_open_stream_ends_at_last() -> None:
    aggregator, clock = make(end_after_s=50)
    feed(aggregator)
    clock.now += 51
    aggregator.tick()
    assert aggregator.jobs["job"].state is State.ENDED


def test_late_process_of_an_ended_job_brings_it_back() -> None:
    aggregator, clock = make(linger_s=1)
    feed(aggregator, "a")
    aggregator.closed("a", {})
    clock.now += 2
    aggregator.tick()
    feed(aggregator, "b", until_s=clock.now)
    assert aggregator.jobs["job"].state is State.RUNNING
    assert aggregator.jobs["job"].totals.events == 240


def test_end_of_a_job_is_predicted_from_the_whole_run() -> None:
    aggregator, _ = make()
    feed(aggregator)
    for tick in range(5):
        aggregator.jobs["job"].predict(NOW + tick)
    assert aggregator.jobs["job"].prediction.window.adapted  # type: ignore[union-attr]
    aggregator.end_job("job")
    last = aggregator.jobs["job"].prediction
    assert last is not None
    assert not last.window.adapted


def test_jobs_beyond_the_bound_are_counted_and_dropped() -> None:
    aggregator, _ = make(max_jobs=1)
    feed(aggregator, "a", "one")
    feed(aggregator, "b", "two")
    aggregator.closed("b", {})
    assert set(aggregator.jobs) == {"one"}
    assert aggregator.counters["streams_refused:max_jobs"] == 1
    assert aggregator.counters["events_dropped:no_job"] == 120


def test_failing_listener_affects_no_other() -> None:
    aggregator, _ = make()
    heard: list[Prediction] = []

    def broken(_: Prediction) -> None:
        raise RuntimeError("broken")

    aggregator.on_prediction(broken)
    aggregator.on_prediction(heard.append)
    feed(aggregator)
    aggregator.tick()
    assert len(heard) == 1
    assert aggregator.counters["listener_errors"] == 1


def test_streams_of_one_job_share_its_names_and_totals() -> None:
    aggregator, _ = make()
    feed(aggregator, "a")
    other = Interner()
    other.string("something else")  # so that the numbers of the two streams differ
    other.file("/other")
    aggregator.opened("b", StreamInfo(job="job", source="test", host="n2", rank=1))
    aggregator.batch("b", periodic_batch(other, until_s=NOW), other.take_fresh())
    detail = detail_of(aggregator.jobs["job"], NOW)
    assert [(row.path, row.calls) for row in detail.files] == [("/scratch/out", 240)]
    assert [(row.call, row.calls) for row in detail.calls] == [("write", 240)]
    assert detail.hosts == ["n1", "n2"]
    assert detail.ranks == 4


def test_pipes_and_terminals_are_in_the_totals_but_not_in_the_bytes() -> None:
    aggregator, _ = make()
    aggregator.opened("s", StreamInfo(job="job", source="test"))
    definitions = Definitions(
        [(1, "write")], [(1, FileInfo("pipe:[1]", FileType.PIPE)), (2, FileInfo("/f", FileType.REGULAR))]
    )
    batch = make_batch(
        2, {"start": int(NOW * 1e9), "call": 1, "file": [1, 2], "kind": int(Kind.WRITE), "bytes": [7, 11]}
    )
    aggregator.batch("s", batch, definitions)
    detail = detail_of(aggregator.jobs["job"], NOW)
    assert detail.bytes_written == 11
    assert detail.events == 2


def test_undefined_numbers_count_as_unknown_and_lose_no_event() -> None:
    aggregator, _ = make()
    aggregator.opened("s", StreamInfo(job="job", source="test"))
    aggregator.batch(
        "s", make_batch(3, {"start": int(NOW * 1e9), "call": [1, 99, 0], "file": 5}), Definitions([(1, "read")], [])
    )
    session = aggregator.jobs["job"]
    assert session.totals.events == 3
    assert session.streams["s"].undefined == 4


def test_contradicting_definitions_are_refused() -> None:
    aggregator, _ = make()
    interner = feed(aggregator)
    interner.string("x")
    with pytest.raises(ProtocolError):
        aggregator.batch("s", make_batch(1, {}), Definitions([(1, "another meaning")], []))


def test_stamps_from_the_future_are_placed_at_their_arrival_and_counted() -> None:
    aggregator, _ = make(clock_skew_s=60)
    aggregator.opened("s", StreamInfo(job="job", source="test"))
    starts = [int(NOW * 1e9), int((NOW + 3600) * 1e9), int((NOW + 3590) * 1e9)]
    aggregator.batch("s", make_batch(3, {"start": starts}), Definitions([], []))
    session = aggregator.jobs["job"]
    assert session.totals.events == 3
    assert session.last_ns == int(NOW * 1e9)
    assert summary_of(session, 0.0).losses["events_misplaced:clock_skew"] == 2


@pytest.mark.parametrize("off_s", [7200, -7200, 86_400, -86_400, 365 * 86_400, -365 * 86_400])
@pytest.mark.parametrize("steps", [False, True])
def test_totals_do_not_depend_on_the_clock_of_a_node(off_s: int, steps: bool) -> None:
    told = []
    for shift_s in (0, off_s):
        aggregator, _ = make()
        for number, shift in enumerate((0, shift_s)):
            interner = Interner()
            batch = periodic_batch(interner, until_s=NOW)
            moved = batch.start + (np.arange(len(batch)) >= (len(batch) // 2 if steps else 0)) * (shift * 10**9)
            aggregator.opened(f"s{number}", StreamInfo(job="job", source="test", host=f"n{number}"))
            aggregator.batch(f"s{number}", batch.replace(start=moved), interner.take_fresh())
        aggregator.tick()
        detail = detail_of(aggregator.jobs["job"], NOW)
        graph = aggregator.jobs["job"].graph
        assert graph is not None
        files = sorted((each.path, each.bytes_written) for each in detail.files)
        told.append((detail.events, detail.bytes_written, files, graph.graph().events))
    assert told[0] == told[1]


def test_trace_with_a_clock_of_its_own_is_predicted_from_its_end() -> None:
    aggregator, _ = make()
    interner = Interner()
    aggregator.opened("s", StreamInfo(job="job", source="tmio", clock_offset_ns=None))
    batch = periodic_batch(interner, until_s=100.0).replace(flags=int(Flag.AGGREGATE))
    aggregator.batch("s", batch, interner.take_fresh())
    aggregator.tick()
    prediction = aggregator.jobs["job"].prediction
    assert prediction is not None
    assert prediction.period_s is not None
    assert prediction.window.end_s == pytest.approx(100.0, abs=0.2)


def test_silent_collectors_counts_stay_in_the_sum() -> None:
    aggregator, _ = make()
    aggregator.heartbeat("c", "n1", {"events_dropped:ring_full": 5})
    aggregator.collector_lost("c")
    aggregator.heartbeat("d", "n1", {"events_dropped:ring_full": 2})
    assert aggregator.collector_counters()["events_dropped:ring_full"] == 7


def test_job_id_that_cannot_be_shown_is_cleaned() -> None:
    aggregator, _ = make()
    feed(aggregator, "a", "line\nbreak\x1b[2J")
    feed(aggregator, "b", "")
    feed(aggregator, "c", "x" * 10_000)
    assert list(aggregator.jobs) == ["line?break?[2J", "unknown", "x" * 256]


def test_silent_job_is_predicted_again_when_its_next_phase_was_skipped_until_nothing_is_said() -> None:
    aggregator, clock = make(idle_after_s=10_000, end_after_s=20_000)
    heard: list[Prediction] = []
    aggregator.on_prediction(heard.append)
    feed(aggregator)
    for _ in range(20 * int(PERIOD_S)):
        aggregator.tick()
        clock.now += 1
    for row, following in itertools.pairwise(heard):
        assert row.next_phase is not None
        skipped_s = row.next_phase.start_s.value + PERIOD_S / 2
        assert skipped_s <= following.made_at_s <= skipped_s + 1.1  # a tick of this test later
    assert 3 <= len(heard) <= 6
    assert heard[-1].period_s is None  # the confidence has faded


def test_job_without_news_costs_no_prediction() -> None:
    aggregator, clock = make(idle_after_s=10_000, end_after_s=20_000)
    aggregator.opened("s", StreamInfo(job="job", source="test"))
    aggregator.batch("s", make_batch(1, {"start": int(NOW * 1e9), "kind": 8, "bytes": 1}), Definitions([], []))
    for _ in range(100):
        aggregator.tick()
        clock.now += 1
    assert aggregator.counters["predictions"] == 1


def test_predictions_of_many_jobs_are_spread_in_slices_and_late_ones_are_counted() -> None:
    wall, steady = Clock(), Clock()

    def slow(_: Prediction) -> None:
        steady.now += 0.004

    aggregator = Aggregator(AggregatorSettings(), wall, steady)
    aggregator.on_prediction(slow)
    for number in range(20):
        feed(aggregator, f"s{number}", f"job{number}")
    slices = 1
    while aggregator.tick():
        slices += 1
    assert aggregator.counters["predictions"] == 20
    assert slices >= 6
    assert aggregator.counters["predictions_late"] == 0
    for number in range(20):
        aggregator.batch(f"s{number}", make_batch(1, {"start": int(NOW * 1e9), "kind": 8, "bytes": 1}), Definitions())
    steady.now += 60
    aggregator.tick()
    assert aggregator.counters["predictions_late"] > 0
    assert aggregator.late_s > 50


@pytest.mark.slow
def test_job_whose_predictions_take_long_is_predicted_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, spent = Clock(), Clock()
    aggregator = Aggregator(AggregatorSettings(prediction_share=0.1), clock, clock, spent)
    takes_s, counts = {"hard": 0.5, "easy": 0.05}, Counter[str]()
    predict = JobSession.predict

    def slow(session: JobSession, now_s: float, *, whole: bool, search: bool) -> Prediction | None:
        spent.now += takes_s[session.job]
        counts[session.job] += 1
        return predict(session, now_s, whole=whole, search=search)

    monkeypatch.setattr(JobSession, "predict", slow)
    for job in takes_s:
        feed(aggregator, job, job)
    for _ in range(60):
        aggregator.tick()
        clock.now += 1
        for job in takes_s:
            columns = {"start": int(clock.now * 1e9), "kind": int(Kind.WRITE), "bytes": 1}
            aggregator.batch(job, make_batch(1, columns), Definitions())
    assert counts == {"hard": 13, "easy": 59}  # the second one waited until its bin of the signal had ended
    assert aggregator.counters["predictions_put_off"] == 12


def test_jobs_that_fall_silent_at_once_let_others_have_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    aggregator = Aggregator(AggregatorSettings(), clock)
    settled = []

    def slow(session: JobSession) -> None:
        settled.append(session.job)
        clock.now += 0.004

    monkeypatch.setattr(JobSession, "compact", slow)
    for number in range(20):
        feed(aggregator, f"s{number}", f"job{number}")
    while aggregator.tick():
        pass
    clock.now += AggregatorSettings().idle_after_s
    feed(aggregator, "live", "live")
    before = aggregator.counters["predictions"]
    assert aggregator.tick()
    assert 1 <= len(settled) <= 3
    assert aggregator.counters["predictions"] > before
    while aggregator.tick():
        pass
    assert len(settled) == 20


def test_clock_that_is_set_ages_no_job() -> None:
    wall, steady = Clock(), Clock()
    aggregator = Aggregator(AggregatorSettings(), wall, steady)
    feed(aggregator)
    for step in (1e6, -2e6):
        wall.now += step
        steady.now += 1
        aggregator.tick()
        assert aggregator.jobs["job"].state is State.RUNNING
    steady.now += 1000
    aggregator.tick()
    assert aggregator.jobs["job"].state is State.ENDED


def test_job_that_cannot_be_summed_up_costs_the_listener_its_news_only(monkeypatch: pytest.MonkeyPatch) -> None:
    aggregator, _ = make()
    aggregator.on_job(lambda summary: None)

    def broken(*_: object) -> JobSummary:
        raise RuntimeError("broken")

    monkeypatch.setattr("iotide.daemon.aggregator.published_summary", broken)
    feed(aggregator)
    assert aggregator.jobs["job"].totals.events == 120
    assert aggregator.counters["listener_errors"] == 1


def test_bytes_that_no_signal_has_are_counted_beyond_the_life_of_their_job() -> None:
    aggregator, clock = make(linger_s=1, retain_s=1)
    feed(aggregator)
    stamps = np.array([NOW + 3000, NOW], np.float64)
    for at in stamps:  # a clock that is ahead, and one that reports this
        batch = make_batch(1, {"start": int(at * 1e9), "kind": int(Kind.WRITE), "bytes": 7})
        aggregator.batch("s", batch, Definitions([], []))
    assert aggregator.sums().signal_bytes() == {"late": 0.0, "ahead": 7.0}
    aggregator.closed("s", {})
    for _ in range(3):
        clock.now += 10_000
        aggregator.tick()
    assert not aggregator.jobs
    assert aggregator.sums().signal_bytes() == {"late": 0.0, "ahead": 7.0}
