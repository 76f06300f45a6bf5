"""Links without sockets between a shipper and an ingest core: one with random faults, one that is cut."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence

import numpy as np
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.transport.shipper import Shipper
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.events import EventBatch, StreamInfo, make_batch
from iotide.events.network.wire import Frame
from support.servers.sinks import RememberingSink

INFO = StreamInfo(job="job", source="test")


def numbered(first: int, count: int) -> EventBatch:
    return make_batch(count, {"start": np.arange(first, first + count), "duration": np.arange(count)})


class Link:
    """Deliver messages between a shipper and an ingest core, with the given faults."""

    def __init__(self, shipper: Shipper, core: IngestCore, seed: int = 0, trouble: float = 0.0) -> None:
        self.shipper, self.core = shipper, core
        self.random = random.Random(seed)
        self.trouble = trouble
        self.now = 0.0

    def step(self, seconds: float = 0.06) -> None:
        self.now += seconds
        for message in self._carry(self.shipper.outgoing(self.now)):
            for _, reply in self._carry(self.core.receive(b"peer", message, self.now)):
                self.shipper.receive(reply, self.now)
        self.core.tick(self.now)

    def settle(self, steps: int = 2000) -> None:
        for _ in range(steps):
            if self.shipper.flushed:
                return
            self.step(0.5)  # retries back off, so a bad link may take minutes of simulated time
        raise AssertionError("the shipper is not flushed")

    def _carry(self, messages: Sequence) -> list:  # type: ignore[type-arg]
        carried = []
        for message in messages:
            fate = self.random.random()
            if fate < self.trouble:
                continue
            carried.append(message)
            if fate < 2 * self.trouble:
                carried.append(message)
        if self.random.random() < self.trouble:
            self.random.shuffle(carried)
        return carried


def pair(sink: RememberingSink, **options: object) -> tuple[Shipper, IngestCore]:
    return Shipper("node:1:abc", CollectorSettings.model_validate(options)), IngestCore(sink, IngestSettings())


class Wire:
    """A connection like ZeroMQ's: ordered and reliable, but slow; a cut loses its content."""

    def __init__(self, shipper: Shipper, core: IngestCore) -> None:
        self.shipper, self.core = shipper, core
        self.up: deque[list[Frame]] = deque()
        self.down: deque[list[Frame]] = deque()
        self.now = 0.0
        self.carried = 0

    def step(self, seconds: float = 0.05, most: int = 1_000_000) -> None:
        """Advance time and deliver at most the given number of messages in each direction."""
        self.now += seconds
        self.up.extend(self.shipper.outgoing(self.now))
        for _ in range(min(most, len(self.up))):
            self.carried += 1
            self.down.extend(reply for _, reply in self.core.receive(b"peer", self.up.popleft(), self.now))
        for _ in range(min(most, len(self.down))):
            self.shipper.receive(self.down.popleft(), self.now)

    def cut(self, *, late: bool = False) -> None:
        """Lose the messages in transit; with ``late``, answers already sent still arrive."""
        self.up.clear()
        if not late:
            self.down.clear()

    def settle(self, steps: int = 4000, most: int = 1_000_000) -> None:
        """Continue until everything is acknowledged."""
        for _ in range(steps):
            if self.shipper.flushed:
                return
            self.step(most=most)
        raise AssertionError("the shipper is not flushed")
