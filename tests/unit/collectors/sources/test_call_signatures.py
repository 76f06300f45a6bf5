"""Calls with their parameters as text: specifications, words, and common numbers of equal calls."""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.sources.preload.records.call_text import CallTextWriter, open_flags
from iotide.collectors.sources.preload.records.lines import Records, split
from iotide.collectors.sources.preload.records.ring_layout import RECORD
from iotide.collectors.sources.preload.records.signatures import Allowance, Signatures
from iotide.collectors.sources.preload.records.specification import Parameter, Specification, name_of, parse
from iotide.events import Interner, ProtocolError
from msgspec import structs
from support.tracing.regions import words_lines

STRINGS = {1: "MPI_DOUBLE", 2: "with space", 3: "", 9: "MPI_DOUBLE"}
PATHS = {1: "/x/y", 2: "/a b"}
NAME = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
CHOICE = st.from_regex(r"[A-Za-z0-9_]{0,4}", fullmatch=True)
WORD = st.integers(0, 3) | st.integers(0, 2**64 - 1) | st.sampled_from([2**63, 2**63 + 2, 17])
CODED = st.one_of(
    st.builds(Parameter, NAME, st.sampled_from("dnfo-iuxmOgsphka")),
    st.builds(Parameter, NAME, st.just("e"), st.lists(CHOICE, min_size=1, max_size=3).map(tuple)),
)
RESULT = CODED.map(lambda each: Parameter("", each.code, each.choices))
SPECIFICATION = st.builds(Specification, NAME, st.lists(CODED, max_size=4).map(tuple), st.none() | RESULT)


def spelled(call: Specification) -> str:
    """The text in the generator's format."""

    def code(each: Parameter) -> str:
        return each.code + ("=" + "/".join(each.choices) if each.code == "e" else "")

    parameters = ",".join(f"{each.name}:{code(each)}" for each in call.parameters)
    return f"{call.name}({parameters})" + (f"={code(call.result)}" if call.result else "")


def naive(call: Specification, descriptor: int, requested: int, words: Sequence[int], sized: bool = True) -> str | None:
    """The text of one call, value by value."""
    left = list(words)
    values: list[tuple[Parameter, str]] = []
    for each in [*call.parameters, *([call.result] if call.result else [])]:
        if each.code in "fo-" or (each.code == "n" and not sized):
            continue
        if each.code in "dn":
            values.append((each, str(descriptor if each.code == "d" else requested)))
            continue
        if not left:
            return None
        word = left.pop(0)
        signed = int(np.uint64(word).astype(np.int64))
        if each.code == "a":
            count = min(word % 2**63, 16)
            if len(left) < count:
                return None
            items = [str(int(np.uint64(left.pop(0)).astype(np.int64))) for _ in range(count)]
            values.append((each, "[" + ", ".join(items + ["..."] * (word > 16)) + "]"))
            continue
        texts = {
            "i": lambda word=word, signed=signed: str(signed),
            "u": lambda word=word: str(word),
            "x": lambda word=word: f"0x{word:x}",
            "m": lambda word=word: "0" + oct(word)[2:] if word else "0",
            "O": lambda word=word: open_flags(word),
            "g": lambda word=word: str(struct.unpack("d", struct.pack("Q", word))[0]),
            "h": lambda word=word: "#" + str(word),
            "k": lambda word=word: "@" + hex(word)[2:],
            "s": lambda word=word: {1: "MPI_DOUBLE", 2: '"with space"', 3: '""', 9: "MPI_DOUBLE"}.get(word, "?"),
            "p": lambda word=word: {1: "/x/y", 2: '"/a b"'}.get(word, "?"),
            "e": lambda word=word, signed=signed, each=each: dict(enumerate(each.choices)).get(word) or str(signed),
        }
        values.append((each, texts[each.code]()))
    if left:
        return None
    shown = ", ".join(f"{each.name}={value}" for each, value in values if each is not call.result)
    result = "".join(f" = {value}" for each, value in values if each is call.result)
    return f"{call.name}({shown}){result}"


def records_of(rows: Sequence[tuple[int, int, int, Sequence[int]]]) -> Records:
    """Records of (call, descriptor, requested, words), from the lines of a ring."""
    lines = [np.zeros((0, 8), np.uint64)]
    for call, descriptor, requested, words in rows:
        row = np.zeros(1, RECORD)
        row["call"], row["descriptor"], row["requested"], row["words"] = call, descriptor, requested, len(words)
        lines += [row.view(np.uint64).reshape(1, 8), words_lines(words)]
    records, malformed = split(np.concatenate(lines))
    assert malformed == 0
    return records


