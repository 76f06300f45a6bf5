"""Calls of an archive in order of their starts, and as regions of threads."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.archive.file.reader import ArchiveReader, Calls
from iotide.archive.file.writer import ArchiveWriter
from iotide.clients.otf2.stream import MAX_LANES, MAX_NESTED, ROUNDING_NS, Lanes
from iotide.clients.traces import call_order as trace_order
from iotide.clients.traces.call_order import calls_in_order
from iotide.events import Definitions, StreamInfo, make_batch

Reader = TypeVar("Reader", bound=ArchiveReader)


def archived(
    start: Sequence[int],
    duration: Sequence[int],
    depth: Sequence[int],
    writer: ArchiveWriter | None = None,
    kind: type[Reader] = ArchiveReader,  # type: ignore[assignment]
) -> Reader:
    writer = writer or ArchiveWriter()
    columns = {"start": np.array(start), "duration": np.array(duration), "depth": np.array(depth, np.uint8)}
    written = writer.begin({}) + writer.opened("s", StreamInfo(job="j", source="preload"))
    written += writer.batch("s", make_batch(len(start), {**columns, "call": 1}), Definitions([(1, "read")]))
    return kind(io.BytesIO(written + writer.end()), "test")


def keys(reader: ArchiveReader, window: int) -> list[tuple[int, int, int]]:
    return [
        (start, -duration, depth)
        for batch, _ in calls_in_order(reader, 1, window)
        for start, duration, depth in zip(
            batch.start.tolist(), batch.duration.tolist(), batch.depth.tolist(), strict=True
        )
    ]


TIMES = st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 90), st.integers(0, 3)), max_size=80)


@pytest.mark.slow
@given(TIMES, st.integers(1, 50))
def test_any_order_comes_out_by_start(calls: list[tuple[int, int, int]], window: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(trace_order, "_STEP", 1)
        found = keys(archived(*(zip(*calls, strict=True) if calls else ((), (), ()))), window)
    assert [start for start, _, _ in found] == sorted(start for start, _, _ in calls)
    assert sorted(found) == sorted((start, -duration, depth) for start, duration, depth in calls)
    instants = {start for start, _, _ in found}
    if len(instants) == len(found) or window >= len(calls) > 0:
        assert found == sorted(found)


@pytest.mark.slow
def test_a_call_that_encloses_all_others_comes_first_and_windows_stay_small() -> None:
    calls = 200_000
    start, duration = np.arange(calls) * 10 + 1, np.full(calls, 5)
    reader = archived([*start, 0], [*duration, calls * 10], [*np.ones(calls), 0])
    sizes, first = [], None
    for batch, _ in calls_in_order(reader, 1, 10_000):
        first = first or (int(batch.start[0]), int(batch.duration[0]))
        sizes.append(len(batch))
    assert first == (0, calls * 10)
    assert sum(sizes) == calls + 1
    assert max(sizes) <= 12_000


class CountingReader(ArchiveReader):
    """Count the decompressed pieces of calls."""

    pieces = 0

    def calls(self, stream: int, from_ns: int | None = None, to_ns: int | None = None) -> Iterator[Calls]:
        for each in super().calls(stream, from_ns, to_ns):
            self.pieces += 1
            yield each


@pytest.mark.slow
def test_calls_that_follow_one_another_are_unpacked_once_however_many_windows_they_fill() -> None:
    start = np.arange(200_000) * 10
    reader = archived(start.tolist(), [5] * len(start), [0] * len(start), kind=CountingReader)
    assert [key[0] for key in keys(reader, 5_000)] == start.tolist()
    assert reader.pieces <= 200_000 // 65_536 + 1


@pytest.mark.slow
def test_calls_of_one_instant_do_not_pile_up() -> None:
    sizes = [
        len(batch) for batch, _ in calls_in_order(archived([7] * 200_000, [0] * 200_000, [0] * 200_000), 1, 10_000)
    ]
    assert sum(sizes) == 200_000
    assert max(sizes) <= 65_536


@given(st.lists(st.tuples(st.integers(0, 30_000), st.integers(0, 12_000)), max_size=120))
def test_lanes_are_nested_and_in_order_and_keep_every_call(calls: list[tuple[int, int]]) -> None:
    events: dict[int, list[tuple[int, str, int]]] = {}
    cut: list[int] = []
    lanes = Lanes[int](lambda lane, time, call: events[lane].append((time, "leave", call)), lambda: cut.append(1))
    ordered = sorted(calls, key=lambda call: (call[0], -call[1]))
    for number, (start, duration) in enumerate(ordered):
        lane = lanes.place(start, start + duration, number)
        events.setdefault(lane, []).append((start, "enter", number))
    lanes.close_all()
    shortened = 0
    for happened in events.values():
        stack: list[int] = []
        assert [time for time, _, _ in happened] == sorted(time for time, _, _ in happened)
        for time, what, number in happened:
            if what == "enter":
                stack.append(number)
                assert time == ordered[number][0]
            else:
                assert stack.pop() == number
                late = sum(ordered[number]) - time
                assert 0 <= late <= ROUNDING_NS
                shortened += late > 0
        assert not stack
    assert sum(len(happened) for happened in events.values()) == 2 * len(calls)
    assert shortened == len(cut)


def test_lanes_are_bounded() -> None:
    ended: list[int] = []
    used = set()
    lanes = Lanes[int](lambda lane, time, call: ended.append(call), lambda: None)
    for number in range(MAX_LANES * 4):
        used.add(lanes.place(number, 10**9 + number, number))
    for _ in range(MAX_NESTED * 4):
        used.add(lanes.place(MAX_LANES * 4, 10**9, -1))
    lanes.close_all()
    assert used == set(range(MAX_LANES))
    assert len(ended) == MAX_LANES * 4 + MAX_NESTED * 4


def test_an_archive_without_times_keeps_its_order() -> None:
    reader = archived([5, 3, 4], [1, 9, 1], [1, 0, 2], ArchiveWriter(times=False))
    assert keys(reader, 10) == [(0, 0, 1), (0, 0, 0), (0, 0, 2)]
