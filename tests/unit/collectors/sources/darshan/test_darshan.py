"""Darshan logs: the real ones of its Python package, and broken ones."""

from __future__ import annotations

import random
import struct
import zlib
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.source import Input, Lost, Origin, SourceItem
from iotide.collectors.sources.darshan import parser
from iotide.collectors.sources.darshan.counters import rows_of, summaries
from iotide.collectors.sources.darshan.dxt import SEGMENTS_AT_ONCE, Record
from iotide.collectors.sources.darshan.events import SEGMENT, in_order, rows_of_segments
from iotide.collectors.sources.darshan.library_subprocess import pieces_of
from iotide.collectors.sources.finished import FinishedSource
from iotide.collectors.sources.registry import open_file, read_all, sniff
from iotide.events import ConfigError, FileType, Flag, InputError, Kind, Layer
from support.formats import darshan_logs
from support.formats.darshan_package import FOLDER, LOGS, darshan, needs_darshan
from support.formats.parsing import Stream, collect

pytestmark = needs_darshan
TRACED = LOGS / "ior_hdf5_example.darshan"
SIMPLE = FOLDER / "tests" / "input" / "sample-dxt-simple.darshan"
COUNTED = LOGS / "shane_macsio_id29959_5-22-32552-7035573431850780836_1590156158.darshan"
ORIGIN = Origin(job="none", host="here")


@cache
def read(path: Path) -> tuple[dict[int, Stream], FinishedSource]:
    source = open_file(path, ORIGIN)
    assert isinstance(source, FinishedSource)
    streams = collect(read_all(source))
    assert all(stream.closed for stream in streams.values())
    return {stream.info.rank: stream for stream in streams.values()}, source


def segments_by_library(path: Path, module: str) -> list[tuple[int, str, int, int, float, float]]:
    """Read segments as users of PyDarshan do."""
    report = darshan.DarshanReport(str(path), read_all=False)
    report.mod_read_all_dxt_records(module, dtype="dict")
    found = []
    for record in report.records[module]:
        for kind in ("read", "write"):
            for each in record[f"{kind}_segments"]:
                row = (record["rank"], kind, each["offset"], each["length"], each["start_time"], each["end_time"])
                found.append(row)
    return sorted(found)


@pytest.mark.slow
@pytest.mark.parametrize(("module", "layer"), [("DXT_POSIX", Layer.POSIX), ("DXT_MPIIO", Layer.MPIIO)])
@pytest.mark.parametrize("path", [TRACED, SIMPLE], ids=["ior", "simple"])
def test_segments_are_those_that_darshans_own_reader_gives(path: Path, module: str, layer: Layer) -> None:
    streams, _ = read(path)
    begin = darshan.DarshanReport(str(path), read_all=False).metadata["job"]["start_time_sec"]
    ours = []
    for rank, stream in streams.items():
        for row in stream.rows():
            if row["layer"] == layer and not row["flags"] & Flag.AGGREGATE:
                times = row["start"] - begin * 10**9, row["start"] + row["duration"] - begin * 10**9
                ours.append((rank, Kind(row["kind"]).name.lower(), row["offset"], row["bytes"], *times))
    theirs = [
        (rank, kind, offset, length, round(start * 1e9), round(end * 1e9))
        for rank, kind, offset, length, start, end in segments_by_library(path, module)
    ]
    assert sorted(ours) == sorted(theirs)
    assert ours


@pytest.mark.slow
def test_ranks_files_and_job_come_from_the_log() -> None:
    streams, _ = read(TRACED)
    assert sorted(streams) == [0, 1, 2, 3]
    info = streams[2].info
    assert (info.job, info.host, info.ranks, info.command, info.user) == ("32324925", "nid00097", 4, "ior", "69628")
    assert info.clock_offset_ns == 0
    (file,) = {row["file"] for row in streams[2].rows()}
    assert file == "/global/cscratch1/sd/ssnyder/test123.h5"
    found = streams[2].definitions.file(1)
    assert (found.type, found.mount_point, found.filesystem) == (FileType.REGULAR, "/global/cscratch1", "lustre")
    assert found.shared
    assert np.count_nonzero(streams[2].events.flags == 0) == 26


@pytest.mark.slow
def test_calls_are_ordered_and_nested_below_mpi_io() -> None:
    streams, _ = read(TRACED)
    for stream in streams.values():
        events = stream.events
        assert (np.diff(events.start) >= 0).all()
        assert set(events.depth[events.layer == Layer.POSIX].tolist()) == {1}
        assert set(events.depth[events.layer == Layer.MPIIO].tolist()) == {0}


