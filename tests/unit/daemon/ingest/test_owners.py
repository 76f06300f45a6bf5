"""A stream belongs to the collector that opened it: other peers are rejected, and a reconnection loses nothing."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from iotide.collectors.source import Chunk, Closed, Opened
from iotide.collectors.transport.shipper import Shipper
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.events import Definitions
from iotide.events.network.wire import Ack, Bye, Frame, Heartbeat, Hello, Message, Reject, decode, encode, encode_batch
from support.servers.sinks import RememberingSink
from support.servers.troubled_links import INFO, numbered, pair


def hello(stream: str, collector: str, next_seq: int = 1) -> list[Frame]:
    return encode(Hello(collector=collector, stream=stream, info=INFO, next_seq=next_seq))


def batch(stream: str, seq: int, first: int) -> list[Frame]:
    return encode_batch(stream, seq, numbered(first, 1), Definitions())


def bye(stream: str, last_seq: int) -> list[Frame]:
    return encode(Bye(stream=stream, last_seq=last_seq))


def said(core: IngestCore, peer: bytes, *messages: list[Frame]) -> list[Message]:
    return [decode(answer)[0] for message in messages for _, answer in core.receive(peer, message, 0.0)]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (batch("s", 2, 20), "unknown_stream"),
        (bye("s", 1), "unknown_stream"),
        (bye("s", 7), "unknown_stream"),
        (hello("s", "thief"), "foreign"),
        (hello("s", "thief", 9), "foreign"),
    ],
)
def test_messages_of_another_peer_about_a_stream_are_rejected_and_counted(message: list[Frame], code: str) -> None:
    sink = RememberingSink()
    core = IngestCore(sink, IngestSettings())
    said(core, b"owner", hello("s", "c"), batch("s", 1, 10))
    (answer,) = said(core, b"thief", message)
    assert isinstance(answer, Reject)
    assert answer.code == code
    assert answer.reason
    assert (core.stats.foreign, core.stats.rejected[code]) == (1, 1)
    assert isinstance(said(core, b"owner", batch("s", 2, 11))[0], Ack)
    assert (sink.starts, sink.closed_streams) == ({"s": [10, 11]}, [])


def test_stream_that_has_ended_stays_its_collectors() -> None:
    core = IngestCore(RememberingSink(), IngestSettings())
    said(core, b"owner", hello("s", "c"), bye("s", 0))
    (answer,) = said(core, b"thief", hello("s", "thief"))
    assert isinstance(answer, Reject)
    assert answer.code == "foreign"
    assert said(core, b"owner", hello("s", "c")) == []


def test_stream_stays_its_collectors_over_a_restart_and_when_it_was_cut_off() -> None:
    before = IngestCore(RememberingSink(), IngestSettings(lost_after_s=1, forget_after_s=1))
    said(before, b"owner", encode(Heartbeat(collector="c")), hello("s", "c"), batch("s", 1, 10))
    after = IngestCore(RememberingSink(), IngestSettings())
    after.resume(before.state(), 0.0)
    for now in (10.0, 20.0, 30.0):
        before.tick(now)
    assert before.stats.streams == 0
    for core in (before, after):
        (answer,) = said(core, b"thief", hello("s", "thief", 2))
        assert isinstance(answer, Reject)
        assert answer.code == "foreign"
        assert said(core, b"owner", hello("s", "c", 2)) == []
        assert isinstance(said(core, b"owner", batch("s", 2, 11))[0], Ack)


@pytest.mark.parametrize("name_said", [hello("s", "c", 2), encode(Heartbeat(collector="c"))])
def test_collector_that_reconnects_says_its_name_and_goes_on(name_said: list[Frame]) -> None:
    sink = RememberingSink()
    core = IngestCore(sink, IngestSettings())
    said(core, b"before", hello("s", "c"), batch("s", 1, 10))
    said(core, b"after", name_said)
    assert isinstance(said(core, b"after", batch("s", 2, 11))[0], Ack)
    assert isinstance(said(core, b"before", batch("s", 3, 12))[0], Reject)
    assert sink.starts == {"s": [10, 11]}


def test_shipper_whose_connection_is_another_sends_everything_once() -> None:
    sink = RememberingSink()
    shipper, core = pair(sink, batch_events=1)
    now, sent = 0.0, 0
    shipper.take([Opened("s", INFO)], now)
    for connection in range(5):
        for _ in range(3):
            shipper.take([Chunk("s", numbered(sent, 1), Definitions())], now)
            sent += 1
        for _ in range(40):  # far less than the ack timeout of a batch
            now += 0.1
            lost = connection % 2 and _ == 0  # data in the old connection
            for message in shipper.outgoing(now):
                for _, reply in () if lost else core.receive(b"%d" % connection, message, now):
                    shipper.receive(reply, now)
    shipper.take([Closed("s")], now)
    _exchange(shipper, core, b"last", now)
    assert shipper.flushed
    assert next(iter(sink.starts.values())) == list(range(sent))
    assert len(sink.closed_streams) == 1


def _exchange(shipper: Shipper, core: IngestCore, peer: bytes, now: float) -> None:
    for _ in range(100):
        now += 0.1
        for message in shipper.outgoing(now):
            for _, reply in core.receive(peer, message, now):
                shipper.receive(reply, now)


class TwoCollectors(RuleBasedStateMachine):
    """Two collectors that know only their own names send arbitrary messages on any stream, and reconnect now and then.

    The model follows the rules: each stream has one owner, and only the owner's messages change it.
    """

    streams = st.sampled_from(["a", "b", "c"])
    names = st.sampled_from(["one", "two"])
    numbers = st.integers(1, 4)

    def __init__(self) -> None:
        super().__init__()
        self.sink = RememberingSink()
        self.core = IngestCore(self.sink, IngestSettings())
        self.connections: Counter[str] = Counter()
        self.speaks: dict[str, bytes] = {}
        """The connection over which each collector last sent its name."""
        self.owner: dict[str, str] = {}
        self.taken: dict[str, list[int]] = {}
        self.ended: set[str] = set()
        self.stamp = 0

    def peer(self, name: str) -> bytes:
        return f"{name}{self.connections[name]}".encode()

    def may_speak(self, name: str, stream: str) -> bool:
        return self.owner.get(stream) == name and stream not in self.ended and self.speaks.get(name) == self.peer(name)

    @rule(name=names)
    def reconnects(self, name: str) -> None:
        self.connections[name] += 1

    @rule(name=names)
    def beats(self, name: str) -> None:
        self.core.receive(self.peer(name), encode(Heartbeat(collector=name)), 0.0)
        self.speaks[name] = self.peer(name)

    @rule(name=names, stream=streams)
    def introduces(self, name: str, stream: str) -> None:
        answers = said(self.core, self.peer(name), hello(stream, name))
        if self.owner.setdefault(stream, name) == name:
            self.taken.setdefault(stream, [])
            self.speaks[name] = self.peer(name)
            assert answers == []
        else:
            assert [getattr(answer, "code", "") for answer in answers] == ["foreign"]

    @rule(name=names, stream=streams, seq=numbers)
    def sends(self, name: str, stream: str, seq: int) -> None:
        self.stamp += 1
        self.core.receive(self.peer(name), batch(stream, seq, self.stamp), 0.0)
        if self.may_speak(name, stream) and seq == len(self.taken[stream]) + 1:
            self.taken[stream].append(self.stamp)

    @rule(name=names, stream=streams, last=st.integers(0, 4))
    def ends(self, name: str, stream: str, last: int) -> None:
        self.core.receive(self.peer(name), bye(stream, last), 0.0)
        if self.may_speak(name, stream) and last <= len(self.taken[stream]):
            self.ended.add(stream)

    @invariant()
    def each_stream_has_what_its_collector_said(self) -> None:
        assert self.sink.starts == self.taken
        assert set(self.sink.closed_streams) == self.ended
        assert self.core.stats.streams == len(self.owner) - len(self.ended)


TestTwoCollectors = TwoCollectors.TestCase
TestTwoCollectors.pytestmark = [pytest.mark.slow]  # type: ignore[attr-defined]
TestTwoCollectors.settings = settings(deadline=None, max_examples=60, stateful_step_count=30)
