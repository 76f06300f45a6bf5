"""Parts of a layer report: separation of processes and files, nesting by time, the tree, findings."""

from __future__ import annotations

import re

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.layers.intake.time_nesting import lacks_depth, nested_by_time
from iotide.analyzers.layers.report.report import make_report
from iotide.analyzers.layers.state.bounded_sums import MAX_PLAUSIBLE, BoundedSums
from iotide.analyzers.layers.state.handles import preorder
from iotide.analyzers.layers.state.timeline import Timeline
from iotide.analyzers.layers.update import LayerAnalyzer
from iotide.clients.layers.labels import note_lines
from iotide.clients.layers.page import axis_ticks, layer_lanes, page_of
from iotide.events import EventBatch, FileInfo, FileType, Flag, Kind, Layer, concatenate, make_batch
from iotide.results.layers import Finding, Layers, LayersReport
from support.places import ROOT
from support.references.layers_naive import (
    INFO,
    Call,
    analyzer,
    batch_of,
    down_sums,
    down_sums_of,
    layer_sums,
    names,
    trees,
)

CALLS = ["", "H5Dwrite", "MPI_File_write_all", "write", "open"]
FILES = names().files
SLOW = 2_000_000
"""Minimum duration for a finding, ns."""


def told(made: LayerAnalyzer) -> Layers:
    return make_report(made, CALLS)


def rank_info(rank: int, host: str = "node") -> msgspec.Struct:
    return msgspec.structs.replace(INFO, rank=rank, pid=rank + 10, host=host)


def findings(made: LayerAnalyzer, rule: str) -> list[Finding]:
    return [row for row in told(made).findings if row.rule == rule]


def ordered() -> st.SearchStrategy[list[Call]]:
    """Draw calls in which each layer calls lower layers only, and time passes in each."""
    layers = (Layer.HDF5, Layer.MPIIO, Layer.POSIX)

    def below(at: int) -> st.SearchStrategy[Call]:
        lower = st.lists(below(at + 1), max_size=3) if at + 1 < len(layers) else st.just([])
        return st.builds(Call, layer=st.just(layers[at]), kind=st.sampled_from([Kind.READ, Kind.OTHER]),
                         before=st.integers(1, 9), size=st.integers(0, 99), below=lower)  # fmt: skip

    return st.lists(st.one_of(*(below(at) for at in range(len(layers)))), min_size=1, max_size=4)


@settings(deadline=None, max_examples=25)
@given(ordered(), st.randoms(use_true_random=False))
def test_nesting_by_time_is_that_of_the_depths_in_any_order(roots: list[Call], random: object) -> None:
    batch = batch_of(roots)
    order = list(range(len(batch)))
    random.shuffle(order)  # type: ignore[attr-defined]
    made = analyzer()
    made.update(nested_by_time(batch.replace(depth=0).select(np.array(order))), "s", INFO, names().files)
    assert down_sums_of(made) == down_sums(roots)


def test_depths_that_a_trace_lacks_are_missed_only_where_upper_layers_are() -> None:
    def flat(*layers: Layer, depth: int = 0) -> EventBatch:
        return make_batch(len(layers), {"layer": np.array(layers), "depth": depth})

    assert lacks_depth([flat(Layer.POSIX), flat(Layer.MPIIO)])
    assert not lacks_depth([flat(Layer.POSIX, Layer.STDIO)])
    assert not lacks_depth([flat(Layer.MPIIO, Layer.MPIIO)])
    assert not lacks_depth([flat(Layer.MPIIO), flat(Layer.POSIX, depth=1)])
    assert not lacks_depth([])


def test_events_that_sum_many_calls_up_neither_enclose_nor_lie_in_others() -> None:
    inner = [Call(Layer.POSIX, Kind.WRITE, 5, 10, file=1, flags=int(Flag.AGGREGATE))]
    roots = [Call(Layer.MPIIO, Kind.WRITE, 5, 10, file=1, flags=int(Flag.AGGREGATE), below=inner)]
    batch = batch_of(roots).replace(depth=0)
    assert not lacks_depth([batch])
    roots.append(Call(Layer.MPIIO, Kind.WRITE, 5, 10, file=1, below=[Call(Layer.POSIX, Kind.WRITE, 5, 10, file=1)]))
    batch = batch_of(roots).replace(depth=0)
    assert lacks_depth([batch])
    made = analyzer()
    made.update(nested_by_time(batch), "s", INFO, FILES)
    report = make_report(made, CALLS, nesting="time", has_handles=False)
    recorded = analyzer()
    batch = batch_of(roots)
    free = np.where(batch.flags & int(Flag.AGGREGATE), 0, batch.depth)
    recorded.update(batch.replace(depth=free), "s", INFO, FILES)
    assert down_sums_of(recorded) == down_sums_of(made)
    assert report.summaries == 2
    assert {(row.caller, row.layer): row.calls for row in report.steps} == {
        ("", "MPIIO"): 2, ("", "POSIX"): 1, ("MPIIO", "POSIX"): 1,
    }  # fmt: skip


