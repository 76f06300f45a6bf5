"""Archives made to harm their reader, every checksum right: an error that says so, in bounded memory and time."""

from __future__ import annotations

import io
import json
import struct
import time
import tracemalloc
import zlib
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
from iotide.events.archive.reader import ArchiveReader
from iotide.events.archive.writer import ArchiveWriter
from iotide.events.definitions import FileInfo

INFO = StreamInfo(job="job", source="preload")


def encoded(value: Any) -> bytes:
    return msgspec.msgpack.encode(value)


def good() -> list[tuple[int, int, bytes]]:
    """The blocks of an archive: kind, stream, payload."""
    writer = ArchiveWriter()
    data = writer.begin({"job": "job"}) + writer.opened("s", INFO)
    names = Definitions([(1, "write")], [(1, FileInfo("/x"))], [], [(1, "write(fd=1, count=5)"), (2, "write(fd=2)")])
    columns = {"call": 1, "file": 1, "signature": [1, 2] * 20, "start": np.arange(40), "offset": 5 * np.arange(40)}
    data += writer.batch("s", make_batch(40, columns), names) + writer.end()
    return [(block.kind, block.stream, block.payload) for block in read_blocks(io.BytesIO(data), "test", [])]


def built(blocks: list[tuple[int, int, bytes]]) -> bytes:
    return head() + b"".join(encode_block(BlockKind(kind), stream, payload) for kind, stream, payload in blocks)


def replaced(kind: BlockKind, payload: bytes) -> bytes:
    return built([(each, stream, payload if each == kind else old) for each, stream, old in good()])


def part_of(kind: BlockKind) -> list[Any]:
    (payload,) = [payload for each, _, payload in good() if each == kind]
    made: list[Any] = msgspec.msgpack.decode(payload[4:])
    return made


def with_part(kind: BlockKind, place: int, value: Any) -> bytes:
    """An archive in which one value of the shape or of a section's own part is another."""
    part = part_of(kind)
    part[place] = value
    return replaced(kind, struct.pack("<I", 0) + encoded(part))


def array(*values: int) -> list[Any]:
    return [len(values), integers.pack(np.array(values, np.int64))]


def read_all_of(data: bytes) -> None:
    reader = ArchiveReader(io.BytesIO(data), "test")
    json.dumps(reader.job)
    for number in reader.streams:
        for _ in reader.calls(number):
            pass


def zeros(count: int) -> list[Any]:
    """As many integers as are said, in a thousandth of the bytes."""
    return [count, zlib.compress(bytes(8 * count), 1)]


SHAPE, OWN = BlockKind.SHAPE, BlockKind.SECTION
FAR = 1 << 25

LIES = {
    "template of more integers than there are": (SHAPE, 1, ["", "x" + "\0," * 9]),
    "layer that is not known": (SHAPE, 2, [16, integers.pack(np.tile(np.array([1, 0xEE, 0, 0, 0, 0, 1, 0]), 2))]),
    "groups without end": (SHAPE, 2, zeros(FAR)),
    "terminals without end": (SHAPE, 3, zeros(FAR)),
    "growths without end": (SHAPE, 5, zeros(12 * (FAR // 12))),
    "rules without end": (SHAPE, 6, zeros(FAR)),
    "symbols without end": (SHAPE, 7, zeros(FAR)),
    "literals without end": (OWN, 4, [zeros(FAR)] * 12),
    "thread beyond 64 bits": (OWN, 3, [[2**64 - 1, 0, 0]]),
    "time beyond 64 bits": (OWN, 1, 2**64 - 1),
    "calls without end": (OWN, 0, 1 << 22),
    "chunk of more calls than one may have": (OWN, 5, [[1 << 22, b"", b""]]),
    "negative chunk": (OWN, 5, [[-1, b"", b""], [41, b"", b""]]),
    "array of a negative length": (SHAPE, 3, [-5, b""]),
}


@pytest.mark.parametrize("lie", LIES)
def test_section_that_lies_is_refused_in_little_memory(lie: str) -> None:
    data = with_part(*LIES[lie])
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            read_all_of(data)
        assert tracemalloc.get_traced_memory()[1] < 300e6
    finally:
        tracemalloc.stop()


def test_names_that_inflate_without_end_are_refused() -> None:
    bomb = zlib.compress(bytes(1 << 27), 9)
    for length in (0, 1 << 27, 0xFFFFFFFF):
        tracemalloc.start()
        data = replaced(BlockKind.NAMES, struct.pack("<I", length) + bomb)
        reader = ArchiveReader(io.BytesIO(data), "test")
        assert reader.problems
        assert tracemalloc.get_traced_memory()[1] < 60e6
        tracemalloc.stop()


def test_file_of_an_impossible_number_is_refused(tmp_path: Path) -> None:
    text = encoded(Definitions([], [(2**40, FileInfo("/x"))]))
    path = tmp_path / "x.iotide"
    path.write_bytes(replaced(BlockKind.NAMES, struct.pack("<I", len(text)) + zlib.compress(text)))
    source = open_file(path, Origin(job="job", host="here"))
    for _ in read_all(source):
        pass
    assert source.problems.total


def test_job_may_hold_anything_and_is_still_plain() -> None:
    for value in (b"\xff", msgspec.msgpack.Ext(5, b"x"), {"deep": [b"\0"]}, 2**64 - 1):
        reader = ArchiveReader(io.BytesIO(replaced(BlockKind.JOB, encoded({"job": value}))), "test")
        json.dumps(reader.job)


def test_marks_that_promise_long_blocks_do_not_cost_a_reading_of_the_file_each() -> None:
    lie = struct.pack("<4sBxxxII", b"\xf1oT\n", 5, 1, 1 << 26) + bytes(4)
    data = head() + lie * 50_000 + bytes(1 << 26)
    begun = time.process_time()
    reader = ArchiveReader(io.BytesIO(data), "test")
    assert time.process_time() - begun < 10
    assert 0 < len(reader.problems) < 2000


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_blocks_changed_under_a_right_checksum_end_in_an_error_or_in_calls(data: st.DataObject) -> None:
    blocks = good()
    place = data.draw(st.integers(0, len(blocks) - 1))
    kind, stream, payload = blocks[place]
    changed = bytearray(payload)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(len(changed) - 1, 0)))
        changed[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    blocks[place] = kind, stream, bytes(changed)
    try:
        read_all_of(built(blocks))
    except InputError:
        return


integer = st.one_of(st.integers(-3, 60), st.integers(-(2**63), 2**63 - 1))


@settings(deadline=None, max_examples=150)
@given(st.sampled_from([(SHAPE, place) for place in range(2, 9)]), st.lists(integer, max_size=40))
def test_tables_of_any_numbers_end_in_an_error_or_in_calls(where: tuple[BlockKind, int], values: list[int]) -> None:
    try:
        read_all_of(with_part(*where, array(*values)))
    except InputError:
        return
