"""Archives made to harm their reader, every checksum right: an error that says so, in bounded memory and time."""

from __future__ import annotations

import io
import json
import struct
import time
import tracemalloc
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.source import Origin
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import Definitions, InputError, StreamInfo, make_batch
from iotide.events.archive import integers
from iotide.events.archive.blocks import BlockKind, encode_block, head, read_blocks
from iotide.events.archive.encoding import PartKind
from iotide.events.archive.merged import MergedParts
from iotide.events.archive.reader import ArchiveReader
from iotide.events.archive.writer import ArchiveWriter
from iotide.events.definitions import FileInfo

INFO = StreamInfo(job="job", source="preload", rank=0)


def encoded(value: Any) -> bytes:
    return msgspec.msgpack.encode(value)


@cache
def good() -> list[tuple[int, bytes]]:
    """The blocks of an archive of three ranks, of which one works in another way: kind and payload."""
    writer = ArchiveWriter()
    data = writer.begin({"job": "job"})
    names = Definitions([(1, "write")], [(1, FileInfo("/x"))], [], [(1, "write(fd=1, count=5)"), (2, "write(fd=2)")])
    for rank in range(3):
        columns = {"call": 1, "file": 1, "signature": [1, 2] * 20, "start": np.arange(40), "offset": 5 * np.arange(40)}
        columns["requested"] = [3, 9, rank**3, 5] + 36 * [rank] if rank < 2 else 1
        data += writer.opened(f"s{rank}", msgspec.structs.replace(INFO, rank=rank))
        data += writer.batch(f"s{rank}", make_batch(40, columns), names)
    data += writer.end()
    return [(block.kind, block.payload) for block in read_blocks(io.BytesIO(data), "test", [])]


def built(blocks: list[tuple[int, bytes]]) -> bytes:
    return head() + b"".join(encode_block(BlockKind(kind), payload) for kind, payload in blocks)


def merged_of(kind: PartKind) -> int:
    """The first block with parts of a kind and more than one member, else the first."""
    found = [
        (number, msgspec.msgpack.decode(payload))
        for number, (block, payload) in enumerate(good())
        if block == BlockKind.MERGED
    ]
    of_kind = [(number, value) for number, value in found if value[0] == kind]
    return max(of_kind, key=lambda each: MergedParts.decode(encoded(each[1]), "test").members.lines)[0]


def with_block(number: int, payload: bytes) -> bytes:
    return built([(kind, payload if at == number else old) for at, (kind, old) in enumerate(good())])


def with_merged(place: int, value: Any, kind: PartKind = PartKind.SECTION) -> bytes:
    """An archive in which one value of merged parts is another."""
    number = merged_of(kind)
    block = msgspec.msgpack.decode(good()[number][1])
    block[place] = value
    return with_block(number, encoded(block))


def with_piece(which: int, change: Callable[[bytes], bytes]) -> bytes:
    """An archive in which one piece of a section is another: 0 texts, 1 signatures, 2 grammar."""
    wanted = msgspec.msgpack.decode(good()[merged_of(PartKind.SECTION)][1])[3][which]
    for number, (kind, payload) in enumerate(good()):
        if kind == BlockKind.PIECE and struct.unpack_from("<I", payload)[0] == wanted:
            return with_block(number, piece_of(wanted, change(zlib.decompress(payload[8:]))))
    raise AssertionError


def piece_of(number: int, content: bytes) -> bytes:
    return struct.pack("<II", number, len(content)) + zlib.compress(content, 1)


def with_value(which: int, place: int, value: Any) -> bytes:
    """An archive in which one value of the signatures or the grammar of sections is another."""

    def change(content: bytes) -> bytes:
        values = msgspec.msgpack.decode(content)
        values[place] = value
        return encoded(values)

    return with_piece(which, change)


def with_text(old: bytes, new: bytes) -> bytes:
    return with_piece(0, lambda text: text.replace(old, new))


def with_times(place: int, value: Any) -> bytes:
    number = [kind for kind, _ in good()].index(BlockKind.TIMES)
    block = msgspec.msgpack.decode(good()[number][1])
    block[place] = value
    return with_block(number, encoded(block))


