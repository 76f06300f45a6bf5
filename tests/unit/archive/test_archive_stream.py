"""A stream compressed and read again: every parameter and time, in bounded sections."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.archive.codec.stream import Section, StreamCompressor, calls_of
from iotide.archive.codec.times import pack_stamps, unpack_stamps
from iotide.archive.integers import integers
from iotide.archive.integers.integers import decode_varints, encode_varints
from iotide.archive.integers.number_templates import extract_integers, insert_integers
from iotide.events import Definitions, DefinitionTable, EventBatch, InputError, Interner, concatenate, make_batch
from iotide.events.schema import COLUMNS
from msgspec.structs import replace

CALLS = [(number, f"call{number}") for number in range(1, 51)]
TEXTS = ["", "close(fd=3)", "pwrite64(fd=3, count=64)", "pwrite64(fd=4, count=4096)", "open(mode=0644) = 3", "x\x005"]


def table() -> DefinitionTable:
    made = DefinitionTable()
    made.apply(Definitions(CALLS, [], [], list(enumerate(TEXTS))[1:]))
    return made


def compress(batch: EventBatch, pieces: int = 1, **bounds: int) -> list[Section]:
    compressor = StreamCompressor(**bounds)
    sections = []
    for rows in np.array_split(np.arange(len(batch)), pieces):
        sections += compressor.update(batch.select(rows), table())
    last = compressor.finish()
    return [*sections, last] if last else sections


def read(sections: list[Section]) -> tuple[EventBatch, DefinitionTable]:
    interner, defined = Interner(), DefinitionTable()
    batch = concatenate([part for section in sections for part in calls_of(section, interner)])
    defined.apply(interner.take_fresh())
    return batch, defined


def assert_same(sections: list[Section], batch: EventBatch) -> None:
    back, defined = read(sections)
    written = table()
    assert len(back) == len(batch)
    for name in COLUMNS:
        ours, theirs = getattr(back, name).tolist(), getattr(batch, name).tolist()
        if name == "signature":
            assert [defined.signature(number) for number in ours] == [written.signature(number) for number in theirs]
        elif name == "call":
            assert [defined.string(number) for number in ours] == [written.string(number) for number in theirs]
        else:
            assert ours == theirs, name


@st.composite
def batches(draw: st.DrawFn) -> EventBatch:
    length = draw(st.integers(0, 60))
    columns: dict[str, Any] = {}
    for name, (dtype, _) in COLUMNS.items():
        limits = np.iinfo(dtype)
        odd = st.integers(max(limits.min, -(2**62)), min(limits.max, 2**62))
        few = st.lists(st.one_of(st.integers(0, 3), odd), min_size=1, max_size=3)
        choices = draw(few)
        columns[name] = [choices[draw(st.integers(0, len(choices) - 1))] for _ in range(length)]
    columns["call"] = [draw(st.integers(0, 3)) for _ in range(length)]
    columns["signature"] = [draw(st.integers(0, len(TEXTS) - 1)) for _ in range(length)]
    return make_batch(length, columns)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(batches(), st.integers(1, 4), st.integers(1, 40), st.integers(1, 70))
def test_all_parameters_and_times_come_back(batch: EventBatch, pieces: int, symbols: int, calls: int) -> None:
    assert_same(compress(batch, pieces, most_symbols=symbols, most_calls=calls), batch)


def looped(times: int) -> EventBatch:
    """Open a new file, write it in a hundred steps and close it; repeat the given number of times."""
    step = np.arange(102)
    is_write = (step > 0) & (step < 101)
    file = np.repeat(np.arange(1, times + 1), 102)
    return make_batch(
        102 * times,
        {
            "start": 1_700_000_000_000_000_000 + 1000 * np.arange(102 * times),
            "duration": 500,
            "call": np.tile(np.where(is_write, 2, 1), times),
            "file": file,
            "handle": file,
            "offset": np.tile(np.where(is_write, 64 * (step - 1), -1), times),
            "requested": np.tile(np.where(is_write, 64, 0), times),
            "bytes": np.tile(np.where(is_write, 64, 0), times),
            "signature": np.tile(np.where(is_write, 2, 4), times),
        },
    )


def test_size_without_times_does_not_depend_on_how_often_a_loop_runs() -> None:
    sizes = set()
    for times in (10, 1000):
        (section,) = compress(looped(times))
        assert_same([section], looped(times))
        sizes.add((len(section.groups), len(section.terminals), len(section.rules.values), section.templates[-1]))
        assert sum(len(each) for each in section.literals) < 30
    assert len(sizes) == 1


def test_incompressible_calls_begin_new_sections() -> None:
    length = 5000
    calls = np.random.default_rng(2).integers(1, 50, length)
    batch = make_batch(length, {"call": calls, "start": np.arange(length)})
    sections = compress(batch, pieces=100, most_symbols=500)
    assert len(sections) > 3
    assert all(len(section.rules.values) < 700 for section in sections)
    assert_same(sections, batch)


@pytest.mark.slow
def test_signatures_whose_integers_differ_in_upper_bits_alone_are_told_apart() -> None:
    draws = np.random.default_rng(1).integers(0, 2**12, (40_000, 2)) << 46
    texts = [f"f(a={a}, b={b})" for a, b in draws.tolist()]
    defined, back = DefinitionTable(), DefinitionTable()
    defined.apply(Definitions([], [], [], list(enumerate(texts, 1))))
    compressor, interner = StreamCompressor(), Interner()
    sections = compressor.update(make_batch(len(texts), {"signature": np.arange(1, len(texts) + 1)}), defined)
    last = compressor.finish()
    batch = concatenate([part for each in [*sections, *([last] if last else [])] for part in calls_of(each, interner)])
    back.apply(interner.take_fresh())
    assert [back.signature(number) for number in batch.signature.tolist()] == texts


@pytest.mark.parametrize("compiled", [True, False])
def test_memory_is_told_and_given_back_with_the_section(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiled:
        for part in ("splitter", "coder", "grammar"):
            monkeypatch.setattr(f"iotide.archive.codec.{part}.native", lambda: None)
    compressor, told = StreamCompressor(), [0]
    offsets = np.random.default_rng(1).integers(0, 2**40, 2000)
    for at in range(0, 2000, 500):
        batch = make_batch(500, {"offset": offsets[at : at + 500]})
        assert compressor.update(batch, table()) == []
        told.append(compressor.nbytes)
    assert told == sorted(set(told))
    assert told[-1] > 2000 * (16 + 8)  # times and literals
    compressor.finish()
    assert compressor.nbytes == 0


def test_times_of_a_coarser_clock_are_the_ticks_before_them() -> None:
    start, duration = np.array([10, 250, 260, -5], np.int64), np.array([230, 5, 1000, 1], np.int64)
    stamps = pack_stamps(start, duration, tick_ns=100)
    begin, lasted = unpack_stamps(stamps, "test")
    assert begin.tolist() == [0, 200, 200, -100]
    assert (begin + lasted).tolist() == [200, 200, 1200, -100]


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1)), max_size=50))
def test_any_times_come_back(calls: list[tuple[int, int]]) -> None:
    given = np.array(calls, np.int64).reshape(-1, 2)
    start, duration = unpack_stamps(pack_stamps(given[:, 0], given[:, 1]), "test")
    assert start.tolist() == given[:, 0].tolist()
    assert duration.tolist() == given[:, 1].tolist()


def test_section_knows_when_its_calls_were() -> None:
    (section,) = compress(make_batch(3, {"start": [50, 20, 40], "duration": [5, 1, 30]}))
    assert (section.calls, section.first_ns, section.last_ns) == (3, 20, 70)


def test_section_that_contradicts_itself_is_refused() -> None:
    (section,) = compress(looped(2))
    fewer = replace(section, calls=section.calls - 1)
    with pytest.raises(InputError, match="times as calls"):
        read([fewer])
    no_groups = replace(section, groups=section.groups[:1])
    with pytest.raises(InputError, match="not defined"):
        read([no_groups])


@settings(deadline=None)
@given(st.lists(st.integers(-(2**62), 2**62), max_size=50))
def test_integers_come_back(values: list[int]) -> None:
    packed = integers.pack(np.array(values, np.int64))
    assert integers.unpack(packed, len(values), "test").tolist() == values


@given(st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-70, 70)), max_size=100))
def test_varints_come_back_seven_bits_a_byte(values: list[int]) -> None:
    data = encode_varints(np.array(values, np.int64))
    naive = bytearray()
    for value in values:
        rest = value * 2 if value >= 0 else -2 * value - 1
        while rest > 127:
            naive.append(rest % 128 + 128)
            rest //= 128
        naive.append(rest)
    assert data == bytes(naive)
    assert decode_varints(data, len(values), "test").tolist() == values
    with pytest.raises(InputError):
        decode_varints(data + b"\x80", len(values), "test")


def test_integers_that_are_too_many_or_none_are_refused() -> None:
    packed = integers.pack(np.arange(100))
    for bad, count in ((packed, 99), (packed, 101), (packed[:-5], 100), (b"nonsense", 1)):
        with pytest.raises(InputError):
            integers.unpack(bad, count, "test")


@settings(deadline=None, max_examples=300)
@given(st.text("ab=, (-_.0123456789#@\x00[]"), st.integers(0, 6))
def test_numbers_come_back_into_texts(text: str, most: int) -> None:
    template, numbers = extract_integers(text, most)
    assert insert_integers(template, list(numbers)) == text
    assert len(numbers) <= most


def test_counter_in_a_text_is_taken_out() -> None:
    assert extract_integers("pwrite64(fd=3, count=-64)", 6)[1] == (3, -64)
    assert extract_integers("open(mode=0644, fh=@1f2e, at=1.5)", 6)[1] == ()
