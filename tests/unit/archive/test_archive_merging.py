"""Streams merged over ranks: any stream is restored, and common parts are written once."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.archive.codec.encoding import Part, PartKind
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.archive.integers.number_templates import count_numbers, put_numbers, take_numbers
from iotide.archive.merge import merging
from iotide.archive.merge.rank_patterns import find_patterns, merge_patterns
from iotide.events import Definitions, DefinitionTable, EventBatch, StreamInfo, concatenate, make_batch
from iotide.events.definitions import FileInfo, HandleInfo
from iotide.events.schema import COLUMNS

BLOCK = 64 * 1024
NAMES = [(1, "pwrite64"), (2, "open")]


@dataclass
class Stream:
    """Calls and metadata of one process."""

    info: StreamInfo
    batches: list[EventBatch]
    files: list[tuple[int, FileInfo]] = field(default_factory=list)
    signatures: list[str] = field(default_factory=lambda: [f"pwrite64(fd=3, count={BLOCK})"])


def strided(rank: int, ranks: int, calls: int, **about: Any) -> Stream:
    """The paper's pattern: each rank writes its blocks of one file."""
    batch = make_batch(
        calls,
        {
            "start": 10**18 + 1000 * np.arange(calls) + rank % 7, "duration": 700, "call": 1, "rank": rank,
            "pid": 100 + rank, "tid": 100 + rank, "file": 1, "handle": 1, "signature": 1, "kind": 8, "layer": 1,
            "offset": BLOCK * (rank + ranks * np.arange(calls)), "requested": BLOCK, "bytes": BLOCK,
        },
    )  # fmt: skip
    info = StreamInfo(job="job", source="preload", rank=rank, pid=100 + rank, command="./solver", **about)
    return Stream(info, [batch], [(1, FileInfo("/scratch/out"))])


def written(streams: Iterable[Stream], times: bool = True) -> bytes:
    """Archive the streams one after the other, with a checkpoint between the batches of each."""
    writer = ArchiveWriter(times)
    data = [writer.begin({"job": "job"})]
    for number, stream in enumerate(streams):
        name = f"stream {number}"
        data.append(writer.opened(name, stream.info))
        texts = list(enumerate(stream.signatures, 1))
        names = Definitions(NAMES, stream.files, [(1, HandleInfo(1))], texts)
        for batch in stream.batches:
            data.append(writer.batch(name, batch, names))
            data.append(writer.checkpoint_of(name))
            names = Definitions()
        data.append(writer.closed(name, {"lost": number}))
    return b"".join([*data, writer.end()])


def opened(data: bytes) -> ArchiveReader:
    reader = ArchiveReader(io.BytesIO(data), "test")
    assert (reader.complete, reader.problems) == (True, [])
    return reader


def assert_same(reader: ArchiveReader, streams: list[Stream]) -> None:
    found = {stream.name: (number, stream) for number, stream in reader.streams.items()}
    assert sorted(found) == sorted(f"stream {number}" for number in range(len(streams)))
    for place, expected in enumerate(streams):
        number, stream = found[f"stream {place}"]
        assert stream.info == expected.info
        assert stream.files == dict(expected.files)
        assert stream.handles == {1: HandleInfo(1)}
        assert (stream.losses, stream.closed) == ({"lost": place}, True)
        parts, table = list(reader.calls(number)), DefinitionTable()
        for part in parts:
            table.apply(part.definitions)
        names, texts = dict(NAMES), dict(enumerate(expected.signatures, 1))
        back = concatenate([part.batch for part in parts]) if parts else make_batch(0, {})
        batch = concatenate(expected.batches) if expected.batches else make_batch(0, {})
        for column in COLUMNS:
            ours, theirs = getattr(back, column).tolist(), getattr(batch, column).tolist()
            if column == "call":
                ours, theirs = [table.string(each) for each in ours], [names.get(each, "") for each in theirs]
            elif column == "signature":
                ours, theirs = [table.signature(each) for each in ours], [texts.get(each, "") for each in theirs]
            assert ours == theirs, column


