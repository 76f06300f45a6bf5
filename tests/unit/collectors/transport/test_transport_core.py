"""Shipper and ingest over a link that loses, repeats and delays: nothing is lost, nothing counted twice."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Changed, Chunk, Closed, Opened
from iotide.collectors.transport.shipper import Shipper
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.events import Definitions, Interner
from iotide.events.network.wire import Batch, Bye, Frame, Hello, Reject, decode, encode, encode_batch
from support.servers.sinks import RememberingSink
from support.servers.troubled_links import INFO, Link, numbered, pair


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.floats(0, 0.3), st.integers(1, 3), st.lists(st.integers(1, 40), max_size=25))
def test_every_event_arrives_once_and_in_order_over_a_bad_link(
    seed: int, trouble: float, streams: int, sizes: list[int]
) -> None:
    sink = RememberingSink()
    shipper, core = pair(sink, batch_events=16)
    link = Link(shipper, core, seed, trouble)
    names = [f"s{number}" for number in range(streams)]
    interners = {name: Interner() for name in names}
    shipper.take([Opened(name, INFO) for name in names], link.now)
    sent: dict[str, int] = dict.fromkeys(names, 0)
    for at, size in enumerate(sizes):
        name = names[at % streams]
        interners[name].string(f"call{at}")
        shipper.take([Chunk(name, numbered(sent[name], size), interners[name].take_fresh())], link.now)
        sent[name] += size
        link.step()
    shipper.take([Closed(name) for name in names], link.now)
    shipper.flush(link.now)
    link.settle()
    arrived = {stream.split(":", 1)[1]: starts for stream, starts in sink.starts.items()}
    assert arrived == {name: list(range(count)) for name, count in sent.items()}
    assert len(sink.closed_streams) == streams
    assert sum(table.string_count - 1 for table in sink.definitions.values()) == len(sizes)
    assert not [reason for reason in shipper.counters if reason.startswith("events_dropped")]


def test_full_backlog_drops_the_oldest_and_counts_exactly() -> None:
    sink = RememberingSink()
    shipper, core = pair(sink, batch_events=1000, backlog_bytes=1 << 16)
    interner = Interner()
    shipper.take([Opened("s", INFO)], 0.0)
    for at in range(40):
        interner.string(f"call{at}")
        shipper.take([Chunk("s", numbered(1000 * at, 1000), interner.take_fresh())], 0.0)
    shipper.take([Closed("s")], 0.0)
    Link(shipper, core).settle()
    (starts,) = sink.starts.values()
    dropped = shipper.counters["events_dropped:shipper_full"]
    assert dropped > 0
    assert starts == list(range(dropped, 40_000))
    (table,) = sink.definitions.values()
    assert table.string(40) == "call39"


def test_aggregator_that_lost_its_memory_is_told_everything_again() -> None:
    first, second = RememberingSink(), RememberingSink()
    shipper, core = pair(first)
    interner = Interner()
    interner.file("/scratch/out")
    link = Link(shipper, core)
    shipper.take([Opened("s", INFO), Chunk("s", numbered(0, 5), interner.take_fresh())], 0.0)
    link.settle()
    link.core = IngestCore(second, IngestSettings())
    shipper.take([Chunk("s", numbered(5, 5), Definitions([], [])), Closed("s")], link.now)
    link.settle()
    assert next(iter(first.starts.values())) == [0, 1, 2, 3, 4]
    assert next(iter(second.starts.values())) == [5, 6, 7, 8, 9]
    assert next(iter(second.definitions.values())).file(1).path == "/scratch/out"


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32), trouble=st.sampled_from([0.0, 0.1, 0.3]), said=st.integers(0, 3))
def test_last_that_a_stream_says_of_itself_arrives_whatever_the_wire_does(seed: int, trouble: float, said: int) -> None:
    sink = RememberingSink()
    shipper, core = pair(sink)
    link = Link(shipper, core, seed, trouble)
    shipper.take([Opened("s", INFO), Chunk("s", numbered(0, 5), Definitions())], 0.0)
    for rank in range(said):
        shipper.take([Changed("s", msgspec.structs.replace(INFO, rank=rank, ranks=4))], link.now)
        link.step()
    shipper.take([Closed("s")], link.now)
    link.settle()
    (info,) = sink.info.values()
    assert (info.rank, info.ranks) == ((said - 1, 4) if said else (-1, 0))


def test_news_of_a_stream_travel_once() -> None:
    shipper, core = pair(RememberingSink(), batch_events=1)
    link = Link(shipper, core)
    shipper.take([Opened("s", INFO)], 0.0)
    link.step()
    shipper.take([Changed("s", msgspec.structs.replace(INFO, rank=2))], link.now)
    for at in range(3):
        shipper.take([Chunk("s", numbered(at, 1), Definitions())], link.now)
    batches = [message for frames in shipper.outgoing(link.now) if isinstance(message := decode(frames)[0], Batch)]
    assert [batch.info is not None for batch in batches] == [True, False, False, False]


def test_aggregator_that_lost_its_memory_hears_what_the_stream_said_last() -> None:
    shipper, core = pair(RememberingSink())
    link = Link(shipper, core)
    shipper.take([Opened("s", INFO), Changed("s", msgspec.structs.replace(INFO, rank=2))], 0.0)
    link.settle()
    later = RememberingSink()
    link.core = IngestCore(later, IngestSettings())
    shipper.take([Chunk("s", numbered(0, 1), Definitions())], link.now)
    link.settle()
    assert [info.rank for info in later.info.values()] == [2]


def test_nothing_but_heartbeats_is_sent_before_the_aggregator_is_heard() -> None:
    shipper, _ = pair(RememberingSink())
    shipper.take([Opened("s", INFO), Chunk("s", numbered(0, 5), Definitions([], []))], 0.0)
    messages = [decode(frames)[0] for at in range(100) for frames in shipper.outgoing(at * 0.1)]
    assert len(messages) == 10
    assert {type(message).__name__ for message in messages} == {"Heartbeat"}


def test_rejected_batch_is_counted_and_its_neighbours_arrive() -> None:
    sink = RememberingSink()
    sink.refuse_start = 10
    shipper, core = pair(sink, batch_events=10)
    shipper.take([Opened("s", INFO)], 0.0)
    for at in range(3):
        shipper.take([Chunk("s", numbered(10 * at, 10), Definitions([], []))], 0.0)
    shipper.take([Closed("s")], 0.0)
    Link(shipper, core).settle()
    assert next(iter(sink.starts.values())) == [*range(10), *range(20, 30)]
    assert shipper.counters["events_dropped:rejected"] == 10
    assert core.stats.malformed == 1


def test_credit_bounds_what_is_under_way() -> None:
    sink = RememberingSink()
    shipper = Shipper("c", CollectorSettings(batch_events=1))
    core = IngestCore(sink, IngestSettings(credit=3))
    link = Link(shipper, core)
    shipper.take([Opened("s", INFO)], 0.0)
    link.step()
    shipper.take([Chunk("s", numbered(0, 1), Definitions([], []))], link.now)
    link.step()
    for at in range(1, 20):
        shipper.take([Chunk("s", numbered(at, 1), Definitions([], []))], link.now)
    batches = [frames for frames in shipper.outgoing(link.now + 0.01) if isinstance(decode(frames)[0], Batch)]
    assert len(batches) == 3


def reject_of(core: IngestCore, message: list[Frame]) -> Reject:
    ((_, frames),) = core.receive(b"peer", message, 0.0)
    answer, _ = decode(frames)
    assert isinstance(answer, Reject)
    return answer


def hello(stream: str = "s", **changes: object) -> list[Frame]:
    return encode(Hello(**({"collector": "c", "stream": stream, "info": INFO} | changes)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ([b"\xc1"], "malformed"),
        ([], "malformed"),
        (hello(version=99), "version"),
        (hello(next_seq=0), "malformed"),
        (encode_batch("unknown", 1, numbered(0, 1), Definitions()), "unknown_stream"),
        (encode(Bye(stream="unknown", last_seq=0)), "unknown_stream"),
    ],
)
def test_message_against_the_rules_is_rejected_with_its_code(message: list[Frame], code: str) -> None:
    core = IngestCore(RememberingSink(), IngestSettings())
    answer = reject_of(core, message)
    assert answer.code == code
    assert answer.reason


def test_streams_beyond_the_bound_are_refused_and_counted_by_the_collector() -> None:
    sink = RememberingSink()
    shipper = Shipper("c", CollectorSettings())
    core = IngestCore(sink, IngestSettings(max_streams=1))
    for name in ("a", "b"):
        shipper.take([Opened(name, INFO), Chunk(name, numbered(0, 7), Definitions([], []))], 0.0)
    link = Link(shipper, core)
    for _ in range(50):
        link.step()
    assert len(sink.starts) == 1
    assert shipper.counters["events_dropped:rejected"] == 7
    shipper.take([Closed("a"), Closed("b")], link.now)
    link.settle()


def test_broken_columns_skip_their_batch_only() -> None:
    sink = RememberingSink()
    core = IngestCore(sink, IngestSettings())
    core.receive(b"peer", hello(), 0.0)
    broken = encode_batch("s", 1, numbered(0, 400), Definitions())[:-1]
    assert reject_of(core, broken).seq == 1
    core.receive(b"peer", encode_batch("s", 2, numbered(4, 4), Definitions()), 0.0)
    assert sink.starts["s"] == [4, 5, 6, 7]


def test_late_repetition_of_an_ended_stream_is_a_duplicate() -> None:
    sink = RememberingSink()
    core = IngestCore(sink, IngestSettings())
    batch = encode_batch("s", 1, numbered(0, 4), Definitions())
    for message in (hello(), batch, encode(Bye(stream="s", last_seq=1)), hello(), batch):
        core.receive(b"peer", message, 0.0)
    assert sink.starts["s"] == [0, 1, 2, 3]
    assert core.stats.duplicates == 1


def test_silent_collector_is_reported_lost_once() -> None:
    sink = RememberingSink()
    shipper, core = pair(sink)
    link = Link(shipper, core)
    link.step()
    assert core.stats.collectors == 1
    core.tick(link.now + 60)
    core.tick(link.now + 120)
    assert sink.lost_collectors == ["node:1:abc"]
