"""Replay of recorded streams in order of time, with a clock that the test sets."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.collectors import replay_source
from iotide.collectors.replay_source import Recorded, Replayer, recorded_streams
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Closed, Opened, SourceItem
from iotide.collectors.transport.shipper import Shipper
from iotide.events import Definitions, StreamInfo, make_batch
from iotide.events.definitions import FileInfo, HandleInfo
from support.formats.parsing import collect

S = 10**9


def recording(*streams: Sequence[tuple[int, int]]) -> list[Recorded]:
    """Archive streams of calls, each given by start and duration in ns."""
    writer = ArchiveWriter()
    written = writer.begin({"job": "old"})
    for number, calls in enumerate(streams):
        starts, durations = zip(*calls, strict=True) if calls else ((), ())
        batch = make_batch(
            len(calls), {"start": np.array(starts, np.int64), "duration": np.array(durations, np.int64), "call": 1,
                         "file": 1, "bytes": number + 1},
        )  # fmt: skip
        names = Definitions([(1, "write")], [(1, FileInfo(f"/f{number}"))], [(7, HandleInfo(file=1))])
        info = StreamInfo(job="old", source="jsonl", rank=number)
        written += writer.opened(f"s{number}", info) + writer.batch(f"s{number}", batch, names)
    return recorded_streams([ArchiveReader(io.BytesIO(written + writer.end()), "test")])


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def ends(items: Sequence[SourceItem]) -> list[int]:
    return [end for item in items if isinstance(item, Chunk) for end in item.batch.end.tolist()]


def test_call_comes_when_it_has_ended_at_the_speed_asked_for() -> None:
    clock = Clock()
    replayer = Replayer(recording([(0, S), (S, 9 * S), (11 * S, S)]), 10.0, clock=clock)
    seen = []
    for _ in range(14):
        seen.append(ends(replayer.poll()))
        clock.now_s += 0.1
    assert [place for place, given in enumerate(seen) if given] == [1, 10, 12]
    assert [end for given in seen for end in given] == [S, 10 * S, 12 * S]
    assert replayer.finished


def test_slow_consumer_gets_what_has_become_due_meanwhile() -> None:
    clock = Clock()
    replayer = Replayer(recording([(second * S, 0) for second in range(100)]), 1.0, clock=clock)
    assert len(ends(replayer.poll())) == 1
    clock.now_s += 49
    assert len(ends(replayer.poll())) == 49


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 10**11), st.integers(0, 10**11)), max_size=30), min_size=1, max_size=5),
    st.sampled_from([1.0, 50.0, math.inf]),
    st.integers(0, 10**12),
)
def test_every_call_comes_once_in_the_order_of_its_stream_whatever_the_speed(
    streams: list[list[tuple[int, int]]], speed: float, shift_ns: int
) -> None:
    clock = Clock()
    replayer = Replayer(recording(*streams), speed, shift_ns=shift_ns, clock=clock)
    items: list[SourceItem] = []
    while not replayer.finished:
        items += replayer.poll()
        clock.now_s += 7
    given_out = collect(items)
    wanted = [stream for stream in streams if stream]
    ranks = {stream.info.rank: stream for stream in given_out.values()}
    assert len(ranks) == len(wanted)
    for number, calls in enumerate(streams):
        if not calls:
            continue
        stream = ranks[number]
        assert stream.closed
        assert stream.events.start.tolist() == [start + shift_ns for start, _ in calls]
        assert stream.events.duration.tolist() == [duration for _, duration in calls]
        assert stream.definitions.file(1).path == f"/f{number}"
        assert stream.definitions.handles[7].file == 1
        assert {row["call"] for row in stream.rows()} == {"write"}


def test_streams_keep_together_at_full_speed() -> None:
    calls = [(number * S // 100, 0) for number in range(1000)]
    order = ends(list_all(Replayer(recording(calls, calls), math.inf)))
    assert len(order) == 2000
    assert max(max(order[:place]) - end for place, end in enumerate(order) if place) <= replay_source.SLICE_NS


def list_all(replayer: Replayer) -> list[SourceItem]:
    items: list[SourceItem] = []
    while not replayer.finished:
        items += replayer.poll()
    return items


def test_poll_hands_out_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_source, "MAX_EVENTS", 100)
    replayer = Replayer(recording([(0, 0)] * 1000, [(0, 0)] * 1000), math.inf)
    sizes = []
    while not replayer.finished:
        sizes.append(len(ends(replayer.poll())))
    assert max(sizes) == 100
    assert sum(sizes) == 2000


def test_stopped_replay_hands_out_no_more() -> None:
    replayer = Replayer(recording([(0, 0), (S, 0)]), 1.0, clock=Clock())
    replayer.poll()
    replayer.stop()
    assert replayer.finished
    assert replayer.poll() == []


def test_shipper_says_when_a_source_had_better_wait() -> None:
    shipper = Shipper("c", CollectorSettings(backlog_bytes=1 << 20, linger_s=0.0))
    shipper.take([Opened("s", StreamInfo(job="j", source="test"))], 0.0)
    batch = make_batch(10_000, {"start": np.arange(10_000), "bytes": np.arange(10_000)})
    fills = []
    for second in range(5):
        fills.append(shipper.has_room)
        shipper.take([Chunk("s", batch, Definitions())], float(second))
        if second % 2:
            shipper.flush(float(second))
    assert fills == [True, True, True, True, False]
    assert not shipper.counters["events_dropped:shipper_full"]
    shipper.take([Closed("s")], 9.0)
