"""The collecting process at the command's end: it waits for room, and not for processes that record forever."""

from __future__ import annotations

import math
import select
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from iotide.collectors.settings import SpoolSettings
from iotide.collectors.sources.preload import relay
from iotide.collectors.sources.preload.rings.drain import Drain
from iotide.collectors.sources.preload.rings.process_image import DrainReceiver
from iotide.collectors.sources.preload.spool.spool import SpoolWriter
from iotide.collectors.sources.preload.spool.spool_reader import OwningReceiver
from support.system.waiting import wait_for
from support.tracing.regions import MadeRegion
from support.tracing.spools import open_spool

MIB = 1 << 20


class Ignoring:
    """A receiver of everything."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *news, **more: None


class RecordingDrain(Drain):
    """A drain whose process records calls before each look, as a daemon does that writes all the time."""

    made: MadeRegion

    def poll(self, receiver: DrainReceiver, patience_s: float = 0.0) -> bool:
        self.made.put(10)
        return super().poll(receiver, patience_s)


def begin(drain: Drain, writer: SpoolWriter, made: MadeRegion, gate: Path) -> None:
    made.hand_over(gate)
    wait_for(lambda: drain.poll(writer) or drain.running(), what="the process")


@pytest.mark.slow
def test_process_that_records_all_the_time_does_not_prolong_the_end(
    tmp_path: Path, made: MadeRegion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "_LAST_LOOKS_S", math.inf)
    RecordingDrain.made = made
    with open_spool(SpoolSettings()) as (writer, _):
        drain = RecordingDrain(tmp_path / "gate")
        begin(drain, writer, made, tmp_path / "gate")
        relay._empty(drain, writer, select.poll())
        assert drain.running()
        drain.close(writer)


def test_calls_in_rings_wait_for_room_in_a_full_spool(
    tmp_path: Path, made: MadeRegion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "_LAST_LOOKS_S", math.inf)
    monkeypatch.setattr(relay, "_ENDING_S", 0.0)
    monkeypatch.setattr(relay, "_ENDING_LOOKS", 1)
    some = np.random.default_rng(1).integers(0, 2**64, (8192, 8), np.uint64)
    with open_spool(SpoolSettings(memory_bytes=8 * MIB, disk_bytes=0)) as (writer, reader):
        drain = Drain(tmp_path / "gate")
        begin(drain, writer, made, tmp_path / "gate")
        while writer.free_lines:
            writer.lines(1, 1, some)
        made.put(10)
        ending = threading.Thread(target=relay._empty, args=(drain, writer, select.poll()))
        ending.start()
        receiver = cast(OwningReceiver, cast(Any, Ignoring()))
        wait_for(lambda: reader.read(receiver, 64 * MIB) < 0 or not ending.is_alive(), what="the end")
        ending.join()
        assert (made.slots["tail"] == made.slots["head"]).all()
        drain.close(writer)