def array(*values: int) -> list[Any]:
    return [len(values), integers.pack(np.array(values, np.int64))]


def read_all_of(data: bytes) -> None:
    reader = ArchiveReader(io.BytesIO(data), "test")
    json.dumps(reader.job)
    for number in reader.streams:
        for _ in reader.calls(number):
            pass


@cache
def zeros(count: int) -> list[Any]:
    """As many integers as are said, in a thousandth of the bytes."""
    return [count, zlib.compress(bytes(8 * count), 1)]


SIGNATURES, GRAMMAR = 1, 2
FAR = 1 << 25

LIES = {
    "template of more integers than there are": lambda: with_text(b'"]', b'","x' + b"\\u\0" * 9 + b'"]'),
    "layer that is not known": lambda: with_value(
        SIGNATURES, 0, [16, integers.pack(np.tile(np.array([1, 0xEE, 0, 0, 0, 0, 1, 0]), 2))]
    ),
    "groups without end": lambda: with_value(SIGNATURES, 0, zeros(FAR)),
    "terminals without end": lambda: with_value(SIGNATURES, 1, zeros(FAR)),
    "literals without end": lambda: with_value(SIGNATURES, 3, [FAR] * 12),
    "fewer literals than none": lambda: with_value(SIGNATURES, 3, [-1] * 12),
    "literals of too few fields": lambda: with_value(SIGNATURES, 3, [0]),
    "rules without end": lambda: with_value(GRAMMAR, 0, zeros(FAR)),
    "symbols without end": lambda: with_value(GRAMMAR, 1, zeros(FAR)),
    "array of a negative length": lambda: with_value(GRAMMAR, 0, [-5, b""]),
    "thread beyond 64 bits": lambda: with_text(b"[[", b"[[9999999999999999999,0,0],["),
    "calls without end": lambda: with_text(b"[", b"[9999999"),
    "piece that is missing": lambda: with_merged(3, [0, 0, 99]),
    "pieces that are too few": lambda: with_merged(3, [0]),
    "parts of more numbers than they may have": lambda: with_merged(4, FAR),
    "parts of fewer numbers": lambda: with_merged(4, 3),
    "members without end": lambda: with_merged(5, [array(0), array(1), array(1 << 40)]),
    "lines of members without end": lambda: with_merged(5, [zeros(FAR)] * 3),
    "members that come twice": lambda: with_merged(5, [array(0, 0), array(1, 1), array(1, 1)]),
    "members of negative rank": lambda: with_merged(5, [array(-5), array(1), array(3)]),
    "no members": lambda: with_merged(5, [array(), array(), array()]),
    "counts without end": lambda: with_merged(7, [array(1 << 40), array(0), array(1)]),
    "counts for other columns": lambda: with_merged(7, [array(1), array(0), array(1 << 40)]),
    "lines without end": lambda: with_merged(9, zeros(FAR)),
    "begins without end": lambda: with_merged(8, zeros(FAR)),
    "nothing where columns are kept": lambda: with_merged(12, []),
    "times of another section": lambda: with_times(2, 5),
    "time beyond 64 bits": lambda: with_times(3, 2**64 - 1),
    "chunk of more calls than one may have": lambda: with_times(5, [[1 << 22, b"", b""]]),
    "negative chunk": lambda: with_times(5, [[-1, b"", b""], [41, b"", b""]]),
    "fewer times than calls": lambda: with_times(5, []),
}


@pytest.mark.parametrize("lie", LIES)
def test_section_that_lies_is_refused_in_little_memory(lie: str) -> None:
    data = LIES[lie]()
    tracemalloc.start()
    try:
        reader = ArchiveReader(io.BytesIO(data), "test")
        problems = list(reader.problems)
        for number in reader.streams:
            try:
                for _ in reader.calls(number):
                    pass
            except InputError as error:
                problems.append(error)
        assert problems
        assert tracemalloc.get_traced_memory()[1] < 300e6
    finally:
        tracemalloc.stop()


