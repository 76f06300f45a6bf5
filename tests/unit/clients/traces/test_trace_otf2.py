"""Archives as OTF2 traces, read by the otf2 package's reader and by otf2-print."""

from __future__ import annotations

import doctest
import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.clients.otf2 import call_properties
from iotide.clients.otf2 import stream as otf2_stream
from iotide.clients.otf2.archive import check_written
from iotide.clients.otf2.call_properties import inherited_mode, open_mode, seek_arguments, status_flags
from iotide.clients.otf2.stream import write_otf2
from iotide.events import Definitions, Flag, HandleInfo, Interner, Kind, Layer, StreamInfo, make_batch
from iotide.events.definitions import FileInfo
from iotide.events.otf2_library import load
from support.formats import otf2_reading
from support.formats.otf2_reading import Region

BEGIN = 1_700_000_000_123_456_789
SHARED = FileInfo("/scratch/data", mount_point="/scratch", filesystem="lustre", shared=True, stripes=4)
LOCAL = FileInfo("/tmp/log", mount_point="/", filesystem="ext4", shared=False)


class Process:
    """Collect the calls of a simulated process; times are ns from BEGIN."""

    def __init__(self, rank: int = 0, **info: Any) -> None:
        self.info = StreamInfo(
            **{"job": "j", "source": "preload", "rank": rank, "pid": 70 + rank, "host": f"n{rank}", **info}
        )
        self.names = Interner()
        self.signatures: dict[str, int] = {}
        self.rows: list[dict[str, int]] = []

    def call(self, text: str, start: int, end: int, kind: Kind, layer: Layer = Layer.POSIX, **more: Any) -> None:
        """``file``: a FileInfo; other columns unchanged."""
        if text not in self.signatures:
            self.signatures[text] = self.names.new_signature(text)
        file = more.pop("file", None)
        row = {"flags": int(Flag.BLOCKING), "pid": self.info.pid, "tid": self.info.pid, "rank": self.info.rank, **more}
        row |= {
            "start": BEGIN + start, "duration": end - start, "kind": kind, "layer": layer,
            "call": self.names.string(text.partition("(")[0]), "signature": self.signatures[text],
            "file": self.names.file(file.path, file) if file else 0,
        }  # fmt: skip
        self.rows.append(row)

    def written(self, writer: ArchiveWriter, name: str) -> bytes:
        columns = sorted({column for row in self.rows for column in row})
        unknown = {"offset": -1}
        batch = make_batch(
            len(self.rows), {name: [row.get(name, unknown.get(name, 0)) for row in self.rows] for name in columns}
        )
        return writer.opened(name, self.info) + writer.batch(name, batch, self.names.take_fresh()) + writer.closed(name)


def converted(folder: Path, *processes: Process) -> Counter[str]:
    writer, lost = ArchiveWriter(), Counter[str]()
    written = writer.begin({"job": "j"})
    for number, process in enumerate(processes):
        written += process.written(writer, f"s{number}")
    reader = ArchiveReader(io.BytesIO(written + writer.end()), "test")
    assert write_otf2(reader, folder, lost) == sum(len(process.rows) for process in processes)
    otf2_reading.printed(folder)
    otf2_reading.printed(folder, "-G")
    return lost


def read(folder: Path) -> list[Region]:
    with otf2_reading.opened(folder) as trace:
        return otf2_reading.regions(trace)


def records(region: Region) -> list[str]:
    return [type(record).__name__ for record in region.records]


