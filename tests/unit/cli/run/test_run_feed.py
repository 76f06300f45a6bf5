"""The feed calls its creator when it has passed on items, so that an idle aggregator may rest."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

from iotide.cli.run.burst_deferral import BurstDeferral
from iotide.cli.run.run_feed import Feed
from iotide.collectors.settings import SpoolSettings
from iotide.collectors.source import Closed, SourceItem
from iotide.daemon.ingest.ingest_settings import IngestStats
from iotide.daemon.ingest.sink import Sink


class OneStream:
    """A source whose first poll returns the end of a stream."""

    waiting_calls = 0

    def __init__(self) -> None:
        self.items: list[SourceItem] = [Closed("stream")]

    def poll(self) -> list[SourceItem]:
        items, self.items = self.items, []
        return items


class Receiver:
    """A sink of ends of streams."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    def closed(self, stream: str, losses: Counter[str]) -> None:
        self.ended.append(stream)


def test_feed_reports_that_it_has_passed_on_items() -> None:
    sink, seen = Receiver(), list[int]()
    deferral = BurstDeferral(SpoolSettings(), 1.0)
    feed = Feed(cast(Any, OneStream()), cast(Sink, sink), IngestStats(), "host", deferral)
    feed.on_items = lambda: seen.append(len(sink.ended))
    assert [feed.pump(), feed.pump()] == [True, False]
    assert seen == [1]
