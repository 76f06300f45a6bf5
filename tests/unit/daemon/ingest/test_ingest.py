"""The aggregator's end of the wire: every transition of a stream's states, the bounds, and the socket's permissions."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest
import zmq.asyncio
from iotide.daemon.ingest.ingest import Ingest
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.daemon.ingest.sink import StreamForgottenError
from iotide.events import ConfigError, Definitions, EventBatch, StreamInfo
from iotide.events.losses import LOST_IN_JOURNAL, STREAM_FORGOTTEN, TAKEN_ELSEWHERE
from iotide.events.network.wire import Ack, Bye, Frame, Heartbeat, Hello, Reject, decode, encode, encode_batch
from support.servers.sinks import RememberingSink
from support.servers.troubled_links import INFO, numbered
from support.system.waiting import DEADLINE_S

NOTHING = Definitions([], [])


def hello(stream: str = "s", collector: str = "c", next_seq: int = 1, texts: int = 0) -> list[Frame]:
    definitions = Definitions([(number, f"call{number}") for number in range(1, texts + 1)], [])
    return encode(Hello(collector=collector, stream=stream, info=INFO, next_seq=next_seq, definitions=definitions))


def batch(seq: int, stream: str = "s", definitions: Definitions = NOTHING) -> list[Frame]:
    """Batch ``seq`` contains the ten events from 10 * seq."""
    return encode_batch(stream, seq, numbered(10 * seq, 10), definitions)


def bye(last_seq: int, stream: str = "s") -> list[Frame]:
    return encode(Bye(stream=stream, last_seq=last_seq))


class Peer:
    """A hand-made collector."""

    def __init__(self, sink: RememberingSink | None = None, **bounds: object) -> None:
        self.sink = sink or RememberingSink()
        self.core = IngestCore(self.sink, IngestSettings.model_validate({"credit": 7} | bounds))

    def say(self, *told: list[Frame], now_s: float = 0.0) -> list[object]:
        return [decode(answer)[0] for message in told for _, answer in self.core.receive(b"p", message, now_s)]


def ack(seq: int, stream: str = "s") -> Ack:
    return Ack(stream=stream, seq=seq, credit=7)


def codes(answers: list[object]) -> list[tuple[str, int]]:
    return [(answer.code, answer.seq) for answer in answers if isinstance(answer, Reject)]


def test_stream_goes_from_hello_to_bye() -> None:
    peer = Peer()
    assert peer.say(hello(), batch(1), batch(2), bye(2)) == [ack(1), ack(2), ack(3)]
    assert peer.sink.starts == {"s": list(range(10, 30))}
    assert peer.sink.closed_streams == ["s"]
    stats = peer.core.stats
    assert (stats.messages, stats.batches, stats.events, stats.streams) == (4, 2, 20, 0)
    assert stats.bytes > 20 * 16


def test_repeated_batch_is_acknowledged_but_not_taken() -> None:
    peer = Peer()
    assert peer.say(hello(), batch(1), batch(2), batch(1)) == [ack(1), ack(2), ack(2)]
    assert peer.sink.starts == {"s": list(range(10, 30))}
    assert peer.core.stats.duplicates == 1


def test_gap_is_told_once_and_again_after_the_next_gap() -> None:
    peer = Peer()
    peer.say(hello())
    assert codes(peer.say(batch(2), batch(3), batch(4))) == [("gap", 1)]
    peer.say(batch(1), batch(2))
    assert codes(peer.say(batch(4), batch(5))) == [("gap", 3)]
    assert peer.sink.starts == {"s": list(range(10, 30))}


def test_bye_before_the_last_batch_is_a_gap() -> None:
    peer = Peer()
    assert codes(peer.say(hello(), batch(1), bye(2))) == [("gap", 2)]
    assert peer.sink.closed_streams == []


def test_repeated_bye_and_what_comes_late_change_nothing() -> None:
    peer = Peer()
    peer.say(hello(), batch(1), bye(1))
    assert peer.say(bye(1), batch(1), hello()) == [ack(2), ack(2)]
    assert peer.sink.closed_streams == ["s"]
    assert peer.core.stats.duplicates == 1


def test_ended_stream_beyond_the_memory_of_them_is_unknown() -> None:
    peer = Peer(remembered_streams=1)
    for stream in ("a", "b"):
        peer.say(hello(stream), bye(0, stream))
    assert peer.say(bye(0, "b")) == [ack(1, "b")]
    assert codes(peer.say(bye(0, "a"))) == [("unknown_stream", 0)]


def test_hello_from_a_later_number_on_moves_the_stream_forward_with_its_definitions() -> None:
    peer = Peer()
    peer.say(hello(next_seq=3, texts=2), batch(3))
    peer.say(hello(next_seq=9, texts=5))
    assert peer.say(batch(9)) == [ack(9)]
    assert peer.sink.starts == {"s": [*range(30, 40), *range(90, 100)]}
    assert peer.sink.definitions["s"].string(5) == "call5"


def test_hello_from_an_earlier_number_on_changes_nothing() -> None:
    peer = Peer()
    peer.say(hello(), batch(1), batch(2), hello(next_seq=1))
    assert peer.say(batch(2), batch(3)) == [ack(2), ack(3)]


def test_malformed_batch_is_judged_in_its_turn() -> None:
    peer = Peer()
    peer.say(hello())
    broken = [*batch(2, definitions=Definitions([(1, "write")], [])), b"one frame too many"]
    assert codes(peer.say(broken)) == [("gap", 1)]  # not malformed 2: its sender would discard batch 1
    assert peer.say(batch(1)) == [ack(1)]
    assert codes(peer.say(broken)) == [("malformed", 2)]
    assert peer.say(broken) == [ack(2)]
    assert peer.say(batch(3, definitions=Definitions([(2, "read")], []))) == [ack(3)]
    assert peer.sink.starts == {"s": [*range(10, 20), *range(30, 40)]}
    assert peer.sink.definitions["s"].string(1) == "write"
    assert peer.core.stats.malformed == 1


class BreakingSink(RememberingSink):
    """Fails on every input."""

    def opened(self, stream: str, info: StreamInfo) -> None:
        raise RuntimeError("opened")

    def closed(self, stream: str, losses: Mapping[str, int]) -> None:
        raise RuntimeError("closed")

    def heartbeat(self, collector: str, host: str, counters: object, job: str = "") -> None:
        raise RuntimeError("heartbeat")

    def collector_lost(self, collector: str) -> None:
        raise RuntimeError("lost")


class ForgettingSink(RememberingSink):
    """Its job is removed before the second batch, once."""

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        if self.starts.get(stream) == list(range(10, 20)) and not self.closed_streams:
            raise StreamForgottenError("removed")
        super().batch(stream, batch, definitions)


def test_sink_that_breaks_does_not_end_the_ingest() -> None:
    peer = Peer(BreakingSink())
    beat = encode(Heartbeat(collector="c"))
    answers = peer.say(beat, hello(texts=1), batch(1), bye(1))
    assert answers[0] == Heartbeat()
    assert codes(answers) == [("failed", 1)]
    assert answers[-1] == ack(2)
    peer.core.tick(1000.0)
    assert peer.core.stats.failed == 5
    assert peer.core.stats.collectors == 0


def test_answers_from_a_collector_are_counted_and_not_answered() -> None:
    peer = Peer()
    assert peer.say(encode(ack(1)), encode(Reject(stream="s", seq=1, code="gap", reason=""))) == []
    assert peer.core.stats.malformed == 2


def test_collectors_beyond_the_bound_are_refused_their_streams() -> None:
    peer = Peer(max_collectors=1)
    beats = [encode(Heartbeat(collector=collector)) for collector in ("a", "b")]
    peer.say(*beats)
    assert peer.core.stats.collectors == 1
    assert peer.say(hello("s1", "a")) == []
    assert codes(peer.say(hello("s2", "b"))) == [("full", 0)]
    assert peer.say(hello("s3", "a")) == []
    assert peer.core.stats.rejected == {"full": 1}


def test_streams_of_a_collector_that_stays_away_are_closed_and_make_room() -> None:
    peer = Peer(max_streams=2, max_collectors=1, lost_after_s=5, forget_after_s=60)
    beat = encode(Heartbeat(collector="c"))
    peer.say(beat, hello("a"), hello("b"), batch(1, "a"))
    for now in (10.0, 20.0):
        peer.core.tick(now)
    assert peer.sink.lost_collectors == ["c"]
    peer.say(beat, now_s=60.0)  # it was only disconnected
    for now in (61.0, 64.0, 66.0, 100.0):
        peer.core.tick(now)
    assert peer.sink.closed_streams == []
    peer.core.tick(130.0)
    assert peer.sink.closed_streams == ["a", "b"]
    assert peer.sink.losses == {"a": {"streams_cut_off": 1}, "b": {"streams_cut_off": 1}}
    assert peer.core.stats.streams == 0
    assert peer.say(hello("x", "d")) == []
    assert codes(peer.say(batch(2, "a"))) == [("unknown_stream", 2)]


def test_stream_that_was_cut_off_and_comes_back_is_taken_once() -> None:
    peer = Peer(lost_after_s=5, forget_after_s=60)
    beat = encode(Heartbeat(collector="c"))
    one = Definitions([(1, "call1")], [])
    two = Definitions([(2, "call2")], [])
    peer.say(beat, hello("a"), batch(1, "a", one), batch(2, "a", two))
    peer.core.tick(10.0)
    assert peer.sink.silent_streams == {"a"}
    peer.core.tick(80.0)
    assert peer.sink.closed_streams == ["a"]
    assert peer.sink.losses["a"] == {"streams_cut_off": 1}
    starts, peer.sink.info = peer.sink.starts["a"], {}
    # The acks of both batches were lost.
    answers = peer.say(beat, hello("a"), batch(1, "a", one), batch(2, "a", two), batch(3, "a"), now_s=90.0)
    assert [answer for answer in answers if isinstance(answer, Ack)] == [ack(1, "a"), ack(2, "a"), ack(3, "a")]
    assert starts == list(range(10, 30))
    assert peer.sink.starts["a"] == list(range(30, 40))
    assert peer.sink.definitions["a"].string_count == 3


def test_collector_that_is_heard_again_in_time_is_silent_no_more() -> None:
    peer = Peer(lost_after_s=5, forget_after_s=60)
    beat = encode(Heartbeat(collector="c"))
    peer.say(beat, hello("a"))
    peer.core.tick(4.0)
    assert (peer.sink.silent_streams, peer.core.stats.streams_silent) == (set(), 0)
    peer.core.tick(10.0)
    assert (peer.sink.silent_streams, peer.core.stats.streams_silent) == ({"a"}, 1)
    peer.say(beat, now_s=11.0)
    peer.core.tick(11.5)
    assert (peer.sink.silent_streams, peer.core.stats.streams_silent) == (set(), 0)


def test_collector_that_has_ended_its_streams_leaves_none_silent() -> None:
    peer = Peer(lost_after_s=5, forget_after_s=60)
    peer.say(encode(Heartbeat(collector="c")), hello("a"), bye(0, "a"))
    peer.core.tick(10.0)
    assert peer.core.stats.streams_silent == 0


@pytest.mark.parametrize(
    "endpoint",
    [
        "tcp://0.0.0.0:0",
        "tcp://*:0",
        "tcp://10.1.2.3:0",
        "ipc://",
        "ipc://@abstract",
        "ipc:///no/folder/s",
        "udp://x",
        "",
    ],
)
async def test_endpoint_that_others_could_reach_or_that_is_none_is_refused(endpoint: str) -> None:
    with zmq.asyncio.Context() as context:
        ingest = Ingest(context, endpoint, RememberingSink())
        try:
            with pytest.raises(ConfigError):
                ingest.bind()
        finally:
            ingest.close()


@pytest.mark.parametrize("endpoint", ["tcp://127.0.0.1:*", "tcp://127.0.0.1:0", "tcp://localhost:*"])
async def test_port_is_chosen_and_told(endpoint: str) -> None:
    with zmq.asyncio.Context() as context:
        ingest = Ingest(context, endpoint, RememberingSink())
        bound = ingest.bind()
        ingest.close()
    assert bound.startswith("tcp://127.0.0.1:")
    assert int(bound.rpartition(":")[2]) > 0


async def test_ipc_socket_is_private_and_leaves_the_umask_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with zmq.asyncio.Context() as context:
            ingest = Ingest(context, f"ipc://{tmp_path}/in", RememberingSink())
            assert ingest.bind() == f"ipc://{tmp_path}/in"
            mode = (tmp_path / "in").stat().st_mode
            ingest.close()
        assert stat.S_ISSOCK(mode)
        assert mode & 0o077 == 0
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


async def test_ingest_knows_whether_messages_wait(tmp_path: Path) -> None:
    context = zmq.asyncio.Context()
    ingest = Ingest(context, f"ipc://{tmp_path}/ingest", RememberingSink(), IngestSettings())
    peer = context.socket(zmq.DEALER)
    peer.linger = 0
    try:
        peer.connect(ingest.bind())
        ingest.limit_credit(1 / 64)  # one message at a time
        for _ in range(3):
            await peer.send_multipart(hello())
        assert await ingest._messages.wait(DEADLINE_S)
        while ingest.core.stats.messages < 3:
            messages = ingest.core.stats.messages
            was_last = await ingest._receive_some()
            assert ingest.core.stats.messages <= messages + 1
        assert was_last
        assert not ingest.is_backlogged
    finally:
        peer.close()
        ingest.close()
        context.term()


def test_another_core_takes_each_batch_once_where_the_first_one_was() -> None:
    """The answers of the first core never arrived, so the collector sends everything again."""
    first, second = Peer(), Peer()
    first.say(hello(), batch(1), batch(2), hello("t"), batch(1, "t"), bye(1, "t"))
    second.core.resume(first.core.state(), now_s=0.0)
    assert codes(second.say(batch(2))) == [("unknown_stream", 2)]
    assert second.say(hello(), batch(1), batch(2), batch(3)) == [ack(1), ack(2), ack(3)]
    assert second.sink.starts == {"s": list(range(30, 40))}
    assert second.say(batch(1, "t"), bye(1, "t")) == [ack(2, "t"), ack(2, "t")]
    assert second.core.stats.duplicates == 3
    third = Peer()  # before the collector has caught up with the second
    third.core.resume(second.core.state(), now_s=0.0)
    third.say(hello(), batch(1), batch(2), batch(3), batch(4))
    assert third.sink.starts == {"s": list(range(40, 50))}


def test_state_of_a_stream_that_is_caught_up_with_is_not_set_back() -> None:
    first, second, third = Peer(), Peer(), Peer()
    first.say(hello(), batch(1), batch(2), batch(3))
    second.core.resume(first.core.state(), now_s=0.0)
    second.say(hello(), batch(1))
    third.core.resume(second.core.state(), now_s=0.0)
    third.say(hello(), batch(1), batch(2), batch(3), batch(4))
    assert third.sink.starts == {"s": list(range(40, 50))}


def test_streams_that_no_collector_goes_on_with_are_closed_as_cut_off() -> None:
    first, second = Peer(), Peer(forget_after_s=10)
    first.say(hello(), batch(1), hello("t", next_seq=1))
    second.core.resume(first.core.state(), now_s=100.0)
    second.say(hello("t"))
    second.core.tick(109.0)
    assert second.sink.closed_streams == []
    second.sink.info["s"] = INFO
    second.core.tick(111.0)
    assert second.sink.closed_streams == ["s"]
    assert second.sink.losses["s"] == {"streams_cut_off": 1}


def test_stream_whose_beginning_is_in_a_gap_says_so_when_it_is_introduced_again() -> None:
    """Its HELLO was unreadable, and acknowledged data after it belongs to no stream."""
    known, damaged, later = Peer(), Peer(), Peer()
    damaged.core.accept_gap()
    later.core.resume(damaged.core.state(), 0.0)
    for peer in (known, damaged, later):
        peer.say(hello(next_seq=4), batch(4))
    assert known.sink.told_losses["s"] == [{TAKEN_ELSEWHERE: 1}]
    assert damaged.sink.told_losses["s"] == later.sink.told_losses["s"] == [{LOST_IN_JOURNAL: 1}]
    damaged.say(hello("new"), batch(1, "new"))
    assert "new" not in damaged.sink.told_losses


def test_stream_that_returns_after_it_was_forgotten_here_says_so() -> None:
    """Its sequence number was removed for others: it was not taken by another aggregator."""
    peer, later = Peer(remembered_streams=1, forget_after_s=10), Peer()
    peer.say(hello("a", collector="c"), batch(1, "a"), hello("b", collector="c"), batch(1, "b"))
    peer.core.tick(0.0)
    peer.core.tick(1e6)
    assert sorted(peer.sink.closed_streams) == ["a", "b"]
    later.core.resume(peer.core.state(), 0.0)
    for each in (peer, later):
        each.say(hello("a", next_seq=2, collector="c"), hello("x", next_seq=2, collector="other"))
        assert each.sink.told_losses["a"] == [{STREAM_FORGOTTEN: 1}]
        assert each.sink.told_losses["x"] == [{TAKEN_ELSEWHERE: 1}]


def test_stream_that_another_aggregator_took_the_beginning_of_says_so() -> None:
    peer = Peer()
    assert peer.say(hello(next_seq=3), batch(3), bye(3)) == [ack(3), ack(4)]
    assert peer.sink.losses == {"s": {TAKEN_ELSEWHERE: 1}}
    whole = Peer()
    whole.say(hello(), batch(1), hello(next_seq=2), batch(2), bye(2))
    assert not whole.sink.losses["s"]


def test_stream_whose_job_was_removed_meanwhile_lost_nothing() -> None:
    peer = Peer(ForgettingSink())
    assert codes(peer.say(hello(), batch(1), batch(2))) == [("unknown_stream", 2)]
    assert peer.say(hello(next_seq=2), batch(2)) == [ack(2)]
    assert not peer.sink.losses.get("s")