def hdf5_process(rank: int) -> Process:
    """H5Fcreate -> MPI_File_open -> open, a collective write down to pwrite64, and the ends."""
    process = Process(rank)
    both = int(Flag.BLOCKING | Flag.COLLECTIVE)
    on = {"file": SHARED}
    process.call("open(flags=O_RDWR|O_CREAT, mode=0644) = 9", 30, 40, Kind.CREATE, handle=3, parent=2, depth=2, **on)
    process.call(
        "MPI_File_open(fh=@beef, amode=MPI_MODE_CREATE|MPI_MODE_RDWR)", 20, 50, Kind.CREATE, Layer.MPIIO,
        handle=2, parent=1, depth=1, flags=both, **on,
    )  # fmt: skip
    process.call("H5Fcreate(flags=0x2)", 10, 60, Kind.CREATE, Layer.HDF5, handle=1, **on)
    moved = {"requested": 64, "bytes": 64, **on}
    at = 64 * rank
    process.call("pwrite64(fd=9, count=64)", 90, 95, Kind.WRITE, handle=3, parent=2, depth=2, offset=at, **moved)
    process.call(
        "MPI_File_write_at_all(fh=@beef)", 80, 99, Kind.WRITE, Layer.MPIIO, handle=2, parent=1, depth=1, offset=at,
        flags=both, **moved,
    )  # fmt: skip
    process.call("H5Dwrite(dset_id=#1)", 70, 100, Kind.WRITE, Layer.HDF5, handle=1, flags=both, **moved)
    process.call("close(fd=9)", 110, 120, Kind.DESTROY, handle=3, **on)
    return process


@pytest.mark.slow
def test_handles_have_parents_files_scopes_and_communicators(tmp_path: Path) -> None:
    lost = converted(tmp_path, hdf5_process(0), hdf5_process(1))
    assert not lost
    with otf2_reading.opened(tmp_path) as trace:
        definitions = trace.definitions
        handles = list(definitions.io_handles)
        chains = [[handle, *otf2_reading.parents(handle)] for handle in handles]
        longest = [[each.io_paradigm.identification for each in chain] for chain in chains if len(chain) == 3]
        assert longest == [["POSIX", "MPI-IO", "HDF5"]] * 2
        (file,) = definitions.io_files
        assert (file.name, file.scope.name) == ("/scratch/data", "machine")
        told = {each.name: each.value for each in definitions.io_file_properties}
        assert told == {"Mount Point": "/scratch", "File System": "lustre", "Shared": "yes", "Stripes": "4"}
        upper = [handle for handle in handles if handle.io_paradigm.identification != "POSIX"]
        assert {tuple(each.name for each in handle.comm.group.members) for handle in upper} == {
            ("thread 70", "thread 71")
        }
        assert {handle.comm for handle in handles if handle not in upper} == {None}
        hosts = [node.name for node in definitions.system_tree_nodes]
        assert hosts == ["machine", "n0", "n1"]
        assert [group.name for group in definitions.location_groups] == [
            "rank 0 preload pid 70",
            "rank 1 preload pid 71",
        ]
        clock = definitions.clock_properties
        assert (clock.timer_resolution, clock.global_offset, clock.trace_length) == (10**9, BEGIN + 10, 110)
        assert clock.realtime_timestamp == BEGIN + 10


def test_calls_are_regions_within_one_another_with_records(tmp_path: Path) -> None:
    converted(tmp_path, hdf5_process(0), hdf5_process(1))
    calls = [call for call in read(tmp_path) if call.location == "thread 71"]
    assert [call.name for call in calls] == [
        "H5Fcreate", "MPI_File_open", "open", "H5Dwrite", "MPI_File_write_at_all", "pwrite64", "close",
    ]  # fmt: skip
    assert [call.above.name if call.above else None for call in calls] == [
        None, "H5Fcreate", "MPI_File_open", None, "H5Dwrite", "MPI_File_write_at_all", None,
    ]  # fmt: skip
    assert [(call.start - BEGIN, call.end - BEGIN) for call in calls][:3] == [(10, 60), (20, 50), (30, 40)]
    made = [call.records[0] for call in calls[:3]]
    assert [type(record).__name__ for record in made] == ["IoCreateHandle"] * 3
    assert made[2].creation_flags.value == 1
    (begin, complete) = calls[5].records
    assert (begin.mode.value, begin.bytes_request, complete.bytes_result) == (1, 64, 64)
    assert begin.matching_id == complete.matching_id
    assert otf2_reading.named(begin) == {"offset": 64}
    assert [call.records[0].operation_flags.value for call in calls[3:6]] == [2, 2, 0]
    assert calls[5].attributes == {"signature": "pwrite64(fd=9, count=64)"}
    assert records(calls[6]) == ["IoDestroyHandle"]


