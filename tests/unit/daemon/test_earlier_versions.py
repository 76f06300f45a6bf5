"""Collectors and aggregators of earlier versions, by their recorded messages (``tests/data/wire``), against today's.

Each file has the messages of a collector of its time (``collector``), and the answers of an aggregator of its time to
the messages of ``conversation`` (``answers``). It is never written anew when today's messages change, because it
represents the earlier version.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Closed, Opened
from iotide.collectors.transport.shipper import Shipper
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.events import Definitions, Interner, Kind, StreamInfo, make_batch
from iotide.events.network.wire import Frame, decode_header
from support.servers.sinks import RememberingSink

RECORDED = sorted((Path(__file__).parents[2] / "data" / "wire").glob("*.msgpack"))
FIRST_NS, EACH_NS = 10**18, 10**6
PARTS = (100, 100, 300)
"""Events of the batches: columns of the last one are frames."""


def conversation(answer: Callable[[list[Frame]], list[list[Frame]]]) -> Shipper:
    """Let a collector of today send a stream, and return the result."""
    shipper = Shipper("node:1:abc", CollectorSettings(host="n1"))
    now_s = 0.0

    def step() -> None:
        nonlocal now_s
        now_s += 1.1
        for message in shipper.outgoing(now_s):
            for reply in answer(message):
                shipper.receive(reply, now_s)

    step()
    info = StreamInfo(
        job="j", source="preload", host="n1", user="u", command="sim", rank=3, ranks=4, pid=7, ends_at_s=9.0
    )
    shipper.take([Opened("s", info)], now_s)
    interner = Interner()
    for count in PARTS:
        columns = {"start": FIRST_NS + np.arange(count) * EACH_NS, "kind": int(Kind.WRITE), "bytes": np.arange(count)}
        names = {"call": interner.string("write"), "file": interner.file("/scratch/out")}
        shipper.take([Chunk("s", make_batch(count, columns | names), interner.take_fresh())], now_s)
        shipper.flush(now_s)
        step()
        step()
    shipper.take([Closed("s")], now_s)
    for _ in range(4):
        step()
    return shipper


@pytest.fixture(params=RECORDED, ids=[path.stem for path in RECORDED])
def recorded(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(msgspec.msgpack.decode(request.param.read_bytes()))


def test_stream_of_an_earlier_collector_is_taken_in_whole(recorded: dict[str, Any]) -> None:
    sink = RememberingSink()
    core = IngestCore(sink, IngestSettings())
    answers = [
        decode_header(reply[0]) for frames in recorded["collector"] for _, reply in core.receive(b"p", frames, 1.0)
    ]
    (starts,) = sink.starts.values()
    assert starts == [FIRST_NS + number * EACH_NS for count in PARTS for number in range(count)]
    (info,) = sink.info.values()
    assert (info.job, info.host, info.user, info.command, info.rank, info.ranks, info.pid) == (
        *("j", "n1", "u", "sim"),
        *(3, 4, 7),
    )
    assert len(sink.closed_streams) == 1
    assert not any(sink.losses.values())
    assert core.stats.rejected.total() == core.stats.malformed == core.stats.foreign == 0
    assert {type(answer).__name__ for answer in answers} == {"Ack", "Heartbeat"}


def test_earlier_aggregator_takes_a_stream_of_today(recorded: dict[str, Any]) -> None:
    answers = iter(recorded["answers"])
    sent: list[list[Frame]] = []

    def answer(message: list[Frame]) -> list[list[Frame]]:
        sent.append(message)
        return list(next(answers))

    shipper = conversation(answer)
    assert shipper.flushed
    assert shipper.counters["events_sent"] == sum(PARTS)
    assert not [name for name in shipper.counters if name.startswith(("events_dropped", "rejected", "messages"))]
    for message in sent:  # no field that an aggregator of that time needs has another type, or is missing
        msgspec.msgpack.decode(message[0], type=Then)


class HelloThen(msgspec.Struct, tag="hello", kw_only=True):
    """Fields read by an aggregator of the first version, which ignores unknown fields."""

    version: int
    collector: str
    stream: str
    info: dict[str, Any]
    next_seq: int = 1
    definitions: Definitions


class BatchThen(msgspec.Struct, tag="batch", kw_only=True):
    stream: str
    seq: int
    length: int
    columns: list[tuple[str, int | bytes | None]]
    definitions: Definitions | None = None
    info: dict[str, Any] | None = None


class HeartbeatThen(msgspec.Struct, tag="heartbeat", kw_only=True):
    collector: str
    host: str
    counters: dict[str, int]


class ByeThen(msgspec.Struct, tag="bye", kw_only=True):
    stream: str
    last_seq: int


Then = HelloThen | BatchThen | HeartbeatThen | ByeThen
