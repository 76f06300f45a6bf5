"""Cases separate sequences, and filters select what they specify."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.dfg.spec.cases import CASES, Cases, parse_case
from iotide.analyzers.dfg.spec.filters import Filter, Selector
from iotide.events import ConfigError, EventBatch, FileInfo, StreamInfo, make_batch


@dataclass
class Names:
    calls: list[str] = field(default_factory=lambda: ["", "read", "write", "openat"])
    files: list[FileInfo] = field(
        default_factory=lambda: [
            FileInfo(path)
            for path in ("", "/p/scratch/ann/ssf/out.h5", "/usr/lib/libc.so", "pipe:[32]", "/data/with, comma")
        ]
    )


A = StreamInfo(job="j1", source="s", host="n1", command="ls", rank=3, pid=40, origin="/traces/a_n1_3.st")
B = StreamInfo(job="j1", source="s", host="n2", command="ls -l", origin="/traces/b_n2_4.st")
BATCH = make_batch(
    5,
    {
        "start": np.array([10, 11, 12, 13, 14]) * 10**9,
        "call": np.array([3, 1, 2, 1, 2]),
        "file": np.array([1, 1, 2, 3, 4]),
        "rank": np.array([-1, 0, 1, 5, -1]),
        "pid": np.array([0, 7, 7, 8, 0]),
        "tid": np.array([0, 7, 9, 0, 0]),
        "layer": np.array([1, 1, 3, 1, 2]),
        "kind": np.array([1, 7, 8, 7, 8]),
        "flags": np.array([4, 0, 0, 0, 0]),
    },
)


def partition(case: str, *parts: tuple[EventBatch, str, StreamInfo]) -> tuple[list[list[int]], list[list[str]]]:
    cases = Cases(parse_case(case))
    numbers = [cases.of(*part).tolist() for part in parts]
    names = Names()
    return numbers, [[cases.label(number, names) for number in row] for row in numbers]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("stream", [["sa"] * 5, ["sb"] * 5]),
        ("host", [["n1"] * 5, ["n2"] * 5]),
        ("command", [["ls"] * 5, ["ls -l"] * 5]),
        ("rank", [[f"rank {n}" for n in (3, 0, 1, 5, 3)], ["(rank not known)", "rank 0", "rank 1", "rank 5"]]),
        ("pid", [[f"pid {n} on n1" for n in (40, 7, 7, 8, 40)], [f"pid {n} on n2" for n in (0, 7, 7, 8, 0)]]),
        ("tid", [[f"tid {n} on n1" for n in (40, 7, 9, 8, 40)], [f"tid {n} on n2" for n in (0, 7, 9, 8, 0)]]),
    ],
)
def test_cases_are_told_apart_and_have_names(case: str, expected: list[list[str]]) -> None:
    numbers, labels = partition(case, (BATCH, "sa", A), (BATCH, "sb", B))
    assert labels[0] == expected[0]
    assert labels[1][: len(expected[1])] == expected[1]
    pairs = {(n, text) for row, names in zip(numbers, labels, strict=True) for n, text in zip(row, names, strict=True)}
    assert len({n for n, _ in pairs}) == len({text for _, text in pairs}) == len(pairs)
    assert min(min(row) for row in numbers) >= 0


def test_case_may_be_the_file() -> None:
    assert partition("file", (BATCH, "sa", A))[1] == [
        ["/p/scratch/ann/ssf/out.h5"] * 2 + ["/usr/lib/libc.so", "pipe:[32]", "/data/with, comma"]
    ]


@pytest.mark.parametrize("case", CASES)
def test_no_events_have_no_cases(case: str) -> None:
    assert len(Cases(parse_case(case)).of(BATCH.select(slice(0, 0)), "s", A)) == 0


def test_unknown_case_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"case 'thread', character 1: this is no case; expected stream, pid, tid, rank"
    ):
        parse_case("thread")


def chosen(text: str, info: StreamInfo = A, start_s: float | None = 10) -> list[int]:
    selector = Selector(
        Filter.parse(text, {"SCRATCH": "/p/scratch/*/"}), None if start_s is None else int(start_s * 1e9)
    )
    mask = selector.of(BATCH, Names(), info)
    return list(range(5)) if mask is None else np.flatnonzero(mask).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [0, 1, 2, 3, 4]),
        ("path=/usr/*", [2]),
        ("path~lib", [2]),
        ("path!~lib", [0, 1, 3, 4]),
        ("path=pipe", [3]),
        ("path=pipe:*", [3]),
        ("path=$SCRATCH/*", [0, 1]),
        ('path="/data/with, comma"', [4]),
        ("call=read,write", [1, 2, 3, 4]),
        ("call=*read*", [1, 3]),
        ("call!=read,write", [0]),
        ("layer=POSIX", [0, 1, 3]),
        ("layer=mpi-io", [2]),
        ("kind=read", [1, 3]),
        ("rank=0-3", [0, 1, 2, 4]),
        ("rank=3-", [0, 3, 4]),
        ("rank=0,5", [1, 3]),
        ("rank!=3", [1, 2, 3]),
        ("pid=40", [0, 4]),
        ("failed=yes", [0]),
        ("failed=no", [1, 2, 3, 4]),
        ("failed!=no", [0]),
        ("time=1..3", [1, 2]),
        ("time=..1", [0]),
        ("time=3..", [3, 4]),
        ("time=..1,4..", [0, 4]),
        ("  path~out   call=read ", [1]),
        ("host=n1 command=ls", [0, 1, 2, 3, 4]),
        ("host=n2", []),
        ("command!=ls", []),
        ("trace=a_*.st", [0, 1, 2, 3, 4]),
        ("trace=/traces/b*", []),
        ("job=j?", [0, 1, 2, 3, 4]),
    ],
)
def test_filter_selects_the_specified_events(text: str, expected: list[int]) -> None:
    assert chosen(text) == expected


def test_moments_of_unix_time_need_no_start() -> None:
    at = 1_700_000_000
    batch = make_batch(2, {"start": np.array([at, at + 10]) * 10**9})
    mask = Selector(Filter.parse(f"time={at + 5}..")).of(batch, Names(), A)
    assert mask is not None
    assert mask.tolist() == [False, True]
    assert chosen("time=1..3", start_s=None) == []


def test_files_that_come_later_are_looked_at_too() -> None:
    names = Names()
    selector = Selector(Filter.parse("path~new"))
    selector.of(BATCH, names, A)
    names.files.append(FileInfo("/new"))
    mask = selector.of(make_batch(2, {"file": np.array([5, 1])}), names, A)
    assert mask is not None
    assert mask.tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("path", r"filter 'path', character 1: this is no term; expected terms such as path="),
        ("paths=x", r"character 1: 'paths' is no key"),
        ("call=read =x", r"character 11: a key is missing"),
        ("path=", r"character 6: a value of path is missing"),
        ('path="x', r"character 6: a value of path is missing"),
        ("call=a,", r"character 8: a value of call is missing"),
        ('path="a"b', r"character 9: a term does not end here"),
        ("rank=3-1", r"character 6: '3-1' is no rank; expected rank=3"),
        ("rank=0,x", r"character 8: 'x' is no rank"),
        ("rank~3", r"character 5: ~ looks for text"),
        ("layer=posx", r"'posx' is no layer; expected OTHER, POSIX"),
        ("time=5", r"'5' is no stretch of time"),
        ("time=5..1", r"is no stretch of time"),
        ("time=nan..", r"is no stretch of time"),
        ("failed=maybe", r"expected yes or no"),
        ("path=$WORK/x", r"\$WORK is no site variable; expected \$SCRATCH"),
        ("rank=1 " * 40, r"too many terms; expected at most 32"),
    ],
)
def test_wrong_filters_are_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Filter.parse(text, {"SCRATCH": "/scratch"})


KEYS = st.sampled_from(["path", "call", "rank", "time", "layer", "kind", "failed", "host", "x", ""])
OPERATORS = st.sampled_from(["=", "!=", "~", "!~", " = ", ""])
TERMS = st.tuples(KEYS, OPERATORS, st.text('ab[]-!*?.0123456789,"$/ ^\\', max_size=12)).map("".join)


@pytest.mark.slow
@given(st.one_of(st.text(max_size=60), st.lists(TERMS, max_size=4).map(" ".join)))
@settings(deadline=None, max_examples=400)
def test_any_text_is_a_filter_or_a_config_error(text: str) -> None:
    try:
        declared = Filter.parse(text)
    except ConfigError:
        return
    mask = Selector(declared, 0).of(BATCH, Names(), A)
    assert mask is None or (mask.shape == (5,) and mask.dtype == np.bool_)
    assert Filter.parse(declared.text) == declared