def test_operations_that_do_not_block_complete_in_another_call_and_thread(tmp_path: Path) -> None:
    process = Process()
    flags = int(Flag.NONE)
    process.call("MPI_File_open(fh=@1)", 0, 5, Kind.CREATE, Layer.MPIIO, handle=1, file=SHARED)
    for number, start in ((1, 10), (2, 20)):
        process.call(
            f"MPI_File_iwrite(fh=@1, operation={number})", start, start + 5, Kind.WRITE, Layer.MPIIO, handle=1,
            requested=40, flags=flags, file=SHARED,
        )  # fmt: skip
    for number in (2, 1):
        process.call(
            f"MPI_Waitall(fh=@1, operation={number})", 30, 50, Kind.WRITE, Layer.MPIIO, handle=1, bytes=40, tid=99,
            file=SHARED,
        )  # fmt: skip
    process.call("MPI_File_iwrite(fh=@1, operation=1)", 60, 62, Kind.WRITE, Layer.MPIIO, handle=1, flags=flags)
    process.call("MPI_Cancel(fh=@1, operation=1)", 70, 72, Kind.WRITE, Layer.MPIIO, handle=1)
    converted(tmp_path, process)
    calls = read(tmp_path)
    first, second = calls[1:3]
    assert records(first) == ["IoOperationBegin", "IoOperationIssued"]
    assert first.records[0].operation_flags.value == 1
    ends = {record.matching_id: record.bytes_result for call in calls[3:5] for record in call.records}
    assert ends == {each.records[0].matching_id: 40 for each in (first, second)}
    assert {call.location for call in calls[3:5]} == {"thread 99"}
    assert [records(call) for call in calls[5:]] == [
        ["IoOperationBegin", "IoOperationIssued"], ["IoOperationCancelled"],
    ]  # fmt: skip
    assert calls[6].records[0].matching_id == calls[5].records[0].matching_id


