"""A traced program's calls through an archive: every column, name, file and handle as the source gave it."""

from __future__ import annotations

import io
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from iotide.events import Definitions, DefinitionTable, concatenate, empty_batch
from iotide.events.archive.reader import ArchiveReader
from iotide.events.archive.writer import ArchiveWriter
from iotide.events.schema import COLUMNS
from support.tracing import Tracing

PROGRAM = """
import os, sys, threading
def work(i):
    for turn in range(20):
        fd = os.open(f"{sys.argv[1]}/plot-{i}-{turn:04d}", os.O_RDWR | os.O_CREAT)
        for at in range(10):
            os.pwrite(fd, bytes(64 + at % 3), 64 * at)
        os.pread(fd, 100, 7 * turn)
        os.close(fd)
    try:
        os.open(f"{sys.argv[1]}/missing", os.O_RDONLY)
    except OSError:
        pass
threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
for each in threads: each.start()
for each in threads: each.join()
"""


def archived(tracing: Tracing) -> bytes:
    writer = ArchiveWriter()
    data = writer.begin({"job": "job"})
    for stream, info in tracing.info.items():
        table = tracing.tables[stream]
        names = Definitions(
            [(number, table.string(number)) for number in range(1, table.string_count)],
            [(number, table.file(number)) for number in range(1, table.file_count)],
            list(table.handles.items()),
            [(number, table.signature(number)) for number in range(1, table.signature_count)],
        )
        data += writer.opened(stream, info) + writer.batch(stream, empty_batch(), names)
        for at, batch in enumerate(tracing.batches[stream]):
            data += writer.batch(stream, batch, Definitions())
            data += writer.checkpoint() if at == 1 else b""
    return data + writer.end()


@pytest.fixture
def tracing(tmp_path: Path) -> Iterator[Tracing]:
    folder, program = tmp_path / "files", tmp_path / "program.py"
    folder.mkdir()
    program.write_text(PROGRAM)
    with Tracing(tmp_path) as made:
        done = made.run([sys.executable, "-S", "-E", program, folder])
        assert done.returncode == 0, done.stderr
        yield made


def test_every_column_name_and_file_of_a_traced_program_comes_back(tracing: Tracing) -> None:
    reader = ArchiveReader(io.BytesIO(archived(tracing)), "test")
    assert (reader.complete, reader.problems) == (True, [])
    assert [stream.name for stream in reader.streams.values()] == list(tracing.info)
    for number, stream in reader.streams.items():
        batch, written = concatenate(tracing.batches[stream.name]), tracing.tables[stream.name]
        parts, table = list(reader.calls(number)), DefinitionTable()
        back = concatenate([part.batch for part in parts])
        for part in parts:
            table.apply(part.definitions)
        assert len(back) == len(batch) > 600
        for name in COLUMNS:
            ours, theirs = getattr(back, name).tolist(), getattr(batch, name).tolist()
            if name in ("call", "signature"):
                ours = [getattr(table, "string" if name == "call" else name)(each) for each in ours]
                theirs = [getattr(written, "string" if name == "call" else name)(each) for each in theirs]
            assert ours == theirs, name
        assert stream.info == tracing.info[stream.name]
        assert stream.handles == written.handles
        assert stream.files == {each: written.file(each) for each in range(1, written.file_count)}


def unpacked(packed: bytes, count: int) -> list[int]:
    """What docs/archive-format.md says of packed integers, and nothing else."""
    raw, values, value = zlib.decompress(packed) if count else b"", [], 0
    for at in range(count):
        zigzag = sum(raw[plane * count + at] << 8 * plane for plane in range(8))
        value = (value + (zigzag >> 1 ^ -(zigzag & 1)) + 2**63) % 2**64 - 2**63
        values.append(value)
    return values


def table_of(array: list[Any], width: int) -> list[list[int]]:
    values, rows = unpacked(array[1], array[0]), array[0] // width
    return [[values[column * rows + row] for column in range(width)] for row in range(rows)]


def test_reader_written_from_the_description_alone_reads_the_calls(tracing: Tracing) -> None:
    data = archived(tracing)
    assert data[:8] == b"IOTIDEAR"
    assert struct.unpack_from("<HHI", data, 8) == (1, 0, zlib.crc32(data[:12]))
    at, shapes, read = 16, {}, []
    while at < len(data):
        mark, kind, stream, length, checksum = struct.unpack_from("<4sBxxxIII", data, at)
        payload = data[at + 20 : at + 20 + length]
        assert (mark, checksum) == (bytes.fromhex("f16f540a"), zlib.crc32(data[at : at + 16] + payload))
        at += 20 + length
        if kind == 4:
            shapes[struct.unpack_from("<I", payload)[0]] = msgspec.msgpack.decode(payload[4:])
        elif kind == 5:
            shape = shapes[struct.unpack_from("<I", payload)[0]]
            read += [(stream, *call) for call in calls_of(shape, msgspec.msgpack.decode(payload[4:]))]
    expected = []
    for number, (name, batches) in enumerate(tracing.batches.items(), 1):
        batch, table = concatenate(batches), tracing.tables[name]
        texts = [map(table.string, batch.call.tolist()), map(table.signature, batch.signature.tolist())]
        columns = [batch.tid, batch.errno, batch.handle, batch.file, batch.offset, batch.requested, batch.bytes]
        columns += [batch.start, batch.duration]
        rows = zip(*texts, *(each.tolist() for each in columns), strict=True)
        expected += [(number, *row) for row in rows]
    assert read == expected


def calls_of(shape: list[Any], own: list[Any]) -> list[tuple[Any, ...]]:
    names, templates = shape[:2]
    groups = table_of(shape[2], 8)
    bits_of = unpacked(shape[4][1], shape[4][0])
    terminals = list(zip(unpacked(shape[3][1], shape[3][0]), bits_of, table_of(shape[5], 12), strict=True))
    values, counts = unpacked(shape[7][1], shape[7][0]), unpacked(shape[8][1], shape[8][0])
    bodies, begin = [], 0
    for length in unpacked(shape[6][1], shape[6][0]):
        bodies.append(list(zip(values[begin : begin + length], counts[begin : begin + length], strict=True)))
        begin += length

    def expanded(rule: int) -> list[int]:
        return [
            one for value, times in bodies[rule] for one in ([value] if value >= 0 else expanded(-1 - value)) * times
        ]

    literals = [iter(unpacked(packed, count)) for count, packed in own[4]]
    starts = [time for count, packed, _ in own[5] for time in unpacked(packed, count)]
    durations = [time for count, _, packed in own[5] for time in unpacked(packed, count)]
    of_group: dict[int, list[int]] = {}
    of_handle: dict[tuple[int, int], list[int]] = {}
    calls = []
    for terminal, start, duration in zip(expanded(0), starts, durations, strict=True):
        group, bits, known = terminals[terminal]
        growth = [next(literals[each]) if bits >> each & 1 else known[each] for each in range(12)]
        last = of_group.setdefault(group, [0] * 9)
        last[:] = [before + by for before, by in zip(last, growth[:9], strict=True)]
        here = of_handle.setdefault((group, last[0]), [0] * 3)
        here[:] = [before + by for before, by in zip(here, growth[9:], strict=True)]
        name, _, _, _, errno, _, template, thread = groups[group]
        text = templates[template]
        for integer in last[3 : 3 + text.count("\0")]:
            text = text.replace("\0", str(integer), 1)
        calls.append((names[name], text, own[3][thread][1], errno, last[0], last[2], *here, start, duration))
    assert len(calls) == own[0]
    return calls
