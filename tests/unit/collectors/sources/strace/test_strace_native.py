"""The compiled strace parser against its fallback, on real and on mutated lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from iotide.collectors.sources.strace.arguments import Numbers, PathIn, arguments_fallback, arguments_of
from iotide.collectors.sources.strace.line import LineKind, Lines, scan, scan_fallback
from iotide.collectors.sources.strace.native_library import native
from iotide.collectors.sources.strace.parser import StraceParser
from iotide.collectors.sources.strace.texts import Texts
from iotide.collectors.sources.strace.unfinished_calls import join_halves, join_halves_fallback
from support.formats.changed_lines import changed
from support.formats.parsing import parse, split_at
from support.formats.strace_fallback import assert_same, without_native
from support.places import DATA

SAMPLE = (DATA / "strace_pipe.txt").read_bytes().splitlines()

LEADERS = [
    b"17 1795229276.000001 ",
    b"18 1795229276.5 ",
    b"11:00:00.5 ",
    b"17 11:00:00 ",
    b"[pid  17] 0.000100 ",
    b"17<sh> 1795229276.1 ",
    b"17 11:00:00.5 (+     0.2) ",
    b"1795229276.1 [ 257] [????????????????] ",
    b"",
    b"17 9999999999.999999999 ",
    b"12345678 1.5 ",
    b"17 1.1234567890 ",
    b"17 1.5",
    b"[pid 17 1.5 ",
    b"17] 1.5 ",
]
CALLS = rb"""
read(3</etc/pass wd>, "root:x) = 7 <0.5>\n"..., 4096) = 1465 <0.000012>
pwrite64(3</x>(deleted), "abc", 3, 8192) = 3 <0.1>
preadv(3</x>, [{iov_base="a", iov_len=1}], 1, 77) = 1
openat(AT_FDCWD</home>, "a.txt", O_RDONLY) = 3</home/real.txt> <0.1>
openat(AT_FDCWD</home>(deleted), "a\"b", O_RDONLY) = -1 ENOENT (No such file or directory) <0.1>
openat(5</dir-> x>, "../b", O_RDONLY) = -1 EACCES (Permission denied) <0.1>
open("/dev/null", O_WRONLY) = 3</dev/null<char 1:3>> <0.1>
close(3<TCP:[127.0.0.1:50->127.0.0.1:80]>) = 0 <0.1>
close(3</dev/pts/0<char 136:0>>) = 0
mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3</lib/x.so>, 0) = 0x7f0000000000 <0.1>
mmap(0x7f0000000000, 123456789012345678, PROT_READ|PROT_WRITE, MAP_SHARED, 3</x>, 0x1000) = 0x7f0000000000 <0.1>
mmap(NULL, 1234567890123456789, PROT_READ, MAP_SHARED, 3</a, b>, 0) = -1 EINVAL (Invalid argument) <0.1>
copy_file_range(3</a>, NULL, 4</b-> c>, NULL, 10, 0) = 10
splice(3<>, NULL, 4<>, NULL, 10, 0) = 10
fcntl(3</x>, F_GETFL) = 0x8002 (flags O_RDWR|O_LARGEFILE) <0.1>
accept(3<TCP:[1]>, NULL, NULL) = 4<TCP:[a->b]> (deleted) <0.1>
read(3</x>, 0x7f, 1) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.04>
read(3</x>, 0x7f, 1) = -1 ERESTARTNOINTR (To be restarted) <0.04>
write(3</x>, "a", 1) = ? <unavailable>
exit_group(0) = ?
brk(NULL) = 0x55d7f5c25000 <0.1>
getpid()        = 9262 <0.000004>
rt_sigreturn({mask=[]}) = 16126456816564167033 <0.000005>
lseek(3</x>, -10, SEEK_END) = 90
f() = 1 E2BIG (x) (y) <1.5>
f() = 3</x>  <1.5>
f() = 1 EX <1.5>
read(3</x>,  <unfinished ...>
<... read resumed>"abc", 4096) = 3 <0.000009>
<... close resumed> )  = 0
close(3</x> <unfinished ...>
write(3</x>, "a) = 3", 5 <unfinished ...>
<... write resumed>) = 5
+++ exited with 0 +++
--- SIGCHLD {si_signo=SIGCHLD} ---
read(3</x>,  <detached ...>
<...  resumed>
) = 5 <0.000300>
strace: Process 4711 attached
 49.48    0.152446    26   5787   851 futex
""".split(b"\n")
PARTS = [
    *rb"""< > -> <a<b>c> 3< <> \ " \" (deleted) - AT_FDCWD</x> 12:00:00.5 . :""".split(),
    b") = 3",
    b") = -1",
    b")  = 0x",
    b" = ?",
    b", ",
    b"[pid 12] ",
    b"<... ",
    b" resumed>",
    b" <unfinished ...>",
    b" <detached ...>",
    b" ERESTARTSYS",
    b" ENOENT (x)",
    b" E",
    b" <unavailable>",
    b" <0.000001>",
    b" <99999999999.5>",
    b" ",
    b"    ",
    b"\r",
    b"+++ ",
    b"17 ",
    b"1.5 ",
    b"\x00",
    b"\xc3",
    b"\xc3\xa4",
    b"\xff",
    b"\r",
    b"9" * 25,
]


