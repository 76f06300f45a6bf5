"""The collector's end of the wire: cuts, slowness, restarts and sources that violate the rules."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Closed, Opened
from iotide.collectors.transport import window
from iotide.collectors.transport.shipper import Shipper
from iotide.collectors.transport.window import FIRST_CREDIT, MAX_UNDER_WAY
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.events import Definitions, FileInfo, HandleInfo, Interner, Layer, StreamInfo, make_batch
from iotide.events.network.wire import (
    MAX_BATCH_EVENTS,
    MAX_STREAM_ID,
    Ack,
    Batch,
    Bye,
    Frame,
    Heartbeat,
    Hello,
    decode,
    encode,
)
from support.servers.sinks import RememberingSink
from support.servers.troubled_links import INFO, Wire, numbered, pair

NOTHING = Definitions([], [])
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("chunk"), st.integers(1, 40)),
        st.tuples(st.just("step"), st.integers(0, 4)),
        st.tuples(st.just("wait"), st.integers(0, 9)),
        st.tuples(st.just("cut"), st.integers(0, 1)),
    ),
    max_size=60,
)


def heard(shipper: Shipper, now_s: float = 0.0) -> Shipper:
    """Deliver a message of an aggregator to the shipper."""
    shipper.receive(encode(Heartbeat()), now_s)
    return shipper


def messages(frames: list[list[Frame]]) -> list[object]:
    return [decode(message)[0] for message in frames]


def table_sizes(sink: RememberingSink) -> list[int]:
    return [table.string_count - 1 for table in sink.definitions.values()]


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(ACTIONS, st.integers(1, 3))
def test_every_event_arrives_once_and_in_order_over_a_wire_that_is_cut(
    actions: list[tuple[str, int]], streams: int
) -> None:
    sink = RememberingSink()
    shipper, core = pair(sink, batch_events=16)
    wire = Wire(shipper, core)
    names = [f"s{number}" for number in range(streams)]
    interners = [Interner() for _ in names]
    sent = [0] * streams
    shipper.take([Opened(name, INFO) for name in names], 0.0)
    for at, (action, much) in enumerate(actions):
        if action == "chunk":
            turn = at % streams
            interners[turn].string(f"call{at}")
            shipper.take([Chunk(names[turn], numbered(sent[turn], much), interners[turn].take_fresh())], wire.now)
            sent[turn] += much
        elif action == "step":
            wire.step(most=much)
        elif action == "wait":
            wire.step(seconds=float(much), most=0)
        else:
            wire.cut(late=bool(much))
    shipper.take([Closed(name) for name in names], wire.now)
    wire.settle()
    assert {stream.split(":")[1]: starts for stream, starts in sink.starts.items()} == {
        name: list(range(count)) for name, count in zip(names, sent, strict=True)
    }
    assert sum(table_sizes(sink)) == len([action for action, _ in actions if action == "chunk"])
    assert len(sink.closed_streams) == streams
    assert not [name for name in shipper.counters if name.startswith("events_dropped")]


@settings(deadline=None, max_examples=100)
@given(ACTIONS, st.lists(st.integers(0, 60), max_size=3))
def test_restarted_aggregators_get_every_event_between_them(actions: list[tuple[str, int]], lives: list[int]) -> None:
    sinks = [RememberingSink()]
    shipper, core = pair(sinks[0], batch_events=16)
    wire, interner, sent = Wire(shipper, core), Interner(), 0
    shipper.take([Opened("s", INFO)], 0.0)
    for at, (action, much) in enumerate(actions):
        if at in lives:
            wire.cut(late=True)
            sinks.append(RememberingSink())
            wire.core = IngestCore(sinks[-1], IngestSettings())
        if action == "chunk":
            interner.string(f"call{at}")
            shipper.take([Chunk("s", numbered(sent, much), interner.take_fresh())], wire.now)
            sent += much
        else:
            wire.step(most=much)
    shipper.take([Closed("s")], wire.now)
    wire.settle()
    arrived = [sink.starts[name] for sink in sinks for name in sink.starts]
    assert set().union(*arrived) == set(range(sent))
    for starts in arrived:
        assert starts == list(range(starts[0], starts[0] + len(starts))) if starts else True
    if sent:
        (known,) = table_sizes(sinks[-1])
        assert known == interner_size(interner)
    assert not [name for name in shipper.counters if name.startswith("events_dropped")]


def interner_size(interner: Interner) -> int:
    return interner.string("one more") - 1


def test_slow_aggregator_is_not_sent_everything_again_and_again() -> None:
    sink = RememberingSink()
    shipper, core = pair(sink, batch_events=10)
    wire = Wire(shipper, core)
    shipper.take([Opened("a", INFO), Opened("b", INFO)], 0.0)
    wire.step()
    for at in range(300):
        shipper.take([Chunk("ab"[at % 2], numbered(10 * (at // 2), 10), NOTHING)], wire.now)
    shipper.take([Closed("a"), Closed("b")], wire.now)
    for _ in range(700):
        wire.step(seconds=0.5, most=1)  # takes 150 s, while acks are overdue after 2
    wire.settle()
    assert sorted(map(len, sink.starts.values())) == [1500, 1500]
    assert shipper.counters["batches_resent"] <= 2


def test_events_that_would_wait_for_credit_are_merged() -> None:
    sink = RememberingSink()
    shipper, core = pair(sink)
    core.credit_of = lambda _: 1
    wire = Wire(shipper, core)
    shipper.take([Opened("busy", INFO), Opened("quiet", INFO)], 0.0)
    wire.step()
    shipper.take([Chunk("quiet", numbered(0, 1), NOTHING)], wire.now)
    for at in range(400):  # 20 s, in which every other second passes without an answer
        shipper.take([Chunk("busy", numbered(at, 1), NOTHING)], wire.now)
        wire.step(seconds=0.05, most=int(at % 40 < 20))
        if at == 60:
            assert [len(starts) for name, starts in sink.starts.items() if name.endswith("quiet")] == [1]
    shipper.take([Closed("busy"), Closed("quiet")], wire.now)
    wire.settle()
    assert [starts for name, starts in sink.starts.items() if name.endswith("busy")] == [list(range(400))]
    assert core.stats.batches < 250


def test_silent_aggregator_is_asked_less_and_less_often() -> None:
    shipper = heard(Shipper("c", CollectorSettings(away_after_s=600, linger_s=0)))
    shipper.take([Opened("s", INFO), Chunk("s", numbered(0, 3), NOTHING)], 0.0)
    asked = [at for at in range(300) for message in messages(shipper.outgoing(float(at))) if isinstance(message, Batch)]
    assert asked == [0, 2, 6, 14, 30, 62, 126, 190, 254]


def test_lost_end_of_one_stream_is_noticed_while_another_goes_on() -> None:
    sink = RememberingSink()
    shipper, core = pair(sink, linger_s=0.0)
    wire = Wire(shipper, core)
    shipper.take([Opened("a", INFO), Opened("b", INFO)], 0.0)
    wire.step()
    shipper.take([Chunk("a", numbered(0, 3), NOTHING)], wire.now)
    wire.step(most=0)
    wire.cut()
    for at in range(60):
        shipper.take([Chunk("b", numbered(at, 1), NOTHING)], wire.now)
        wire.step()
    assert sorted(map(len, sink.starts.values())) == [3, 60]


def test_acknowledgement_of_a_repeated_batch_is_not_taken_for_that_of_bye() -> None:
    shipper = heard(Shipper("c", CollectorSettings(linger_s=0)))
    shipper.take([Opened("s", INFO), Chunk("s", numbered(0, 3), NOTHING), Closed("s")], 0.0)
    stream = next(m.stream for m in messages(shipper.outgoing(0.0)) if isinstance(m, Batch))
    shipper.receive(encode(Ack(stream=stream, seq=1, credit=9)), 0.1)
    assert Bye(stream=stream, last_seq=1, made=3) in messages(shipper.outgoing(0.2))
    shipper.receive(encode(Ack(stream=stream, seq=1, credit=9)), 0.3)
    assert not shipper.flushed
    shipper.receive(encode(Ack(stream=stream, seq=2, credit=9)), 0.4)
    assert shipper.flushed


@pytest.mark.parametrize("restart", [False, True])
def test_definitions_too_many_for_one_message_arrive_in_several(
    monkeypatch: pytest.MonkeyPatch, *, restart: bool
) -> None:
    monkeypatch.setattr(window, "packed", lambda definitions: real_packed(definitions, 100))
    sink = RememberingSink()
    shipper, core = pair(sink, linger_s=0.0)
    wire, interner = Wire(shipper, core), Interner()
    shipper.take([Opened("s", INFO)], 0.0)
    for at in range(4):
        for number in range(20):
            interner.string(f"call{at}-{number}")
            interner.file(f"/scratch/{at}-{number}")
        shipper.take([Chunk("s", numbered(at, 1), interner.take_fresh())], wire.now)
        wire.step()
    if restart:
        wire.step()
        sink = RememberingSink()
        wire.core = IngestCore(sink, IngestSettings())
    interner.string("last")
    shipper.take([Chunk("s", numbered(4, 1), interner.take_fresh())], wire.now)
    wire.step()
    wire.cut()  # in the middle of it
    wire.settle()
    (table,) = sink.definitions.values()
    assert (table.string_count - 1, table.file_count - 1) == (81, 80)
    assert table.string(81) == "last"
    (starts,) = sink.starts.values()
    assert starts == ([4] if restart else [0, 1, 2, 3, 4])


real_packed = window.packed


def test_packed_definitions_are_bounded_and_in_order() -> None:
    texts = [(number, "é" * number) for number in range(1, 30)]
    files = [(number, FileInfo("x" * 90)) for number in range(1, 5)]
    handles = [(number, HandleInfo(2**31, 2**31, Layer.POSIX, "inherited" * 9, 2**20, 2**20)) for number in range(5)]
    parts = real_packed(Definitions(texts, files, handles, texts), 400)
    assert [text for part in parts for text in part.strings] == texts
    assert [file for part in parts for file in part.files] == files
    assert [handle for part in parts for handle in part.handles] == handles
    assert [text for part in parts for text in part.signatures] == texts
    assert max(len(encode_definitions(part)) for part in parts) <= 400
    assert len(real_packed(NOTHING)) == 1


def encode_definitions(part: Definitions) -> bytes:
    import msgspec

    return msgspec.msgpack.encode(part)


def test_batch_without_an_end_is_split() -> None:
    sink = RememberingSink()
    shipper, core = pair(sink)
    shipper.take([Opened("s", INFO), Chunk("s", numbered(0, 2 * MAX_BATCH_EVENTS + 5), NOTHING)], 0.0)
    Wire(shipper, core).settle()
    assert [len(starts) for starts in sink.starts.values()] == [2 * MAX_BATCH_EVENTS + 5]
    assert core.stats.batches == 3


def test_small_chunks_travel_as_one_batch() -> None:
    sink = RememberingSink()
    shipper, core = pair(sink)
    wire = Wire(shipper, core)
    shipper.take([Opened("s", INFO)], 0.0)
    for at in range(100):
        shipper.take([Chunk("s", numbered(at, 1), NOTHING)], 0.0)
    wire.settle()
    assert core.stats.batches == 1
    assert next(iter(sink.starts.values())) == list(range(100))


def test_stream_that_is_opened_twice_is_two_streams() -> None:
    sink = RememberingSink()
    shipper, core = pair(sink)
    long = "x" * 2 * MAX_STREAM_ID
    for at in range(2):
        shipper.take([Opened(long, INFO), Chunk(long, numbered(at, 1), NOTHING)], 0.0)
    shipper.take([Opened(long + "y", INFO), Chunk(long + "y", numbered(2, 1), NOTHING)], 0.0)
    shipper.take([Closed(long), Closed(long), Closed(long + "y")], 0.0)
    Wire(shipper, core).settle()
    assert sorted(sink.starts.values()) == [[0], [1], [2]]
    assert len(sink.closed_streams) == 3


def test_streams_of_two_collectors_with_one_name_stay_apart() -> None:
    sink = RememberingSink()
    core = IngestCore(sink, IngestSettings())
    for collector in ("a:1:x", "b:1:x"):
        shipper = Shipper(collector, CollectorSettings())
        shipper.take([Opened("s", INFO), Chunk("s", numbered(0, 1), NOTHING), Closed("s")], 0.0)
        Wire(shipper, core).settle()
    assert list(sink.starts.values()) == [[0], [0]]


def test_events_of_no_open_stream_are_counted() -> None:
    shipper = Shipper("c", CollectorSettings())
    shipper.take([Opened("s", INFO), Closed("s"), Chunk("s", numbered(0, 7), NOTHING), Closed("never")], 0.0)
    assert shipper.counters["events_dropped:no_stream"] == 7


def test_texts_that_are_not_unicode_travel_spelled_out() -> None:
    sink = RememberingSink()
    shipper, core = pair(sink)
    wire, interner = Wire(shipper, core), Interner()
    interner.file("/scratch/caf\udce9")
    odd = StreamInfo(job="job", source="test", command="run caf\udce9")
    shipper.take([Opened("f\udce9", odd), Chunk("f\udce9", numbered(0, 1), interner.take_fresh())], 0.0)
    wire.settle()
    wire.core = IngestCore(sink := RememberingSink(), IngestSettings())
    shipper.take([Chunk("f\udce9", numbered(1, 1), NOTHING)], wire.now)
    wire.settle()
    (table,) = sink.definitions.values()
    assert table.file(1).path == r"/scratch/caf\udce9"
    assert [info.command for info in sink.info.values()] == [r"run caf\udce9"]


def test_counters_of_sources_reach_the_aggregator_whatever_integer_they_are() -> None:
    from collections import Counter

    shipper = Shipper("c", CollectorSettings())
    counts: Counter[str] = Counter({"events": np.int64(5)})  # type: ignore[dict-item]
    (beat,) = messages(shipper.outgoing(0.0, lambda: counts))
    assert isinstance(beat, Heartbeat)
    assert beat.counters == {"events": 5}


def test_garbage_from_the_aggregator_is_counted() -> None:
    shipper = Shipper("c", CollectorSettings())
    shipper.receive([b"\xc1"], 0.0)
    shipper.receive([], 0.0)
    shipper.receive(encode(Ack(stream="nobody", seq=2**63, credit=-5)), 0.0)
    assert shipper.counters["messages_malformed"] == 2


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(ACTIONS)
def test_dropped_events_are_counted_exactly(actions: list[tuple[str, int]]) -> None:
    sink = RememberingSink()
    shipper, core = pair(sink, batch_events=1000, backlog_bytes=1 << 16)
    wire, interner, sent = Wire(shipper, core), Interner(), 0
    shipper.take([Opened("s", INFO)], 0.0)
    for at, (action, much) in enumerate(actions):
        if action == "chunk":
            interner.string(f"call{at}")
            shipper.take([Chunk("s", numbered(sent, 100 * much), interner.take_fresh())], wire.now)
            sent += 100 * much
        elif action == "cut":
            wire.cut()
        else:
            wire.step(most=much)
    shipper.take([Closed("s", Counter({"events_dropped:ring_full": 5}))], wire.now)
    wire.settle()
    (starts,) = sink.starts.values()
    lost = shipper.counters["events_dropped:shipper_full"]
    assert len(starts) + lost == sent
    assert starts == sorted(set(starts))
    assert [Counter(losses) for losses in sink.losses.values()] == [
        Counter({"events_dropped:ring_full": 5, "events_dropped:shipper_full": lost})
    ]


@pytest.mark.parametrize("lasts_s", [0.01, 0.3])
def test_aggregator_that_is_slow_is_sent_nothing_twice(lasts_s: float) -> None:
    """Each batch takes so long that a window of them exceeds the ack timeout."""
    sink = RememberingSink()
    shipper, core = pair(sink, batch_events=10, resend_after_s=1.0)
    wire = Wire(shipper, core)
    shipper.take([Opened("s", INFO), *(Chunk("s", numbered(10 * at, 10), Definitions()) for at in range(200))], 0.0)
    shipper.take([Closed("s")], 0.0)
    for _ in range(1000):
        wire.step(lasts_s, most=1)
    assert shipper.flushed
    assert next(iter(sink.starts.values())) == list(range(2000))
    assert shipper.counters["batches_resent"] == 0


def test_streams_are_introduced_no_faster_than_their_batches_are_taken() -> None:
    shipper, core = pair(RememberingSink(), batch_events=1)
    wire = Wire(shipper, core)
    names = [f"s{number}" for number in range(5 * FIRST_CREDIT)]
    shipper.take([Opened("idle", INFO)], 0.0)
    shipper.outgoing(0.0)
    shipper.receive(encode(Heartbeat()), 0.0)
    shipper.take(
        [item for name in names for item in (Opened(name, INFO), Chunk(name, numbered(0, 1), Definitions()))], 0.0
    )
    sent = [decode(frames)[0] for frames in shipper.outgoing(0.1)]
    introduced = [message.stream for message in sent if isinstance(message, Hello)]
    assert len(introduced) == 1 + FIRST_CREDIT
    assert introduced[0].endswith(":idle")
    shipper.take([Closed(name) for name in (*names, "idle")], 0.1)
    wire.now = 100.0
    wire.settle()
    assert len(wire.core.stats.rejected) <= 1
    assert wire.core.stats.events == len(names)


def test_no_more_than_some_megabytes_wait_for_an_aggregator_that_is_slow() -> None:
    shipper = heard(Shipper("node:1:abc", CollectorSettings(batch_events=1 << 16, backlog_bytes=1 << 30)))
    shipper.take([Opened("s", INFO)], 0.0)
    columns = {"start": np.arange(1 << 16), "offset": np.arange(1 << 16), "bytes": np.arange(1 << 16)}
    for _ in range(60):
        shipper.take([Chunk("s", make_batch(1 << 16, columns), Definitions())], 0.0)
    size = 24 << 16

    def sent(now_s: float) -> list[int]:
        found = [message for message in messages(shipper.outgoing(now_s)) if isinstance(message, Batch)]
        assert all(message.stream == found[0].stream for message in found)
        stream.extend(message.stream for message in found)
        return [message.seq for message in found]

    def acknowledge(seq: int, now_s: float) -> None:
        shipper.receive(encode(Ack(stream=stream[0], seq=seq, credit=256)), now_s)

    stream: list[str] = []
    assert sent(0.0) == [1]  # all collectors send at once when an aggregator returns
    acknowledge(1, 0.1)
    window = -(-MAX_UNDER_WAY // size)
    assert sent(0.1) == list(range(2, 2 + window))
    acknowledge(1 + window, 0.2)
    assert sent(0.2) == list(range(2 + window, 2 + 2 * window))
    assert sent(100.0) == []  # an outage
    acknowledge(1 + 2 * window, 100.1)
    assert sent(100.1) == list(range(2 + 2 * window, 2 + 3 * window))
