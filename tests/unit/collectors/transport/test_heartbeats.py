"""Clock offsets of nodes: measured by round trips, corrected, and reported with the stream."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Opened
from iotide.collectors.transport.heartbeats import ClockOffset
from iotide.collectors.transport.shipper import Shipper
from iotide.collectors.transport.window import SendWindow
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.events import Definitions, StreamInfo, make_batch
from iotide.events.network.wire import Heartbeat
from support.servers.sinks import RememberingSink
from support.servers.troubled_links import Link

NOW_NS = 1_700_000_000_000_000_000
"""The aggregator's wall clock when the node's monotonic clock is 0."""
SECOND = 1_000_000_000


class Node:
    """A node with the given clock offset, and the connection of its collector."""

    def __init__(self, off_ns: int, *, answers: bool = True) -> None:
        self.off_ns = off_ns
        self.sink = RememberingSink()
        core = IngestCore(self.sink, IngestSettings())
        clock = ClockOffset(lambda: NOW_NS + self.off_ns)
        self.shipper = Shipper("node:1:abc", CollectorSettings(heartbeat_s=1.0), None, clock)
        self.link = Link(self.shipper, core)
        self.aggregator_ns = NOW_NS
        if answers:
            core.time_of_day = lambda: (self.aggregator_ns + self.link.now * SECOND) / 1e9
        self.link.step(1.0)

    def open(self, stream: str, **facts: object) -> None:
        info = StreamInfo(**({"job": "job", "source": "strace", "host": "n"} | facts))  # type: ignore[arg-type]
        self.shipper.take([Opened(stream, info)], self.link.now)

    def call(self, stream: str, at_s: float, *, off_ns: int | None = None) -> None:
        """Emit an event with a timestamp of the node's clock ``at_s`` after the beginning."""
        stamp = NOW_NS + int(at_s * SECOND) + (self.off_ns if off_ns is None else off_ns)
        batch = make_batch(1, {"start": np.array([stamp])})
        self.shipper.take([Chunk(stream, batch, Definitions())], self.link.now)
        self.shipper.flush(self.link.now)
        self.link.settle()

    def beat(self, times: int = 10) -> None:
        for _ in range(times):
            self.link.step(1.0)

    def starts(self) -> list[float]:
        """Starts of the events at the aggregator, s after the beginning."""
        return [(start - NOW_NS) / SECOND for (starts) in self.sink.starts.values() for start in starts]

    def told_s(self) -> list[float]:
        """Reported clock offset of each stream, in order of their names."""
        by_name = {name.rpartition(":")[2]: info.clock_off_ns for name, info in self.sink.info.items()}
        return [by_name[name] / SECOND for name in sorted(by_name)]


@pytest.mark.parametrize("off_s", [-365 * 86_400, -7200, -1, 1, 7200, 365 * 86_400])
@pytest.mark.parametrize("source", ["strace", "preload"])
def test_clock_that_is_off_is_corrected_and_told(off_s: int, source: str) -> None:
    node = Node(off_s * SECOND)
    node.open("s", source=source)
    node.call("s", 2.0)
    assert node.starts() == pytest.approx([2.0], abs=1e-3)
    assert node.told_s() == pytest.approx([off_s], abs=1e-3)


@pytest.mark.parametrize("off_s", [-0.05, 0.0, 0.05])
def test_clock_that_is_right_enough_is_left_alone(off_s: float) -> None:
    node = Node(int(off_s * SECOND))
    node.open("s")
    node.call("s", 2.0)
    assert node.starts() == [2.0 + off_s]
    assert node.told_s() == [0.0]


def test_stamps_with_a_zero_of_their_own_stay() -> None:
    node = Node(-7200 * SECOND)
    node.open("s", clock_offset_ns=None)
    node.call("s", 2.0)
    assert node.starts() == [2.0 - 7200]
    assert node.told_s() == [0.0]


def test_aggregator_that_does_not_tell_its_time_corrects_nothing() -> None:
    node = Node(-7200 * SECOND, answers=False)
    node.open("s")
    node.call("s", 2.0)
    assert node.starts() == [2.0 - 7200]
    assert node.told_s() == [0.0]


def test_clock_that_is_set_while_streams_are_open() -> None:
    """Timestamps of traced processes continue from their start; those of a followed file use the clock as it is set."""
    node = Node(-7200 * SECOND)
    node.open("file")
    node.open("process", source="preload")
    node.call("file", 1.0)
    node.call("process", 1.0)
    node.off_ns = 0
    node.call("file", 3.0)
    node.call("process", 3.0, off_ns=-7200 * SECOND)
    assert node.starts() == pytest.approx([1.0, 3.0, 1.0, 3.0], abs=1e-3)
    assert node.told_s() == pytest.approx([0.0, -7200.0], abs=1e-3)


def test_clock_of_the_aggregator_that_is_set_is_followed() -> None:
    node = Node(0)
    node.open("s")
    node.call("s", 1.0)
    node.aggregator_ns += 7200 * SECOND
    node.beat()
    node.call("s", 2.0)
    assert node.starts() == pytest.approx([1.0, 7202.0], abs=1e-3)
    assert node.told_s() == pytest.approx([-7200.0], abs=1e-3)


@given(
    off_ns=st.integers(-(10**16), 10**16),
    ways=st.lists(st.tuples(st.integers(0, 3 * SECOND), st.integers(0, 3 * SECOND)), min_size=1, max_size=20),
)
def test_error_is_at_most_half_of_the_least_delay(off_ns: int, ways: list[tuple[int, int]]) -> None:
    """For any delays there and back, including a slow path in one direction only."""
    clock = ClockOffset(lambda: NOW_NS + off_ns)
    for number, (there, back) in enumerate(ways, start=1):
        asked = number * 10 * SECOND
        answer = Heartbeat(asked_ns=asked, time_ns=NOW_NS + asked + there)
        clock.answered(answer, (asked + there + back) / SECOND)
    window = SendWindow("s", StreamInfo(job="j", source="strace"))
    batch = make_batch(1, {"start": np.array([NOW_NS + off_ns])})
    least = min(there + back for there, back in ways[-8:])
    found = int(clock.corrected(window, batch).start[0]) - NOW_NS
    if window.info.clock_off_ns:
        assert abs(found) <= least / 2 + 10**6
    else:
        assert found == off_ns
        assert abs(off_ns) <= max(100_000_000, least) + least / 2 + 10**6


def test_answers_that_make_no_sense_are_passed_over() -> None:
    clock = ClockOffset(lambda: NOW_NS)
    for asked_ns, time_ns in ((0, NOW_NS), (10 * SECOND, NOW_NS), (SECOND, 0), (SECOND, -1)):
        clock.answered(Heartbeat(asked_ns=asked_ns, time_ns=time_ns), 5.0)
    window = SendWindow("s", StreamInfo(job="j", source="strace"))
    batch = make_batch(1, {"start": np.array([5])})
    assert clock.corrected(window, batch).start.tolist() == [5]