def batch_of(draw: st.DrawFn, rank: int) -> EventBatch:
    """Calls that are similar to those of other ranks, or unrelated."""
    length = draw(st.integers(1, 12))
    columns: dict[str, Any] = {"call": [draw(st.integers(0, 2)) for _ in range(length)]}
    for name in ("offset", "requested", "file", "handle", "start", "duration", "tid", "errno", "signature"):
        dtype, _ = COLUMNS[name]
        limits = np.iinfo(dtype)
        base = draw(st.sampled_from([0, 0, 1, 3, rank, 7 * rank, min(int(limits.max), 2**62)]))
        step = draw(st.sampled_from([0, 0, 1, rank]))
        columns[name] = [min(base + step * at, int(limits.max)) for at in range(length)]
    columns["signature"] = [each % 3 for each in columns["signature"]]
    columns["rank"] = rank
    return make_batch(length, columns)


@st.composite
def streams(draw: st.DrawFn) -> list[Stream]:
    made = []
    for number in range(draw(st.integers(1, 14))):
        rank = draw(st.sampled_from([number, number, number, 0, -1, 2**31 - 101]))
        if draw(st.booleans()):
            made.append(strided(rank, 16, draw(st.integers(1, 9)), host=f"node{rank // 4:03d}"))
            continue
        path = draw(st.sampled_from(["/x", f"/out.{rank:04d}", "/0x00ff/000000000001\x00", "\u00e9 7\n"]))
        info = StreamInfo(
            job="job",
            source=draw(st.text(max_size=3)),
            rank=rank,
            pid=draw(st.integers(-(2**63), 2**64 - 1)),
            clock_offset_ns=draw(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))),
            user=draw(st.sampled_from(["", "user01", "0", "10000000000000000000000"])),
        )
        texts = ["f(x=\x005)", f"open(name=out.{rank:05d}, mode=0644) = -{number}"]
        batches = [batch_of(draw, number) for _ in range(draw(st.integers(0, 2)))] or [make_batch(0, {})]
        made.append(Stream(info, batches, [(1, FileInfo(path, shared=True))], texts))
    return made


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(streams(), st.sampled_from([1, 2, 5, 512]), st.sampled_from([1 << 25, 5000]))
def test_any_streams_come_back(made: list[Stream], leaf: int, pending: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "_LEAF_MEMBERS", leaf)
        patch.setattr(merging, "_MAX_PENDING", pending)
        data = written(made)
    assert_same(opened(data), made)


def test_size_without_times_hardly_depends_on_the_number_of_ranks() -> None:
    sizes = {
        ranks: len(written((strided(rank, ranks, 10) for rank in range(ranks)), times=False))
        for ranks in (2, 10, 100, 300)
    }
    assert sizes[300] - sizes[10] < 40, sizes  # numbers that take a byte more
    assert sizes[300] < 850


def test_size_without_times_hardly_depends_on_the_number_of_calls() -> None:
    sizes = [len(written((strided(rank, 8, calls) for rank in range(8)), times=False)) for calls in (10, 1000, 100_000)]
    assert max(sizes) - min(sizes) < 60, sizes


def test_order_in_which_ranks_come_does_not_matter() -> None:
    def named(order: Iterable[int]) -> bytes:
        writer = ArchiveWriter(times=False)
        data = writer.begin({})
        for rank in order:
            stream = strided(rank, 200, 5, host=f"node{rank // 8:04d}")
            data += writer.opened(f"rank {rank}", stream.info)
            names = Definitions(NAMES, stream.files, [], list(enumerate(stream.signatures, 1)))
            data += writer.batch(f"rank {rank}", stream.batches[0], names) + writer.closed(f"rank {rank}")
        return data + writer.end()

    mixed = np.random.default_rng(1).permutation(200).tolist()
    assert abs(len(named(mixed)) - len(named(range(200)))) < 30


def test_names_with_the_rank_in_them_are_written_once() -> None:
    def sized(ranks: int) -> int:
        made = [strided(rank, ranks, 10, host=f"node{rank // 16:04d}") for rank in range(ranks)]
        for stream in made:
            rank = stream.info.rank
            stream.files = [(1, FileInfo(f"/scratch/out.{rank:04d}")), (2, FileInfo(f"/proc/{100 + rank}/maps"))]
            stream.signatures = [f"open(path=/scratch/out.{rank:04d})"]
        return len(written(made, times=False))

    assert sized(300) - sized(120) < 60


