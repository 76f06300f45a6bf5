"""Advice whose cause depends on more than sizes and counts: locks, databases, renamed files, formats, own bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from iotide.analyzers.advice.update import make
from iotide.analyzers.pipeline.analysis_queue import QueuedEvents
from iotide.analyzers.pipeline.numbering import JobNames, StreamNames
from iotide.clients.text.advice_text import io_time_line
from iotide.clients.text.job_sentence import job_sentence
from iotide.events import Definitions, FileInfo, FileType, Flag, Kind, Layer, StreamInfo, make_batch
from iotide.results.advice import Advice
from support.jobs.analyzer_kinds import context

T0 = 1_700_000_000 * 10**9
MIB = 2**20
Call = tuple[str, Mapping[str, object]]


def advice_of(paths: Sequence[str | FileInfo], *calls: Call) -> Advice:
    """Analyse calls by name and columns, 10 ms apart."""
    names = JobNames(10_000, 10_000)
    for path in paths:
        names.file(FileInfo(path) if isinstance(path, str) else path)
    analyzer = make(context(names))
    assert analyzer is not None
    info = StreamInfo(job="j", source="t", host="n", pid=7)
    begin = T0
    for name, columns in calls:
        count = max(np.size(value) for value in columns.values())
        start = begin + np.arange(count) * 10**7
        given = {"start": start, "layer": int(Layer.POSIX), "tid": 7, "pid": 7, "handle": 3, "file": 1}
        given |= {"call": names.call(name), "duration": 4 * 10**6}
        analyzer.update(QueuedEvents.of(make_batch(count, {**given, **columns}), "s", info))
        begin += count * 10**7
    return analyzer.deferred_result()()


def moved(kind: Kind, count: int, size: int, first: int = 0, **further: object) -> dict[str, object]:
    return {"kind": int(kind), "bytes": size, "offset": first + np.arange(count) * size, **further}


def of(kind: Kind, count: int, **further: object) -> dict[str, object]:
    return {"kind": np.full(count, int(kind)), **further}


def test_locks_are_not_names() -> None:
    advice = advice_of(["/scratch/x.dat"], ("fcntl", of(Kind.CHANGE_FLAGS, 300)), ("ioctl", of(Kind.OTHER, 300)))
    (found,) = advice.findings
    assert found.title == (
        "600 calls that lock or control a file and move no data (fcntl, flock, ioctl): /scratch/x.dat"
    )
    sentence = job_sentence(advice.model_copy(update={"bytes_read": 1}), None)
    assert "lock once for many accesses and save" in sentence


def test_database_that_is_locked_for_each_query_needs_a_transaction() -> None:
    files = ["/scratch/a.db", "/scratch/a.db-journal", "/scratch/a.db-wal"]
    looks = of(Kind.OTHER, 600, file=2 + np.arange(600) % 2, handle=0)
    (found,) = advice_of(files, ("fcntl", of(Kind.CHANGE_FLAGS, 900)), ("stat", looks)).findings
    assert found.title == "1,500 locks and look-ups of the database /scratch/a.db"
    assert "BEGIN" in found.change


def test_file_that_is_made_anew_each_time_cannot_stay_open() -> None:
    made = ("open", of(Kind.CREATE, 20)), ("write", moved(Kind.WRITE, 20, 100)), ("rename", of(Kind.OTHER, 20))
    (found,) = advice_of(["/scratch/config.lock"], *made).findings
    assert (found.cause, found.title) == (
        "reopened",
        "/scratch/config.lock is made 20 times and renamed or removed",
    )


def test_files_under_temporary_names_are_named_as_such() -> None:
    paths = [f"/scratch/dst/.{at}.Xq" for at in range(300)] + [f"/scratch/dst/{at}" for at in range(300)]
    opened = of(Kind.CREATE, 600, file=1 + np.arange(600))
    found = advice_of(paths, ("open", opened), ("rename", of(Kind.OTHER, 300, file=1 + np.arange(300), handle=0)))
    assert found.findings[0].title.startswith("600 files (300 of them renamed later) of 0 B each in /scratch/dst")


def test_folders_are_not_files_even_if_removed_before_they_are_looked_up() -> None:
    """``rm -r`` opens each folder with openat, lists it and removes it."""
    paths = [f"/scratch/run7/part-{at}" for at in range(300)]
    each = {"file": 1 + np.arange(300), "handle": 3 + np.arange(300)}
    names = JobNames(10_000, 10_000)
    translated = StreamNames(names)
    strings = list(enumerate(["openat", "readdir", "close", "unlinkat"], 1))
    files = [(number, FileInfo(path, FileType.REGULAR)) for number, path in enumerate(paths, 1)]
    translated.define(Definitions(strings=strings, files=files))
    analyzer = make(context(names))
    assert analyzer is not None
    for number, kind in enumerate((Kind.CREATE, Kind.OTHER, Kind.DESTROY, Kind.DELETE), 1):
        start = T0 + (number * 300 + np.arange(300)) * 10**7
        columns = {"start": start, "layer": int(Layer.POSIX), "kind": int(kind), "tid": 7, "pid": 7, **each}
        batch = translated.translate(make_batch(300, columns | {"call": number, "duration": 4 * 10**6}))
        analyzer.update(QueuedEvents.of(batch, "s", StreamInfo(job="j", source="t", host="n", pid=7)))
    advice = analyzer.deferred_result()()
    assert {info.type for info in names.files[1:]} == {FileType.DIRECTORY}
    assert [found.title for found in advice.findings] == [
        "900 calls about names that move no data (stat, access, readdir ...): 300 folders in /scratch/run7",
        "300 calls that make, rename or remove names (mkdir, rename, unlink ...): 300 folders in /scratch/run7",
    ]
    assert "fewer files and folders" in advice.findings[1].change
    assert (advice.spent.opening_s, advice.spent.lookup_s, advice.spent.names_s) == pytest.approx((0, 3.6, 1.2))


@pytest.mark.parametrize("folder", ["/", "/ax", "/ax/"])
def test_folder_of_unknown_type_is_told_by_its_name_or_the_names_below(folder: str) -> None:
    """Finished traces often have no types. The folder is opened to be listed, and is no file."""
    paths = [folder, *(f"/{'abcdefghijklmnopqrst'[at % 20]}x/f{at}" for at in range(300))]
    listed = of(Kind.CREATE, 3, duration=10**8)
    found = advice_of(paths, ("open", listed), ("open", of(Kind.CREATE, 300, file=2 + np.arange(300)))).findings
    (small,) = [each for each in found if each.cause == "many_files"]
    assert small.title.startswith("300 files of 0 B each in /")
    assert (small.files, small.calls, small.seconds) == (300, 300, pytest.approx(1.2))
    assert folder not in small.examples


@pytest.mark.parametrize("known", [FileType.UNKNOWN, FileType.DIRECTORY])
def test_folder_among_files_is_no_example_of_them(known: FileType) -> None:
    paths = [FileInfo("/x/data.d", known), *(FileInfo(f"/x/data.{at}") for at in range(99)), FileInfo("/x/data.d/f")]
    file = 1 + np.arange(900) % 100
    looks = of(Kind.OTHER, 900, file=file, handle=0) | {"duration": np.where(file == 1, 9, 4) * 10**6}
    (found,) = advice_of(paths, ("stat", looks)).findings
    assert "100 files and folders" in found.title
    assert (len(found.examples), "/x/data.d" in found.examples) == (3, False)


def test_folders_are_the_examples_of_a_finding_about_folders() -> None:
    paths = [*(f"/scratch/{at}" for at in range(300)), *(f"/scratch/{at}/x" for at in range(300))]
    looks = of(Kind.OTHER, 300, file=1 + np.arange(300), handle=0)
    (found,) = advice_of(paths, ("stat", looks)).findings
    assert "300 folders in /scratch" in found.title
    assert len(found.examples) == 3


@pytest.mark.parametrize(("visits", "told"), [(2, "looked at about once"), (20, "Look once and remember")])
def test_walk_through_names_is_not_told_to_remember_them(visits: int, told: str) -> None:
    paths = [f"/scratch/data/{at}" for at in range(300)]
    looks = of(Kind.OTHER, 300 * visits, file=1 + np.arange(300 * visits) % 300)
    (found,) = advice_of(paths, ("stat", looks)).findings
    assert found.cause == "metadata"
    assert told in found.change


def test_each_family_of_calls_is_named() -> None:
    advice = advice_of(
        ["/scratch/x"],
        ("open", of(Kind.CREATE, 1, duration=10**8)),
        ("stat", of(Kind.OTHER, 1, duration=2 * 10**8)),
        ("rename", of(Kind.OTHER, 1, duration=3 * 10**8)),
        ("fcntl", of(Kind.CHANGE_FLAGS, 1, duration=4 * 10**8)),
    )
    assert io_time_line(advice).endswith(
        "100 ms opening and closing, 200 ms looking up names, 300 ms renaming, removing and making names, "
        "400 ms seeking, locking and the like"
    )


def test_numbers_that_all_folders_have_are_not_replaced() -> None:
    paths = [f"/scratch/run7/part{at}/x" for at in range(300)]
    found = advice_of(paths, ("open", of(Kind.CREATE, 300, file=1 + np.arange(300)))).findings
    assert found[0].title == "300 files of 0 B each in /scratch/run7/part#"


@pytest.mark.parametrize(("layer", "told"), [(Layer.HDF5, "H5Pset_chunk"), (None, "NetCDF-4")], ids=["hdf5", "classic"])
def test_classic_netcdf_has_no_chunks(layer: Layer | None, told: str) -> None:
    asked = moved(Kind.WRITE, 4, 8 * MIB, layer=int(Layer.NETCDF), duration=10**9)
    calls: list[Call] = [("nc_put_vara", asked)]
    if layer is not None:
        calls.append(("H5Dwrite", moved(Kind.WRITE, 4, 8 * MIB, layer=int(layer), depth=1)))
    below = moved(Kind.WRITE, 4096, 8192, depth=2, duration=10**4)
    (found,) = advice_of(["/scratch/x.nc"], *calls, ("pwrite", below)).findings
    assert found.cause == "chunks"
    assert told in found.change
    assert ("chunks" in found.change) == (layer is not None)


@pytest.mark.parametrize(
    ("reads", "own"),
    [
        (moved(Kind.READ, 64, MIB, 0), 1.0),  # the bytes written before
        (moved(Kind.READ, 64, MIB, 1000 * MIB), 0.0),  # elsewhere in the file
        (moved(Kind.READ, 640, MIB, 0), 0.1),  # a tenth of the file is the program's
    ],
    ids=["own", "other", "partly"],
)
def test_only_own_bytes_are_read_back(reads: dict[str, object], own: float) -> None:
    wrote = moved(Kind.WRITE, 64, MIB, 0, duration=10**5)
    found = advice_of(["/scratch/x"], ("write", wrote), ("read", reads)).findings
    back = [row for row in found if row.cause == "read_back"]
    assert len(back) == (own > 0)
    if back:
        assert back[0].gain_s == pytest.approx(64 * 4e-3, rel=0.01)
        assert back[0].title.startswith("64 MiB are read from /scratch/x")


def test_small_change_of_a_large_file_does_not_make_its_reads_own() -> None:
    header = moved(Kind.WRITE, 2, 100, 0, duration=10**5)
    found = advice_of(["/scratch/x"], ("write", header), ("read", moved(Kind.READ, 640, MIB, 0))).findings
    assert "read_back" not in [row.cause for row in found]


@pytest.mark.parametrize("through", [256, 0], ids=["known system calls", "default buffer"])
def test_buffered_lines_are_not_requests_of_a_few_bytes(through: int) -> None:
    flags = np.zeros(25_600, np.uint16)
    if through:
        flags[::through] = int(Flag.THROUGH)
    lines = {"kind": int(Kind.WRITE), "layer": int(Layer.STDIO), "bytes": 16, "flags": flags, "duration": 100}
    assert advice_of(["/scratch/table.txt"], ("fprintf", lines)).manner == "through 4 KiB writes"


def test_flushes_do_not_show_how_often_the_buffer_was_full() -> None:
    large = {"kind": int(Kind.WRITE), "layer": int(Layer.STDIO), "bytes": MIB, "duration": np.full(100, 10**6)}
    flush = {"kind": np.full(1, int(Kind.SYNC)), "layer": int(Layer.STDIO)}
    assert advice_of(["/scratch/out.bin"], ("fwrite", large), ("fflush", flush)).manner == "through 1 MiB writes"
