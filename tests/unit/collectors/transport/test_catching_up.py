"""A collector that reconnects with a large backlog: new events do not wait for all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Opened
from iotide.collectors.transport.shipper import Shipper
from iotide.collectors.transport.shipper_state import ShipperState
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.events import Definitions, StreamInfo
from support.servers.sinks import RememberingSink
from support.servers.troubled_links import Wire, numbered

WAITING = 500
"""Batches of a job that wait when the aggregator is back."""
CREDIT = 4


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "on disk"])
def test_live_calls_arrive_while_a_job_catches_up(tmp_path: Path, *, kept: bool) -> None:
    settings = CollectorSettings(batch_events=16)
    handed_over = ShipperState(tmp_path, 1 << 30, "node:1:secret") if kept else None
    shipper = Shipper("node:1:secret", settings, handed_over)
    sink = RememberingSink()
    wire = Wire(shipper, IngestCore(sink, IngestSettings(credit=CREDIT)))

    def call(stream: str, number: int) -> None:
        shipper.take([Chunk(stream, numbered(number, 16), Definitions())], wire.now)

    def arrived(stream: str) -> int:
        return sum(len(starts) for name, starts in sink.starts.items() if name.endswith(f":{stream}"))

    shipper.take([Opened("old", StreamInfo(job="a", source="test"))], wire.now)
    for number in range(WAITING):
        call("old", 16 * number)
    shipper.take([Opened("new", StreamInfo(job="b", source="test"))], wire.now)
    shipper.keep({})
    while not arrived("old"):
        wire.step()
    for number in range(20):
        call("new", 16 * number)
        before = arrived("old")
        for _ in range(3):  # one window in transit, and one with this call
            wire.step()
            shipper.keep({})
        assert arrived("new") == 16 * (number + 1)
        assert before < arrived("old") < 16 * WAITING
    wire.settle()
    assert [starts for name, starts in sink.starts.items() if name.endswith(":old")] == [list(range(16 * WAITING))]
    if handed_over is not None:
        handed_over.file.close()