def test_values_that_follow_no_pattern_cost_their_bytes_and_no_more() -> None:
    random = np.random.default_rng(1)
    made = [strided(rank, 150, 10) for rank in range(150)]
    regular = len(written(made, times=False))
    for stream in made:
        stream.info = StreamInfo(job="job", source="preload", rank=stream.info.rank, pid=int(random.integers(2**22)))
    assert (len(written(made, times=False)) - regular) / 150 < 4


def test_each_grammar_is_written_once_whichever_ranks_have_it() -> None:
    made = [strided(rank, 64, 10) for rank in range(64)]
    for stream in made[1::2]:
        stream.batches = [stream.batches[0].select(np.r_[0:10, 0:3, 5, 5, 5, 0:3])]
    reader = opened(written(made))
    sections = [block for block in reader.merged.blocks if block.key.kind == PartKind.SECTION]
    assert sorted(block.count for block in sections) == [1, 31, 32]  # rank 0 begins at offset 0, which is no growth
    assert len({block.key.pieces[2] for block in sections}) < 4
    assert_same(reader, made)


def test_rank_that_is_learnt_late_counts() -> None:
    writer = ArchiveWriter()
    data = writer.begin({})
    for rank in range(40):
        stream = strided(rank, 40, 5)
        data += writer.opened(str(rank), StreamInfo(job="job", source="preload")) + writer.opened(
            str(rank), stream.info
        )
        data += writer.batch(str(rank), stream.batches[0], Definitions(NAMES)) + writer.closed(str(rank))
    reader = opened(data + writer.end())
    assert [stream.info.rank for stream in reader.streams.values()] == list(range(40))
    assert [block.count for block in reader.merged.blocks if block.key.kind == PartKind.STREAM] == [40]


def test_latest_facts_of_a_stream_are_kept() -> None:
    writer = ArchiveWriter()
    data = writer.begin({})
    for rank in range(5):
        data += writer.opened(str(rank), StreamInfo(job="job", source="preload", rank=rank))
    data += writer.checkpoint()
    for rank in range(5):
        data += writer.opened(str(rank), StreamInfo(job="job", source="preload", rank=rank, step=f"{rank}"))
    data += writer.end()
    assert [stream.info.step for stream in opened(data).streams.values()] == list("01234")


def test_processes_of_one_rank_and_those_without_are_told_apart() -> None:
    made = [strided(rank, 4, 5) for rank in (0, 1, 0, -1, 1, 0, -1, *([3] * 20))]
    assert_same(opened(written(made)), made)


@pytest.mark.slow
def test_one_stream_is_read_without_unpacking_what_others_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    made = [strided(rank, 400, 300) for rank in range(400)]
    for stream in made:
        stream.batches[0].offset[:] = random.integers(0, 2**40, 300)
    data = written(made)
    reader = opened(data)
    unpacked = []
    from iotide.archive.integers import integers

    whole = integers.unpack
    monkeypatch.setattr(integers, "unpack", lambda *about: unpacked.append(about[1]) or whole(*about))
    (part,) = reader.calls(200)
    assert part.batch.offset.tolist() == made[199].batches[0].offset.tolist()
    assert sum(unpacked) < 400 * 300 * 0.9


def test_archive_without_times_has_the_calls_in_their_order() -> None:
    made = [strided(rank, 4, 20) for rank in range(4)]
    reader = opened(written(made, times=False))
    assert not reader.has_times
    assert reader.job["times"] is False
    for number, expected in enumerate(made, 1):
        (part,) = reader.calls(number)
        assert part.batch.offset.tolist() == expected.batches[0].offset.tolist()
        assert not part.batch.start.any()
        assert not part.batch.duration.any()


