"""Calls through an archive: every column, name, file and handle as in the source."""

from __future__ import annotations

import io
import itertools
import json
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from iotide.collectors.source import Changed, Chunk, Opened, Origin
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import Definitions, EventBatch, StreamInfo, concatenate
from support.formats.darshan_package import LOGS, needs_darshan
from support.formats.lossless import archive_of, assert_lossless
from support.places import DATA
from support.tracing.tracing import Tracing

TRACES = [
    *(
        DATA / name
        for name in ("strace_pipe.txt", "dftracer-calls.pfw.gz", "dftracer-sums.pfw.gz", "tmio-8ranks.jsonl")
    ),
    *(pytest.param(LOGS / name, marks=needs_darshan) for name in ("dxt.darshan", "sample-badost.darshan")),
]
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
    for seed in range(5):
        assert assert_lossless(tracing.info, tracing.chunks, seed) > 600


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name)
def test_all_that_is_read_of_a_trace_comes_back(trace: Path) -> None:
    info: dict[str, StreamInfo] = {}
    chunks: dict[str, list[tuple[EventBatch, Definitions]]] = {}
    for item in read_all(open_file(trace, Origin(job="job", host="here"))):
        if isinstance(item, Opened | Changed):
            info[item.stream] = item.info
            chunks.setdefault(item.stream, [])
        elif isinstance(item, Chunk):
            chunks[item.stream].append((item.batch, item.definitions))
    assert assert_lossless(info, chunks) > 0