@pytest.mark.slow
def test_log_without_dxt_gives_sums() -> None:
    streams, source = read(COUNTED)
    rows = [row for stream in streams.values() for row in stream.rows()]
    assert rows
    assert all(row["flags"] & Flag.AGGREGATE for row in rows)
    written = sum(row["bytes"] for row in rows if row["layer"] == Layer.MPIIO and row["kind"] == Kind.WRITE)
    report = darshan.DarshanReport(str(COUNTED), read_all=False)
    report.mod_read_all_records("MPI-IO", dtype="pandas")
    assert written == report.records["MPI-IO"][0]["counters"]["MPIIO_BYTES_WRITTEN"].sum()
    told = source.unsupported.counts
    assert told["times of single calls of MPI-IO, of which the log has only sums for each file"] == 7759 + 16 + 128
    assert told["modules with counts only (H5D, H5F)"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("cut", [1, 9, 100])
def test_calls_of_a_log_whose_names_are_damaged_are_read_without_them(cut: int, tmp_path: Path) -> None:
    """The library aborts, or gives no further record."""
    data = bytearray(SIMPLE.read_bytes())
    at, length = struct.unpack_from("<QQ", data, 24)
    names = zlib.compress(darshan_logs.unpacked(bytes(data[at : at + length]))[:-cut])
    struct.pack_into("<QQ", data, 24, len(data), len(names))
    (log := tmp_path / "x.darshan").write_bytes(data + names)
    whole, _ = read(SIMPLE)
    streams, source = read(log)
    assert {rank: len(stream.events) for rank, stream in streams.items()} == {
        rank: len(stream.events) for rank, stream in whole.items()
    }
    assert source.problems.total == 1


@pytest.mark.parametrize("writes", [0, 1, SEGMENTS_AT_ONCE, SEGMENTS_AT_ONCE + 3, 2 * SEGMENTS_AT_ONCE + 5])
def test_segments_of_a_long_record_come_in_pieces(writes: int) -> None:
    segments = np.arange(2 * SEGMENTS_AT_ONCE + 5, dtype=np.uint16).tobytes()
    pieces = list(pieces_of(Record(1, 0, "h", writes, 2, segments)))
    assert b"".join(piece for _, piece in pieces) == segments
    assert [len(piece) // 2 for _, piece in pieces] == [SEGMENTS_AT_ONCE, SEGMENTS_AT_ONCE, 5]
    is_write = np.concatenate([np.arange(len(piece) // 2) < count for count, piece in pieces])
    assert np.flatnonzero(is_write).tolist() == list(range(writes))


def test_record_without_segments_is_one_piece() -> None:
    assert list(pieces_of(Record(1, 0, "h", 0, 2, b""))) == [(0, b"")]


ENDLESS = """
class ffi:
    NULL = 0
def log_open(path):
    return {"handle": 1}
def log_get_modules(log):
    return {}
def log_get_job(log):
    while True:
        pass
def log_get_name_records(log):
    return {"7": "/file"} if @ else log_get_job(log)
"""
"""Darshan's library on a log whose first part, or all parts, have no end for it."""


@pytest.fixture
def endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], Path]:
    """Return what makes a log on which the library does not end."""

    def make(names_end: bool) -> Path:
        (tmp_path / "darshan" / "backend").mkdir(parents=True)
        for package in ("darshan", "darshan/backend"):
            (tmp_path / package / "__init__.py").touch()
        (tmp_path / "darshan" / "backend" / "cffi_backend.py").write_text(ENDLESS.replace("@", str(names_end)))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        path = tmp_path / "endless.darshan"
        path.write_bytes(bytes(1000))
        return path

    return make


@pytest.mark.slow
@pytest.mark.parametrize("names_end", [True, False])
def test_log_on_which_the_library_does_not_end_is_given_up(
    endless: Callable[[bool], Path], monkeypatch: pytest.MonkeyPatch, names_end: bool
) -> None:
    monkeypatch.setattr(parser, "_LEAST_CPU_S", 1)
    path, found = endless(names_end), []
    with pytest.raises(InputError, match="took over 1 s of CPU time, too much for a log of this size"):
        found.extend(message for message, _ in parser.messages(path))
    assert [message["what"] for message in found] == ["names"] * names_end


@pytest.mark.slow
def test_lower_limit_of_the_process_is_named(endless: Callable[[bool], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = endless(False)
    monkeypatch.setattr(parser.resource, "getrlimit", lambda kind: (2, 2))
    with pytest.raises(InputError, match=r"took over 1 s of CPU time, the limit of this process \(ulimit -Ht\)"):
        list(parser.messages(path))


def test_cpu_time_for_a_log_grows_with_its_size() -> None:
    bounds = [parser.cpu_bound_s(size) for size in (0, 1000, 1 << 20, 10 << 20, 1 << 40)]
    assert bounds == sorted(bounds)
    assert 0 < bounds[1] < bounds[2] < bounds[3] < bounds[4] <= 1800


def test_format_is_told_from_the_log_itself() -> None:
    assert sniff(TRACED.read_bytes()[:100], "log") == "darshan"


def test_log_cannot_be_followed() -> None:
    with pytest.raises(ConfigError, match="cannot be followed"):
        open_file(TRACED, ORIGIN, format="darshan", follow=True)


@pytest.mark.slow
@pytest.mark.parametrize("keep", [40, -200])
def test_truncated_log_is_named_and_its_streams_closed(keep: int, tmp_path: Path) -> None:
    path = tmp_path / "cut.darshan"
    path.write_bytes(TRACED.read_bytes()[:keep])
    streams, source = read(path)
    assert source.problems.total == 1
    assert source.problems.first[0].where == str(path)
    assert bool(streams) == (keep < 0)  # the other layer is still there


@pytest.mark.slow
def test_log_without_its_records_is_cut_short_and_not_without_io(tmp_path: Path) -> None:
    path = tmp_path / "cut.darshan"
    path.write_bytes(TRACED.read_bytes()[: len(TRACED.read_bytes()) // 3])
    _, source = read(path)
    assert "cut short" in source.problems.first[0].problem


@pytest.mark.slow
def test_broken_log_never_ends_us(tmp_path: Path) -> None:
    broken, rand = bytearray(TRACED.read_bytes()), random.Random(11)
    for _ in range(12):
        broken[rand.randrange(16, len(broken))] ^= 1 << rand.randrange(8)
    path = tmp_path / "broken.darshan"
    path.write_bytes(broken)
    _, source = read(path)
    assert source.problems.total == 1


def test_segments_whose_times_cannot_be_are_left_out() -> None:
    wrong = [(0, 1, 0.5, 0.4), (0, 1, float("nan"), 1.0), (0, -1, 0.1, 0.2), (0, 1, 1e300, 1e301), (-7, 8, 0.25, 0.5)]
    rows, good = rows_of_segments(np.array(wrong, SEGMENT), 5, Layer.POSIX, 0, 0, 10**18)
    assert good.tolist() == [False, False, False, False, True]
    assert rows[["start", "duration", "offset", "bytes", "kind"]].tolist() == [
        (10**18 + 250_000_000, 250_000_000, -1, 8, Kind.WRITE)
    ]
    assert len(in_order(rows, {0})) == 1


@pytest.mark.parametrize(
    ("size", "start", "end", "took"),
    [(-1, 1, 2, 0.5), (2**63 - 1, 3, 2, float("nan")), (5, 1, float("nan"), -3.0), (5, -1, 1e300, float("inf"))],
)
def test_counters_that_cannot_be_make_events_that_can(size: int, start: float, end: float, took: float) -> None:
    values = {
        "READS": 3, "BYTES_READ": size, "F_READ_START_TIMESTAMP": start, "F_READ_END_TIMESTAMP": end,
        "F_READ_TIME": took, "F_META_TIME": took, "SIZE_READ_0_100": 2**62, "OPENS": -1,
    }  # fmt: skip
    for each in summaries(Layer.POSIX, values, (0.0, 1.0), moved=True):
        rows = rows_of(each, Layer.POSIX, 0, range(7), 10**18)
        for name in ("start", "duration", "offset", "requested", "bytes"):
            assert (rows[name] >= 0).all()
        assert rows["requested"].sum() == each.calls
        assert rows["bytes"].sum() == each.bytes
        assert rows["offset"].sum() == each.busy_ns


@given(
    counts=st.lists(st.integers(0, 1000), min_size=10, max_size=10),
    places=st.lists(st.integers(0, 2**20), min_size=10, max_size=10),
    busy=st.floats(0, 1e5),
    ranks=st.integers(1, 50),
)
def test_classes_of_sizes_and_ranks_add_up_to_what_was_counted(
    counts: list[int], places: list[int], busy: float, ranks: int
) -> None:
    lows = [0, 100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30]
    names = ["0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS"]
    highs = [*lows[1:], 1 << 31]
    sizes = [low + place % (high - low) for low, high, place in zip(lows, highs, places, strict=True)]
    total = sum(count * size for count, size in zip(counts, sizes, strict=True))
    values = {f"SIZE_WRITE_{name}": count for name, count in zip(names, counts, strict=True)}
    values |= {"WRITES": sum(counts), "BYTES_WRITTEN": total, "F_WRITE_TIME": busy}  # type: ignore[dict-item]
    made = summaries(Layer.POSIX, values, (0.0, 1.0), moved=True)
    assert sum(each.calls for each in made) == sum(counts)
    assert sum(each.bytes for each in made) == total
    assert sum(each.busy_ns for each in made) == round(busy * 1e9)
    found = [(each.calls, each.bytes / each.calls) for each in made if each.calls]
    told = [(count, low, high) for count, low, high in zip(counts, lows, [*highs[:-1], 1 << 40], strict=True) if count]
    assert [calls for calls, _ in found] == [count for count, _, _ in told]
    for (_, size), (_, low, high) in zip(found, told, strict=True):
        assert low <= size <= high
    for each in made:
        rows = rows_of(each, Layer.POSIX, 0, range(ranks), 0)
        assert (rows["requested"].sum(), rows["bytes"].sum(), rows["offset"].sum()) == (
            each.calls, each.bytes, each.busy_ns
        )  # fmt: skip


def test_reader_that_fails_ends_its_source_and_closes_its_streams(tmp_path: Path) -> None:
    def failing(path: Path, about: Input) -> list[list[SourceItem]]:  # type: ignore[misc]
        yield []
        raise InputError(str(path), 7, "it is broken", "one that is not")

    source = FinishedSource(tmp_path, failing, ORIGIN)
    assert list(read_all(source)) == [Lost(Counter({"lines_malformed": 1}), job=ORIGIN.job)]
    assert source.finished
    assert source.problems.first[0].line == 7


@pytest.mark.slow
def test_all_parts_of_a_log_are_read_one_after_another() -> None:
    streams, source = read(LOGS / "dxt.darshan")
    events = streams[0].events
    assert not source.problems.total
    assert np.count_nonzero(events.flags == 0) == 7623
    assert np.count_nonzero((events.layer == Layer.STDIO) & (events.kind == Kind.READ)) == 1


def rows_told(streams: dict[int, Stream], *, without: tuple[str, ...] = ()) -> list[tuple[tuple[str, object], ...]]:
    rows = [row for stream in streams.values() for row in stream.rows()]
    return sorted((tuple((key, value) for key, value in row.items() if key not in without) for row in rows), key=str)


@pytest.mark.slow
@pytest.mark.parametrize("path", [TRACED, SIMPLE], ids=["ior", "simple"])
def test_format_3_41_is_read_as_those_before(path: Path, tmp_path: Path) -> None:
    newer = tmp_path / "newer.darshan"
    newer.write_bytes(darshan_logs.log_of(*darshan_logs.regions(path.read_bytes()), pieces=1))
    streams, source = read(newer)
    assert not source.problems.total
    assert rows_told(streams) == rows_told(read(path)[0])


@pytest.mark.slow
@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("path", [TRACED, SIMPLE], ids=["ior", "simple"])
def test_segments_with_threads_are_read(path: Path, pieces: int, tmp_path: Path) -> None:
    newer = tmp_path / "newer.darshan"
    newer.write_bytes(darshan_logs.threaded(path, pieces))
    streams, source = read(newer)
    assert not source.problems.total
    assert rows_told(streams, without=("tid",)) == rows_told(read(path)[0], without=("tid",))
    threads = {row["tid"] for stream in streams.values() for row in stream.rows() if not row["flags"]}
    assert threads <= {1, 2}
    assert threads


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["version", "cut", "garbage"])
def test_where_segments_cannot_be_read_counters_do(damage: str, tmp_path: Path) -> None:
    job, names, modules = darshan_logs.regions(TRACED.read_bytes())
    _, data = modules[darshan_logs.DXT_POSIX]
    if damage == "version":
        modules[darshan_logs.DXT_POSIX] = (7, data)
    elif damage == "cut":
        modules[darshan_logs.DXT_POSIX] = (2, data[:50])
    else:
        modules[darshan_logs.DXT_POSIX] = (2, b"\xff" * 1000)
    newer = tmp_path / "newer.darshan"
    newer.write_bytes(darshan_logs.log_of(job, names, modules))
    streams, source = read(newer)
    assert source.problems.total == 1
    assert "DXT_POSIX" in source.problems.first[0].problem

    def moved(of: dict[int, Stream], layer: Layer) -> int:
        return sum(int(stream.events.bytes[stream.events.layer == layer].sum()) for stream in of.values())

    whole = read(TRACED)[0]
    for layer in (Layer.POSIX, Layer.MPIIO):
        assert moved(streams, layer) == moved(whole, layer) > 0
