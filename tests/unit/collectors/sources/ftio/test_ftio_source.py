"""FTIO's socket as a source: real PUSH sockets, streams, clocks, runs and bounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import zmq
from iotide.collectors.settings import FtioSettings
from iotide.collectors.source import Closed, Origin, SourceItem
from iotide.collectors.sources.tmio.ftio import FtioSource
from iotide.events import ConfigError, EventBatch, Flag, Kind, Layer
from iotide.events.network.wire import MAX_BATCH_EVENTS
from support.formats.parsing import Stream, collect, only_stream
from support.system.waiting import wait_for

NOW = 1_790_000_000.0


def burst(at: float = 0.0, count: int = 2, **more: Any) -> bytes:
    """Writes of 100 bytes in one second, two seconds apart."""
    starts = [at + 2.0 * step for step in range(count)]
    packed: bytes = msgpack.packb(
        {"ranks": 4, "b": [100.0] * count, "ts": starts, "te": [start + 1.0 for start in starts]} | more
    )
    return packed


NAN, INF = float("nan"), float("inf")


class Bench:
    """A source, a sender that is connected to it, and a clock that a test sets."""

    def __init__(self, folder: Path) -> None:
        self.context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.sender = self.context.socket(zmq.PUSH)
        self.sender.linger = 0
        self.folder = folder
        self.now = NOW
        self.items: list[SourceItem] = []
        self.source: FtioSource

    def listen(self, **options: Any) -> FtioSource:
        settings = FtioSettings.model_validate({"endpoint": f"ipc://{self.folder}/ftio"} | options)
        self.source = FtioSource(settings, Origin(job="-", host="here", user="ann"), self.context, lambda: self.now)
        self.sender.connect(self.source.endpoint)
        return self.source

    def send(self, *messages: bytes) -> list[SourceItem]:
        """Send messages and poll until all were received; return the result."""
        before, had = self.source.counters["messages"], len(self.items)
        for message in messages:
            self.sender.send(message)

        def taken() -> bool:
            self.items += self.source.poll()
            return self.source.counters["messages"] - before >= len(messages)

        wait_for(taken)
        return self.items[had:]

    @property
    def streams(self) -> dict[str, Stream]:
        return collect(self.items)

    def jobs(self) -> list[tuple[str, str]]:
        return [(stream.info.job, stream.info.host) for stream in self.streams.values()]

    def events(self) -> EventBatch:
        return only_stream(self.streams).events


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.source.close()
    made.sender.close(0)
    made.context.term()


def test_each_message_becomes_events_of_one_stream(bench: Bench) -> None:
    bench.listen()
    bench.send(*(burst(10.0 * number) for number in range(50)))
    stream = only_stream(bench.streams)
    assert (stream.info.job, stream.info.source, stream.info.host, stream.info.user) == ("ftio", "ftio", "here", "ann")
    assert (stream.info.ranks, stream.info.clock_offset_ns) == (4, None)
    assert stream.info.origin == bench.source.endpoint
    events = stream.events
    assert np.sort(events.start).tolist() == [int((10 * n + step) * 1e9) for n in range(50) for step in (0, 2)]
    assert set(events.bytes.tolist()) == {100}
    assert (events.kind[0], events.layer[0], events.flags[0]) == (Kind.WRITE, Layer.OTHER, Flag.AGGREGATE)
    assert stream.definitions.string(int(events.call[0])) == "write_sync"
    assert bench.source.counters["events"] == 100
    assert bench.source.problems.total == 0


def test_messages_polled_together_give_what_they_give_one_by_one(bench: Bench) -> None:
    bench.listen()
    gekko = {"io_type": "r", "start_t_micro": [5_000_000], "end_t_micro": [6_000_000], "req_size": [100]}
    messages = [burst(0), msgpack.packb(gekko), burst(10, count=5), msgpack.packb({"b": [NAN], "ts": [0], "te": [1]})]

    def rows(job: str) -> list[tuple[Any, ...]]:
        stream = only_stream({key: stream for key, stream in bench.streams.items() if stream.info.job == job})
        return sorted(tuple(row[name] for name in ("start", "duration", "bytes", "call")) for row in stream.rows())

    def named(message: bytes, job: str) -> bytes:
        packed: bytes = msgpack.packb(msgpack.unpackb(message) | {"job": job})
        return packed

    bench.send(*(named(message, "together") for message in messages))
    for message in messages:
        bench.send(named(message, "apart"))
    assert len(rows("together")) == 8
    assert rows("together") == rows("apart")


def test_nothing_is_waited_for(bench: Bench) -> None:
    source = bench.listen()
    assert source.poll() == []
    assert not source.finished
    source.close()
    source.close()
    assert source.finished
    assert source.poll() == []


def test_each_part_of_a_message_counts(bench: Bench) -> None:
    bench.listen()
    bench.sender.send_multipart([burst(0), burst(10)])
    bench.send(burst(20))
    wait_for(lambda: bench.items.extend(bench.source.poll()) or bench.source.counters["messages"] == 3)
    assert len(bench.events()) == 6


@pytest.mark.parametrize(
    "wrong",
    [b"hello", b"", b"\xc1", msgpack.packb({"b": 1}), b"\x91" * 10_000, burst()[:-1]],
    ids=["text", "empty", "no MessagePack", "no arrays", "deep", "cut"],
)
def test_a_malformed_message_is_dropped_and_identified(bench: Bench, wrong: bytes) -> None:
    bench.listen()
    bench.send(burst(0), wrong, burst(10))
    assert len(bench.events()) == 4
    assert bench.source.counters["lines_malformed"] == 1
    assert f"{bench.source.endpoint}, message 2" in str(bench.source.problems.first[0])


@pytest.mark.parametrize(
    ("b", "ts", "te"),
    [(NAN, 2, 3), (INF, 2, 3), (-5, 2, 3), (5, -1, 3), (5, 3, 2), (5, NAN, 3), (5, 2, INF), (1e300, 2, 3), ("x", 2, 3)],
)
def test_a_wrong_interval_is_dropped_with_its_content_reported(bench: Bench, b: Any, ts: Any, te: Any) -> None:
    bench.listen()
    wrong = msgpack.packb({"b": [b, 100, 100], "ts": [ts, 0, 8], "te": [te, 1, 9]})
    bench.send(burst(20), wrong, burst(30))
    assert np.sort(bench.events().start).tolist() == [int(s * 1e9) for s in (0, 8, 20, 22, 30, 32)]
    assert bench.source.counters["intervals_malformed"] == 1
    (problem,) = bench.source.problems.first
    assert "message 2" in str(problem)
    assert "1 of 3 intervals" in str(problem)


def test_first_message_without_a_good_stamp_opens_nothing(bench: Bench) -> None:
    bench.listen()
    assert bench.send(msgpack.packb({"b": [1, 1], "ts": [NAN, -1], "te": [1, 1]})) == []
    assert bench.source.counters["intervals_malformed"] == 2
    bench.send(burst())
    assert len(bench.events()) == 2


def test_unix_time_is_told_from_stamps_near_now(bench: Bench) -> None:
    bench.listen()
    bench.send(burst(NOW - 100, job="unix"), burst(NOW - 100 * 86_400, job="old"), burst(5, job="own"))
    offsets = {stream.info.job: stream.info.clock_offset_ns for stream in bench.streams.values()}
    assert offsets == {"unix": 0, "old": None, "own": None}


def test_stamps_of_another_clock_are_not_mixed_in(bench: Bench) -> None:
    bench.listen()
    bench.send(burst(0), burst(NOW))
    assert bench.events().start.tolist() == [0, 2 * 10**9]
    assert bench.source.counters["intervals_malformed"] == 2
    assert "one clock" in str(bench.source.problems.first[0])


def test_a_message_names_its_job_and_host_unless_told_otherwise(bench: Bench) -> None:
    bench.listen()
    bench.send(burst(job="a", hostname="n1"), burst(job="a", hostname="n2"), burst(job_id=7), burst())
    assert bench.jobs() == [("a", "n1"), ("a", "n2"), ("7", "here"), ("ftio", "here")]
    assert [bench.source.has(job) for job in ("a", "7", "ftio", "b")] == [True, True, True, False]


def test_one_job_for_all_if_configured(bench: Bench) -> None:
    bench.listen(job="mine")
    bench.send(burst(job="a"), burst())
    assert bench.jobs() == [("mine", "here")]


def test_remote_senders_are_not_taken_for_this_host(tmp_path: Path, bench: Bench) -> None:
    bench.listen(allow_remote=True)
    bench.send(burst())
    assert bench.jobs() == [("ftio", "")]


def test_stamps_that_begin_again_after_a_silence_are_a_new_run(bench: Bench) -> None:
    bench.listen()
    bench.send(*(burst(10.0 * number) for number in range(5)))
    bench.now += 60
    first_id = only_stream(bench.streams)
    news = bench.send(burst(0), burst(10))
    assert isinstance(news[0], Closed)
    assert bench.jobs() == [("ftio", "here"), ("ftio.2", "here")]
    assert first_id.info.job == "ftio"
    assert not bench.source.has("ftio")
    assert bench.source.has("ftio.2")


@pytest.mark.parametrize(
    ("silence", "at"), [(1.0, 0.0), (60.0, 30.0), (60.0, 50.0)], ids=["no silence", "late data", "the same run"]
)
def test_late_data_and_pauses_are_the_same_run(bench: Bench, silence: float, at: float) -> None:
    bench.listen()
    bench.send(*(burst(10.0 * number) for number in range(5)))
    bench.now += silence
    bench.send(burst(at))
    assert bench.jobs() == [("ftio", "here")]
    assert len(bench.events()) == 12


def test_another_clock_after_a_silence_is_a_new_run(bench: Bench) -> None:
    bench.listen()
    bench.send(burst(0))
    bench.now += 60
    bench.send(burst(bench.now))
    assert [stream.info.clock_offset_ns for stream in bench.streams.values()] == [None, 0]


def test_streams_are_bounded_and_the_stillest_makes_room(bench: Bench) -> None:
    bench.listen(max_streams=3)
    bench.send(burst(job="a"), burst(job="b"), burst(job="c"), burst(10, job="a"), burst(job="d"))
    assert [stream.info.job for stream in bench.streams.values() if stream.closed] == ["b"]
    assert sum(len(stream.events) for stream in bench.streams.values()) == 10
    bench.send(burst(10, job="b"))
    assert [stream.info.job for stream in bench.streams.values() if stream.closed] == ["b", "c"]
    assert bench.source.counters["streams_closed:bound"] == 2
    assert not bench.source.has("c")
    assert bench.source.has("b")


def test_a_message_that_is_too_long_costs_itself(bench: Bench) -> None:
    bench.listen(max_message_bytes=2048)
    bench.send(burst(0), burst(10, count=200), burst(20))
    assert len(bench.events()) == 4
    assert bench.source.counters["bytes_dropped:too_large"] > 2048
    assert "at most 2048 bytes" in str(bench.source.problems.first[0])


def test_a_long_message_comes_in_batches_that_the_wire_takes(bench: Bench) -> None:
    bench.listen()
    bench.send(burst(count=2 * MAX_BATCH_EVENTS + 5))
    batches = only_stream(bench.streams).batches
    assert [len(batch) for batch in batches] == [MAX_BATCH_EVENTS, MAX_BATCH_EVENTS, 5]


def test_a_poll_does_bounded_work(bench: Bench) -> None:
    bench.listen(high_water=5000)
    for number in range(2500):
        bench.sender.send(burst(10.0 * number))
    wait_for(lambda: bench.source._socket.poll(0))
    counts = []

    def taken() -> bool:
        before = bench.source.counters["messages"]
        bench.items.extend(bench.source.poll())
        counts.append(bench.source.counters["messages"] - before)
        return bench.source.counters["messages"] == 2500

    wait_for(taken)
    assert max(counts) <= 1000
    assert len(bench.events()) == 5000


@pytest.mark.slow
def test_a_sender_waits_at_the_high_water_mark_and_loses_nothing(bench: Bench) -> None:
    bench.sender.setsockopt(zmq.SNDHWM, 10)
    bench.listen(high_water=10)
    sent = waits = 0
    while sent < 5000:
        try:
            bench.sender.send(burst(10.0 * sent, count=100), zmq.DONTWAIT)
            sent += 1
        except zmq.Again:
            waits += 1
            wait_for(lambda: bench.items.extend(bench.source.poll()) or bench.sender.poll(0, zmq.POLLOUT))
    wait_for(lambda: bench.items.extend(bench.source.poll()) or bench.source.counters["messages"] == sent)
    assert waits
    assert len(bench.events()) == 100 * sent


def test_other_sections_and_directions_keep_their_names(bench: Bench) -> None:
    bench.listen()
    arrays = {"b_rank_avr": [100.0], "t_rank_s": [0.0], "t_rank_e": [1.0]}
    bench.send(
        msgpack.packb({"read_sync": {"bandwidth": arrays}, "write_async_b": {"bandwidth": arrays}}),
        burst(10),
    )
    stream = only_stream(bench.streams)
    named = [stream.definitions.string(call) for call in stream.events.call.tolist()]
    assert sorted(named) == ["read_sync", "write_sync", "write_sync"]
    assert sorted(stream.events.kind.tolist()) == [Kind.READ, Kind.WRITE, Kind.WRITE]
    assert bench.source.counters["sections_ignored:required_bandwidth"] == 1


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [
        ("tcp://0.0.0.0:5555", "allow_remote"),
        ("tcp://*:5555", "allow_remote"),
        ("5555", "no endpoint"),
        ("tcp://[::", "no port"),
        ("tcp://127.0.0.1:http", "is no port"),
    ],
)
def test_an_endpoint_that_is_open_or_malformed_is_refused(endpoint: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        FtioSource(FtioSettings(endpoint=endpoint), Origin(job="-"))


def test_an_endpoint_in_use_is_refused(bench: Bench) -> None:
    first = bench.listen(endpoint="tcp://127.0.0.1:*")
    with pytest.raises(ConfigError, match="cannot listen"):
        FtioSource(FtioSettings(endpoint=first.endpoint), Origin(job="-"))