def signed(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def packed_integers(packed: bytes, count: int) -> list[int]:
    """Packed integers by docs/archive-format.md only."""
    raw, values, value = zlib.decompress(packed) if count else b"", [], 0
    for at in range(count):
        zigzag = sum(raw[plane * count + at] << 8 * plane for plane in range(8))
        value = signed(value + (zigzag >> 1 ^ -(zigzag & 1)))
        values.append(value)
    return values


def short_integers(data: bytes) -> list[int]:
    values, value, shift = [], 0, 0
    for byte in data:
        value, shift = value | (byte & 127) << shift, shift + 7
        if byte < 128:
            values.append(value >> 1 ^ -(value & 1))
            value = shift = 0
    return values


def unpacked(array: list[Any]) -> list[int]:
    count, data = array
    values = packed_integers(data, count) if count > 16384 else list(itertools.accumulate(short_integers(data)))
    assert len(values) == count
    return [signed(value) for value in values]


def table_of(array: list[Any], width: int) -> list[list[int]]:
    values, rows = unpacked(array), array[0] // width
    return [[values[column * rows + row] for column in range(width)] for row in range(rows)]


def sections_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    assert data[:8] == b"IOTIDEAR"
    assert struct.unpack_from("<HHI", data, 8) == (3, 0, zlib.crc32(data[:12]))
    at = 16
    while at < len(data):
        mark, kind, length, checksum = struct.unpack_from("<4sBxxxII", data, at)
        payload = data[at + 16 : at + 16 + length]
        assert (mark, checksum) == (bytes.fromhex("f16f540a"), zlib.crc32(data[at : at + 12] + payload))
        at += 16 + length
        yield kind, payload


def test_reader_written_from_the_description_alone_reads_the_calls(tracing: Tracing) -> None:
    pieces, merged, times = {}, [], {}
    for kind, payload in sections_of(archive_of(tracing.info, tracing.chunks)):
        if kind in (2, 3):
            numbers, lengths, packed = msgspec.msgpack.decode(payload)
            whole = io.BytesIO(zlib.decompress(packed))
            texts = [whole.read(length) for length in lengths]
            if kind == 2:
                pieces.update(zip(numbers, texts, strict=True))
            else:
                merged += map(msgspec.msgpack.decode, texts)
        elif kind == 4:
            lane, rank, ordinal, _, _, stamps = msgspec.msgpack.decode(payload)
            times[lane, rank, ordinal] = stamps
    parts = {}
    for kind, ordinal, lane, numbers_of_pieces, width, *columns in merged:
        for rank, numbers in rows_of(pieces, width, *columns).items():
            parts[kind, lane, rank, ordinal] = [pieces[number] for number in numbers_of_pieces], numbers
    names, read = {}, []
    for (kind, lane, rank, ordinal), (of_part, numbers) in sorted(parts.items()):
        if kind == 1:
            names[lane, rank] = json.loads(text_of(of_part[0], numbers))[0]
        elif kind == 3:
            stamps = times[lane, rank, ordinal]
            read += [(names[lane, rank], *call) for call in calls_of(of_part, numbers, stamps)]
    assert read == traced_calls(tracing)


def traced_calls(tracing: Tracing) -> list[tuple[Any, ...]]:
    calls: list[tuple[Any, ...]] = []
    for name, batches in tracing.batches.items():
        batch, table = concatenate(batches), tracing.tables[name]
        texts = [map(table.string, batch.call.tolist()), map(table.signature, batch.signature.tolist())]
        columns = [batch.tid, batch.errno, batch.handle, batch.file, batch.offset, batch.requested, batch.bytes]
        columns += [batch.start, batch.duration]
        rows = zip(*texts, *(each.tolist() for each in columns), strict=True)
        calls += [(name, *row) for row in rows]
    return calls


def lines(packed: list[Any]) -> list[int]:
    firsts, steps, lengths = map(unpacked, packed)
    return [
        first + step * along
        for first, step, length in zip(firsts, steps, lengths, strict=True)
        for along in range(length)
    ]


def rows_of(
    pieces: dict[int, bytes], width: int, members: Any, slopes: Any, counts: Any, begins: Any, firsts: Any, steps: Any,
    by_column: bool, kept: Any,
) -> dict[int, list[int]]:  # fmt: skip
    """The numbers of each member of merged parts, by rank."""
    ranks, of_column = lines(members), lines(counts)
    firsts, steps = unpacked(firsts), unpacked(steps)
    begins = unpacked(begins) or [0] * len(firsts)
    slopes = unpacked(slopes) or [0] * width
    columns: list[list[int]] = []
    at = 0
    for count, slope in zip(of_column, slopes, strict=True):
        ends = [*begins[at + 1 : at + count], len(ranks)]
        column = []
        for begin, end, first, step in zip(begins[at:], ends, firsts[at:], steps[at:], strict=False):
            column += [first + step * along for along in range(end - begin)]
        columns.append([value + slope * rank for value, rank in zip(column, ranks, strict=False)])
        at += count
    left = [number for number, count in enumerate(of_column) if not count]
    if left:
        together = max(65536 // len(left), 1)
        assert len(left) <= 2**18
        for chunk, low in zip(kept, range(0, len(ranks), together), strict=True):
            rows = min(together, len(ranks) - low)
            count = rows * len(left)
            values = packed_integers(chunk, count) if isinstance(chunk, bytes) else short_integers(pieces[chunk])
            assert len(values) == count
            for place, number in enumerate(left):
                columns[number] += values[place * rows :][:rows] if by_column else values[place :: len(left)]
    return dict(zip(ranks, zip(*columns, strict=True), strict=True)) if width else {rank: [] for rank in ranks}


def text_of(piece: bytes, numbers: list[int]) -> bytes:
    first, *others = piece.split(b"\0")
    text = first + b"".join(
        (b"%d" % number if number >= 0 else b"0" * (-number % 16) + b"%d" % (-number // 16)) + other
        for number, other in zip(numbers, others, strict=False)
    )
    first, *others = text.split(b"\1")
    words = zip(numbers[piece.count(b"\0") :], others, strict=False)
    return first + b"".join(b"%0*x" % (other[0] - 64, number % 2**64) + other[1:] for number, other in words)


def times_of(calls: int, starts: bytes, durations: bytes, summed: bool, tick: int) -> tuple[list[int], list[int]]:
    assert tick == 1
    lasted = packed_integers(durations, calls)
    if summed:
        lasted = [signed(after - before) for before, after in itertools.pairwise([0, *lasted])]
    before = itertools.accumulate([0, *lasted[:-1]])
    return [signed(start + past) for start, past in zip(packed_integers(starts, calls), before, strict=True)], lasted


def calls_of(pieces: list[bytes], numbers: list[int], stamps: list[Any]) -> list[tuple[Any, ...]]:
    left = list(numbers)

    def take(count: int) -> list[int]:
        taken, left[:] = left[:count], left[count:]
        return taken

    count, names, templates, threads = json.loads(
        text_of(pieces[0], take(pieces[0].count(b"\0") + pieces[0].count(b"\1")))
    )
    groups, group_of, bits_of, lengths = msgspec.msgpack.decode(pieces[1])
    groups = table_of(groups, 8)
    growths = [take(group_of[0]) for _ in range(12)]
    terminals = list(
        zip(
            unpacked(group_of),
            unpacked(bits_of),
            zip(*growths, strict=True),
            strict=True,
        )
    )
    rules, symbols = msgspec.msgpack.decode(pieces[2])
    values, counts = unpacked(symbols), take(symbols[0])
    bodies, begin = [], 0
    for length in unpacked(rules):
        bodies.append(list(zip(values[begin : begin + length], counts[begin : begin + length], strict=True)))
        begin += length

    def expanded(rule: int) -> list[int]:
        return [
            one for value, times in bodies[rule] for one in ([value] if value >= 0 else expanded(-1 - value)) * times
        ]

    literals = [iter(take(length)) for length in lengths]
    starts, durations = [], []
    for chunk in stamps:
        after, lasted = times_of(*chunk)
        starts += after
        durations += lasted
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
        moved = here[1] - here[2]
        of_call = errno, last[0], last[2], here[0], here[1], moved, start, duration
        calls.append((names[name], text, threads[thread][1], *of_call))
    assert len(calls) == count
    assert not left
    return calls