class Stream:
    """Signatures of one process, and their texts."""

    def __init__(self, calls: Sequence[str], most: int = 65_536, allowance: Allowance | None = None) -> None:
        self.interner = Interner()
        self.counters: Counter[str] = Counter()
        self.texts: dict[int, str] = {}
        writer = CallTextWriter(STRINGS.get, PATHS.get)
        allowance = allowance or Allowance()
        self.signatures = Signatures(writer, self.interner.new_signature, self.counters, allowance, most)
        for number, text in enumerate(calls, 1):
            self.signatures.learn(number, text, parse(text))

    def of(self, *rows: tuple[int, int, int, Sequence[int]]) -> list[str]:
        numbers = self.signatures.of(records_of(rows))
        self.texts.update(self.interner.take_fresh().signatures)
        return [self.texts.get(number, "") for number in numbers.tolist()]


@pytest.mark.slow
@given(SPECIFICATION)
def test_specification_comes_back(call: Specification) -> None:
    assert structs.replace(parse(spelled(call)), shown=()) == call  # what is shown follows from the other fields


@settings(max_examples=300)
@given(st.text(max_size=40) | st.text(st.sampled_from("ab:,()=/dnisae-"), max_size=30))
def test_any_text_is_a_specification_or_refused(text: str) -> None:
    try:
        call = parse(text)
    except ProtocolError:
        return
    assert spelled(call) == text
    assert name_of(text) == call.name


@pytest.mark.parametrize(
    "text",
    ["", "open", "open(", "open()x", "9open()", "open(a)", "open(a:)", "open(a:zz)", "open(a:z)", "open(a:i,)",
     "o(:i)", "open()=", "open(a:e)", "open(a:i=A)", "open(a:i)=e=(", "open(a:i) ", "öpen()",
     "open(a:i\n)", "a" * 70_000 + "()"],
)  # fmt: skip
def test_text_that_is_no_specification_is_refused(text: str) -> None:
    with pytest.raises(ProtocolError):
        parse(text)


def test_calls_read_as_they_were_made() -> None:
    stream = Stream(
        ["open(path:f,flags:O,mode:m)=d", "pwrite64(fd:d,count:n,offset:o)", "rename(from:f,to:p)",
         "MPI_File_write_at(fh:k,offset:o,buf:-,count:i,datatype:s)", "H5Dset(dims:a,how:e=A/B/)=h", "sync()"]
    )  # fmt: skip
    assert stream.of(
        (1, 3, 0, [os.O_WRONLY | os.O_CREAT, 0o644]),
        (2, 3, 4096, []),
        (3, -1, 0, [1]),
        (4, 7, 512, [0x1F2E3D, 64, 1]),
        (5, 0, 0, [3 | 1 << 63, 1, 2, 2**64 - 1, 1, 5]),
        (6, -1, 0, []),
        (7, -1, 0, []),
    ) == [
        "open(flags=O_WRONLY|O_CREAT, mode=0644) = 3",
        "pwrite64(fd=3, count=4096)",
        "rename(to=/x/y)",
        "MPI_File_write_at(fh=@1f2e3d, count=64, datatype=MPI_DOUBLE)",
        "H5Dset(dims=[1, 2, -1, ...], how=B) = #5",
        "sync()",
        "",
    ]
    assert not stream.counters


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(
    st.lists(SPECIFICATION, min_size=1, max_size=3),
    st.lists(
        st.tuples(
            st.integers(1, 4),
            st.integers(-1, 3) | st.integers(-(2**31), 2**31 - 1),
            st.integers(0, 3) | st.integers(-(2**63), 2**63 - 1),
            st.lists(WORD, max_size=9),
        ),
        max_size=30,
    ),
)
def test_signatures_are_those_of_the_naive_fallback(
    calls: list[Specification], rows: list[tuple[int, int, int, list[int]]]
) -> None:
    texts = list(dict.fromkeys(map(spelled, calls)))
    stream = Stream(texts)
    known = [parse(text) for text in texts]
    expected = [naive(known[row[0] - 1], *row[1:]) or "" if row[0] <= len(known) else "" for row in rows]
    assert stream.of(*rows) == expected
    assert stream.of(*rows) == expected
    assert not stream.interner.take_fresh()


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(SPECIFICATION, st.lists(WORD, max_size=6))
def test_words_that_fit_are_read_and_others_are_counted(call: Specification, words: list[int]) -> None:
    stream = Stream([spelled(call)])
    (text,) = stream.of((1, 5, 6, words))
    assert stream.counters["signatures_malformed"] == (naive(call, 5, 6, words) is None)
    assert bool(text) == (naive(call, 5, 6, words) is not None)


