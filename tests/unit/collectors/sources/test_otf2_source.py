"""Import of OTF2 traces: written by the otf2 package, by iotide, and broken ones."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.clients.otf2.stream import write_otf2
from iotide.collectors.source import Opened, Origin
from iotide.collectors.sources.finished import FinishedSource
from iotide.collectors.sources.otf2 import parser as source_module
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import Definitions, FileType, Flag, Kind, Layer, StreamInfo, make_batch
from iotide.events.definitions import FileInfo, HandleInfo
from support.formats.parsing import Stream, collect, only_stream
from support.system.commands import iotide

otf2 = pytest.importorskip("otf2")
BEGIN = 1_700_000_000_000_000_000
CREATE, WRITE_ONLY = 1, 1


class Trace:
    """A trace of one process with I/O records in Score-P's layout; times are microseconds."""

    def __init__(self, writer: Any) -> None:
        from otf2.enums import IoHandleFlag, IoParadigmClass, IoParadigmFlag, RegionRole

        definitions = writer.definitions
        root = definitions.system_tree_node("cluster")
        node = definitions.system_tree_node("node7", "node", parent=root)
        process = definitions.location_group("MPI Rank 3", system_tree_parent=node)
        self.location = definitions.location("Master thread", group=process)
        self.other = definitions.location("OMP thread 1", group=process)
        posix = definitions.io_paradigm("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.OS)
        mpi = definitions.io_paradigm("MPI-IO", "MPI-IO", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE)
        self.file = definitions.io_regular_file("/scratch/out", scope=node)
        self.upper = definitions.io_handle("", self.file, mpi, IoHandleFlag.NONE, None, None)
        self.handle = definitions.io_handle("", self.file, posix, IoHandleFlag.NONE, None, self.upper)
        self.copy = definitions.io_handle("", self.file, posix, IoHandleFlag.NONE, None, None)
        self.stdin = definitions.io_handle("stdin", self.file, posix, IoHandleFlag.PRE_CREATED, None, None)
        self.posix = posix
        self._regions: dict[str, Any] = {}
        self._region = lambda name: definitions.region(name, region_role=RegionRole.FUNCTION)
        self.writer = writer.event_writer_from_location(self.location)
        self.second = writer.event_writer_from_location(self.other)

    def region(self, name: str) -> Any:
        if name not in self._regions:
            self._regions[name] = self._region(name)
        return self._regions[name]

    @contextmanager
    def within(self, name: str, begin: int, end: int) -> Iterator[Any]:
        self.writer.enter(begin, self.region(name))
        yield self.writer
        self.writer.leave(end, self.region(name))


@contextmanager
def tracing(folder: Path, resolution: int = 10**6) -> Iterator[Trace]:
    with otf2.writer.open(str(folder), timer_resolution=resolution) as writer:
        yield Trace(writer)


def read(path: Path) -> tuple[dict[str, Stream], FinishedSource]:
    source = FinishedSource(path, source_module.read_otf2_here, Origin(job="j"))
    return collect(read_all(source)), source


def told(stream: Stream, *keys: str) -> list[tuple[Any, ...]]:
    return [tuple(row[key] for key in keys) for row in stream.rows()]


def write_sample(folder: Path) -> None:
    from otf2.enums import IoAccessMode, IoCreationFlag, IoOperationFlag, IoOperationMode, IoSeekOption, IoStatusFlag

    with tracing(folder) as trace, trace.within("main", 1000, 2000):
        with trace.within("MPI_File_open", 1010, 1020) as writer:
            writer.io_create_handle(
                1011, trace.upper, IoAccessMode.WRITE_ONLY, IoCreationFlag.CREATE, IoStatusFlag.NONE
            )
            with trace.within("open", 1012, 1018):
                writer.io_create_handle(
                    1013, trace.handle, IoAccessMode.WRITE_ONLY, IoCreationFlag.CREATE, IoStatusFlag.NONE
                )
        with trace.within("lseek", 1030, 1031) as writer:
            writer.io_seek(1030, trace.handle, 100, IoSeekOption.FROM_START, 100)
        with trace.within("write", 1040, 1050) as writer:
            writer.io_operation_begin(1041, trace.handle, IoOperationMode.WRITE, IoOperationFlag.NONE, 4096, 1)
            writer.io_operation_complete(1049, trace.handle, 4000, 1)
        with trace.within("aio_write", 1060, 1061) as writer:
            flags = IoOperationFlag.NON_BLOCKING
            writer.io_operation_begin(1060, trace.handle, IoOperationMode.WRITE, flags, 10, 2)
            writer.io_operation_issued(1061, trace.handle, 2)
        with trace.within("aio_return", 1070, 1071) as writer:
            writer.io_operation_complete(1071, trace.handle, 10, 2)
        with trace.within("dup", 1080, 1081) as writer:
            writer.io_duplicate_handle(1080, trace.handle, trace.copy, IoStatusFlag.NONE)
        with trace.within("read", 1090, 1095) as writer:
            writer.io_operation_begin(1090, trace.stdin, IoOperationMode.READ, IoOperationFlag.NONE, 7, 3)
            writer.io_operation_complete(1095, trace.stdin, 7, 3)
        with trace.within("unlink", 1100, 1101) as writer:
            writer.io_delete_file(1100, trace.posix, trace.file)
        with trace.within("close", 1110, 1111) as writer:
            writer.io_destroy_handle(1110, trace.handle)
        with trace.within("compute", 1120, 1130):
            pass
        writer.io_operation_begin(1140, trace.copy, IoOperationMode.READ, IoOperationFlag.NONE, 5, 4)
        trace.second.io_operation_begin(1140, trace.copy, IoOperationMode.READ, IoOperationFlag.NONE, 5, 5)
        trace.second.io_operation_complete(1150, trace.copy, 5, 5)
        trace.second.io_operation_complete(1150, trace.copy, 5, 99)


def test_records_become_calls_with_handles_parents_and_bytes(tmp_path: Path) -> None:
    write_sample(tmp_path / "t")
    streams, source = read(tmp_path / "t")
    first, second = streams.values()
    assert told(first, "call", "kind", "layer", "handle", "parent", "depth", "requested", "bytes") == [
        ("open", Kind.CREATE, Layer.POSIX, 2, 1, 1, 0, 0),
        ("MPI_File_open", Kind.CREATE, Layer.MPIIO, 1, 0, 0, 0, 0),
        ("lseek", Kind.SEEK, Layer.POSIX, 2, 1, 0, 0, 0),
        ("write", Kind.WRITE, Layer.POSIX, 2, 1, 0, 4096, 4000),
        ("aio_write", Kind.WRITE, Layer.POSIX, 2, 1, 0, 10, 0),
        ("aio_return", Kind.WRITE, Layer.POSIX, 2, 1, 0, 0, 10),
        ("dup", Kind.DUPLICATE, Layer.POSIX, 3, 2, 0, 0, 0),
        ("read", Kind.READ, Layer.POSIX, 4, 0, 0, 7, 7),
        ("unlink", Kind.DELETE, Layer.POSIX, 0, 0, 0, 0, 0),
        ("close", Kind.DESTROY, Layer.POSIX, 2, 1, 0, 0, 0),
        ("main", Kind.READ, Layer.POSIX, 3, 0, 0, 5, 0),
    ]
    assert {row["file"] for row in first.rows()} == {"/scratch/out"}
    assert first.rows()[2]["offset"] == 100
    assert [row["flags"] for row in first.rows()[3:5]] == [Flag.BLOCKING, 0]
    assert first.definitions.handles[4] == HandleInfo(1, 0, Layer.POSIX, "stdin", -1, 2)
    assert told(second, "call", "start", "duration", "bytes") == [
        ("read", first.rows()[0]["start"] + 128_000, 10_000, 5)
    ]
    assert (first.info.host, first.info.rank, first.info.clock_offset_ns) == ("node7", 3, 0)
    assert source.unsupported.counts == {
        "regions that are no I/O call": 1,
        "completions of operations that were not begun": 1,
        "operations that were begun and not completed": 1,
    }
    assert not source.problems.total


@pytest.mark.parametrize("resolution", [1000, 10**6, 10**9, 3 * 10**9])
def test_stamps_are_nanoseconds_whatever_the_clocks_resolution(tmp_path: Path, resolution: int) -> None:
    with tracing(tmp_path / "t", resolution) as trace:
        for begin in (0, 7, 10**10 + 1):
            with trace.within("write", begin, begin + 3):
                pass
    rows = only_stream(read(tmp_path / "t" / "traces.otf2")[0]).rows()
    assert [row["duration"] for row in rows] == [3 * 10**9 // resolution] * 3
    assert rows[1]["start"] - rows[0]["start"] == pytest.approx(7e9 / resolution, abs=1)
    assert rows[2]["start"] - rows[0]["start"] == pytest.approx((10**10 + 1) * 10**9 // resolution, abs=1)


@pytest.mark.parametrize(("name", "calls"), [("MPI_File_write_all", 1), ("compute", 0)])
def test_trace_without_io_records_is_read_from_its_regions_and_reported(tmp_path: Path, name: str, calls: int) -> None:
    with tracing(tmp_path / "t") as trace, trace.within(name, 1, 2):
        pass
    streams, source = read(tmp_path / "t")
    assert sum(len(stream.events) for stream in streams.values()) == calls
    assert "has no I/O records" in str(source.problems.first[0])


def test_regions_that_do_not_nest_cost_themselves(tmp_path: Path) -> None:
    with tracing(tmp_path / "t") as trace:
        trace.writer.leave(1, trace.region("read"))
        trace.writer.enter(2, trace.region("read"))
        trace.writer.enter(3, trace.region("write"))
        trace.writer.leave(4, trace.region("read"))
        trace.writer.enter(5, trace.region("fsync"))
    streams, source = read(tmp_path / "t")
    assert told(only_stream(streams), "call", "duration") == [("read", 2000)]
    assert source.unsupported.counts == {
        "regions that were left and not entered": 1,
        "I/O calls that were entered and not left": 2,
    }


def test_events_are_read_a_piece_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sample(tmp_path / "t")
    whole = [told(stream, "call", "start", "bytes") for stream in read(tmp_path / "t")[0].values()]
    for piece in (1, 2, 5, 44):
        monkeypatch.setattr(source_module, "_PIECE", piece)
        assert [told(stream, "call", "start", "bytes") for stream in read(tmp_path / "t")[0].values()] == whole


def exported(folder: Path) -> ArchiveReader:
    """Two processes that open, write in two layers, sync, fail and close, as an archive and as a trace."""
    writer = ArchiveWriter()
    written = writer.begin({"job": "simulation"})
    files = [
        (
            1,
            FileInfo(
                "/scratch/a", FileType.REGULAR, mount_point="/scratch", filesystem="lustre", shared=True, stripes=4
            ),
        )
    ]
    for rank in (0, 1):
        rows = [
            ("open", Kind.CREATE, 1, 5, 0, 0, 1, 0, 0), ("write", Kind.WRITE, 1, 5, 64, 0, 2, 0, 1),
            ("H5Dwrite", Kind.WRITE, 4, 6, 64, 0, 5, 0, 0), ("read", Kind.READ, 1, 5, 0, 5, 3, 0, 0),
            ("stat", Kind.OTHER, 1, 0, 0, 2, 4, 0, 0), ("close", Kind.DESTROY, 1, 5, 0, 0, 1, 0, 0),
        ]  # fmt: skip
        columns = dict(zip(("call", "kind", "layer", "handle", "bytes", "errno", "signature", "flags", "depth"),
                           zip(*rows, strict=True), strict=True))  # fmt: skip
        names = [row[0] for row in rows]
        batch = make_batch(
            len(rows),
            {
                **{name: np.array(column) for name, column in columns.items() if name != "call"},
                "call": np.arange(1, len(rows) + 1), "start": BEGIN + np.array([0, 210, 200, 300, 400, 500]),
                "duration": [50, 30, 60, 9, 9, 9], "file": 1, "pid": 40 + rank, "tid": 40 + rank, "rank": rank,
                "requested": [0, 64, 64, 7, 0, 0], "offset": [-1, 128, -1, 0, -1, -1],
                "flags": [1, 1, 1, 1 | 4, 1 | 4, 1],
            },
        )  # fmt: skip
        texts = [(number, f"text {number}(x)") for number in range(1, 6)]
        info = StreamInfo(job="sim", source="preload", rank=rank, pid=40 + rank, host=f"n{rank}", command="./a")
        written += writer.opened(str(rank), info)
        written += writer.batch(str(rank), batch, Definitions(list(enumerate(names, 1)), files, [], texts))
    reader = ArchiveReader(io.BytesIO(written + writer.end()), "test")
    folder.mkdir()
    write_otf2(reader, folder, Counter())
    return reader


def test_exported_calls_are_restored(tmp_path: Path) -> None:
    reader = exported(tmp_path / "t")
    streams, source = read(tmp_path / "t")
    assert source.problems.total == 0
    for number, (stream, kept) in enumerate(zip(streams.values(), reader.streams.values(), strict=True), 1):
        info = stream.info
        assert (info.job, info.host, info.command) == ("sim", f"n{number - 1}", "./a")
        assert (info.rank, info.pid, info.clock_offset_ns) == (number - 1, 39 + number, 0)
        assert stream.definitions.file(1) == kept.files[1]
        before = Stream(kept.info)
        before.definitions.apply(Definitions(files=list(kept.files.items())))
        for each in reader.calls(number):
            before.definitions.apply(each.definitions)
            before.batches.append(each.batch)
        given, had = stream.rows(), before.rows()
        for row, was in zip(given, sorted(had, key=lambda row: row["start"] + row["duration"]), strict=True):
            text = stream.definitions.signature(row["signature"])
            assert text == before.definitions.signature(was["signature"])
            for name in ("call", "kind", "layer", "start", "duration", "file", "bytes", "requested", "offset", "errno",
                         "flags", "depth", "pid", "tid", "rank"):  # fmt: skip
                assert row[name] == was[name], (name, row, was)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["traces.otf2", "traces.def", "traces/0.evt"])
def test_truncated_trace_is_named_and_read_as_far_as_it_goes(tmp_path: Path, file: str) -> None:
    exported(tmp_path / "t")
    path = tmp_path / "t" / file
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 if file != "traces/0.evt" else 40])
    # In a separate process: OTF2 may find truncated data in memory left by the writer.
    told = iotide("archive", "create", "-o", tmp_path / "a", tmp_path / "t" / "traces.otf2", cwd=tmp_path).stderr
    assert f"iotide: {tmp_path / 't' / 'traces.otf2'}" in told