def test_other_records_and_attributes_have_all_facts_of_a_call(tmp_path: Path) -> None:
    process = Process()
    on = {"file": LOCAL}
    process.names.handle(8, HandleInfo(process.names.file(LOCAL.path, LOCAL), 0, Layer.POSIX, "inherited", 5, 0o2001))
    process.call("open(flags=O_WRONLY|O_APPEND) = 3", 0, 1, Kind.CREATE, handle=1, flags=9, **on)
    process.call("dup(fd=3) = 4", 2, 3, Kind.DUPLICATE, handle=2, parent=1, **on)
    process.call("lseek(fd=4, by=-16, whence=SEEK_END)", 4, 5, Kind.SEEK, handle=2, offset=48, **on)
    process.call("fcntl(fd=4, command=F_SETFL, argument=0x400)", 6, 7, Kind.CHANGE_FLAGS, handle=2, **on)
    process.call("unlink()", 8, 9, Kind.DELETE, **on)
    process.call("fsync(fd=3)", 10, 11, Kind.SYNC, handle=1, **on)
    process.call("stat()", 12, 13, Kind.OTHER, errno=2, flags=5, **on)
    process.call("mmap(length=40)", 14, 15, Kind.OTHER, handle=1, offset=0, requested=40, **on)
    process.call("write(fd=5)", 16, 17, Kind.WRITE, handle=8, requested=5, errno=28, flags=5, **on)
    process.call("open(flags=O_RDONLY)", 18, 19, Kind.CREATE, errno=13, flags=5, **on)
    process.call("read(fd=77)", 20, 21, Kind.READ, handle=12, bytes=3, **on)
    process.call("open(flags=O_RDWR) = 9", 22, 23, Kind.CREATE, handle=13, file=FileInfo("socket:[7]"))
    process.call("send(fd=9)", 24, 25, Kind.WRITE, handle=13, bytes=3, file=FileInfo("TCP:[a->b]"))
    process.call("shutdown(fd=9)", 26, 27, Kind.OTHER, handle=13, file=FileInfo("TCP:[a->b]"))
    assert not converted(tmp_path, process)
    calls = {f"{call.name}{call.start - BEGIN}": call for call in read(tmp_path)}
    created, again = calls["open0"].records[0], calls["dup2"].records[0]
    assert (created.mode.value, created.status_flags.value) == (1, 2)
    assert (again.old_handle, again.new_handle.parent) == (created.handle, None)
    sought_to = calls["lseek4"].records[0]
    assert (sought_to.offset_request, sought_to.whence.value, sought_to.offset_result) == (-16, 2, 48)
    assert calls["fcntl6"].records[0].status_flags.value == 2
    deleted = calls["unlink8"].records[0]
    assert (deleted.io_paradigm.identification, deleted.file.name) == ("POSIX", LOCAL.path)
    assert calls["fsync10"].records[0].mode.value == 2
    assert (calls["stat12"].errno, calls["stat12"].attributes["file"].name) == (2, LOCAL.path)
    asked = calls["mmap14"].attributes
    assert (asked["requested"], asked["offset"], asked["handle"]) == (40, 0, created.handle)
    inherited = calls["write16"].records[0].handle
    assert (inherited.name, inherited.file.scope.name) == ("inherited", "n0")
    assert calls["write16"].records[1].bytes_result == 0
    assert calls["write16"].errno == 28
    assert (records(calls["open18"]), calls["open18"].errno) == ([], 13)
    assert calls["read20"].records[0].bytes_request == 2**64 - 1
    for name in ("send24", "shutdown26"):  # a handle has one file in OTF2, but calls on it may have others
        assert calls[name].attributes["file"].name == "TCP:[a->b]"
    with otf2_reading.opened(tmp_path) as trace:
        states = {state.io_handle.name: state for state in trace.definitions.io_pre_created_handle_states}
        assert (states["inherited"].io_access_mode.value, states["inherited"].io_status_flags.value) == (1, 2)


def test_missing_facts_of_a_trace_are_reported(tmp_path: Path) -> None:
    process = Process(-1, clock_offset_ns=None)
    process.call("openat", 0, 3_000, Kind.CREATE, file=LOCAL)
    process.call("read", 2_000, 9_000, Kind.READ, file=LOCAL, bytes=7)
    process.call("read", 8_000, 90_000, Kind.READ, file=LOCAL, bytes=7)
    process.call("write", 50_000, 120_000, Kind.WRITE, file=LOCAL, bytes=7, flags=3, layer=Layer.MPIIO)
    process.call("seekdir", 130_000, 130_001, Kind.SEEK, handle=4, file=LOCAL)
    process.call("H5Dopen2(name=rows)", 130_002, 130_003, Kind.CREATE, handle=5, file=LOCAL)
    lost = converted(tmp_path, process)
    assert sorted((what.partition(" (")[0], count) for what, count in lost.items()) == [
        ("access modes of handles", 1),
        ("distances of seeks", 1),
        ("ends of calls that reach into the next call of their thread", 2),
        ("handles of reads and writes", 3),
        ("opened and closed handles", 1),
    ]
    calls = read(tmp_path)
    assert [call.end - BEGIN for call in calls[:3]] == [2_000, 8_000, 90_000]
    assert calls[3].location == "thread 69, overlapping calls 1"
    with otf2_reading.opened(tmp_path) as trace:
        assert trace.definitions.clock_properties.realtime_timestamp == 2**64 - 1


