"""Archives as files: written incrementally, read completely, truncated, damaged."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.events import Definitions, DefinitionTable, EventBatch, InputError, StreamInfo, make_batch
from iotide.events.definitions import FileInfo, HandleInfo

BLOCK = 64 * 1024


def info(rank: int) -> StreamInfo:
    return StreamInfo(job="job", source="preload", rank=rank, ranks=4, pid=100 + rank, command="./solver")


def strided(rank: int, ranks: int, calls: int) -> tuple[EventBatch, Definitions]:
    """Each rank writes its blocks of one file; only rank and offset differ."""
    batch = make_batch(
        calls,
        {
            "start": 10**18 + 1000 * np.arange(calls) + rank, "duration": 700, "call": 1, "rank": rank,
            "pid": 100 + rank, "tid": 100 + rank, "file": 1, "handle": 1, "signature": 1, "kind": 8, "layer": 1,
            "offset": BLOCK * (rank + ranks * np.arange(calls)), "requested": BLOCK, "bytes": BLOCK,
        },
    )  # fmt: skip
    text = f"pwrite64(fd=3, count={BLOCK})"
    names = Definitions([(1, "pwrite64")], [(1, FileInfo("/scratch/out"))], [(1, HandleInfo(1))], [(1, text)])
    return batch, names


@cache
def archive(ranks: int = 4, calls: int = 200, ended: bool = True) -> bytes:
    writer = ArchiveWriter()
    written = writer.begin({"job": "job"})
    for rank in range(ranks):
        written += writer.opened(f"rank{rank}", info(rank))
        written += writer.batch(f"rank{rank}", *strided(rank, ranks, calls))
        written += writer.closed(f"rank{rank}", {"events_dropped:ring_full": rank})
    return written + (writer.end() if ended else b"")


def opened(data: bytes) -> ArchiveReader:
    return ArchiveReader(io.BytesIO(data), "test")


def calls_in(reader: ArchiveReader) -> Iterator[EventBatch]:
    for number in reader.streams:
        for each in reader.calls(number):
            yield each.batch


def test_streams_come_back_with_all_that_is_known_of_them() -> None:
    reader = opened(archive())
    assert reader.job == {"job": "job"}
    assert reader.complete
    assert not reader.problems
    assert [stream.name for stream in reader.streams.values()] == [f"rank{rank}" for rank in range(4)]
    for rank, (number, stream) in enumerate(reader.streams.items()):
        assert stream.info == info(rank)
        assert stream.files == {1: FileInfo("/scratch/out")}
        assert stream.handles == {1: HandleInfo(1)}
        assert stream.losses == {"events_dropped:ring_full": rank}
        (part,) = reader.calls(number)
        batch, names = strided(rank, 4, 200)
        table = DefinitionTable()
        table.apply(part.definitions)
        assert {table.string(each) for each in part.batch.call.tolist()} == {"pwrite64"}
        assert {table.signature(each) for each in part.batch.signature.tolist()} == {names.signatures[0][1]}
        for column in ("start", "duration", "rank", "pid", "tid", "offset", "requested", "bytes", "handle", "file"):
            assert getattr(part.batch, column).tolist() == getattr(batch, column).tolist()


def test_size_but_for_times_does_not_grow_with_the_calls() -> None:
    def without_times(calls: int) -> int:
        data = archive(2, calls)
        return len(data) - opened(data).bytes["times"]

    assert abs(without_times(10_000) - without_times(100)) < 40  # numbers that take a byte more


def test_stream_that_changes_keeps_its_number() -> None:
    writer = ArchiveWriter()
    data = writer.begin({}) + writer.opened("s", info(-1)) + writer.opened("s", info(3)) + writer.end()
    assert [stream.info.rank for stream in opened(data).streams.values()] == [3]


def test_checkpoint_hands_out_what_came_in() -> None:
    writer = ArchiveWriter()
    data = writer.begin({}) + writer.opened("s", info(0)) + writer.batch("s", *strided(0, 1, 50))
    assert sum(map(len, calls_in(opened(data)))) == 0
    reader = opened(data + writer.checkpoint())
    assert sum(map(len, calls_in(reader))) == 50
    assert not reader.complete


def test_checkpoint_writes_the_losses_of_streams_that_have_not_ended() -> None:
    writer = ArchiveWriter()
    data = writer.begin({}) + b"".join(writer.opened(name, info(0)) for name in "ab")
    losses = [(0, 0), (3, 0), (3, 2), (3, 2), (4, 2)]
    for made in losses:
        for name, lost in zip("ab", made, strict=True):
            data += writer.batch(name, *strided(0, 1, 50))
            data += writer.checkpoint_of(name, {"events_dropped:ring_full": lost} if lost else {})
        data += writer.flush()
        streams = opened(data).streams.values()
        assert [stream.losses.get("events_dropped:ring_full", 0) for stream in streams] == [*made]
        assert not any(stream.closed for stream in streams)
        writer = ArchiveWriter.resumed(writer.state())
    assert not opened(data).problems
    data += writer.closed("a", {"events_dropped:ring_full": 7}) + writer.end()
    assert [stream.losses for stream in opened(data).streams.values()] == [
        {"events_dropped:ring_full": 7},
        {"events_dropped:ring_full": 2},
    ]


def test_signatures_keep_their_numbers_from_section_to_section() -> None:
    writer = ArchiveWriter()
    data = writer.begin({}) + writer.opened("s", info(0))
    for turn in range(5):
        batch, names = strided(0, 1, 10)
        data += writer.batch("s", batch, names if not turn else Definitions()) + writer.checkpoint()
    parts = list(opened(data + writer.end()).calls(1))
    assert len(parts) == 5
    assert {number for part in parts for number in part.batch.signature.tolist()} == {1}


def test_sections_outside_the_time_asked_for_are_not_unpacked() -> None:
    reader = opened(archive(1))
    assert [len(each.batch) for each in reader.calls(1, from_ns=10**18, to_ns=10**18 + 5)] == [200]
    assert list(reader.calls(1, to_ns=10**18 - 1)) == []
    assert list(reader.calls(1, from_ns=10**18 + 10**9)) == []


@pytest.mark.slow
def test_truncated_archive_returns_the_content_before_the_cut() -> None:
    whole = archive(3, 50)
    ends = []
    for length in range(16, len(whole)):
        reader = opened(whole[:length])
        assert not reader.complete
        ends.append(sum(map(len, calls_in(reader))))
    assert ends == sorted(ends)
    assert ends[-1] == 150


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(st.data())
def test_damage_is_told_and_costs_no_more_than_its_block(data: st.DataObject) -> None:
    whole = bytearray(archive(3, 50))
    place = data.draw(st.integers(16, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    reader = opened(bytes(whole))
    assert reader.problems
    seen = 0
    for number in reader.streams:
        try:
            seen += sum(len(each.batch) for each in reader.calls(number))
        except InputError:
            continue
    assert seen <= 150


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=300), st.sampled_from([1, 2, 3, 4, 5, 99]))
def test_blocks_of_nonsense_end_in_no_more_than_a_problem(payload: bytes, kind: int) -> None:
    start = struct.pack("<4sBxxxI", b"\xf1oT\n", kind, len(payload))
    block = start + struct.pack("<I", zlib.crc32(payload, zlib.crc32(start))) + payload
    reader = opened(archive(2, 20, ended=False) + block)
    for number in reader.streams:
        try:
            for _ in reader.calls(number):
                pass
        except InputError:
            continue


@pytest.mark.parametrize("data", [b"", b"IOTIDEAR", b"x" * 100, b"IOTIDEAR" + b"\x01\0\0\0" + b"\0\0\0\0"])
def test_file_that_is_no_archive_is_rejected(data: bytes) -> None:
    with pytest.raises(InputError):
        opened(data)


@pytest.mark.parametrize(("version", "needed"), [(1, "an earlier iotide"), (9, "a later iotide")])
def test_archive_of_another_version_is_refused_by_name(version: int, needed: str) -> None:
    start = b"IOTIDEAR" + struct.pack("<HH", version, 0)
    with pytest.raises(InputError, match=f"version {version}.*{needed}"):
        opened(start + struct.pack("<I", zlib.crc32(start)))
