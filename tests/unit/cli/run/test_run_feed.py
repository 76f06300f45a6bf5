"""The feed calls its creator when it has passed on items, so that an idle aggregator may rest."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import pytest
from iotide.analyzers.pipeline.whole_streams import WholeStream
from iotide.cli.run.burst_deferral import BurstDeferral
from iotide.cli.run.run_feed import Feed
from iotide.collectors.settings import SpoolSettings
from iotide.collectors.source import Chunk, Closed, Opened, SourceItem
from iotide.daemon.ingest.ingest_settings import IngestStats
from iotide.daemon.ingest.sink import Sink
from iotide.events import Definitions, StreamInfo, make_batch
from support.servers.sinks import RememberingSink
from support.system.waiting import DEADLINE_S


class Given:
    """A source whose first poll returns given items."""

    waiting_calls = 0

    def __init__(self, *items: SourceItem) -> None:
        self.items: list[SourceItem] = list(items)

    def poll(self) -> list[SourceItem]:
        items, self.items = self.items, []
        return items


class Ending:
    """A source that ends within a poll that returns nothing, and reports nothing more."""

    waiting_calls = 0
    has_pending_metadata = False
    finished = False

    def __init__(self) -> None:
        self.counters = Counter[str]()
        self.descriptor = os.eventfd(0)

    def listen(self) -> None: ...

    def fileno(self) -> int:
        return self.descriptor

    def poll(self) -> list[SourceItem]:
        self.finished = True
        return []


class Receiver:
    """A sink of ends of streams."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    def closed(self, stream: str, losses: Counter[str]) -> None:
        self.ended.append(stream)


def test_feed_reports_that_it_has_passed_on_items() -> None:
    sink, seen = Receiver(), list[int]()
    deferral = BurstDeferral(SpoolSettings(), 1.0)
    feed = Feed(cast(Any, Given(Closed("stream"))), cast(Sink, sink), IngestStats(), "host", deferral)
    feed.on_items = lambda: seen.append(len(sink.ended))
    assert [feed.pump(), feed.pump()] == [True, False]
    assert seen == [1]


def test_feed_ends_with_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.cli.run.run_feed._HEARTBEAT_S", 10**6)
    source = Ending()
    feed = Feed(cast(Any, source), RememberingSink(), IngestStats(), "host", BurstDeferral(SpoolSettings(), 1.0))

    async def ended() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await feed.run()

    asyncio.run(ended())
    os.close(source.descriptor)


def test_feed_passes_streams_that_came_as_a_whole_on_together() -> None:
    batch, names = make_batch(2, {"call": 1}), Definitions([(1, "write")])
    infos = [StreamInfo(job="job", source="preload", pid=number, clock_offset_ns=0) for number in range(5)]

    def whole(number: int, lost: int = 0) -> list[SourceItem]:
        name, losses = f"s{number}", +Counter({"events_dropped:ring_full": lost})
        return [Opened(name, infos[number]), Chunk(name, batch, names), Closed(name, losses)]

    items = [*whole(0), *whole(1), *whole(2, lost=1), Opened("s3", infos[3]), *whole(4), Closed("s3")]
    sink, stats = RememberingSink(), IngestStats()
    together: list[list[str]] = []

    class Whole(RememberingSink):
        def whole_streams(self, streams: Sequence[WholeStream]) -> None:
            together.append([each.stream for each in streams])

    for receiver in (sink, whole_sink := Whole()):
        stats = IngestStats()
        feed = Feed(cast(Any, Given(*items)), receiver, stats, "host", BurstDeferral(SpoolSettings(), 1.0), 99.0)
        assert feed.pump()
        assert (stats.messages, stats.batches, stats.events, stats.streams) == (14, 4, 8, 0)
    assert together == [["s0", "s1"], ["s4"]]
    assert {name: len(starts) for name, starts in sink.starts.items()} == {"s0": 2, "s1": 2, "s2": 2, "s3": 0, "s4": 2}
    assert {name: len(starts) for name, starts in whole_sink.starts.items()} == {"s2": 2, "s3": 0}


def test_failure_of_an_odd_stream_affects_no_other() -> None:
    batch = make_batch(2, {"call": 1})

    def whole(number: int, job: str = "job", first: int = 1) -> list[SourceItem]:
        info = StreamInfo(job=job, source="preload", pid=number, clock_offset_ns=0)
        return [
            Opened(f"s{number}", info),
            Chunk(f"s{number}", batch, Definitions([(first, "write")])),
            Closed(f"s{number}"),
        ]

    sink, stats, source = (
        RememberingSink(),
        IngestStats(),
        Given(*whole(0), *whole(1, first=5), *whole(2), *whole(3, "b")),
    )
    source.counters = Counter()
    feed = Feed(cast(Any, source), sink, stats, "host", BurstDeferral(SpoolSettings(), 1.0), 99.0)
    feed.pump()
    assert sink.losses["s1"]["events_dropped:rejected"] == 2
    assert sink.closed_streams == ["s0", "s1", "s2", "s3"]
    assert (stats.batches, stats.malformed, stats.failed) == (3, 1, 0)
