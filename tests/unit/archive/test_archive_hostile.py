"""Hostile archives with valid checksums: an error with the reason, in bounded memory and time."""

from __future__ import annotations

import contextlib
import io
import json
import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.archive.blocks import BlockKind, decode_bundle, encode_block, encode_bundle, head, numbers_of, read_blocks
from iotide.archive.codec.encoding import PartKind
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.archive.integers import integers
from iotide.archive.integers.integers import Packed, pack_array
from iotide.archive.merge.merged import MergedParts
from iotide.collectors.source import Origin
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import Definitions, InputError, StreamInfo, make_batch
from iotide.events.definitions import FileInfo

INFO = StreamInfo(job="job", source="preload", rank=0)


def encoded(value: Any) -> bytes:
    return msgspec.msgpack.encode(value)


@cache
def good() -> list[tuple[int, bytes]]:
    """The blocks of an archive of three ranks, one of which differs: kind and payload."""
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


def merged_of(kind: PartKind) -> tuple[int, int, Any]:
    """The parts of a kind with the most members: their block, their position in it, and the members."""
    found = [
        (number, place, msgspec.msgpack.decode(text))
        for number, (block, payload) in enumerate(good())
        if block == BlockKind.MERGED
        for place, text in enumerate(decode_bundle(payload))
    ]
    return max((each for each in found if each[2][0] == kind), key=lambda each: members_of(each[2]))


def members_of(value: Any) -> int:
    return len(MergedParts.decode(encoded(value), "test", lambda number: b"").members)


def with_block(number: int, payload: bytes) -> bytes:
    return built([(kind, payload if at == number else old) for at, (kind, old) in enumerate(good())])


def with_text_of(number: int, place: int, text: bytes) -> bytes:
    """An archive with one text of a bundle replaced."""
    payload = good()[number][1]
    texts = decode_bundle(payload)
    texts[place] = text
    return with_block(number, encode_bundle(texts, msgspec.msgpack.decode(payload)[0]))


def with_merged(place: int, value: Any, kind: PartKind = PartKind.SECTION) -> bytes:
    """An archive with one value of merged parts replaced."""
    number, at, parts = merged_of(kind)
    parts[place] = value
    return with_text_of(number, at, encoded(parts))


def with_piece(which: int, change: Callable[[bytes], bytes], kind: PartKind = PartKind.SECTION) -> bytes:
    """An archive with one piece of parts replaced; in a section 0 is texts, 1 signatures, 2 grammar."""
    wanted = merged_of(kind)[2][3][which]
    for number, (block, payload) in enumerate(good()):
        if block == BlockKind.PIECE and wanted in numbers_of(payload):
            place = numbers_of(payload).index(wanted)
            return with_text_of(number, place, change(decode_bundle(payload)[place]))
    raise AssertionError


def with_value(which: int, place: int, value: Any) -> bytes:
    """An archive with one value of the signatures or the grammar of sections replaced."""

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


def array(*values: int) -> Packed:
    return pack_array(np.array(values, np.int64))


def pack_of(count: int) -> bytes:
    return integers.pack(np.arange(count))


def read_all_of(data: bytes) -> None:
    reader = ArchiveReader(io.BytesIO(data), "test")
    json.dumps(reader.job)
    for number in reader.streams:
        for _ in reader.calls(number):
            pass


@cache
def zeros(count: int) -> list[Any]:
    """The given number of integers, in a thousandth of the bytes."""
    return [count, zlib.compress(bytes(8 * count), 1)]


SIGNATURES, GRAMMAR = 1, 2
FAR = 1 << 25

LIES = {
    "template of more integers than there are": lambda: with_text(b'"]', b'","x' + b"\\u\0" * 9 + b'"]'),
    "layer that is not known": lambda: with_value(SIGNATURES, 0, array(*[1, 0xEE, 0, 0, 0, 0, 1, 0] * 2)),
    "groups that are cut": lambda: with_value(SIGNATURES, 0, [16, bytes(15)]),
    "groups of integers that do not end": lambda: with_value(SIGNATURES, 0, [16, bytes(15) + b"\x80"]),
    "group of more than 64 bits": lambda: with_value(SIGNATURES, 0, [16, bytes(15) + b"\x80" * 10 + b"\x01"]),
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
    "chunk of more calls than one may have": lambda: with_times(5, [[1 << 22, b"", b"", True, 1]]),
    "negative chunk": lambda: with_times(5, [[-1, b"", b"", True, 1], [41, b"", b"", False, 1]]),
    "kept columns in a piece that is missing": lambda: with_merged(12, [99]),
    "kept columns in a piece of something else": lambda: with_merged(12, [0]),
    "tick of no time": lambda: with_times(5, [[40, pack_of(40), pack_of(40), True, 0]]),
    "tick beyond 32 bits": lambda: with_times(5, [[40, pack_of(40), pack_of(40), True, 2**32]]),
    "fewer times than calls": lambda: with_times(5, []),
}