def test_nesting_by_time_gives_files_handles_below_one_another() -> None:
    inner = Call(Layer.POSIX, Kind.WRITE, 5, 10, file=1)
    batch = batch_of([Call(Layer.HDF5, Kind.WRITE, 5, 10, file=1, below=[inner])]).replace(depth=0)
    made = analyzer()
    made.update(nested_by_time(batch), "s", INFO, names().files)
    report = make_report(made, CALLS, nesting="time", has_handles=False)
    assert [(row.depth, row.layer) for row in report.handles] == [(0, "HDF5"), (1, "POSIX")]
    assert (report.nesting, report.handles_known) == ("time", False)


def test_a_report_without_depths_says_that_lower_layers_count_in_addition() -> None:
    inner = Call(Layer.POSIX, Kind.WRITE, 5, 10, file=1)
    batch = batch_of([Call(Layer.HDF5, Kind.WRITE, 5, 10, file=1, below=[inner])])

    def notes(events: EventBatch) -> list[str]:
        made = analyzer()
        made.update(events, "s", INFO, names().files)
        return [line for line in note_lines(told(made)) if "no depths" in line]

    assert len(notes(batch.replace(depth=0))) == 1
    assert not notes(batch)  # depths are recorded
    assert not notes(batch_of([inner]).replace(depth=0))  # nothing is nested
    assert not notes(batch.replace(depth=0, flags=int(Flag.AGGREGATE)))  # summaries are never nested


def test_threads_that_are_streams_of_their_own_are_one_process_and_share_its_handles() -> None:
    made, files = analyzer(), names().files
    opened = make_batch(1, {"kind": int(Kind.CREATE), "call": 4, "handle": 7, "tid": 1, "file": 1, "layer": 1})
    used = make_batch(1, {"kind": int(Kind.WRITE), "call": 3, "handle": 7, "tid": 2, "start": 5, "file": 1, "layer": 1})
    made.update(opened, "a", INFO, files)
    made.update(used, "b", INFO, files)
    report = told(made)
    assert (report.processes, len(report.handles), report.handles[0].writes) == (1, 1, 1)
    made.close_stream("a")
    made.close_stream("b")
    made.update(used, "c", INFO, files)
    assert told(made).processes == 2  # the pid is reused


def test_process_is_one_before_and_after_it_has_a_rank() -> None:
    made, files = analyzer(), names().files
    for rank in (-1, 3):
        made.update(make_batch(2, {"rank": rank, "tid": 1}), "s", INFO, files)
    report = told(made)
    assert {row.process for row in report.process_layers} == {"rank 3"}
    assert report.processes == 1


def test_ranks_of_one_trace_without_pids_are_processes() -> None:
    made = analyzer()
    info = msgspec.structs.replace(INFO, pid=0)
    made.update(make_batch(4, {"rank": np.array([0, 1, 2, 1])}), "s", info, names().files)
    assert {row.process for row in told(made).process_layers} == {"rank 0", "rank 1", "rank 2"}


def test_file_of_a_node_is_another_one_on_each_and_a_shared_one_is_the_same() -> None:
    known = names([FileInfo("/tmp/x", FileType.REGULAR, "/tmp", "ext4", False),
                   FileInfo("/work/x", FileType.REGULAR, "/work", "lustre", True), "/else/x"]).files  # fmt: skip
    made = analyzer()
    for rank in range(3):
        batch = make_batch(3, {"file": np.array([1, 2, 3]), "kind": int(Kind.WRITE), "bytes": 10, "layer": 1})
        made.update(batch, f"s{rank}", rank_info(rank, f"n{rank % 2}"), known)
    report = told(made)
    assert sorted((row.path, row.host, row.scope) for row in report.files) == [
        ("/else/x", "", "unknown"), ("/tmp/x", "n0", "local"), ("/tmp/x", "n1", "local"), ("/work/x", "", "shared"),
    ]  # fmt: skip
    mounts = {row.mount_point: (row.scope, row.hosts, row.files, row.bytes_written) for row in report.mounts}
    assert mounts == {"/tmp": ("local", 2, 2, 30), "/work": ("shared", 0, 1, 30), "": ("unknown", 0, 1, 30)}


