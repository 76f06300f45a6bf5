"""Rules of advice that no program on a single machine triggers (stripes, file systems), and merged findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from iotide.analyzers.advice.update import make
from iotide.analyzers.pipeline.analysis_queue import QueuedEvents
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.clients.text.advice_text import first_line
from iotide.clients.text.job_sentence import job_sentence
from iotide.events import FileInfo, Flag, Kind, Layer, StreamInfo, make_batch
from iotide.results.advice import Advice, AdviceFinding
from support.jobs.analyzer_kinds import context

T0 = 1_700_000_000 * 10**9
MIB = 2**20
LUSTRE = {"filesystem": "lustre", "mount_point": "/scratch"}
NFS = {"filesystem": "nfs4", "mount_point": "/home"}


def judged(files: Sequence[FileInfo], *columns: Mapping[str, object], ranks: int = 1) -> list[AdviceFinding]:
    """Return the findings on the same calls of each rank."""
    return advice_of(files, *columns, ranks=ranks).findings


def advice_of(files: Sequence[FileInfo], *columns: Mapping[str, object], ranks: int = 1) -> Advice:
    """Analyse the same calls of each rank, 10 ms apart; columns are those of further batches of calls."""
    names = JobNames(10_000, 10_000)
    for info in files:
        names.file(info)
    analyzer = make(context(names))
    assert analyzer is not None
    for rank in range(ranks):
        info = StreamInfo(job="j", source="t", host="n", pid=rank + 7, rank=rank if ranks > 1 else -1)
        begin = T0
        for each in columns:
            count = max(np.size(value) for value in each.values())
            start = begin + np.arange(count) * 10**7
            given = {"start": start, "layer": int(Layer.POSIX), "tid": rank + 7, "pid": rank + 7, "rank": info.rank}
            analyzer.update(
                QueuedEvents.of(make_batch(count, {**given, "handle": 3, "file": 1, **each}), f"s{rank}", info)
            )
            begin += count * 10**7
    return analyzer.deferred_result()()


def writes(count: int, size: int, first: int = 0, **further: object) -> dict[str, object]:
    at = first + np.arange(count) * size
    return {"kind": int(Kind.WRITE), "bytes": size, "offset": at, "duration": 8 * 10**6, **further}


@pytest.mark.parametrize(("first", "told"), [(0, False), (MIB // 2, True)])
def test_blocks_that_do_not_begin_at_stripes_are_told(first: int, told: bool) -> None:
    striped = FileInfo("/scratch/out.h5", stripes=4, stripe_bytes=MIB, **LUSTRE)
    found = judged([striped], writes(100, MIB, first), ranks=2)
    assert [row.cause for row in found if row.cause == "misaligned"] == ["misaligned"] * told
    if told:
        assert "200 of 200 requests to /scratch/out.h5 do not begin at a stripe of 1 MiB" in found[0].title


STRIPED = FileInfo("/scratch/out.h5", stripes=4, stripe_bytes=MIB, **LUSTRE)


@pytest.mark.parametrize(
    ("further", "told"),
    [
        ({}, False),  # contiguous blocks that end at borders
        ({"offset": MIB // 4 + np.arange(200) * MIB}, True),  # blocks of other ranks lie between
        ({"bytes": 3 * MIB // 4, "offset": np.arange(200) * 3 * MIB // 4}, True),
        ({"bytes": MIB, "offset": MIB // 2 + np.arange(200) * MIB, "flags": int(Flag.COLLECTIVE)}, False),
        ({"bytes": MIB, "offset": MIB // 2 + np.arange(200) * MIB, "layer": int(Layer.HDF5)}, False),
    ],
    ids=["within stripes", "between others", "across borders", "collective", "offsets in a dataset"],
)
def test_requests_are_astray_if_servers_have_to_share_them(further: dict[str, object], told: bool) -> None:
    found = judged([STRIPED], writes(200, MIB // 4, **further), ranks=2)
    assert ("misaligned" in [row.cause for row in found]) is told


def test_one_writer_has_no_borders_to_mind() -> None:
    striped = FileInfo("/scratch/out.h5", stripes=4, stripe_bytes=MIB, **LUSTRE)
    assert not [row for row in judged([striped], writes(100, MIB, MIB // 2)) if row.cause == "misaligned"]


@pytest.mark.parametrize(("slow_ns", "told"), [(9 * 10**6, True), (1_200_000, False)])
def test_data_on_the_file_system_of_homes_is_told_where_a_faster_one_is_in_use(slow_ns: int, told: bool) -> None:
    files = [FileInfo("/home/ann/out.dat", **NFS), FileInfo("/scratch/out.dat", **LUSTRE)]
    slow = writes(200, MIB, duration=slow_ns)
    found = [row for row in judged(files, slow, writes(200, MIB, file=2, duration=10**6)) if row.cause == "mount"]
    assert len(found) == told
    if told:
        assert found[0].gain_s == pytest.approx(200 * (9e-3 - 1e-3), rel=0.01)
        assert "Put these files below /scratch" in found[0].change


def test_home_alone_is_not_told() -> None:
    found = judged([FileInfo("/home/ann/out.dat", **NFS)], writes(200, MIB))
    assert not [row for row in found if row.cause == "mount"]


def opened(files: int, times: int) -> dict[str, object]:
    return {"kind": int(Kind.CREATE), "file": 1 + np.arange(files * times) % files, "duration": 5 * 10**6}


def test_logs_of_one_folder_that_are_opened_again_are_one_finding() -> None:
    found = judged([FileInfo(f"/scratch/{name}.log") for name in "abcdefgh"], opened(8, 50))
    assert [row.cause for row in found] == ["reopened"]
    assert found[0].files == 8


@pytest.mark.parametrize("path", ["/scratch/case-{}/{}.txt", "/scratch/{:c}{:c}/x.txt"], ids=["numbered", "below one"])
def test_files_are_many_in_many_folders_too(path: str) -> None:
    files = [FileInfo(path.format(97 + at // 20, 97 + at % 20)) for at in range(400)]
    found = judged(files, opened(400, 1))
    assert [row.cause for row in found] == ["many_files"]
    assert found[0].files == 400


@pytest.mark.parametrize(("size", "told"), [(64 * 1024, True), (16 * MIB, False)])
def test_a_flush_for_many_bytes_waits_for_these(size: int, told: bool) -> None:
    flushes = {"kind": int(Kind.SYNC), "duration": 9 * 10**6, "handle": np.full(20, 3)}
    found = judged([FileInfo("/scratch/x.dat")], writes(20, size, duration=10**5), flushes)
    assert ("fsync" in [row.cause for row in found]) is told


@pytest.mark.parametrize(("opens", "cause"), [(1, "many_objects"), (300, "reopened")])
def test_datasets_in_a_file_are_told_apart_from_opening_the_file(opens: int, cause: str) -> None:
    objects = {"kind": int(Kind.CREATE), "layer": int(Layer.HDF5), "duration": np.full(300, 4 * 10**6)}
    below = {"kind": int(Kind.CREATE), "depth": 1, "duration": np.full(opens, 10**5)}
    found = judged([FileInfo("/scratch/x.h5")], objects, below)
    assert [row.cause for row in found] == [cause]


@pytest.mark.parametrize(("through", "told"), [(0, False), (4, False), (1, True)])
def test_buffered_calls_are_known_by_their_system_calls_however_long_they_take(through: int, told: bool) -> None:
    calls = 10_000
    flags = np.zeros(calls, np.uint16)
    if through:
        flags[::through] = int(Flag.THROUGH)
    lines = {"kind": int(Kind.WRITE), "layer": int(Layer.STDIO), "bytes": 12, "flags": flags, "duration": 9 * 10**6}
    found = judged([FileInfo("/scratch/table.txt")], lines)
    assert [row.cause for row in found if row.cause == "small_requests"] == ["small_requests"] * told


def test_blocks_beyond_the_default_buffer_are_not_taken_for_buffered() -> None:
    blocks = {"kind": int(Kind.WRITE), "layer": int(Layer.STDIO), "bytes": np.full(10_000, 2000), "duration": 9 * 10**6}
    found = judged([FileInfo("/scratch/table.txt")], blocks)
    assert [row.cause for row in found] == ["small_requests"]


@pytest.mark.parametrize(("run_s", "told"), [(0.1, "costs 20 ms or more"), (10.0, "costs 2 % of the run or more")])
def test_short_run_is_told_from_which_saving_on_there_would_be_a_finding(run_s: float, told: str) -> None:
    names = JobNames(100, 100)
    names.file(FileInfo("/scratch/x.dat"))
    analyzer = make(context(names))
    assert analyzer is not None
    info = StreamInfo(job="j", source="t", pid=7, command="/usr/bin/dd if=/dev/zero of=x.dat")
    batch = make_batch(1, {"start": T0, "kind": int(Kind.WRITE), "bytes": 512, "file": 1, "duration": 1000, "pid": 7})
    analyzer.update(QueuedEvents.of(batch, "s", info))
    advice = analyzer.deferred_result()(None, run_s)
    assert first_line(advice).endswith(told)
    assert advice.slowest == "dd (pid 7)"


def test_small_requests_are_those_of_all_threads_also_of_fast_ones() -> None:
    files = [FileInfo(f"/scratch/run7/t{at}") for at in range(4)]
    of = np.repeat(np.arange(4), 100)
    took = np.where(of < 2, 3 * 10**6, 10)
    found = judged(files, writes(400, 8192, file=of + 1, tid=of + 50, handle=of + 3, duration=took, offset=-1))
    assert [row.cause for row in found] == ["small_requests"]
    assert found[0].title == "400 writes of 8 KiB on average to 4 files /scratch/run7/t#"


def test_launcher_is_not_counted_with_the_ranks() -> None:
    columns = {"rank": np.repeat([0, 1, -1], 100), "pid": np.repeat([7, 8, 9], 100), "tid": np.repeat([7, 8, 9], 100)}
    start = T0 + np.tile(np.arange(100) * 10**7, 3)
    advice = advice_of([FileInfo("/scratch/x")], writes(300, MIB, **columns, start=start))
    assert (advice.slowest, advice.lanes) == ("rank 0", 2)


@pytest.mark.parametrize(("source", "tid", "bound"), [("preload", 7, False), ("preload", 8, True), ("t", 8, False)])
def test_saving_of_a_thread_beside_the_main_one_is_an_upper_bound(source: str, tid: int, *, bound: bool) -> None:
    names = JobNames(10, 10)
    names.file(FileInfo("/scratch/out"))
    analyzer = make(context(names))
    assert analyzer is not None
    info = StreamInfo(job="j", source=source, host="n", command="sim", pid=7)
    given = writes(1000, 64, file=1, handle=3, layer=int(Layer.POSIX), tid=tid, pid=7, duration=10**6, offset=-1)
    analyzer.update(QueuedEvents.of(make_batch(1000, {"start": T0 + np.arange(1000) * 10**7, **given}), "s", info))
    advice = analyzer.deferred_result()()
    assert [(row.cause, row.gain_at_most) for row in advice.findings] == [("small_requests", bound)]
    assert advice.slowest == "sim (pid 7)"
    assert ("saves at most" in first_line(advice)) == bound
    assert ("save up to" in job_sentence(advice, None)) == bound


def test_removed_files_are_not_looked_up() -> None:
    files = [FileInfo(f"/scratch/old/f{at}") for at in range(300)]
    removed = {"kind": int(Kind.DELETE), "file": 1 + np.arange(300), "duration": 10**6, "handle": 0}
    found = judged(files, removed)
    assert [(row.cause, row.title) for row in found] == [("many_files", "300 files in /scratch/old are removed")]


def test_lock_file_that_is_made_and_removed_is_looked_up() -> None:
    removed = {"kind": int(Kind.DELETE), "duration": np.full(300, 10**6), "handle": 0}
    found = judged([FileInfo("/scratch/lock")], removed)
    assert [row.cause for row in found] == ["metadata"]


@pytest.mark.parametrize(("names", "told"), [(("x.db", "x.db-wal"), "wal_autocheckpoint"), (("x.db",), "WAL")])
def test_database_that_has_a_log_is_not_told_to_use_one(names: tuple[str, ...], told: str) -> None:
    files = [FileInfo(f"/scratch/{name}") for name in names]
    count = 20 * len(files)
    flushes = {"kind": int(Kind.SYNC), "file": 1 + np.arange(count) % len(files), "duration": 9 * 10**6}
    (found,) = judged(files, flushes)
    assert told in found.change
    assert ("journal_mode=WAL" in found.change) == (told == "WAL")


def test_bytes_of_a_file_system_are_those_below_a_library_that_converts() -> None:
    files = [FileInfo("/scratch/x.h5", **LUSTRE), FileInfo("/scratch/x.txt", **LUSTRE)]
    asked = writes(10, 8 * MIB, layer=int(Layer.HDF5))
    below = writes(10, 4 * MIB, depth=1)
    text = writes(10, MIB, file=2, layer=int(Layer.STDIO))
    buffers = writes(10, MIB, file=2, depth=1)
    places = advice_of(files, asked, below, text, buffers).destinations
    assert [(each.place, each.bytes_written) for each in places] == [("/scratch", 50 * MIB)]


def test_bytes_of_a_file_system_are_those_asked_for_where_nothing_below_is_recorded() -> None:
    asked = writes(10, 8 * MIB, layer=int(Layer.HDF5))
    (place,) = advice_of([FileInfo("/scratch/x.h5", **LUSTRE)], asked).destinations
    assert (place.bytes_read, place.bytes_written) == (0, 80 * MIB)


H5 = {"layer": int(Layer.HDF5), "file": 1}


def datasets(*handles: int) -> list[dict[str, object]]:
    """Returns 8 writes of 1 MiB through each handle, which make 1 request below each; 512 for an odd handle."""
    made: list[dict[str, object]] = []
    for handle in handles:
        below = 512 if handle % 2 else 1
        made.append(writes(8 * below, MIB // below, depth=1, parent=handle, handle=99, duration=10**4))
        made.append(writes(8, MIB, handle=handle, duration=9 * 10**8, **H5))
    return made


def test_chunks_are_those_of_each_dataset() -> None:
    (found,) = judged([FileInfo("/scratch/x.h5")], *datasets(2, 5, 4, 6))
    assert found.cause == "chunks"
    assert found.title == ("8 of 32 writes to /scratch/x.h5, of 8 MiB, become 4,096 requests of 2 KiB and 8 MiB below")
    assert found.gain_s == pytest.approx(8 * 0.9, rel=0.1)
    assert (found.calls, found.bytes, found.seconds) == (8, 8 * MIB, pytest.approx(8 * 0.9))


def test_chunks_of_datasets_that_are_opened_for_each_access_add_up() -> None:
    few = [{**each, "handle": 11 + 2 * at, "parent": 11 + 2 * at} for at in range(40) for each in datasets(5)]
    for each in few:
        if "depth" in each:
            each |= writes(30, 1000, depth=1, handle=99, duration=10**4)
        else:
            each |= writes(1, 30_000, duration=9 * 10**6, **H5)
            del each["parent"]
    (found,) = judged([FileInfo("/scratch/x.h5")], *few)
    assert (found.cause, found.title.partition(" below")[0]) == (
        "chunks",
        "40 writes to /scratch/x.h5, of 1.1 MiB, become 1,200 requests of 1000 B and 1.1 MiB",
    )


def test_requests_of_unknown_datasets_are_those_of_the_file() -> None:
    flushed = writes(8000, 1000, depth=1, parent=77, handle=99, duration=10**4)
    (found,) = judged([FileInfo("/scratch/x.h5")], *datasets(2, 4), flushed)
    assert found.title.startswith("16 writes to /scratch/x.h5, of 16 MiB, become 8,016 requests")
    assert "all datasets" in found.why


@pytest.mark.parametrize(("times", "calls"), [(300, 600), (200, 500), (20, 300)])
def test_calls_made_for_each_small_request_of_a_library_are_saved_with_it(times: int, calls: int) -> None:
    """``H5Dset_extent`` before each row ends with the rows, a look at the file now and then does not."""
    beside = {"kind": int(Kind.OTHER), "duration": np.full(times, 8 * 10**6)}
    (found,) = judged([FileInfo("/scratch/a.h5")], H5 | writes(300, 64), H5 | beside)
    assert (found.cause, found.calls) == ("small_requests", calls)
    assert found.gain_s == pytest.approx(calls * 8e-3, rel=0.01)