@contextlib.contextmanager
def at_most(allowed: float) -> Iterator[None]:
    """Fail if the peak memory of a block exceeds the given number of bytes."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < allowed
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES)
def test_inconsistent_section_is_rejected_in_little_memory(lie: str) -> None:
    data = LIES[lie]()
    with at_most(300e6):
        reader = ArchiveReader(io.BytesIO(data), "test")
        problems = list(reader.problems)
        for number in reader.streams:
            try:
                for _ in reader.calls(number):
                    pass
            except InputError as error:
                problems.append(error)
        assert problems


@pytest.mark.slow
def test_piece_that_inflates_without_end_is_refused() -> None:
    bomb = zlib.compress(bytes(1 << 27), 9)
    at = [kind for kind, _ in good()].index(BlockKind.PIECE)
    for length in (0, 1 << 25, 1 << 27, 0xFFFFFFFF):
        with at_most(120e6):
            bundle = encoded([[0, 1], [length, length], bomb])
            reader = ArchiveReader(io.BytesIO(with_block(at, bundle)), "test")
            for number in reader.streams:
                assert reader.streams[number].name.startswith("stream ")
            assert reader.problems


def test_streams_without_end_take_no_memory_until_they_are_asked_for() -> None:
    parts = merged_of(PartKind.STREAM)[2]
    for ranks, allowed in ((1 << 19, True), (1 << 23, False)):
        parts[5] = [array(0), array(1), array(ranks)]
        with at_most(300e6):
            reader = ArchiveReader(
                io.BytesIO(built([*good(), (BlockKind.MERGED, encode_bundle([encoded(parts)]))])), "test"
            )
            assert bool(reader.problems) is not allowed


def test_file_of_an_impossible_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.iotide"
    text = msgspec.json.encode(Definitions([], [(2**40, FileInfo("/x"))]))
    path.write_bytes(with_piece(0, lambda _: text, PartKind.NAMES))
    source = open_file(path, Origin(job="job", host="here"))
    for _ in read_all(source):
        pass
    assert source.problems.total


def test_small_file_cannot_claim_many_parts() -> None:
    text = decode_bundle(good()[merged_of(PartKind.NAMES)[0]][1])[0]
    count = 2**18 // len(text)
    bundle = encoded([[], [len(text)] * count, zlib.compress(text * count, 9)])
    data = built([*good(), *[(BlockKind.MERGED, bundle)] * (100_000 // count)])
    assert len(data) < 500_000
    with at_most(100e6):
        reader = ArchiveReader(io.BytesIO(data), "test")
        assert len(reader.problems) == 100_000 // count


def test_job_may_hold_anything_and_is_still_plain() -> None:
    for value in (b"\xff", msgspec.msgpack.Ext(5, b"x"), {"deep": [b"\0"]}, 2**64 - 1):
        reader = ArchiveReader(io.BytesIO(with_block(0, encoded({"job": value}))), "test")
        json.dumps(reader.job)


class CountingFile(io.BytesIO):
    """A file that counts the bytes read from it."""

    bytes_read = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.bytes_read += len(data)
        return data


@pytest.mark.slow
def test_marks_that_promise_long_blocks_do_not_cost_a_reading_of_the_file_each() -> None:
    lie = struct.pack("<4sBxxxI", b"\xf1oT\n", 3, 1 << 26) + bytes(4)
    data = head() + lie * 50_000 + bytes(1 << 26)
    file = CountingFile(data)
    reader = ArchiveReader(file, "test")
    assert file.bytes_read < 40 * len(data)  # there are 50,000 marks
    assert 0 < len(reader.problems) < 2000


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.data())
def test_blocks_changed_under_a_right_checksum_end_in_an_error_or_in_calls(data: st.DataObject) -> None:
    blocks = list(good())
    place = data.draw(st.integers(0, len(blocks) - 1))
    kind, payload = blocks[place]
    packed = kind in (BlockKind.PIECE, BlockKind.MERGED) and data.draw(st.booleans())
    texts = decode_bundle(payload) if packed else [payload]
    which = data.draw(st.integers(0, len(texts) - 1))
    changed = bytearray(texts[which])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(len(changed) - 1, 0)))
        changed[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    texts[which] = bytes(changed)
    blocks[place] = kind, encode_bundle(texts, msgspec.msgpack.decode(payload)[0]) if packed else texts[0]
    try:
        read_all_of(built(blocks))
    except InputError:
        return


integer = st.one_of(st.integers(-3, 60), st.integers(-(2**63), 2**63 - 1))


@pytest.mark.slow
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


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.sampled_from([5, 6, 7, 8, 9, 10]), st.data())
def test_patterns_of_any_numbers_end_in_an_error_or_in_calls(place: int, data: st.DataObject) -> None:
    columns = [array(*data.draw(st.lists(integer, max_size=12))) for _ in range(3)]
    try:
        read_all_of(with_merged(place, columns if place in (5, 7) else columns[0]))
    except InputError:
        return