def test_alike_handles_of_all_processes_are_one_node_of_the_tree() -> None:
    made = analyzer()
    known = names([f"/out/rank{rank}.h5" for rank in range(4)]).files
    for rank in range(4):
        bottom = Call(Layer.POSIX, Kind.CREATE, 1, call=4, handle=2, parent=1, file=rank + 1)
        top = Call(Layer.HDF5, Kind.CREATE, 1, call=1, handle=1, file=rank + 1, below=[bottom])
        made.update(batch_of([top]), f"s{rank}", rank_info(rank), known)
        made._process_buffered()
    report = told(made)
    assert [(row.depth, row.layer, row.file, row.processes, row.opens) for row in report.handles] == [
        (0, "HDF5", "/out/rank#.h5", 4, 4),
        (1, "POSIX", "/out/rank#.h5", 4, 4),
    ]
    assert {row.process for row in report.process_handles} == {f"rank {rank}" for rank in range(4)}


def test_tree_of_a_trace_without_handles_is_one_of_files() -> None:
    bottom = Call(Layer.POSIX, Kind.WRITE, 1, 10, file=1)
    middle = Call(Layer.MPIIO, Kind.WRITE, 1, 10, file=1, below=[bottom, Call(Layer.POSIX, Kind.READ, 1, file=3)])
    made = analyzer()
    made.update(batch_of([Call(Layer.HDF5, Kind.WRITE, 1, 10, file=1, below=[middle])]), "s", INFO, names().files)
    report = told(made)
    assert sorted((row.depth, row.layer, row.file) for row in report.handles) == [
        (0, "HDF5", "/a1"), (0, "POSIX", "/b"), (1, "MPIIO", "/a1"), (2, "POSIX", "/a1"),
    ]  # fmt: skip
    assert not report.handles_known


def test_tree_is_told_from_the_top_and_the_heaviest_first() -> None:
    parents = [0, 0, 1, 1, 0, 4]
    assert preorder(parents, {1: 5, 2: 1, 3: 4, 4: 9, 5: 9}, 9) == [4, 5, 1, 3, 2]


def test_sums_beyond_the_budget_go_to_their_fallback() -> None:
    sums = BoundedSums(2, 1)
    one = [np.array([1, 2, 3, 4])]
    sums.add(np.array([10, 11, 12, 13]), one, np.array([5, 5, 6, 6]))
    sums.add(np.array([10, 13, 5]), [np.array([1, 1, 1])], np.array([5, 5, 5]))
    keys, values = sums.rows()
    assert dict(zip(keys.tolist(), values[:, 0].tolist(), strict=True)) == {10: 2, 11: 2, 5: 2, 6: 7}
    assert sums.dropped == 8


def test_sums_stop_and_never_wrap() -> None:
    sums = BoundedSums(1, 1)
    for _ in range(40):
        sums.add(np.zeros(2**14, np.int64), [np.full(2**14, MAX_PLAUSIBLE)])
    assert sums.rows()[1].tolist() == [[2**62]]


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 10**6), st.integers(0, 99)), max_size=60)
)
def test_timeline_within_its_bound_keeps_every_operation(rows: list[tuple[int, int, int, int]]) -> None:
    timeline = Timeline(24)
    for node, operation, start, length in rows:
        columns = (node, operation, start, start + length, 1, length, 10)
        timeline.add(*(np.array([value]) for value in columns))
    node, operation, start, end, count, ns, size = timeline.rows()
    assert len(timeline) <= max(24, 10 * max(node.tolist(), default=0))
    assert (count.sum(), ns.sum(), size.sum()) == (len(rows), sum(row[3] for row in rows), 10 * len(rows))
    assert set(zip(node.tolist(), operation.tolist(), strict=True)) == {row[:2] for row in rows}
    if rows:
        assert (start.min(), end.max()) == (min(row[2] for row in rows), max(row[2] + row[3] for row in rows))