def test_threads_past_the_bound_go_on_in_further_locations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otf2_stream, "MAX_OPEN", 3)
    process = Process()
    process.names.handle(8, HandleInfo(process.names.file(LOCAL.path, LOCAL)))
    for number, thread in enumerate((1, 2, 3, 1, 4, 2, 1)):
        process.call("read", 2 * number, 2 * number + 1, Kind.READ, handle=8, file=LOCAL, tid=thread)
    assert not converted(tmp_path, process)
    calls = sorted(read(tmp_path), key=lambda call: call.start)
    assert [call.location for call in calls] == [
        "thread 1", "thread 2", "thread 3", "thread 1", "thread 4", "thread 2, part 2", "thread 1",
    ]  # fmt: skip


def test_empty_archive_makes_an_empty_trace(tmp_path: Path) -> None:
    assert not converted(tmp_path)
    assert read(tmp_path) == []


def test_odd_texts_are_kept_readable(tmp_path: Path) -> None:
    process = Process(command="a\0b")
    process.call("open(\0)", 0, 1, Kind.CREATE, handle=1, file=FileInfo("/tmp/ü\0"))
    converted(tmp_path, process)
    (call,) = read(tmp_path)
    assert call.attributes["signature"] == "open(\\0)"
    assert call.records[0].handle.file.name == "/tmp/ü\\0"


def test_examples_in_docstrings_hold() -> None:
    failed, attempted = doctest.testmod(call_properties)
    assert (failed, attempted > 3) == (0, True)


@pytest.mark.parametrize(
    ("signature", "access", "creation", "status"),
    [
        ("fopen(mode=r)", 0, 0, 0),
        ("fopen(mode=a+e)", 2, 1, 3),
        ("fopen(mode=wx)", 1, 11, 0),
        ("H5Fcreate(flags=0x4, fcpl_id=0x0)", 2, 9, 0),
        ("H5Fopen(flags=0x0, fapl_id=0x1)", 0, 0, 0),
        ("MPI_File_open(amode=MPI_MODE_RDONLY|MPI_MODE_UNIQUE_OPEN)", 0, 1024, 0),
        ("openat(flags=O_RDWR|O_SYNC|O_TMPFILE|O_LARGEFILE)", 2, 384, 16),
    ],
)
def test_how_handles_are_opened(signature: str, access: int, creation: int, status: int) -> None:
    assert open_mode(signature) == (access, creation, status, True)


def test_status_flags_and_seeks() -> None:
    assert inherited_mode(0o4010002).status == 16
    assert inherited_mode(0o10000).status == 32
    assert status_flags("fcntl(fd=3, command=F_GETFL, argument=0x0)") is None
    assert seek_arguments("MPI_File_seek(fh=@1, whence=MPI_SEEK_CUR)") == (None, 1)
    assert seek_arguments("rewind()") == (None, None)


@pytest.mark.slow
def test_handles_are_known_across_batches(tmp_path: Path) -> None:
    assert Definitions([], [], [], []) == Definitions()
    process = Process()
    process.call("open(flags=O_RDONLY) = 3", 0, 1, Kind.CREATE, handle=1, file=LOCAL)
    for number in range(20_000):
        process.call("read(fd=3)", 2 * number + 2, 2 * number + 3, Kind.READ, handle=1, file=LOCAL, bytes=1)
    converted(tmp_path, process)
    with otf2_reading.opened(tmp_path) as trace:
        assert len(list(trace.definitions.io_handles)) == 1


@pytest.mark.parametrize("name", ["traces.def", "traces/0.evt", "traces/1.def", "traces.otf2"])
def test_files_that_are_cut_short_are_found(tmp_path: Path, name: str) -> None:
    converted(tmp_path, hdf5_process(0), hdf5_process(1))
    counts = [24, 24]
    check_written(load(), tmp_path / "traces.otf2", counts)
    with pytest.raises(OSError, match="what was written"):
        check_written(load(), tmp_path / "traces.otf2", [24, 25])
    with (tmp_path / name).open("r+b") as file:
        file.truncate((tmp_path / name).stat().st_size - 3)
    with pytest.raises(OSError, match="what was written"):
        check_written(load(), tmp_path / "traces.otf2", counts)
