"""Recorder traces, written from its documented structures: every call is restored, and damage is reported."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.source import Origin
from iotide.collectors.sources.finished import FinishedSource
from iotide.collectors.sources.recorder.grammar import Grammar
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import InputError, Kind, Layer
from support.formats.parsing import Stream, collect
from support.formats.recorder_format import Call, write_trace

ORIGIN = Origin(job="job", host="node1")
VERSIONS = pytest.mark.parametrize("version", ["2.3.3", "2.5.0", "2.5.0+"])
BEGIN = 1_700_000_000 * 10**9


def checkpoint(rank: int, steps: int) -> list[Call]:
    """A rank that writes its part of a shared file, and a log."""
    path, at = "/scratch/plot.h5", 100
    calls = [Call(5, 9, "open", (path, "66", "420")), Call(10, 20, "fopen", ("/scratch/run.log", "a"))]
    for step in range(steps):
        calls += [
            Call(at, at + 7, "pwrite", (path, "%p", "4096", str((step * 4 + rank) * 4096))),
            Call(at + 10, at + 11, "fwrite", ("%p", "8", "16", "/scratch/run.log")),
            Call(at + 12, at + 20, "MPI_Barrier", ("MPI_COMM_WORLD",)),
        ]
        at += 50
    return [*calls, Call(at, at + 2, "close", (path,))]


def read(folder: Path) -> tuple[dict[int, Stream], FinishedSource]:
    source = open_file(folder, ORIGIN)
    assert isinstance(source, FinishedSource)
    streams = collect(read_all(source))
    assert all(stream.closed for stream in streams.values())
    return {stream.info.rank: stream for stream in streams.values()}, source


def rows(folder: Path, *calls: Call) -> list[dict[str, Any]]:
    streams, source = read(write_trace(folder, [calls]))
    assert not source.problems.total
    return streams[0].rows()


@VERSIONS
def test_every_call_of_every_rank_comes_back(version: str, tmp_path: Path) -> None:
    streams, source = read(write_trace(tmp_path / "trace", [checkpoint(rank, 300) for rank in range(4)], version))
    assert sorted(streams) == [0, 1, 2, 3]
    for rank, stream in streams.items():
        assert (stream.info.source, stream.info.ranks, stream.info.clock_offset_ns) == ("recorder", 4, 0)
        expected = [call for call in checkpoint(rank, 300) if call.function != "MPI_Barrier"]
        found = stream.rows()
        assert [row["call"] for row in found] == [call.function for call in expected]
        assert [row["start"] for row in found] == [BEGIN + 1000 * call.start for call in expected]
        assert [row["duration"] for row in found] == [1000 * (call.end - call.start) for call in expected]
        writes = [row for row in found if row["call"] == "pwrite"]
        assert [row["offset"] for row in writes] == [(step * 4 + rank) * 4096 for step in range(300)]
        assert {(row["bytes"], row["file"]) for row in writes} == {(4096, "/scratch/plot.h5")}
        assert {row["bytes"] for row in found if row["call"] == "fwrite"} == {128}
        assert stream.definitions.signature(found[0]["signature"]) == "open(66, 420)"
    assert not source.problems.total
    assert source.unsupported.counts == {
        "calls of MPI that are no I/O": 1200,
        "results of calls, which Recorder does not keep: bytes are those asked for": 2400,
        "starts of ranks: each begins with rank 0's, the only one in the trace": 3,
    }


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=200))
def test_any_calls_come_back(drawn: list[tuple[int, int, int]]) -> None:
    import tempfile

    at, calls = 0, []
    for which, gap, length in drawn:
        at += gap
        calls.append(Call(at, at + length, "pread", ("/x", "%p", "512", str(512 * which))))
    with tempfile.TemporaryDirectory() as folder:
        found = rows(Path(folder) / "trace", *calls)
    assert [(row["start"] - BEGIN, row["duration"], row["offset"]) for row in found] == [
        (1000 * call.start, 1000 * (call.end - call.start), int(call.arguments[3])) for call in calls
    ]


def test_parameters_give_file_offset_and_bytes(tmp_path: Path) -> None:
    found = rows(
        tmp_path / "trace",
        Call(1, 2, "read", ("/a", "%p", "700")),
        Call(3, 4, "writev", ("/a", "96", "3")),
        Call(5, 6, "vfprintf", ("/log", "13")),
        Call(7, 8, "lseek", ("/a", "4096", "0")),
        Call(9, 10, "lseek", ("/a", "-8", "2")),
        Call(11, 12, "__xstat", ("1", "/b", "%p")),
        Call(13, 14, "mmap", ("%p", "8192", "3", "1", "/m", "4096")),
        Call(15, 16, "H5Fcreate", ("/h.h5", "2", "H5P_DEFAULT", "0")),
    )
    assert [(row["call"], row["file"], row["offset"], row["bytes"]) for row in found] == [
        ("read", "/a", -1, 700), ("writev", "/a", -1, 96), ("vfprintf", "/log", -1, 12), ("lseek", "/a", 4096, 0),
        ("lseek", "/a", -1, 0), ("__xstat", "/b", -1, 0), ("mmap", "/m", -1, 0), ("H5Fcreate", "/h.h5", -1, 0),
    ]  # fmt: skip
    assert (found[7]["layer"], found[7]["kind"]) == (Layer.HDF5, Kind.CREATE)


def test_layers_lie_within_each_other_as_recorder_says(tmp_path: Path) -> None:
    found = rows(
        tmp_path / "trace",
        Call(0, 9, "MPI_File_open", ("MPI_COMM_WORLD", "/shared", "9", "MPI_INFO_NULL", "0-0")),
        Call(10, 30, "MPI_File_write_at_all", ("0-0", "8192", "%p", "100", "MPI_DOUBLE", "%p")),
        Call(12, 28, "pwrite", ("/shared", "%p", "800", "8192"), level=1),
        Call(40, 41, "MPI_File_write_at", ("0-0", "0", "%p", "7", "mine", "%p")),
        Call(50, 99, "H5Dwrite", ("1", "2", "0", "0", "0", "%p")),
        Call(51, 98, "MPI_File_write_at", ("0-0", "0", "%p", "100", "MPI_BYTE", "%p"), level=1),
        Call(52, 60, "pwrite", ("/shared", "%p", "64", "0"), level=2),
        Call(61, 70, "pwrite", ("/shared", "%p", "36", "64"), level=2),
        Call(71, 72, "pread", ("/shared", "%p", "8", "64"), level=2),
    )
    assert [(row["file"], row["depth"], row["offset"], row["bytes"]) for row in found] == [
        ("/shared", 0, -1, 0), ("/shared", 0, 8192, 800), ("/shared", 1, 8192, 800), ("/shared", 0, 0, 0),
        ("", 0, -1, 100), ("/shared", 1, 0, 100), ("/shared", 2, 0, 64), ("/shared", 2, 64, 36), ("/shared", 2, 64, 8),
    ]  # fmt: skip
    assert [row["layer"] for row in found[:4]] == [Layer.MPIIO, Layer.MPIIO, Layer.POSIX, Layer.MPIIO]


def test_call_of_another_thread_may_have_begun_before(tmp_path: Path) -> None:
    found = rows(
        tmp_path / "trace",
        Call(500, 520, "read", ("/a", "%p", "1"), thread=140_000_000_000),
        Call(490, 530, "read", ("/a", "%p", "1"), thread=140_000_000_001),
        Call(600, 610, "read", ("/a", "%p", "1"), thread=140_000_000_000),
    )
    assert [row["start"] - BEGIN for row in found] == [500_000, 490_000, 600_000]
    assert [row["tid"] for row in found] == [0, 1, 0]


def test_finer_ticks_are_exact(tmp_path: Path) -> None:
    calls = [Call(3 * at, 3 * at + 1, "read", ("/a", "%p", "1")) for at in range(1000)]
    streams, _ = read(write_trace(tmp_path / "trace", [calls], "2.5.0", tick_s=1e-7))
    assert (streams[0].events.start - BEGIN).tolist() == [300 * at for at in range(1000)]


@pytest.mark.parametrize(
    ("version", "said"),
    [("3.0.0", "Recorder 3.0"), ("2.2.1", "Recorder 2.2"), (None, "before 2.3"), ("x", "before 2.3")],
)
def test_other_versions_are_named(version: str | None, said: str, tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace", [checkpoint(0, 2)])
    (folder / "VERSION").unlink()
    if version is not None:
        (folder / "VERSION").write_text(version)
    streams, source = read(folder)
    assert not streams
    assert said in source.problems.first[0].problem


@pytest.mark.parametrize("name", ["0.cst", "0.cfg", "recorder.mt"])
@pytest.mark.parametrize("keep", [0, 3, 30, -1])
def test_truncated_file_is_named_and_other_ranks_are_read(name: str, keep: int, tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace", [checkpoint(0, 20), checkpoint(1, 20)])
    path = folder / name
    path.write_bytes(path.read_bytes()[:keep])
    streams, source = read(folder)
    assert str(path) in str(source.problems.first[0])
    assert sorted(streams) == ([] if name == "recorder.mt" else [1])


@pytest.mark.parametrize("change", [-9, -8, 8])
def test_times_that_do_not_fit_the_calls_are_told(change: int, tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace", [checkpoint(0, 20)])
    data = (folder / "0.ts").read_bytes()
    (folder / "0.ts").write_bytes(data[:change] if change < 0 else data + bytes(change))
    streams, source = read(folder)
    assert "bytes for 63 calls" in source.problems.first[0].problem
    assert len(streams[0].events) == 43 - (change < 0)


@pytest.mark.parametrize("change", ["folder", "name"])
def test_times_of_a_rank_that_cannot_be_read_cost_this_rank(change: str, tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace", [checkpoint(rank, 2) for rank in range(3)])
    times = folder / "1.ts"
    if change == "folder":
        times.unlink()
        times.mkdir()
    else:
        times.rename(folder / "01.ts")
    streams, source = read(folder)
    assert {rank for rank, stream in streams.items() if stream.events} == {0, 2}
    assert source.problems.total


def test_missing_rank_is_told(tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace", [checkpoint(0, 2), checkpoint(1, 2)])
    (folder / "0.ts").unlink()
    streams, source = read(folder)
    assert sorted(streams) == [1]
    assert "1 of 2 ranks" in source.problems.first[0].problem


@pytest.mark.parametrize(
    "words",
    [
        [1, -1, 1, -1, 1],  # a rule that contains itself
        [2, -1, 1, -2, 1, -2, 1, -1, 1],  # two rules that contain each other
        [1, -1, 1, -7, 1],  # a missing rule
        [1, -1, 1, 99, 1],  # a missing terminal
        [1, -1, 1, 0, 0], [1, -1, 1, 0, -5], [1, -1, -3], [1, -1, 2**31 - 1], [-1], [2**31 - 1, -1, 0], [1, 5, 1, 0, 1],
        [2, -1, 0, -1, 0], [1, -2, 1, 0, 1],
    ],
)  # fmt: skip
def test_grammar_that_makes_no_sense_is_named(words: list[int], tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace", [checkpoint(0, 2)])
    (folder / "0.cfg").write_bytes(struct.pack(f"<{len(words)}i", *words))
    streams, source = read(folder)
    assert not streams
    assert "grammar is damaged" in source.problems.first[0].problem


def test_grammar_of_astronomic_length_takes_neither_memory_nor_time(tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace", [checkpoint(0, 2)])
    deep = [word for rule in range(2, 60) for word in (-rule, 1, -rule - 1, 2**31 - 1)]
    words = [60, -1, 1, -2, 2**31 - 1, *deep, -60, 1, 0, 2**31 - 1]
    (folder / "0.cfg").write_bytes(struct.pack(f"<{len(words)}i", *words))
    streams, source = read(folder)
    assert source.problems.total
    assert len(streams[0].events) == 9


@given(st.lists(st.lists(st.tuples(st.integers(-6, 4), st.integers(1, 4)), max_size=4), min_size=1, max_size=6))
def test_grammar_gives_what_unfolding_it_by_hand_does(bodies: list[list[tuple[int, int]]]) -> None:
    rules = {
        -1 - at: [(symbol, times) for symbol, times in body if symbol >= 0 or -1 - len(bodies) < symbol < -1 - at]
        for at, body in enumerate(bodies)
    }

    def unfolded(rule: int) -> list[int]:
        found: list[int] = []
        for symbol, times in rules[rule]:
            found += (unfolded(symbol) if symbol < 0 else [symbol]) * times
        return found

    made = Grammar({rule: np.array(body, np.int32).reshape(-1, 2) for rule, body in rules.items()}, 5)
    for most in (1, 7, 65_536):
        assert [number for piece in made.pieces(most) for number in piece.tolist()] == unfolded(-1)
    assert len(made) == len(unfolded(-1))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.data())
def test_damaged_trace_is_named_or_read(data: st.DataObject) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        folder = write_trace(Path(place) / "trace", [checkpoint(0, 6), checkpoint(1, 6)], "2.5.0")
        name = data.draw(st.sampled_from(["recorder.mt", "VERSION", "0.cst", "0.cfg", "0.ts"]))
        broken = bytearray((folder / name).read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
        (folder / name).write_bytes(broken)
        read(folder)


def test_other_folder_is_no_trace(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder of"):
        open_file(tmp_path, ORIGIN)
