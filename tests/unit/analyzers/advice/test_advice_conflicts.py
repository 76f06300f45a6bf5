"""Processes that write the same bytes: reported only if nothing makes the first writes visible before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.advice.extents import Extents
from iotide.analyzers.advice.update import AdviceAnalyzer, make
from iotide.analyzers.pipeline.analysis_queue import QueuedEvents
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.events import FileInfo, Flag, Kind, Layer, StreamInfo, make_batch
from iotide.results.advice import AdviceFinding
from support.jobs.analyzer_kinds import context

T0 = 1_700_000_000 * 10**9
MIB = 2**20


@dataclass(frozen=True)
class Call:
    """One call; times in ms, offsets in MiB."""

    process: int
    at: int
    kind: Kind = Kind.WRITE
    offset: int = -1
    size: int = 1
    flags: int = 0
    depth: int = 0


def analyzer_of(**settings_of: object) -> AdviceAnalyzer:
    names = JobNames(10, 10)
    names.file(FileInfo("/scratch/grid.dat"))
    made = make(context(names, analyzers={"advice": settings_of}))
    assert made is not None
    return made


def judged(calls: Sequence[Call], ranks: bool = True, at_once: int = 100) -> list[AdviceFinding]:
    """Analyse calls on one file, with one stream per process, as offline: one stream after the other."""
    analyzer = analyzer_of()
    for process in sorted({call.process for call in calls}):
        mine = sorted((call for call in calls if call.process == process), key=lambda call: call.at)
        info = StreamInfo(job="j", source="t", host="n", pid=process + 7, rank=process if ranks else -1)
        for begin in range(0, len(mine), at_once):
            some = mine[begin : begin + at_once]
            moves = np.array([call.kind in (Kind.READ, Kind.WRITE) for call in some])
            size = np.array([call.size for call in some]) * MIB
            columns = {
                "start": T0 + np.array([call.at for call in some]) * 10**6,
                "duration": 10**5,
                "kind": np.array([int(call.kind) for call in some]),
                "layer": int(Layer.POSIX),
                "tid": process + 7, "pid": process + 7, "rank": info.rank, "file": 1, "handle": 3,
                "offset": np.array([call.offset * MIB if call.offset >= 0 else -1 for call in some]),
                "bytes": np.where(moves, size, 0),
                "flags": np.array([call.flags for call in some]),
                "depth": np.array([call.depth for call in some]),
            }  # fmt: skip
            analyzer.update(QueuedEvents.of(make_batch(len(some), columns), f"s{process}", info))
    return [row for row in analyzer.deferred_result()().findings if row.cause == "conflict"]


def test_two_writers_of_the_same_bytes_are_told_with_how_many() -> None:
    (found,) = judged([Call(0, 1, offset=0, size=4), Call(1, 2, offset=3, size=4), Call(0, 9, Kind.OTHER)])
    assert "rank 0 and rank 1 both write the same 1 MiB of /scratch/grid.dat" in found.title
    assert (found.seconds, found.gain_s) == (0.0, 0.0)
    assert found.examples == ["/scratch/grid.dat"]


@pytest.mark.parametrize("kind", [Kind.SYNC, Kind.DESTROY])
def test_flush_or_close_between_makes_it_well(kind: Kind) -> None:
    assert not judged([Call(0, 1, offset=0), Call(0, 2, kind), Call(1, 5, offset=0), Call(0, 9, Kind.OTHER)])
    (found,) = judged([Call(0, 1, offset=0), Call(1, 5, offset=0), Call(0, 6, kind)])  # too late
    assert found


def test_process_that_is_gone_has_closed_its_files() -> None:
    assert not judged([Call(0, 1, offset=0), Call(1, 5, offset=0)])


def test_reader_among_ranks_is_told_and_a_follower_of_a_log_is_not() -> None:
    calls = [Call(0, 1, offset=0), Call(1, 0, Kind.CREATE), Call(1, 5, Kind.READ, offset=0), Call(0, 9, Kind.OTHER)]
    (found,) = judged(calls)
    assert "rank 1 reads what rank 0 writes" in found.title
    assert not judged(calls, ranks=False)


def test_places_of_appends_and_of_inherited_files_are_not_known() -> None:
    appended = [Call(process, 1, Kind.CREATE, flags=int(Flag.APPEND)) for process in (0, 1)]
    sought = [Call(process, 2, Kind.SEEK, offset=0) for process in (0, 1)]  # as Python does to an appended file
    written = [Call(process, 3 + at) for process in (0, 1) for at in range(3)]
    assert not judged([*appended, *sought, *written])
    assert not judged(written)
    opened = [Call(process, 1, Kind.CREATE) for process in (0, 1)]
    assert judged([*opened, *written])


@pytest.mark.parametrize("at_once", [1, 5, 100])
def test_reader_ahead_of_a_sequential_writer_is_not_accused_and_one_behind_is(at_once: int) -> None:
    writes = [Call(1, 10 * at, offset=at) for at in range(20)]
    begun = [Call(process, -1, Kind.CREATE) for process in (0, 1)]
    ended = [Call(process, 300, Kind.OTHER) for process in (0, 1)]
    ahead = [Call(0, 10 * at + 5, Kind.READ, offset=at + 5) for at in range(10)]
    assert not judged([*begun, *ahead, *writes, *ended], at_once=at_once)
    behind = [Call(0, 10 * at + 75, Kind.READ, offset=at + 5) for at in range(10)]
    (found,) = judged([*begun, *behind, *writes, *ended], at_once=at_once)
    assert "rank 0 reads what rank 1 writes" in found.title


def test_time_of_an_offset_is_exact_to_the_ns() -> None:
    column = np.array([0])
    extents = Extents(column, column, column > 0, column, column + 100, column + T0 + 1, column + T0 + 201, column)
    assert [extents.time_at(0, offset) - T0 for offset in (0, 1, 50, 100)] == [1, 3, 101, 201]


def test_calls_below_a_library_and_failed_ones_do_not_count() -> None:
    both = [Call(0, 1, offset=0), Call(1, 1, offset=0)]
    assert judged(both)
    assert not judged([both[0], Call(1, 1, offset=0, depth=1)])
    assert not judged([both[0], Call(1, 1, offset=0, flags=int(Flag.FAILED))])


def test_events_beyond_the_bound_are_counted() -> None:
    analyzer = analyzer_of(max_extents=4)
    info = StreamInfo(job="j", source="t", host="n", pid=1)
    offset = np.arange(10) * 2 * MIB
    columns = {
        "start": T0 + np.arange(10),
        "kind": int(Kind.WRITE),
        "layer": 1,
        "file": 1,
        "offset": offset,
        "bytes": 9,
    }
    analyzer.update(QueuedEvents.of(make_batch(10, columns), "s", info))
    assert analyzer.losses()["extents"] == 6


pieces = st.builds(
    Call,
    process=st.integers(0, 2),
    at=st.integers(0, 40),
    kind=st.sampled_from([Kind.WRITE, Kind.WRITE, Kind.READ, Kind.SYNC]),
    offset=st.integers(0, 6),
    size=st.integers(1, 3),
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(pieces, min_size=1, max_size=14, unique_by=lambda call: call.at), st.integers(1, 5))
def test_conflicts_are_those_of_all_pairs(calls: list[Call], at_once: int) -> None:
    there = [Call(process, 50_000, Kind.OTHER) for process in range(3)]  # all live to the end
    begun = [Call(process, -1, Kind.OTHER) for process in range(3)]
    paused = [replace(call, at=call.at * 1000) for call in calls]  # pauses separate extents, so all times are exact
    found = judged([*begun, *paused, *there], at_once=at_once)
    assert bool(found) is naive(calls)


def naive(calls: Sequence[Call]) -> bool:
    """Check each pair of calls."""
    for early in calls:
        for late in calls:
            if early.at >= late.at or early.process == late.process or early.kind is not Kind.WRITE:
                continue
            if late.kind is Kind.SYNC or late.offset >= early.offset + early.size:
                continue
            if early.offset >= late.offset + late.size:
                continue
            synced = (each.at for each in calls if each.kind is Kind.SYNC and each.process == early.process)
            if not any(early.at < at < late.at for at in synced):
                return True
    return False