def test_piece_that_inflates_without_end_is_refused() -> None:
    bomb = zlib.compress(bytes(1 << 27), 9)
    for length in (0, 1 << 25, 1 << 27, 0xFFFFFFFF):
        tracemalloc.start()
        reader = ArchiveReader(io.BytesIO(with_block(1, struct.pack("<II", 0, length) + bomb)), "test")
        for number in reader.streams:
            assert reader.streams[number].name.startswith("stream ")
        assert reader.problems
        assert tracemalloc.get_traced_memory()[1] < 120e6
        tracemalloc.stop()


def test_streams_without_end_take_no_memory_until_they_are_asked_for() -> None:
    block = msgspec.msgpack.decode(good()[merged_of(PartKind.STREAM)][1])
    for ranks, allowed in ((1 << 19, True), (1 << 23, False)):
        block[5] = [array(0), array(1), array(ranks)]
        tracemalloc.start()
        reader = ArchiveReader(io.BytesIO(built([*good(), (BlockKind.MERGED, encoded(block))])), "test")
        assert bool(reader.problems) is not allowed
        assert tracemalloc.get_traced_memory()[1] < 300e6
        tracemalloc.stop()


def test_file_of_an_impossible_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.iotide"
    piece = msgspec.msgpack.decode(good()[merged_of(PartKind.NAMES)][1])[3][0]
    text = msgspec.json.encode(Definitions([], [(2**40, FileInfo("/x"))]))
    blocks = [
        (
            kind,
            piece_of(piece, text) if kind == BlockKind.PIECE and payload[:4] == struct.pack("<I", piece) else payload,
        )
        for kind, payload in good()
    ]
    path.write_bytes(built(blocks))
    source = open_file(path, Origin(job="job", host="here"))
    for _ in read_all(source):
        pass
    assert source.problems.total


def test_job_may_hold_anything_and_is_still_plain() -> None:
    for value in (b"\xff", msgspec.msgpack.Ext(5, b"x"), {"deep": [b"\0"]}, 2**64 - 1):
        reader = ArchiveReader(io.BytesIO(with_block(0, encoded({"job": value}))), "test")
        json.dumps(reader.job)


def test_marks_that_promise_long_blocks_do_not_cost_a_reading_of_the_file_each() -> None:
    lie = struct.pack("<4sBxxxI", b"\xf1oT\n", 3, 1 << 26) + bytes(4)
    data = head() + lie * 50_000 + bytes(1 << 26)
    begun = time.process_time()
    reader = ArchiveReader(io.BytesIO(data), "test")
    assert time.process_time() - begun < 10
    assert 0 < len(reader.problems) < 2000


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_blocks_changed_under_a_right_checksum_end_in_an_error_or_in_calls(data: st.DataObject) -> None:
    blocks = list(good())
    place = data.draw(st.integers(0, len(blocks) - 1))
    kind, payload = blocks[place]
    packed = kind == BlockKind.PIECE and data.draw(st.booleans())
    changed = bytearray(zlib.decompress(payload[8:]) if packed else payload)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(len(changed) - 1, 0)))
        changed[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    blocks[place] = kind, piece_of(struct.unpack_from("<I", payload)[0], bytes(changed)) if packed else bytes(changed)
    try:
        read_all_of(built(blocks))
    except InputError:
        return


integer = st.one_of(st.integers(-3, 60), st.integers(-(2**63), 2**63 - 1))


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from([(SIGNATURES, 0), (SIGNATURES, 1), (SIGNATURES, 2), (GRAMMAR, 0), (GRAMMAR, 1)]),
    st.lists(integer, max_size=40),
)
def test_tables_of_any_numbers_end_in_an_error_or_in_calls(where: tuple[int, int], values: list[int]) -> None:
    try:
        read_all_of(with_value(*where, array(*values)))
    except InputError:
        return


@settings(deadline=None, max_examples=150)
@given(st.sampled_from([5, 6, 7, 8, 9, 10]), st.data())
def test_patterns_of_any_numbers_end_in_an_error_or_in_calls(place: int, data: st.DataObject) -> None:
    columns = [array(*data.draw(st.lists(integer, max_size=12))) for _ in range(3)]
    try:
        read_all_of(with_merged(place, columns if place in (5, 7) else columns[0]))
    except InputError:
        return