lines = st.one_of(st.sampled_from(SAMPLE), st.builds(bytes.__add__, *map(st.sampled_from, (LEADERS, CALLS))))
texts = st.lists(changed(lines, PARTS), max_size=8).map(b"".join)
fewer = settings(deadline=None, max_examples=60)


def test_kernel_was_built() -> None:
    assert native() is not None


@pytest.mark.parametrize("leader", LEADERS)
def test_kernel_and_fallback_take_every_kind_of_line_apart_alike(leader: bytes) -> None:
    text = b"".join(leader + call + b"\n" for call in CALLS)
    np.testing.assert_array_equal(scan(text), scan_fallback(text))


@pytest.mark.slow
@fewer
@given(texts)
@example(b"17 1.5 f() = 1" + b" " * 70_000 + b"\n")
@example(b"17 1.5 " + b"f" * 65 + b"() = 1\n17 1.5 " + b"f" * 64 + b"() = 1\n")
def test_kernel_and_fallback_take_changed_lines_apart_alike(text: bytes) -> None:
    np.testing.assert_array_equal(scan(text), scan_fallback(text))


@pytest.mark.slow
@fewer
@given(texts)
def test_kernel_and_fallback_find_the_same_in_arguments(text: bytes) -> None:
    lines = scan(text)
    calls = lines[lines["what"] == LineKind.CALL]
    for path, number in zip([*PathIn, PathIn.LAST_DESCRIPTOR], Numbers, strict=True):
        ways = [np.full(len(calls), way, np.uint8) for way in (path, number)]
        ours, theirs = arguments_of(text, calls, *ways), arguments_fallback(text, calls, *ways)
        np.testing.assert_array_equal(ours, theirs, err_msg=f"{path!r} {number!r}")


def halves(lines: Lines) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    first, second = (np.flatnonzero(lines["what"] == what) for what in (LineKind.UNFINISHED, LineKind.RESUMED))
    return np.repeat(first, len(second)), np.tile(second, len(first))


@fewer
@given(texts)
def test_kernel_and_fallback_join_the_same_halves(text: bytes) -> None:
    lines = scan(text)
    first, second = halves(lines)
    (ours, made), (theirs, fallback) = (
        join_halves(text, lines, first, second),
        join_halves_fallback(text, lines, first, second),
    )
    assert ours == theirs
    assert made.tolist() == fallback.tolist()


words = st.one_of(st.sampled_from([b"", b"a", b"b", b"ab", b"a" * 9]), st.binary(max_size=20))
pairs = st.lists(st.tuples(words, words), max_size=12)


def extents_of(texts: list[tuple[bytes, bytes]]) -> tuple[bytes, npt.NDArray[np.uint32]]:
    ends = np.cumsum([0, *[len(part) for text in texts for part in text]], dtype=np.uint32)
    return b"".join(map(b"".join, texts)), np.stack([ends[:-1], ends[1:]], 1).reshape(-1, 2, 2)


@fewer
@given(st.lists(pairs, max_size=3))
def test_table_of_texts_and_fallback_give_the_same_numbers_and_ask_for_the_same(rounds: list[Any]) -> None:
    asked: list[list[tuple[bytes, bytes]]] = [[], []]

    def table(known: list[tuple[bytes, bytes]]) -> Texts:
        def number(first: bytes, second: bytes) -> int:
            known.append((first, second))
            return 0 if first == b"b" else len(known)

        return Texts(number)

    ours = table(asked[0])
    with without_native():
        fallback = table(asked[1])
    for texts in rounds:
        data, extents = extents_of(texts)
        assert ours.of(data, extents).tolist() == fallback.of(data, extents).tolist()
    assert asked[0] == asked[1]


def test_texts_for_which_there_is_no_room_have_their_numbers_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.collectors.sources.strace.texts.MAX_BYTES", 10)
    asked: list[bytes] = []
    table = Texts(lambda first, second: asked.append(first + second) or len(first))
    for texts in ([(b"x", b"y")], [(b"x", b"y"), (b"x" * 9, b"y"), (b"x" * 9, b"y")]) * 2:
        assert table.of(*extents_of(texts)).tolist() == [len(first) for first, _ in texts]
    assert list(map(len, asked)) == [2, 10, 10]


def test_many_texts_keep_their_numbers() -> None:
    numbers = iter(range(1, 10**6))
    table = Texts(lambda first, second: next(numbers))
    data, extents = extents_of([(b"%d" % (number % 100), b"%d" % number) for number in range(20_000)])
    assert table.of(data, extents).tolist() == list(range(1, 20_001))
    assert table.of(data, extents[::-1]).tolist() == list(range(20_000, 0, -1))


@pytest.mark.slow
@fewer
@given(texts, st.lists(st.integers(0, 10_000), max_size=4))
def test_parser_with_and_without_native_give_the_same_batches_definitions_and_problems(
    text: bytes, places: list[int]
) -> None:
    pieces = split_at(text, places)
    ours, about = parse(StraceParser, pieces)
    with without_native():
        theirs, fallback = parse(StraceParser, pieces)
    assert_same(ours, theirs)
    assert about.counters == fallback.counters
    assert list(map(str, about.problems.first)) == list(map(str, fallback.problems.first))
    ignored = sum(count for name, count in about.counters.items() if name.startswith("lines_ignored:"))
    assert about.counters["lines"] == about.counters["events"] + ignored + about.counters["lines_malformed"]
    assert about.counters["lines"] == text.count(b"\n")
