"""Layers of a job: the sums of any call tree, in any batches, equal those of the single calls."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.layers.report.report import make_report
from iotide.analyzers.layers.state.bounded_sums import MAX_PLAUSIBLE
from iotide.analyzers.layers.state.call_tables import PROCESS
from iotide.analyzers.layers.update import LayerAnalyzer
from iotide.events import EventBatch, FileInfo, Kind, Layer, concatenate, make_batch
from iotide.events.summaries import calls_in
from support.jobs.batches import batches
from support.references.layers_naive import (
    INFO,
    Call,
    analyzer,
    batch_of,
    down_sums,
    down_sums_of,
    layer_sums,
    layer_sums_of,
    names,
    trees,
)

FILES = names().files
_some = settings(max_examples=25, deadline=None)


def pieces(batch: EventBatch, cuts: list[int]) -> list[EventBatch]:
    edges = [0, *sorted(cut % (len(batch) + 1) for cut in cuts), len(batch)]
    return [batch.select(slice(a, b)) for a, b in pairwise(edges) if b > a]


def fed(made: LayerAnalyzer, batches: list[EventBatch], stream: str = "s") -> LayerAnalyzer:
    for batch in batches:
        made.update(batch, stream, INFO, FILES)
        made._process_buffered()
    return made


@_some
@given(st.lists(trees(), min_size=1, max_size=4), st.lists(st.integers(0, 60), max_size=4))
def test_sums_of_any_calls_in_any_pieces_are_those_of_the_calls_one_by_one(roots: list[Call], cuts: list[int]) -> None:
    made = fed(analyzer(), pieces(batch_of(roots), cuts))
    assert layer_sums_of(made) == layer_sums(roots)
    assert down_sums_of(made) == down_sums(roots)
    assert (made.waiting, made.orphans, made.unenclosed) == (0, 0, 0)


@pytest.mark.slow
@_some
@given(st.lists(st.lists(trees(), min_size=1, max_size=3), min_size=1, max_size=4), st.data())
def test_exclusive_times_of_each_thread_sum_to_the_calls_that_its_program_made(
    threads: list[list[Call]], data: st.DataObject
) -> None:
    made = analyzer()
    batches = [batch_of(roots, tid).replace(pid=tid) for tid, roots in enumerate(threads, 1)]
    rows = concatenate(batches)
    mixed = rows.select(np.lexsort((255 - rows.depth, rows.end)))
    fed(made, pieces(mixed, data.draw(st.lists(st.integers(0, 60), max_size=3))))
    key, sums = made.closed().tables.processes.rows()
    for tid, roots in enumerate(threads, 1):
        serial = next(at for at, process in enumerate(made.processes.known) if process.pid == tid and at)
        mine = sums[key // len(Layer) == serial].sum(axis=0)
        spent = sum(root.end - root.start for root in roots)
        assert mine[PROCESS.index("exclusive_ns")] == mine[PROCESS.index("root_ns")] == spent


@pytest.mark.slow
@_some
@given(st.lists(trees(), min_size=1, max_size=3), st.integers(0, 60))
def test_snapshot_goes_on_where_it_was_made(roots: list[Call], cut: int) -> None:
    parts = pieces(batch_of(roots), [cut])
    made = fed(analyzer(), parts[:1])
    other = LayerAnalyzer.restore(made.settings, made.snapshot())
    for each in (made, other):
        fed(each, parts[1:])
    calls = names().calls
    assert make_report(other, calls) == make_report(made, calls)


@pytest.mark.slow
@_some
@given(st.lists(trees(), min_size=1, max_size=3), st.lists(trees(), min_size=1, max_size=3))
def test_parts_put_together_have_the_sums_of_both(ours: list[Call], theirs: list[Call]) -> None:
    made = fed(analyzer(), [batch_of(ours)])
    other = fed(analyzer(), [batch_of(theirs, begin=500)])
    both = fed(fed(analyzer(), [batch_of(ours)], "a"), [batch_of(theirs, begin=500)], "b")
    made.merge(other)
    assert layer_sums_of(made) == layer_sums_of(both) == layer_sums([*ours, *theirs])
    assert down_sums_of(made) == down_sums_of(both)
    ours_, both_ = make_report(made, names().calls), make_report(both, names().calls)
    assert ours_.accounts == both_.accounts
    assert {row.path: row.accesses for row in ours_.files} == {row.path: row.accesses for row in both_.files}
    assert (ours_.events, ours_.first_s, ours_.last_s) == (both_.events, both_.first_s, both_.last_s)


@pytest.mark.slow
@_some
@given(st.lists(trees(), min_size=1, max_size=4))
def test_calls_that_wait_and_are_summed_up_keep_all_sums(roots: list[Call]) -> None:
    outer = Call(Layer.HDF5, Kind.WRITE, before=1, below=roots)
    batch = batch_of([outer])
    made = analyzer()
    for at in range(len(batch)):
        fed(made, [batch.select(slice(at, at + 1))])
        made.compact()
    assert layer_sums_of(made) == layer_sums([outer])
    assert down_sums_of(made) == down_sums([outer])


@pytest.mark.slow
def test_a_call_of_a_million_small_ones_takes_bounded_memory_and_keeps_its_sums() -> None:
    made = analyzer(max_waiting=1024)
    piece = 50_000
    start = np.arange(piece) * 10
    small = make_batch(piece, {"start": start, "duration": 4, "depth": 1, "tid": 1, "layer": 1, "kind": 8, "bytes": 8,
                               "requested": 8})  # fmt: skip
    for at in range(20):
        made.update(small.replace(start=start + at * piece * 10 + 5), "s", INFO, FILES)
    assert made.waiting == 20 * piece
    assert len(made._waiting) < 1024
    made.update(make_batch(1, {"start": 0, "duration": 10**8, "tid": 1, "layer": 4, "kind": 8}), "s", INFO, FILES)
    report = make_report(made, names().calls)
    hdf5, posix = report.layers
    assert (hdf5.layer, posix.layer) == ("HDF5", "POSIX")
    assert posix.exclusive_seconds == 20 * piece * 4 / 1e9
    assert hdf5.exclusive_seconds == (10**8 - 20 * piece * 4) / 1e9
    (fate,) = report.fates
    assert (fate.fate, fate.below, fate.below_bytes) == ("split", 20 * piece, 20 * piece * 8)


def test_calls_that_wait_beyond_the_bound_count_as_the_programs_and_are_counted() -> None:
    made = analyzer(max_waiting=1024)
    count = 3000
    batch = make_batch(count, {"start": np.arange(count), "duration": 1, "depth": 1, "tid": 1, "layer": 1,
                               "handle": np.arange(1, count + 1)})  # fmt: skip
    made.update(batch, "s", INFO, FILES)
    made._process_buffered()
    assert len(made._waiting) <= 1024
    assert made.losses()["unenclosed"] == count - made.waiting > 0


def test_a_report_counts_calls_inside_ones_that_have_not_ended() -> None:
    outer = Call(Layer.HDF5, Kind.WRITE, before=2, below=[Call(Layer.POSIX, Kind.WRITE, before=3, size=10)])
    made = fed(analyzer(), [batch_of([outer]).select(slice(0, 1))])
    report = make_report(made, names().calls)
    assert (report.waiting, report.layers[0].bytes_written, report.threads_seconds) == (1, 10, 3e-9)
    assert report.losses == {}
    fed(made, [batch_of([outer]).select(slice(1, 2))])
    assert make_report(made, names().calls).steps[-1].caller == "HDF5"


def test_calls_whose_encloser_was_lost_count_as_the_programs() -> None:
    lost = Call(Layer.HDF5, before=5, below=[Call(before=1), Call(before=2)])
    batch = batch_of([lost, Call(before=1)])
    made = fed(analyzer(), [batch.select(np.array([0, 1, 3]))])
    assert (made.orphans, made.waiting) == (2, 0)
    cut = fed(analyzer(), [batch.select(slice(0, 2))])
    cut.close_stream("s")
    assert (cut.waiting, cut.unenclosed) == (0, 2)


@pytest.mark.slow
@_some
@given(st.lists(batches(min_size=1), max_size=4))
def test_columns_of_nonsense_break_nothing_and_lose_no_call(drawn: list[EventBatch]) -> None:
    made = fed(analyzer(), [batch.replace(file=batch.file % len(FILES)) for batch in drawn])
    report = make_report(made, names().calls)
    believable = (batch.replace(requested=np.clip(batch.requested, 0, MAX_PLAUSIBLE)) for batch in drawn)
    assert sum(row.calls for row in report.layers) == sum(int(calls_in(batch).sum()) for batch in believable)
    assert report.events == sum(map(len, drawn))
    made.close_stream("s")
    assert made.waiting == 0
    assert make_report(made, names().calls).events == report.events


@pytest.mark.parametrize("column", ["duration", "bytes", "requested", "start"])
def test_numbers_beyond_belief_are_cut(column: str) -> None:
    made = analyzer()
    big = np.full(2000, 2**63 - 1)
    made.update(make_batch(2000, {column: big, "kind": 8, "tid": 1}), "s", INFO, FILES)
    report = make_report(made, names().calls)
    assert report.events == 2000
    assert report.layers[0].bytes_written >= 0
    assert report.threads_seconds >= 0
    assert bool(report.losses) == (column in ("duration", "bytes"))


@pytest.mark.slow
def test_ten_thousand_processes_and_a_hundred_thousand_files_have_bounds_with_counters() -> None:
    bounds = {"max_processes": 1000, "max_files": 2000, "max_nodes": 64, "max_process_nodes": 100, "max_handles": 500,
              "max_marks": 64, "max_file_rows": 1500, "max_collectives": 16}  # fmt: skip
    made = analyzer(**bounds)
    known = [
        FileInfo(""),
        *(FileInfo(f"/scratch/{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}/{n}") for n in range(10_000)),
    ]
    count = 10_000
    for at in range(10):
        file = np.arange(count) + 1
        batch = make_batch(count, {
            "start": at * 10**6 + np.arange(count), "duration": 1, "pid": np.arange(count) % 5000 + 1, "tid": 7,
            "file": file, "handle": file, "kind": 8, "bytes": 1, "requested": 1, "layer": 3, "flags": 2,
        })  # fmt: skip
        made.update(batch, f"s{at}", msgspec.structs.replace(INFO, host=f"n{at}"), known)
    report = make_report(made, names().calls)
    assert report.events == 100_000
    assert sum(row.bytes_written for row in report.layers) == 100_000
    assert report.threads_seconds == pytest.approx(100_000 / 1e9)
    assert report.processes == 50_000
    assert len(made.processes.known) == 1001
    assert len(made.files.paths) == 2001
    assert len(made.handles.parents) <= 64 + 9
    assert len(made.handles._places) <= 500
    assert len(made.timeline) <= 10 * len(made.handles.parents)
    for name in ("down", "sizes", "fates", "files", "nodes", "sites", "named"):
        assert len(getattr(made.tables, name)) <= 1600, name
    for reason in ("processes", "files", "file_rows", "nodes", "process_nodes", "handles", "collectives"):
        assert report.losses[reason] > 0, reason
