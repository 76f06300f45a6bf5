"""Messages are routed to the partition of their job, answers to their collector, and new owners are announced."""

from __future__ import annotations

from iotide.daemon.cluster.gateway_routes import GatewayRoutes
from iotide.daemon.cluster.partitions import partition_of, partitions_with
from iotide.events import StreamInfo
from iotide.events.batch import empty_batch
from iotide.events.definitions import Definitions
from iotide.events.network.wire import (
    MAX_STREAM_ID,
    Ack,
    Bye,
    Frame,
    Heartbeat,
    Hello,
    Message,
    Reject,
    decode_header,
    encode,
    encode_batch,
)
from support.formats.nesting import nested

COUNT = 4


def routes(reachable: set[int] | None = None, max_streams: int = 100) -> GatewayRoutes:
    there = set(range(COUNT)) if reachable is None else reachable
    return GatewayRoutes(COUNT, lambda number: number in there, max_streams, forget_after_s=60.0)


def hello(job: str, stream: str = "s") -> list[Frame]:
    return encode(Hello(collector="c", stream=stream, info=StreamInfo(job=job, source="test")))


def batch(stream: str = "s", seq: int = 1) -> list[Frame]:
    return encode_batch(stream, seq, empty_batch(), Definitions())


def answered(found: list[list[Frame]]) -> Message:
    ((frame,),) = found
    return decode_header(frame)


def test_a_stream_follows_its_job() -> None:
    gateway = routes()
    for number in range(20):
        job, stream = f"job-{number}", f"s{number}"
        for frames in (hello(job, stream), batch(stream), encode(Bye(stream=stream, last_seq=1))):
            (sent,), answers = gateway.receive(b"p", frames, 0.0)
            assert (sent.partition, list(sent.frames), answers) == (partition_of(job, COUNT), frames, [])
    assert gateway.streams == 20


def test_a_stream_that_is_not_known_is_asked_for_its_hello() -> None:
    sent, answers = routes().receive(b"p", batch(seq=7), 0.0)
    reject = answered(answers)
    assert sent == []
    assert isinstance(reject, Reject)
    assert (reject.stream, reject.seq, reject.code) == ("s", 7, "unknown_stream")


def test_a_job_never_changes_its_partition() -> None:
    gateway = routes()
    gateway.receive(b"p", hello("job-1"), 0.0)
    (sent,), _ = gateway.receive(b"q", hello("job-2"), 0.0)
    assert sent.partition == partition_of("job-1", COUNT) != partition_of("job-2", COUNT)


def test_collectors_of_a_partition_with_another_owner_say_hello_again() -> None:
    gateway = routes()
    gateway.receive(b"p", hello("job-1", "one"), 0.0)
    gateway.receive(b"q", hello("job-2", "two"), 0.0)
    ((peer, (frame,)),) = gateway.on_owner_changed(partition_of("job-2", COUNT))
    reject = decode_header(frame)
    assert isinstance(reject, Reject)
    assert (peer, reject.stream, reject.code) == (b"q", "two", "unknown_stream")


def test_jobs_of_users_go_where_their_owner_may_rename_them() -> None:
    for name in ("job-2", "job-2@alice", "job-2@alice@alice"):
        gateway = routes()
        (sent,), _ = gateway.receive(b"p", hello(name), 0.0, "alice")
        assert sent.partition == partition_of("job-2", COUNT)
        assert sent.partition in partitions_with(name, COUNT)
    (sent,), _ = routes().receive(b"p", hello("job-2@alice"), 0.0)
    assert sent.partition == partition_of("job-2@alice", COUNT)  # a node's statement about the job


def test_message_without_an_owner_is_not_answered() -> None:
    gateway = routes(reachable=set())
    assert gateway.receive(b"p", hello("job-1"), 0.0) == ([], [])
    assert gateway.receive(b"p", batch(), 0.0) == ([], [])
    assert gateway.counters["unreachable"] == 2


def test_a_collector_is_alive_for_partitions_of_its_streams_and_counted_at_one() -> None:
    gateway = routes()
    for number in range(20):
        gateway.receive(b"p", hello(f"job-{number}", f"s{number}"), 0.0)
    beat = Heartbeat(collector="c", host="h", counters={"events_dropped:x": 1}, losses={"job-1": {"y": 2}})
    sent, answers = gateway.receive(b"p", encode(beat), 1.0)
    told = {each.partition: decode_header(each.frames[0]) for each in sent}
    assert told.keys() == set(range(COUNT))
    beats = {number: each for number, each in told.items() if isinstance(each, Heartbeat)}
    assert [number for number, each in beats.items() if each.counters] == [partition_of("c", COUNT)]
    assert [number for number, each in beats.items() if each.losses] == [partition_of("job-1", COUNT)]
    assert isinstance(answered(answers), Heartbeat)


def test_plans_come_from_one_partition_and_other_heartbeats_from_none() -> None:
    gateway = routes()
    gateway.receive(b"p", encode(Heartbeat(collector="c")), 0.0)
    home = partition_of("c", COUNT)
    assert gateway.answer(b"p", home, encode(Heartbeat(plan=b"{}")))
    assert not gateway.answer(b"p", (home + 1) % COUNT, encode(Heartbeat()))


def test_a_stream_is_forgotten_when_its_end_is_acknowledged() -> None:
    gateway = routes()
    gateway.receive(b"p", hello("job-1"), 0.0)
    gateway.receive(b"p", encode(Bye(stream="s", last_seq=3)), 0.0)
    partition = partition_of("job-1", COUNT)
    assert gateway.answer(b"p", partition, encode(Ack(stream="s", seq=3, credit=1)))
    assert gateway.streams == 1
    assert gateway.answer(b"p", partition, encode(Ack(stream="s", seq=4, credit=1)))
    assert gateway.streams == 0


def test_collectors_that_are_silent_are_forgotten_with_their_streams() -> None:
    gateway = routes()
    gateway.receive(b"p", hello("job-1", "one"), 0.0)
    gateway.receive(b"q", hello("job-1", "two"), 50.0)
    gateway.forget(70.0)
    assert (gateway.peers, gateway.streams) == (1, 1)


def test_streams_are_bounded() -> None:
    gateway = routes(max_streams=1)
    gateway.receive(b"p", hello("job-1", "one"), 0.0)
    sent, answers = gateway.receive(b"p", hello("job-1", "two"), 0.0)
    reject = answered(answers)
    assert sent == []
    assert isinstance(reject, Reject)
    assert (reject.code, reject.stream) == ("full", "two")


def test_invalid_message_is_rejected() -> None:
    gateway = routes()
    refused = [
        [],
        [b""],
        [b"\xc1"],
        [b"\x81\xa4type\xa3ack"],
        [b"\x90"],
        batch("s" * (MAX_STREAM_ID + 1)),
        list(encode(Bye(stream="s" * (MAX_STREAM_ID + 1), last_seq=1))),
        [nested({"type": "batch", "stream": "s"})],
        list(encode(Ack(stream="s", seq=1, credit=1))),
    ]
    for frames in refused:
        sent, answers = gateway.receive(b"p", frames, 0.0)
        reject = answered(answers)
        assert sent == []
        assert isinstance(reject, Reject)
        assert reject.code == "malformed"
    assert gateway.counters["malformed"] == len(refused)
    assert not gateway.answer(b"p", 0, [b"\xc1"])
    assert not gateway.answer(b"p", 0, [nested({"type": "ack", "stream": "s"})])