def collective(rank: int, moving: int) -> EventBatch:
    """Make a collective write of a rank, in which MPI-IO moves some bytes."""
    below = [Call(Layer.POSIX, Kind.WRITE, SLOW // 4, moving, file=1, call=3)] if moving else []
    size = 1000
    call = Call(Layer.MPIIO, Kind.WRITE, SLOW, size, file=1, call=2, flags=int(Flag.COLLECTIVE), below=below)
    return batch_of([call]).replace(rank=rank)


def test_report_of_a_collective_has_the_moving_ranks_and_the_waits() -> None:
    made, files = analyzer(), names().files
    for rank in range(4):
        made.update(collective(rank, 4000 if rank == 2 else 0), f"s{rank}", rank_info(rank), files)
    (row,) = told(made).collectives
    assert (row.call, row.file, row.processes, row.movers, row.moved_bytes) == ("MPI_File_write_all", "/a1", 4, 1, 4000)
    assert row.ranks[0].process == "rank 2"
    assert row.ranks[0].moving_seconds == pytest.approx(SLOW / 4e9)
    assert row.waiting_seconds == pytest.approx(3 * SLOW / 1e9)
    (finding,) = findings(made, "movers")
    assert "1 of 4 processes move all data below; 57% of the call's time" in finding.text
    fates = {fate.fate: (fate.calls, fate.below_bytes) for fate in told(made).fates}
    assert fates == {"absorbed": (3, 0), "changed": (1, 4000)}


def test_time_in_few_ranks_is_found() -> None:
    made, files = analyzer(), names().files
    for rank in range(20):
        ns = 98 * SLOW if rank == 7 else SLOW // 10
        made.update(make_batch(1, {"duration": ns, "layer": 3, "rank": rank}), f"s{rank}", rank_info(rank), files)
    (finding,) = findings(made, "concentrated")
    assert finding.text == "98% of MPI-IO's time is spent in 1 of 20 ranks: rank 7"
    assert finding.value == pytest.approx(98 / 99.9)


def test_calls_and_bytes_that_grow_on_their_way_down_are_found() -> None:
    small = [Call(Layer.POSIX, Kind.READ, SLOW // 20, 500, file=1) for _ in range(20)]
    made = analyzer()
    made.update(batch_of([Call(Layer.MPIIO, Kind.READ, SLOW, 2000, file=1, below=small)]), "s", INFO, names().files)
    (calls,), (size,) = findings(made, "more_calls"), findings(made, "more_bytes")
    assert calls.text == "MPI-IO makes 20 reads below for 1 read of its own (20.0 each, 2 ms)"
    assert size.text.startswith("5.00 bytes are read below MPI-IO for each byte")
    (account,) = told(made).accounts
    assert (account.bytes, account.below_bytes, account.difference) == (2000, 10_000, 8000)
    assert {(row.caller, row.layer, row.from_bytes, row.calls) for row in told(made).sizes} == {
        ("", "MPIIO", 1024, 1),
        ("MPIIO", "POSIX", 256, 20),
    }


def test_small_requests_metadata_churn_and_failures_are_found() -> None:
    count = 400
    kinds = np.tile([Kind.CREATE, Kind.READ, Kind.DESTROY, Kind.OTHER], count // 4)
    batch = make_batch(count, {
        "start": np.arange(count) * SLOW, "duration": SLOW // 2, "kind": kinds, "layer": 1, "file": 1, "tid": 1,
        "handle": np.repeat(np.arange(1, count // 4 + 1), 4), "requested": 100, "bytes": 100,
        "flags": np.tile([0, 0, 0, int(Flag.FAILED)], count // 4), "call": 4,
    })  # fmt: skip
    made = analyzer()
    made.update(batch, "s", INFO, names(["/data/in"]).files)
    texts = {row.rule: row.text for row in told(made).findings}
    assert texts == {
        "small_requests": "100 reads of 100 bytes on average from /data/in take 100 ms",
        "metadata": "75% of POSIX's own time on data goes to calls that move none, most of it to open (300 ms in 300 "
        "calls)",
        "churn": "/data/in is opened 100 times in POSIX (100 times a file and process) "
        "for 1.0 reads and writes each time (400 ms)",
        "failed": "25% of POSIX's 400 calls fail, 100 of them in open",
    }


@pytest.mark.parametrize("requested", [0x7FFFF001, 2**62])
def test_request_for_all_there_is_counts_by_what_it_moved(requested: int) -> None:
    batch = make_batch(3, {
        "start": np.arange(3) * SLOW, "duration": SLOW // 2, "kind": int(Kind.READ), "layer": 1, "file": 1, "tid": 1,
        "requested": requested, "bytes": 20_000_000, "call": 4,
    })  # fmt: skip
    made = analyzer()
    made.update(batch, "s", INFO, names(["/data/in"]).files)
    (posix,) = told(made).layers
    assert posix.median_read is not None
    assert 2**24 <= posix.median_read <= 2**25


def test_waiting_on_pipes_and_loading_of_modules_are_told_apart_from_work_on_data() -> None:
    known = ["/data/in", "/usr/lib/python3/os.py", "pipe:[81]", "/home/me/env/lib/python3.11/abc.pyc"]
    kinds = [FileType.REGULAR, FileType.REGULAR, FileType.PIPE, FileType.REGULAR]
    count = 400
    batch = make_batch(count, {
        "start": np.arange(count) * SLOW, "duration": np.tile([1, 2, 4, 8], count // 4) * SLOW // 8, "layer": 1,
        "kind": int(Kind.READ), "file": np.tile([1, 2, 3, 4], count // 4), "handle": np.tile([1, 2, 3, 4], count // 4),
        "tid": 1, "requested": 100, "bytes": 100, "call": 4,
    })  # fmt: skip
    made = analyzer()
    made.update(batch, "s", INFO, names([FileInfo(*pair) for pair in zip(known, kinds, strict=True)]).files)
    report = told(made)
    (row,) = report.layers
    unit = count // 4 * SLOW / 8 / 1e9
    assert (row.data_seconds, row.channel_seconds, row.system_seconds) == pytest.approx((unit, 4 * unit, 10 * unit))
    assert {(each.file, each.reads) for each in report.handles} == {
        ("/data/in", 100), ("(files of the system)", 200), ("(pipes, sockets, devices)", 100),
    }  # fmt: skip
    assert report.handles[0].file == report.files[0].path == "/data/in"
    assert {each.path: each.group for each in report.files}["/usr/lib/python3/os.py"] == "system"
    (finding,) = report.findings
    assert finding.text == "100 reads of 100 bytes on average from /data/in take 25 ms"
    assert {(each.group, each.calls) for each in report.calls} == {("data", 100), ("channel", 100), ("system", 200)}


def test_reads_in_order_to_write_are_not_counted_as_those_of_reads() -> None:
    before = Call(Layer.POSIX, Kind.READ, SLOW, 8000, file=1)
    write = Call(
        Layer.MPIIO, Kind.WRITE, 1, 2000, file=1, below=[before, Call(Layer.POSIX, Kind.WRITE, 1, 8000, file=1)]
    )
    read = Call(Layer.MPIIO, Kind.READ, 1, 2000, file=1, below=[Call(Layer.POSIX, Kind.READ, SLOW, 2000, file=1)])
    made = analyzer()
    made.update(batch_of([write, read]), "s", INFO, names().files)
    (finding,) = findings(made, "read_to_write")
    assert finding.text.startswith("MPI-IO's writes read 8,000 bytes below in 1 read (2 ms) for 2,000 that they write")
    assert finding.value == 4
    assert findings(made, "more_calls") == []
    (more,) = findings(made, "more_bytes")
    assert more.text.startswith("4.00 bytes are written below MPI-IO")


def test_time_that_a_library_spends_in_itself_is_found() -> None:
    made = analyzer()
    below = [Call(Layer.POSIX, Kind.WRITE, SLOW // 8, 2000, file=1)]
    made.update(batch_of([Call(Layer.HDF5, Kind.WRITE, SLOW // 2, 2000, file=1, below=below)]), "s", INFO, FILES)
    (finding,) = findings(made, "computing")
    assert finding.text.startswith("89% of the 2.25 ms in HDF5's reads and writes is its own: filters")
    assert finding.seconds == pytest.approx(0.002)


def test_time_of_a_handle_is_that_of_its_calls_with_all_below_also_in_calls_of_the_same_library() -> None:
    inner = Call(Layer.HDF5, Kind.OTHER, 5, handle=2, parent=1, file=1)
    again = Call(Layer.HDF5, Kind.OTHER, 3, handle=1, parent=1, file=1)
    made = analyzer()
    made.update(batch_of([Call(Layer.HDF5, Kind.OTHER, 1, handle=1, file=1, below=[inner, again])]), "s", INFO, FILES)
    rows = {row.depth: (round(row.seconds * 1e9), round(row.exclusive_seconds * 1e9)) for row in told(made).handles}
    assert rows == {0: (1 + 5 + 1 + 3 + 1, 1 + 1 + 3 + 1), 1: (5, 5)}


def test_files_are_told_from_the_top_down() -> None:
    bottom = Call(Layer.POSIX, Kind.WRITE, 1, 10, file=1)
    middle = Call(Layer.MPIIO, Kind.WRITE, 1, 10, file=1, below=[bottom])
    made = analyzer()
    made.update(batch_of([Call(Layer.HDF5, Kind.WRITE, 1, 10, file=1, below=[middle])]), "s", INFO, FILES)
    (file,) = told(made).files
    assert [row.layer for row in file.accesses] == ["HDF5", "MPIIO", "POSIX"]


def test_work_of_each_machine_is_told_and_where_the_busiest_ranks_run() -> None:
    made, files = analyzer(), names().files
    for rank in range(8):
        ns = 100 * SLOW if rank == 5 else SLOW // 10
        made.update(
            make_batch(1, {"duration": ns, "layer": 3, "rank": rank}),
            f"s{rank}",
            rank_info(rank, f"n{rank // 4}"),
            files,
        )
    report = told(made)
    assert {(row.host, row.processes, row.calls) for row in report.host_layers} == {("n0", 4, 4), ("n1", 4, 4)}
    (finding,) = findings(made, "concentrated")
    assert finding.text.endswith("1 of 8 ranks on n1: rank 5")


def test_processes_that_a_shell_starts_by_the_way_are_not_what_shares_are_of() -> None:
    made, files = analyzer(), names().files
    for pid, command in ((1, "python app.py"), *((at, "bash") for at in range(2, 12))):
        info = msgspec.structs.replace(INFO, pid=pid, command=command)
        made.update(make_batch(1, {"duration": SLOW * (100 if pid == 1 else 1), "layer": 1}), f"s{pid}", info, files)
    assert findings(made, "concentrated") == []


def test_a_folder_with_many_small_files_is_found_though_none_of_them_is_worth_telling() -> None:
    count = 1200
    paths = [f"/data/{chr(97 + at // 26 // 26)}{chr(97 + at // 26 % 26)}{chr(97 + at % 26)}.dat" for at in range(count)]
    batch = make_batch(3 * count, {
        "start": np.arange(3 * count) * SLOW, "duration": SLOW // 2, "layer": 1, "tid": 1, "call": 4,
        "kind": np.tile([Kind.CREATE, Kind.WRITE, Kind.DESTROY], count), "file": np.repeat(np.arange(1, count + 1), 3),
        "requested": np.tile([0, 500, 0], count), "bytes": np.tile([0, 500, 0], count),
    })  # fmt: skip
    made = analyzer()
    made.update(batch, "s", INFO, names(paths).files)
    texts = {row.rule: row.text for row in told(made).findings}
    assert texts["many_files"] == (
        "1,200 files in /data with 500 bytes moved each on average: 67% of the time on them goes to opening, closing "
        "and the like (2.4 s)"
    )
    assert texts["small_requests"] == "1,200 writes of 500 bytes on average to 1,200 files in /data take 1.2 s"


def opening(files: int, times: int, writes: int = 0) -> EventBatch:
    """Make the calls of one process that opens each file the given number of times and writes a dataset below each."""
    roots = [
        Call(Layer.HDF5, Kind.CREATE, SLOW, handle=3 * at + 1, file=1 + at % files, call=4)
        for at in range(files * times)
    ]
    inner = [
        Call(Layer.HDF5, kind, 1, 10, handle=3 * at + 2, parent=3 * at + 1, file=1 + at % files, call=1)
        for at in range(files * times if writes else 0)
        for kind in (Kind.CREATE, *[Kind.WRITE] * writes)
    ]
    return batch_of(roots + inner)


def test_opens_are_counted_by_file_and_process_and_writes_of_datasets_are_those_of_their_file() -> None:
    def churned(processes: int, files: int, times: int, writes: int = 0) -> list[str]:
        made = analyzer()
        for rank in range(processes):
            made.update(opening(files, times, writes), f"s{rank}", rank_info(rank), FILES)
        return [row.text for row in findings(made, "churn")]

    assert churned(3, 4, 7) == []
    (text,) = churned(3, 1, 8)
    assert text.startswith("/a1 is opened 24 times in HDF5 (8 times a file and process) and neither read nor written")
    (text,) = churned(1, 1, 8, writes=2)
    assert "(8 times a file and process) for 2.0 reads and writes each time" in text


def test_files_are_not_reported_as_unused_if_the_trace_lacks_reads() -> None:
    batch = make_batch(100, {
        "start": np.arange(100) * SLOW, "duration": SLOW, "layer": 1, "tid": 1, "call": 4,
        "kind": np.tile([Kind.CREATE, Kind.READ], 50), "file": np.tile([1, 0], 50), "bytes": np.tile([0, 10], 50),
    })  # fmt: skip
    made = analyzer()
    made.update(batch, "s", INFO, FILES)
    assert findings(made, "churn") == []


def test_files_that_a_layer_touches_on_its_own_are_found() -> None:
    maps = Call(Layer.POSIX, Kind.READ, SLOW, 10, file=2)
    data = Call(Layer.POSIX, Kind.READ, SLOW, 10, file=1)
    made = analyzer()
    top = Call(Layer.MPIIO, Kind.READ, SLOW, 10, file=1, below=[maps, data])
    made.update(batch_of([top]), "s", INFO, names(["/data/in", "/proc/81/maps"]).files)
    (own,) = told(made).own_files
    assert (own.layer, own.below, own.files, own.calls, own.examples) == ("MPIIO", "POSIX", 1, 1, ["/proc/#/maps"])
    (finding,) = findings(made, "own_files")
    assert finding.text.startswith("MPI-IO makes 1 call of POSIX on 1 file of its own, such as /proc/#/maps: 20.0%")


def test_bytes_on_file_systems_of_single_nodes_are_found() -> None:
    known = names([FileInfo("/tmp/x", FileType.REGULAR, "/tmp", "ext4", False)]).files
    made = analyzer()
    for rank in range(2):
        batch = make_batch(1, {"file": 1, "kind": int(Kind.WRITE), "bytes": 10, "layer": 1, "duration": SLOW})
        made.update(batch, f"s{rank}", rank_info(rank, f"n{rank}"), known)
    (finding,) = findings(made, "node_local")
    assert finding.text == "100% of all bytes go to /tmp, which each of 2 nodes has for itself"


@settings(deadline=None, max_examples=8)
@given(st.lists(trees(), min_size=1, max_size=3))
def test_page_can_be_made_of_any_report(roots: list[Call]) -> None:
    made = analyzer()
    made.update(batch_of(roots), "s", INFO, names(["/<b>", "/a&b", '/c"d', "/e'"]).files)
    report = LayersReport(files=["<x>"], source="test", wall_clock=True, layers=make_report(made, names().calls))
    page = page_of(report, refresh_s=2)
    assert "<b>" not in page.replace("<b></b>", "")
    assert "&lt;x&gt;" in page
    assert LayersReport.model_validate_json(report.model_dump_json()) == report
    lanes = layer_lanes(report.layers, [row.node for row in report.layers.handles])
    assert sum(bar.calls for bars in lanes.values() for bar in bars) == len(concatenate([batch_of(roots)]))


def test_every_field_of_the_report_is_in_its_page() -> None:
    page = (ROOT / "docs" / "layers.md").read_text()
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \|", page.split("## JSON")[1].split("## Limits")[0], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)} == set(Layers.model_fields)


def test_axis_has_round_places() -> None:
    assert [tick.text for tick in axis_ticks(2.3)] == ["0", "500 ms", "1 s", "1.5 s", "2 s"]
    assert axis_ticks(2.0)[-1].at == pytest.approx(100)


def test_report_of_nothing_is_empty() -> None:
    report = told(analyzer())
    assert (report.events, report.layers, report.findings, report.losses) == (0, [], [], {})
    assert layer_sums([]) == {}
    assert "<h1>" in page_of(LayersReport(files=["x"], source="test", wall_clock=True, layers=report))