def test_missing_events_cost_their_location(tmp_path: Path) -> None:
    exported(tmp_path / "t")
    (tmp_path / "t/traces/0.evt").unlink()
    streams, source = read(tmp_path / "t")
    assert [stream.info.rank for stream in streams.values()] == [1]
    assert source.problems.total == 1


def test_folder_needs_one_anchor_file(tmp_path: Path) -> None:
    exported(tmp_path / "t")
    shutil.copy(tmp_path / "t/traces.otf2", tmp_path / "t/more.otf2")
    streams, source = read(tmp_path / "t")
    assert not streams
    assert "has 2 anchor files" in str(source.problems.first[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t", "t/traces.otf2"])
def test_reader_in_a_process_of_its_own_gives_the_same(tmp_path: Path, name: str) -> None:
    write_sample(tmp_path / "t")
    here, source = read(tmp_path / name)
    apart = open_file(tmp_path / name, Origin(job="j"))
    items = list(read_all(apart))
    assert isinstance(items[0], Opened)
    streams = collect(items)
    assert list(streams) == list(here)
    for stream, other in zip(streams.values(), here.values(), strict=True):
        assert (stream.info, stream.rows(), stream.closed) == (other.info, other.rows(), True)
        assert stream.definitions.handles == other.definitions.handles
    assert isinstance(apart, FinishedSource)
    assert (apart.counters, apart.unsupported) == (source.counters, source.unsupported)


def test_problems_come_from_the_process_that_reads(tmp_path: Path) -> None:
    with tracing(tmp_path / "t") as trace, trace.within("compute", 1, 2):
        pass
    source = open_file(tmp_path / "t", Origin(job="j"))
    assert list(read_all(source)) == []
    assert "has no I/O records" in str(source.problems.first[0])
