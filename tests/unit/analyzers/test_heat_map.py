"""I/O of a job's members over time: sums against a naive reference, bounds, members."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.heat_map.grid import BIN_NS, BINS
from iotide.analyzers.heat_map.update import KIND, HeatMapAnalyzer
from iotide.analyzers.pipeline.analysis_queue import AnalysisQueue, QueuedEvents
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.events import EventBatch, FileInfo, FileType, Flag, Kind, StreamInfo, make_batch
from iotide.results.jobs.heat_map import HeatMap
from support.jobs.analyzer_kinds import context

T0 = 1_700_000_000 * 10**9
FILES = [FileInfo("/scratch/a"), FileInfo("pipe:[1]", FileType.PIPE), FileInfo("/usr/lib/libc.so.6")]


def made(rows: int = 32) -> HeatMapAnalyzer:
    names = JobNames(10, 100)
    for file in FILES:
        names.file(file)
    analyzer = KIND.make(context(names, analyzers={"heatmap": {"rows": rows}}))
    assert isinstance(analyzer, HeatMapAnalyzer)
    return analyzer


def told(*batches: tuple[EventBatch, StreamInfo], rows: int = 32) -> HeatMap:
    analyzer = made(rows)
    for batch, info in batches:
        analyzer.update(QueuedEvents.of(batch, "s", info))
    return analyzer.deferred_result()()


def on(host: str = "n1", **more: object) -> StreamInfo:
    return StreamInfo(job="j", source="test", host=host, **more)  # type: ignore[arg-type]


def calls(start: list[int], duration: list[int], **columns: object) -> EventBatch:
    given: dict[str, object] = {"kind": int(Kind.WRITE), "bytes": 1, "file": 1, "rank": 0}
    times = {"start": T0 + np.array(start, np.int64), "duration": np.array(duration, np.int64)}
    return make_batch(len(start), times | given | columns)  # type: ignore[arg-type]


def totals(heat: HeatMap) -> dict[str, float]:
    return {row.name: row.seconds for row in heat.rows}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**12), st.integers(1, 10**11), st.integers(0, 6), st.sampled_from((7, 8, 1))),
        min_size=1,
        max_size=40,
    )
)
def test_sums_are_those_of_a_naive_reference(rows: list[tuple[int, int, int, int]]) -> None:
    start, duration, rank, kind = (list(column) for column in zip(*rows, strict=True))
    heat = told((calls(start, duration, rank=rank, kind=kind), on()))
    length = round(heat.bin_s * 1e9)
    assert length % BIN_NS == 0
    assert len(heat.rows[0].read) <= BINS
    low = round(heat.start_s * 1e9 / length)
    for row in heat.rows:
        for plane, values in ((7, row.read), (8, row.written), (1, row.other)):
            for at, value in enumerate(values):
                begin, end = (low + at) * length, (low + at + 1) * length
                expected = sum(
                    max(min(T0 + first + lasts, end) - max(T0 + first, begin), 0)
                    for first, lasts, which, what in rows
                    if f"rank {which}" == row.name and what == plane
                )
                assert value == pytest.approx(expected / 1e9, abs=1e-6)
    assert sum(totals(heat).values()) == pytest.approx(sum(duration) / 1e9)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 10**13), min_size=2, max_size=60), st.integers(1, 59))
def test_order_and_cuts_do_not_matter(start: list[int], cut: int) -> None:
    whole = calls(start, [5 * 10**8] * len(start), rank=[at % 5 for at in range(len(start))])
    parts = [whole.select(slice(0, cut)), whole.select(slice(cut, None))]
    one = told((whole, on()), rows=2)
    assert told(*((part, on()) for part in parts if len(part)), rows=2) == one
    assert told(*((part, on()) for part in reversed(parts) if len(part)), rows=2) == one


def test_io_outside_the_programs_data_is_left_out() -> None:
    heat = told((calls([0, 10, 20, 30], [5] * 4, kind=int(Kind.READ), file=[1, 2, 3, 1], depth=[0, 0, 0, 1]), on()))
    assert totals(heat) == {"rank 0": 5e-9}


def test_metadata_calls_count_as_other() -> None:
    heat = told((calls([0, 10], [5, 7], kind=[int(Kind.CREATE), int(Kind.SYNC)], bytes=0), on()))
    assert sum(heat.rows[0].other) == pytest.approx(12e-9)


def test_more_ranks_than_rows_share_rows_with_their_neighbours() -> None:
    heat = told((calls(list(range(100)), [10] * 100, rank=list(range(100))), on()), rows=32)
    assert heat.members == 100
    assert [row.name for row in heat.rows][:2] == ["ranks 0-3", "ranks 4-7"]
    assert heat.rows[-1].members == 4
    assert (heat.rows[1].most, heat.rows[1].most_seconds) == ("rank 4", pytest.approx(1e-8))
    assert all(one.seconds == two.seconds for one, two in pairwise(heat.rows))


def test_processes_without_a_rank_have_rows_of_their_own() -> None:
    streams = [(calls([pid], [10], rank=-1, pid=pid), on(command=f"cc {pid}")) for pid in (7, 9)]
    heat = told(*streams, (calls([5], [10], rank=-1), on(rank=3)))
    assert totals(heat) == pytest.approx({"rank 3": 1e-8, "cc 7 (n1:7)": 1e-8, "cc 9 (n1:9)": 1e-8})


def test_streams_that_come_together_keep_their_hosts() -> None:
    queue = AnalysisQueue()
    for host in ("a", "b"):
        queue.put(calls([0, 1], [10, 10], rank=-1, pid=4), host, on(host))
    analyzer = made()
    analyzer.update(queue.since(0))
    assert [row.name for row in analyzer.deferred_result()().rows] == ["a:4", "b:4"]


def test_processes_beyond_the_bound_are_counted() -> None:
    pids = list(range(1, 5001))
    analyzer = made()
    analyzer.update(QueuedEvents.of(calls(pids, [10] * 5000, rank=-1, pid=pids), "s", on()))
    assert analyzer.losses() == {"processes": 904}
    heat = analyzer.deferred_result()()
    assert sum(totals(heat).values()) == pytest.approx(5e-5)
    assert len(heat.rows) == 32


def test_summary_of_calls_is_spread_over_its_span() -> None:
    flags = int(Flag.AGGREGATE | Flag.SPREAD)
    heat = told((calls([0], [100 * BIN_NS], flags=flags, offset=BIN_NS, requested=9), on()))
    written = heat.rows[0].written
    assert sum(written) == pytest.approx(BIN_NS / 1e9)
    assert max(written[1:-1]) == pytest.approx(min(written[1:-1]), rel=0.01)


def test_nothing_is_an_empty_map() -> None:
    assert made().deferred_result()().rows == []