@pytest.mark.parametrize("lost", [0, 1])
def test_sections_lost_with_a_block_are_told_of_each_stream(lost: int) -> None:
    made = [strided(rank, 6, 30) for rank in range(6)]
    for stream in made:
        stream.batches = [stream.batches[0].select(slice(0, 10)), stream.batches[0].select(slice(10, 30))]
    data = bytearray(written(made))
    found = [each for each in opened(bytes(data)).merged.blocks if each.key.kind == PartKind.SECTION]
    block = max((each for each in found if each.key.ordinal == lost), key=lambda each: each.count)
    assert block.count >= 5
    first = min(each.first for each in found if each.at == block.at)
    data[block.at + 5] ^= 1
    reader = ArchiveReader(io.BytesIO(bytes(data)), "test")
    assert len(reader.problems) == 1
    for _ in range(2):
        calls = [sum(len(each.batch) for each in reader.calls(number)) for number in range(1, 7)]
        assert calls == [30 if rank < first else [20, 10][lost] for rank in range(6)]
    told = [f"1 sections of stream {rank + 1} are missing" for rank in range(first, 6)]
    assert [problem.problem for problem in reader.problems[1:]] == told


def test_output_of_a_checkpoint_is_immutable_and_read_with_later_data() -> None:
    writer = ArchiveWriter()
    data = writer.begin({})
    made = [strided(rank, 6, 30) for rank in range(6)]
    pieces = 0
    for low in (0, 10, 20):
        for rank, stream in enumerate(made):
            name = f"stream {rank}"
            data += writer.opened(name, stream.info)
            names = Definitions(NAMES, stream.files, [(1, HandleInfo(1))], list(enumerate(stream.signatures, 1)))
            batch = stream.batches[0].select(slice(low, low + 10))
            data += writer.batch(name, batch, names if not low else Definitions())
        data += writer.checkpoint()
        reader = ArchiveReader(io.BytesIO(data), "test")
        assert sum(len(each.batch) for number in reader.streams for each in reader.calls(number)) == 6 * (low + 10)
        pieces = pieces or reader.bytes["piece"]
    found = ArchiveReader(io.BytesIO(data), "test").bytes
    assert found["piece"] < pieces + 2 * 120  # all others exist already, except for the numbers without a pattern
    for rank in range(6):
        data += writer.closed(f"stream {rank}", {"lost": rank})
    assert_same(opened(data + writer.end()), made)


def split_runs(values: list[int]) -> list[int]:
    """The cuts of a column: each piece extends as far as its first step."""
    begins, at = [], 0
    while at < len(values):
        begins.append(at)
        end = at + 1
        while end < len(values) and values[end] - values[end - 1] == values[at + 1] - values[at]:
            end += 1
        at = end
    return begins


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(st.integers(-2, 2), min_size=5, max_size=5), min_size=2, max_size=40), st.booleans())
def test_pieces_of_a_column_are_as_long_as_they_can_be(steps: list[list[int]], summed: bool) -> None:
    table = np.array(steps, np.int64)
    table = np.cumsum(table, axis=0) if summed else table
    found = find_patterns(np.arange(len(table)), table)
    begins = iter(found.begins.tolist())
    for column, count in enumerate(found.counts.tolist()):
        expected = split_runs(table[:, column].tolist())
        assert count == (len(expected) if len(expected) == 1 or 3 * len(expected) <= len(table) else 0)
        assert list(itertools.islice(begins, count)) == expected[:count]


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(st.data())
def test_patterns_give_back_any_table_however_it_was_merged(data: st.DataObject) -> None:
    ranks = np.array(data.draw(st.lists(st.integers(0, 2**31), min_size=1, max_size=30, unique=True)), np.int64)
    width = data.draw(st.integers(0, 4))
    values = st.one_of(st.integers(-2, 2), st.integers(-(2**63), 2**63 - 1))
    slopes = np.array(data.draw(st.lists(values, min_size=width, max_size=width)), np.int64)
    table = ranks[:, None] * slopes
    for _ in range(data.draw(st.integers(0, 5))):
        if width:
            table[data.draw(st.integers(0, len(ranks) - 1)), data.draw(st.integers(0, width - 1))] = data.draw(values)
    cut = data.draw(st.integers(0, len(ranks)))
    whole = find_patterns(ranks, table)
    if 0 < cut < len(ranks):
        whole = merge_patterns(find_patterns(ranks[:cut], table[:cut]), find_patterns(ranks[cut:], table[cut:]))
    order = np.argsort(ranks)
    assert whole.ranks.tolist() == ranks[order].tolist()
    assert whole.columns(0, width).T.tolist() == table[order].tolist()


