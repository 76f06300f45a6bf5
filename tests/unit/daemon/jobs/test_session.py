"""A job session is a function of its ordered batches, and maps its streams to one numbering."""

from __future__ import annotations

import pickle

from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.pipeline.numbering import JobNames, StreamNames
from iotide.daemon.jobs.job_summary import detail_of, summary_of
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, FileInfo, FileType, Interner, Kind, StreamInfo, make_batch
from support.servers.running_aggregator import periodic_batch

NOW = 1_700_000_000.0
NAMES = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=30)


def make(**options: object) -> JobSession:
    session = JobSession("job", AggregatorSettings.model_validate(options), NOW)
    session.open_stream("s", StreamInfo(job="job", source="test"), NOW)
    return session


def write(session: JobSession, interner: Interner, paths: list[str]) -> None:
    columns = {
        "start": int(NOW * 1e9),
        "kind": int(Kind.WRITE),
        "file": [interner.file(path, FileInfo(path, FileType.REGULAR)) for path in paths],
        "bytes": 1,
    }
    session.update("s", make_batch(len(paths), columns), interner.take_fresh(), NOW)


def test_same_batches_give_the_same_session() -> None:
    answers = []
    for _ in range(2):
        session, interner = make(), Interner()
        for back in (20.0, 10.0, 0.0):
            session.update("s", periodic_batch(interner, until_s=NOW - back), interner.take_fresh(), NOW)
            session.predict(NOW)
        answers.append((detail_of(session, NOW), list(session.history)))
    assert answers[0] == answers[1]


@settings(deadline=None)
@given(streams=st.lists(NAMES, min_size=1, max_size=4))
def test_streams_agree_on_names_however_each_numbers_them(streams: list[list[str]]) -> None:
    job = JobNames(100, 100)
    for names in streams:
        stream, interner = StreamNames(job), Interner()
        numbers = [interner.file(name) for name in names]
        stream.define(interner.take_fresh())
        translated = stream.translate(make_batch(len(names), {"file": numbers}))
        assert [job.files[number].path for number in translated.file] == names
        assert stream.undefined == 0
    assert len(job.files) == 1 + len({name for names in streams for name in names})


@settings(deadline=None)
@given(names=NAMES, bound=st.integers(1, 10))
def test_files_beyond_the_bound_are_summed_up_and_counted(names: list[str], bound: int) -> None:
    session = make(max_files=bound)
    write(session, Interner(), names)
    detail = detail_of(session, NOW, top=100)
    told_apart = min(bound, len(set(names)))
    assert len([row for row in detail.files if row.path != "(other)"]) == told_apart
    assert sum(row.calls for row in detail.files) == len(names)
    assert detail.bytes_written == len(names)
    assert session.names.overflowed == len(set(names)) - told_apart


def test_communicator_that_is_known_later_counts() -> None:
    session = make()
    assert summary_of(session, NOW).ranks == 0
    session.change_stream("s", StreamInfo(job="job", source="test", rank=3, ranks=8))
    assert summary_of(session, NOW).ranks == 8
    assert session.infos["s"].rank == 3


def test_texts_of_signatures_are_no_calls_of_the_job_and_are_not_kept() -> None:
    session, interner = make(), Interner()
    columns = {
        "start": int(NOW * 1e9),
        "call": interner.string("write"),
        "signature": interner.new_signature("write()"),
    }
    session.update("s", make_batch(2, columns), interner.take_fresh(), NOW)
    assert session.names.calls == ["", "write"]
    assert session.streams["s"].translate(make_batch(2, columns)).signature.tolist() == [0, 0]
    assert session.streams["s"].undefined == 0
    assert "write()" not in pickle.dumps(session).decode("latin1")


def test_job_without_events_has_no_prediction_and_an_empty_signal() -> None:
    session = make()
    assert session.predict(NOW) is None
    assert session.signal().written == []
    assert summary_of(session, NOW).first_event_at_s is None
    assert session.bandwidth(NOW) == 0.0


def test_definitions_alone_do_not_count_as_activity() -> None:
    session = make()
    session.update("s", make_batch(0, {}), Definitions([(1, "write")], []), NOW + 100)
    assert session.heard_at_s == NOW
    assert session.last_ns is None


def test_history_is_bounded_and_predictions_are_all_counted() -> None:
    session = make(history=2)
    interner = Interner()
    session.update("s", periodic_batch(interner, until_s=NOW), interner.take_fresh(), NOW)
    made = [session.predict(NOW + second) for second in range(4)]
    assert list(session.history) == made[-2:]
    assert summary_of(session, NOW).predictions == 4


def test_bandwidth_is_the_mean_of_the_last_ten_seconds() -> None:
    session, interner = make(), Interner()
    write(session, interner, ["/f"] * 100)
    assert session.bandwidth(NOW + 1) == 10.0
    assert session.bandwidth(NOW + 60) == 0.0


def test_remembered_predictions_are_those_that_were_made() -> None:
    session, interner = make(history=5), Interner()
    assert session.prediction is None
    session.update("s", periodic_batch(interner, until_s=NOW), interner.take_fresh(), NOW)
    made = [session.predict(NOW + second) for second in range(3)]
    assert made[-1] is not None
    assert made[-1].next_phase is not None
    assert list(session.history) == made
    assert session.prediction == made[-1]
    assert len(pickle.dumps(session.history._encoded)) < 450 * len(made)


def test_trace_with_its_own_clock_never_goes_stale() -> None:
    session, interner = make(), Interner()
    session.own_clock = True
    session.update("s", periodic_batch(interner, until_s=100.0), interner.take_fresh(), NOW)
    prediction = session.predict(NOW)
    assert prediction is not None
    assert prediction.period_s is not None
    assert session.stale_at_s is None


def test_signal_of_more_seconds_than_there_were_is_all_of_it() -> None:
    session, interner = make(), Interner()
    session.update("s", periodic_batch(interner, until_s=NOW), interner.take_fresh(), NOW)
    assert all(session.signal(last_s) == session.signal() for last_s in (1e9, 1e300, float("inf")))
    assert len(session.signal(5.0).written) < len(session.signal().written)


def test_signal_until_now_shows_a_silence() -> None:
    session, interner = make(), Interner()
    session.update("s", periodic_batch(interner, until_s=NOW), interner.take_fresh(), NOW)
    series = session.signal(10.0, until_s=NOW + 8)
    silent = round(7 / series.bin_s)
    assert sum(series.written[-silent:]) == 0 < sum(series.written[:-silent])
    assert series.start_s + len(series.written) * series.bin_s >= NOW + 8