@pytest.mark.parametrize("words", [[], [3], [3, 1, 2], [17, *range(15), 1], [0, 1, 2], [2**64 - 1, *range(15), 1]])
def test_arrays_with_a_wrong_element_count_have_no_signature(words: list[int]) -> None:
    stream = Stream(["list(of:a,name:s)"])
    assert stream.of((1, 0, 0, words), (1, 0, 0, [1, 4, 1])) == ["", "list(of=[4], name=MPI_DOUBLE)"]
    assert stream.counters["signatures_malformed"] == 1


def test_parameters_that_are_not_shown_do_not_tell_calls_apart() -> None:
    stream = Stream(["lseek(fd:d,offset:o)", "msync(file:f,size:-)"])
    numbers = stream.signatures.of(
        records_of([(1, 3, 1, []), (1, 3, 2, []), (2, 1, 1, []), (2, 2, 2, []), (1, 4, 1, [])])
    )
    one, same, other, same_other, last = numbers.tolist()
    assert one == same
    assert other == same_other
    assert len({one, other, last}) == 3


def test_call_that_two_threads_defined_has_one_signature() -> None:
    stream = Stream(["fsync(fd:d)", "fsync(fd:d)"])
    assert len(set(stream.signatures.of(records_of([(1, 3, 0, []), (2, 3, 0, [])])).tolist())) == 1


def test_texts_are_bounded_first_by_leaving_sizes_out_then_by_having_none() -> None:
    stream = Stream(["write(fd:d,count:n)"], most=4)
    rows = [(1, 3, size, ()) for size in range(10)]
    first = stream.of(*rows)
    sized = {f"write(fd=3, count={size})" for size in range(10)}
    assert Counter("sized" if text in sized else text for text in first) == {"sized": 4, "write(fd=3)": 6}
    assert stream.of(*rows) == first
    assert stream.of(*((1, fd, 1, ()) for fd in range(7, 14))).count("") == 4
    assert stream.counters["signatures_dropped"] == 4
    stream.of(*[(1, 99, 1, ())] * 3, (1, 98, 1, ()))
    assert stream.counters["signatures_dropped"] == 8
    assert len(stream.texts) == 8


def test_text_without_a_size_is_not_taken_for_a_call_without_parameters() -> None:
    stream = Stream(["f(count:n,x:i)"], most=1)
    assert stream.of((1, 0, 7, ())) == [""]
    assert stream.of((1, 0, 9, (7,))) == ["f(x=7)"]


def test_streams_share_an_allowance_and_give_it_back() -> None:
    allowance = Allowance(5)
    first, second = (Stream(["write(count:n)"], allowance=allowance) for _ in range(2))
    first.of(*((1, 0, size, ()) for size in range(4)))
    assert second.of((1, 0, 1, ()), (1, 0, 2, ())).count("") == 1
    first.signatures.close()
    assert second.of((1, 0, 3, ())) == ["write(count=3)"]


def test_calls_of_one_text_share_a_number_although_the_process_numbered_a_string_twice() -> None:
    stream = Stream(["f(a:s)"])
    assert stream.signatures.of(records_of([(1, 0, 0, [1]), (1, 0, 0, [9])])).tolist() == [1, 1]


def test_number_of_a_call_beyond_those_defined_has_no_signature() -> None:
    stream = Stream(["sync()"])
    assert stream.of((0, 0, 0, ()), (65_535, 0, 0, ()), (1, 0, 0, ())) == ["", "", "sync()"]


def test_text_of_a_string_with_control_characters_stays_on_one_line() -> None:
    assert CallTextWriter({1: 'a"\n\x1b'}.get, PATHS.get).text(parse("f(a:s)"), 0, 0, [1]) == 'f(a="a\\"\\x0a\\x1b")'