def test_some_of_the_ranks_follow_the_pattern_of_all() -> None:
    ranks = np.array([1, 2, 3, 5, 7, 11, 13, 17, 19, 23])
    found = find_patterns(ranks, np.stack([ranks * 4096 + 7, ranks * 0 + 1], axis=1))
    assert (found.slopes.tolist(), found.counts.tolist()) == ([4096, 0], [1, 1])
    assert found.firsts.tolist() == [7, 1]


@settings(max_examples=150)
@given(st.one_of(st.text("0019-.acex\u00e9", max_size=60), st.text(max_size=40)))
def test_numbers_go_back_to_where_they_were_taken_from(text: str) -> None:
    written = text.encode().replace(b"\0", b"").replace(b"\1", b"")
    rest, numbers = take_numbers(written)
    assert put_numbers(rest, numbers.tolist()) == written
    assert len(numbers) == count_numbers(rest)


@given(st.one_of(st.text("09afg-G_.é", max_size=60), st.text("019afg ", max_size=80)))
def test_hexadecimal_words_are_those_of_the_pattern(text: str) -> None:
    pattern = rb"(?<![0-9A-Za-z])(?=[0-9]*[a-f])[0-9a-f]{7,16}(?![0-9A-Za-z])"
    rest, numbers = take_numbers(text.encode())
    words = [int(each, 16) for each in re.findall(pattern, text.encode())]
    assert numbers.tolist()[len(numbers) - len(words) :] == [each - (each >> 63 << 64) for each in words]
    assert rest.count(b"\1") == len(words)


def test_numbers_keep_their_leading_zeros_and_have_up_to_63_bits() -> None:
    texts = ["0", "00", "007", f"{2**63 - 1}", f"{2**63}", "9" * 19, "1" + 40 * "0", 15 * "0" + "1", 16 * "0" + "1"]
    texts += [f"0{10**17 - 1}", f"0{10**17}"]
    taken = {text: take_numbers(text.encode()) for text in texts}
    assert {text for text, (_, numbers) in taken.items() if not len(numbers)} == {
        texts[4],
        *texts[5:7],
        texts[8],
        texts[10],
    }
    for text, (rest, numbers) in taken.items():
        assert put_numbers(rest, numbers.tolist()).decode() == text


def test_words_of_hexadecimal_digits_are_numbers() -> None:
    words = [f"{number:0{width}x}" for width in (7, 8, 16) for number in (0xA, 0xFEDCBA9)] + ["f" * 16]
    text = " ".join(["12", *words, "3abcdef", "abcdeg123", "0x00abcdef", "ABCDEF12", "1234567"]).encode()
    rest, numbers = take_numbers(text)
    assert rest.count(b"\1") == 8
    assert put_numbers(rest, numbers.tolist()) == text
    with pytest.raises(ValueError, match="digits"):
        put_numbers(b"\1G", [2**40])


@pytest.mark.parametrize("numbers", [[], [1, 2]])
def test_numbers_that_no_text_has_are_refused(numbers: list[int]) -> None:
    with pytest.raises(ValueError, match=r"."):
        put_numbers(b"a\0b", numbers)


def test_lists_of_pieces_that_are_remembered_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "_MAX_REPEATED_BYTES", 1000)
    merger = merging.Merger(lambda kind, block: None)
    for number, size in enumerate([400, 400, 400, 2000, 400]):
        part = Part([bytes([number]) * size, b"alike"], np.zeros(0, np.int64))
        merger.add(PartKind.STREAM, 0, 0, number, part)
        kept = [len(piece) for pieces, _ in merger._repeated.values() for piece in pieces]
        assert sum(kept) <= 1000
    assert kept
