"""strace files: timestamps, halves, paths, numbers, and a count of every line."""

from __future__ import annotations

import errno
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.files.lines import MAX_LINE_BYTES
from iotide.collectors.source import Input, Origin
from iotide.collectors.sources.strace.parser import StraceParser, name_parts
from iotide.events import Flag, Kind, Layer
from support.formats.parsing import only_stream, parse, split_at
from support.places import DATA
from support.system.growth import assert_linear

SAMPLE = DATA / "strace_pipe.txt"


def rows_of(*lines: str | bytes, **options: Any) -> list[dict[str, Any]]:
    return only_stream(parse(StraceParser, text_of(*lines), **options)[0]).rows()


def text_of(*lines: str | bytes) -> bytes:
    return b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)


def row_of(call: str | bytes) -> dict[str, Any]:
    call = call.encode() if isinstance(call, str) else call
    (row,) = rows_of(b"17 1795229276.000001 " + call + b" <0.000002>")
    return row


def accounted(counters: Counter[str]) -> int:
    ignored = sum(count for name, count in counters.items() if name.startswith("lines_ignored:"))
    return counters["events"] + ignored + counters["lines_malformed"]


def test_a_read_has_its_numbers() -> None:
    row = row_of(r'read(3</etc/pass wd>, "root:x) = 7 <0.5>\n"..., 4096) = 1465')
    assert row == {
        "start": 1_795_229_276_000_001_000,
        "duration": 2000,
        "call": "read",
        "layer": Layer.POSIX,
        "kind": Kind.READ,
        "rank": -1,
        "pid": 17,
        "tid": 17,
        "file": "/etc/pass wd",
        "handle": 0,
        "parent": 0,
        "depth": 0,
        "offset": -1,
        "requested": 4096,
        "bytes": 1465,
        "errno": 0,
        "flags": 0,
        "signature": 0,
    }


def test_result_that_the_end_of_the_file_cuts_is_not_used() -> None:
    whole = text_of(*[f'17 1795229276.{at} write(3</x>, "", 8893) = 8893 <0.5>' for at in (1, 2)])
    for missing, bytes_written in ((1, 2 * 8893), (9, 8893), (7, 8893), (3, 8893)):  # the line end; digits; the rest
        streams, about = parse(StraceParser, whole[:-missing])
        assert sum(row["bytes"] for row in only_stream(streams).rows()) == bytes_written, whole[:-missing]
        assert about.counters["lines_malformed"] == (missing > 1)
        assert about.counters["lines"] == accounted(about.counters) == 2
    untimed = b'17 1795229276.1 write(3</x>, "", 5) = 5'  # without -T, a complete line looks the same
    assert only_stream(parse(StraceParser, untimed)[0]).rows()[0]["bytes"] == 5


def test_what_the_trace_does_not_have_is_reported() -> None:
    lines = text_of(
        b"17 1795229276.000001 copy_file_range(3</a>, NULL, 4</b>, NULL, 100, 0) = 100 <0.000002>",
        b"17 1795229276.000002 io_uring_enter(5<anon_inode:[io_uring]>, 1, 1, 0, NULL, 8) = 1 <0.1>",
        b"17 1795229276.000003 io_uring_enter(5<anon_inode:[io_uring]>, 1, 1, 0, NULL, 8) = 1 <0.1>",
        b'17 1795229276.000004 write(4</b>, "x", 1) = 1 <0.000002>',
    )
    _, about = parse(StraceParser, lines)
    told = {what.partition(" (")[0]: count for what, count in about.unsupported.counts.items()}
    assert told == {
        "calls that hand reads and writes to the kernel": 2,
        "reads by calls that move data between files": 1,
    }


def test_offsets_come_from_positioned_calls_and_seeks() -> None:
    row = row_of('pwrite64(3</x>, "abc", 3, 8192) = 3')
    assert (row["offset"], row["requested"], row["bytes"]) == (8192, 3, 3)
    row = row_of("lseek(3</x>, -10, SEEK_END) = 90")
    assert (row["kind"], row["offset"], row["bytes"]) == (Kind.SEEK, 90, 0)
    row = row_of('preadv(3</x>, [{iov_base="a", iov_len=1}], 1, 77) = 1')
    assert (row["offset"], row["bytes"]) == (77, 1)
    assert row_of('writev(3</x>, [{iov_base="a", iov_len=1}], 1) = 1')["bytes"] == 1


def test_failed_call_has_its_errno_and_no_bytes() -> None:
    row = row_of('write(3</x>, "a", 1) = -1 ENOSPC (No space left on device)')
    assert (row["bytes"], row["requested"], row["errno"], row["flags"]) == (0, 1, errno.ENOSPC, Flag.FAILED)


@pytest.mark.parametrize(
    ("call", "path"),
    [
        ('openat(AT_FDCWD</home>, "a.txt", O_RDONLY) = 3</home/real.txt>', "/home/real.txt"),
        ('openat(AT_FDCWD</home>, "a.txt", O_RDONLY) = -1 ENOENT (No such file or directory)', "/home/a.txt"),
        ('openat(AT_FDCWD, "a.txt", O_RDONLY) = 3', "a.txt"),
        ('openat(5</dir>, "../b", O_RDONLY) = -1 EACCES (Permission denied)', "/b"),
        ('open("/dev/null", O_WRONLY) = 3</dev/null<char 1:3>>', "/dev/null"),
        ('unlink("/tmp/say \\"hi\\", {x}...") = 0', '/tmp/say "hi", {x}...'),
        ('unlinkat(AT_FDCWD</tmp>, "x", 0) = 0', "/tmp/x"),
        ('rename("/a", "/b") = 0', "/a"),
        ('newfstatat(3</tmp/x>, "", {st_mode=S_IFREG|0644, ...}, AT_EMPTY_PATH) = 0', "/tmp/x"),
        ('statx(AT_FDCWD</tmp>, "/etc", 0, 0x7ffea2dd8020) = 0', "/etc"),
        ("close(3</tmp/gone>(deleted)) = 0", "/tmp/gone"),
        ("close(3</tmp/gone (deleted)>) = 0", "/tmp/gone"),
        (r"close(3</tmp/\303\244\74b\76 x>) = 0", "/tmp/ä<b> x"),
        (r"close(3</tmp/\377\x41\t>) = 0", "/tmp/\\xffA\t"),
        ("close(3<pipe:[35742]>) = 0", "pipe:[35742]"),
        ("close(3<TCP:[127.0.0.1:50->127.0.0.1:80]>) = 0", "TCP:[127.0.0.1:50->127.0.0.1:80]"),
        ("close(3) = 0", ""),
        ("mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3</lib/x.so>, 0) = 0x7f0000000000", "/lib/x.so"),
        ("copy_file_range(3</a>, NULL, 4</b>, NULL, 10, 0) = 10", "/b"),
        ("sendfile(6</out>, 9</in>, [0] => [100], 100) = 100", "/out"),
        ('execve("/usr/bin/sh", ["sh"], 0x7ffe7a715db0 /* 35 vars */) = 0', "/usr/bin/sh"),
        ("fcntl(3</x>, F_GETFL) = 0x8002 (flags O_RDWR|O_LARGEFILE)", "/x"),
        ("pipe2([3<pipe:[1]>, 4<pipe:[1]>], 0) = 0", ""),
    ],
)
def test_path_is_found_where_the_call_has_it(call: str, path: str) -> None:
    assert row_of(call)["file"] == path


def test_paths_that_are_not_utf8_or_not_escaped_are_kept() -> None:
    assert row_of("close(3</tmp/ä ö>) = 0")["file"] == "/tmp/ä ö"
    assert row_of(b"close(3</tmp/\xff>) = 0")["file"] == "/tmp/\\xff"


DAY = 86_400 * 10**9
NOON = round(time.mktime((2024, 2, 29, 12, 0, 0, 0, 0, -1))) * 10**9


@pytest.mark.parametrize(
    ("leaders", "starts", "offset"),
    [
        (["1795229276.000001", "1795229276.500000"], [1_795_229_276_000_001_000, 1_795_229_276_500_000_000], 0),
        (["1795229276.000000001", "1795229277.123456789"], [1795229276000000001, 1795229277123456789], 0),
        (["11:00:00.000001", "11:59:59.5"], [NOON - 3600 * 10**9 + 1000, NOON - 500_000_000], NOON - DAY // 2),
        (["11:00:00", "11:00:01"], [NOON - 3600 * 10**9, NOON - 3599 * 10**9], NOON - DAY // 2),
        (["23:59:59.9", "00:00:00.1"], [NOON - DAY // 2 - 10**8, NOON - DAY // 2 + 10**8], NOON - 3 * DAY // 2),
        (
            ["11:00:00.5 (+     0.000000)", "11:00:00.7 (+     0.200000)"],
            [NOON - 3600 * 10**9 + 500_000_000, NOON - 3600 * 10**9 + 700_000_000],
            NOON - DAY // 2,
        ),
        (["    0.000000", "    1.500000", "   10.000001"], [0, 1_500_000_000, 11_500_001_000], None),
    ],
)
@pytest.mark.parametrize("pid", ["", "17 ", "17    ", "[pid    17] ", "17<sh> ", "[pid 17<cat>] "])
def test_every_way_to_stamp_lines_is_read(pid: str, leaders: list[str], starts: list[int], offset: int | None) -> None:
    lines = [f"{pid}{leader} close(3</x>) = 0 <0.000002>" for leader in leaders]
    stream = only_stream(parse(StraceParser, text_of(*lines), modified_ns=NOON)[0])
    assert stream.events.start.tolist() == starts
    assert stream.info.clock_offset_ns == offset
    assert set(stream.events.pid.tolist()) == {17 if pid else 0}


def test_clock_that_steps_back_across_midnight_goes_back_a_day() -> None:
    clocks = ["23:59:59.9", "00:00:00.1", "23:59:59.95", "00:00:00.2"]
    stream = only_stream(
        parse(StraceParser, text_of(*[f"{clock} close(3</x>) = 0" for clock in clocks]), modified_ns=NOON)[0]
    )
    midnight = NOON - DAY // 2
    assert (stream.events.start - midnight).tolist() == [-100_000_000, 100_000_000, -50_000_000, 200_000_000]


def test_relative_stamps_count_lines_that_are_no_events() -> None:
    rows = rows_of(
        "17 0.000000 close(3</x>) = 0 <0.1>",
        "17 1.000000 getpid() = 17 <0.1>",
        "18 1.000000 +++ exited with 0 +++",
        "17 1.000000 close(4</x>) = 0 <0.1>",
    )
    assert [row["start"] for row in rows] == [0, 3 * 10**9]


def test_a_trace_without_durations_measures_joined_calls_by_their_stamps() -> None:
    rows = rows_of(
        "17 1795229276.0 read(3</x>, <unfinished ...>",
        "18 1795229276.1 close(3</y>) = 0",
        '17 1795229276.5 <... read resumed>"", 10) = 0',
        '17 1795229277.0 open("/z", O_RDONLY <unfinished ...>',
        "17 1795229277.2 <... open resumed>) = 3</z>",
    )
    timed = [(row["call"], row["duration"]) for row in rows]
    assert timed == [("close", 0), ("read", 500_000_000), ("open", 200_000_000)]


def test_halves_are_joined_by_pid() -> None:
    rows = rows_of(
        '17 1795229276.000001 write(3</x>, "a) = 3", 5 <unfinished ...>',
        "18 1795229276.000002 read(4</y>,  <unfinished ...>",
        "17 1795229276.000003 <... write resumed>) = 5 <0.000002>",
        '18 1795229276.000004 <... read resumed>"abc", 4096) = 3 <0.000009>',
        "17 1795229276.000005 close(3</x> <unfinished ...>",
        "17 1795229276.000006 <... close resumed> )        = 0 <0.000001>",
    )
    told = [(row["pid"], row["call"], row["file"], row["start"] % 10**9, row["duration"], row["bytes"]) for row in rows]
    assert told == [
        (17, "write", "/x", 1000, 2000, 5),
        (18, "read", "/y", 2000, 9000, 3),
        (17, "close", "/x", 5000, 1000, 0),
    ]


@pytest.mark.parametrize("place", [0, 70, 90])
def test_second_half_that_strace_did_not_stamp_is_joined_to_the_line_before_it(place: int) -> None:
    text = text_of(
        "17 1795229276.1 close(3</y>) = 0 <0.1>",
        "17 1795229276.2 read(3</x>,  <unfinished ...>",
        '"abc", 4096)                               = 3 <0.000100>',
        "17 1795229276.3 close(3</x> <unfinished ...>",
        ")                               = ? ERESTARTSYS (To be restarted) <0.1>",
        ")                               = 0 <0.1>",
    )
    streams, about = parse(StraceParser, [text[:place], text[place:]])
    rows = only_stream(streams).rows()
    assert [(row["call"], row["bytes"], row["duration"]) for row in rows] == [("close", 0, 10**8), ("read", 3, 10**5)]
    assert about.counters["lines_ignored:interrupted"] == 1
    assert about.counters["lines_malformed"] == 1
    assert about.counters["lines"] == accounted(about.counters) == 6


@pytest.mark.parametrize("data", ['"a"', '"a) = 3"', '"x) = -1 ENOENT (z)"', '"b) = 4</y> <0.1>"'])
def test_second_half_without_its_beginning_belongs_to_the_line_before(data: str) -> None:
    text = text_of(
        "18 1795229276.1 close(3</y>) = 0 <0.1>",
        f"17 1795229276.2 write(3</x>, {data}, 5 <unfinished ...>",
        ") = 5 <0.000300>",
    )
    streams, about = parse(StraceParser, text)
    rows = only_stream(streams).rows()
    assert [(row["call"], row["pid"], row["bytes"], row["duration"]) for row in rows] == [
        ("close", 18, 0, 10**8),
        ("write", 17, 5, 300_000),
    ]
    assert about.problems.total == 0
    assert about.counters["lines"] == accounted(about.counters) == 3


def test_process_that_ends_between_the_halves_of_a_call_has_no_result() -> None:
    text = text_of(
        "17 1795229276.1 close(3</y>) = 0 <0.1>",
        '17 1795229276.2 openat(AT_FDCWD</>, "x", O_RDONLY <unfinished ...>',
        "17 1795229276.3 <... openat resumed>) = ? <unavailable>",
    )
    streams, about = parse(StraceParser, text)
    assert len(only_stream(streams).events) == 1
    assert about.counters["lines_ignored:no_result"] == 1
    assert about.counters["lines"] == accounted(about.counters) == 3
    assert about.problems.total == 0


@pytest.mark.parametrize("extra", ["[  59] ", "[00007fd0f9879ad7] ", "[ 257] [????????????????] "])
def test_number_of_the_call_and_instruction_pointer_are_skipped(extra: str) -> None:
    (row,) = rows_of(f"17 1795229276.000001 {extra}close(3</x>) = 0 <0.000002>")
    assert (row["call"], row["file"]) == ("close", "/x")


def test_resumed_call_without_its_beginning_is_a_problem() -> None:
    text = text_of(
        '17 1795229276.1 <... read resumed>"", 1) = 0 <0.1>',
        "18 1795229276.1 read(3</x>,  <unfinished ...>",
        "18 1795229276.2 <... write resumed>) = 0 <0.1>",
        "17 1795229276.3 close(3</x>) = 0 <0.1>",
    )
    streams, about = parse(StraceParser, text)
    assert len(only_stream(streams).events) == 1
    assert [error.line for error in about.problems.first] == [1, 3]
    assert about.counters["lines"] == accounted(about.counters) == 4


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "17 1795229276.2 read(3</x>, 0x7f, 1) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.04>",
            "interrupted",
        ),
        ("17 1795229276.2 read(3</x>, 0x7f, 1) = -1 ERESTARTNOINTR (To be restarted) <0.04>", "interrupted"),
        ('17 1795229276.2 write(3</x>, "a", 1) = ? <unavailable>', "no_result"),
        ("17 1795229276.2 exit_group(0) = ?", "no_result"),
        ("17 1795229276.2 +++ exited with 0 +++", "exited"),
        ("17 1795229276.2 +++ killed by SIGKILL +++", "exited"),
        ("17 1795229276.2 --- SIGCHLD {si_signo=SIGCHLD, si_pid=27404} ---", "signal"),
        ("17 1795229276.2 brk(NULL) = 0x55d7f5c25000 <0.1>", "not_io"),
        ("17 1795229276.2 getpid()        = 9262 <0.000004>", "not_io"),
        ("17 1795229276.2 read(3</x>,  <detached ...>", "detached"),
        ("strace: Process 4711 attached", "message"),
        ("17 1795229276.2 [ Process PID=17 runs in 32 bit mode. ]", "message"),
        ("", "blank"),
        (" > /usr/lib/libc.so.6(read+0x26f0) [0x1ab70]", "stack"),
        ("% time     seconds  usecs/call     calls    errors syscall", "summary"),
        ("------ ----------- ----------- --------- --------- ------------------", "summary"),
        (" 49.48    0.152446          26      5787       851 futex", "summary"),
        ("100.00    0.308088          16     18660           total", "summary"),
        ("17 1795229276.2 rt_sigreturn({mask=[]}) = 16126456816564167033 <0.000005>", "not_io"),
    ],
)
def test_lines_that_are_no_events_are_left_out_by_rule(line: str, reason: str) -> None:
    before = "17 1795229276.1 close(3</x>) = 0 <0.1>"
    streams, about = parse(StraceParser, text_of(before, line, before))
    assert len(only_stream(streams).events) == 2
    assert about.counters[f"lines_ignored:{reason}"] == 1
    assert about.problems.total == 0
    assert about.counters["lines"] == accounted(about.counters) == 3


@pytest.mark.parametrize(
    "line",
    [
        'read(3</x>, "", 1) = 0 <0.1>',
        '17 1795229276.2 read(3</x>, "", 1',
        "17 1795229276.2 read",
        "17 12:00:00.5 close(3</x>) = 0 <0.1>",
        "17 0.5 close(3</x>) = 0 <0.1>",
        "17 9999999999.5 close(3</x>) = 0 <0.1>",
        "17 1795229276.2 close(3</x>) = 0 (x) <99999999999999999999.5>",
        "17 1795229276.2 <... resumed>) = 0 <0.1>",
        "garbage",
        "\x00\x01",
    ],
)
def test_bad_line_is_named_and_its_neighbours_are_kept(line: str) -> None:
    good = "17 1795229276.1 close(3</x>) = 0 <0.1>"
    streams, about = parse(StraceParser, text_of(good, line, good), name="a.st")
    assert len(only_stream(streams).events) == 2
    (error,) = about.problems.first
    assert str(error).startswith("a.st:2: ")
    assert "strace -f -tt -T -y" in error.expected
    assert about.counters["lines"] == accounted(about.counters) == 3


@pytest.mark.parametrize(
    "line_of",
    [
        lambda n: " " * n + "x",
        lambda n: ") = 3 (" * (n // 7),
        lambda n: "1 1795229276.1 a(" + ") = 3 (" * (n // 7),
        lambda n: "1<" * (n // 2),
    ],
    ids=["spaces", "results", "results of a call", "descriptors"],
)
def test_hostile_line_takes_linear_time(line_of: Callable[[int], str]) -> None:
    def text(n: int) -> bytes:
        return text_of("17 1795229276.1 " + line_of(n), line_of(n))

    assert_linear(lambda given: parse(StraceParser, given), text, 25_000)


def test_pending_halves_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.collectors.sources.strace.unfinished_calls.MAX_HALVES", 2)
    parser = StraceParser(about := Input("a.st", Origin("j")))
    parser.feed(text_of(*[f"{pid} 1795229276.1 close(3</x> <unfinished ...>" for pid in range(1, 6)]))
    assert about.counters["calls_never_resumed"] == 3
    parser.finish()
    assert about.counters["calls_never_resumed"] == 5


def test_calls_that_never_return_are_told_if_they_are_of_io() -> None:
    _, about = parse(
        StraceParser,
        text_of(
            '1 1795229276.1 write(3</x>, "a", 1 <unfinished ...>',
            "2 1795229276.1 futex(0x1, FUTEX_WAIT <unfinished ...>",
            '3 1795229276.1 pwrite64(3</x>, "a", 1, 0 <unfinished ...>',
            "3 1795229276.2 +++ killed by SIGKILL +++",
            "4 1795229276.3 close(3</x>) = 0 <0.1>",
        ),
    )
    assert about.counters["calls_never_resumed"] == 3
    assert [count for what, count in about.unsupported.counts.items() if "end is not in the log" in what] == [2]


def test_pending_halves_take_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.collectors.sources.strace.unfinished_calls.MAX_HALVES_BYTES", 50)
    halves = [f'{pid} 1795229276.1 unlink("/{"x" * 20}" <unfinished ...>' for pid in (1, 2, 3)]
    rests = [f"{pid} 1795229276.2 <... unlink resumed>) = 0" for pid in (3, 1)]
    streams, about = parse(StraceParser, [text_of(line) for line in (*halves, *rests)])
    assert [row["pid"] for row in only_stream(streams).rows()] == [3]
    assert about.counters["calls_never_resumed"] == 2
    assert [error.line for error in about.problems.first] == [5]


def test_half_whose_data_looks_like_an_interruption_is_joined() -> None:
    rows = rows_of(
        '17 1795229276.1 write(3</x>, "a) = 3 ERESTARTSYS", 5 <unfinished ...>',
        "17 1795229276.2 <... write resumed>) = 5 <0.1>",
    )
    assert [(row["call"], row["bytes"]) for row in rows] == [("write", 5)]


def test_relative_stamp_counts_once_for_both_halves_of_a_call() -> None:
    rows = rows_of(
        "17 0.000000 close(3</x>) = 0",
        "17 1.000000 close(4</x> <unfinished ...>",
        ") = 0 <0.1>",
        "17 1.000000 close(5</x>) = 0",
    )
    assert [row["start"] for row in rows] == [0, 10**9, 2 * 10**9]


_halves = st.lists(
    st.builds(
        lambda pid, event: f"{pid} 1795229276.1 {event}\n".encode(),
        st.integers(1, 3),
        st.sampled_from(
            [
                *[
                    "read(3</x>,  <unfinished ...>",
                    "close(4</y> <unfinished ...>",
                    '<... read resumed>"", 7) = 0 <0.1>',
                ],
                *["<... close resumed>) = 0", "+++ exited with 0 +++", "--- SIGCHLD {} ---", "close(5</z>) = 0 <0.1>"],
            ]
        ),
    ),
    max_size=25,
)


@given(_halves)
@settings(deadline=None, max_examples=60)
def test_halves_make_the_same_calls_line_by_line_and_all_at_once(lines: list[bytes]) -> None:
    at_once, about = parse(StraceParser, b"".join(lines))
    line_by_line, other = parse(StraceParser, lines)
    assert [stream.rows() for stream in at_once.values()] == [stream.rows() for stream in line_by_line.values()]
    assert about.counters == other.counters
    assert list(map(str, about.problems.first)) == list(map(str, other.problems.first))


def test_line_that_never_ends_is_cut() -> None:
    good = text_of("17 1795229276.1 close(3</x>) = 0 <0.1>")
    streams, about = parse(StraceParser, [good, b"x" * (MAX_LINE_BYTES + 1), b"x" * 500, b"\n" + good])
    assert len(only_stream(streams).events) == 2
    assert about.counters["lines"] == accounted(about.counters) == 3


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("/traces/ior_node17_4.st", ("ior", "node17", 4)),
        ("a_b_host.example_0012.st", ("a_b", "host.example", 12)),
        ("ls_host_x9.st", ("ls", "host", -1)),
        ("ls_host_99999999999.st", ("ls", "host", -1)),
        ("trace.st", ("", "", -1)),
        ("ior_node17_4.txt", ("", "", -1)),
    ],
)
def test_name_tells_command_host_and_rank(name: str, parts: tuple[str, str, int]) -> None:
    assert name_parts(name) == parts
    stream = only_stream(parse(StraceParser, text_of("1 1795229276.1 close(3</x>) = 0 <0.1>"), name=name)[0])
    assert (stream.info.command, stream.info.host or "", stream.info.rank) == (parts[0], parts[1] or "node1", parts[2])
    assert stream.rows()[0]["rank"] == parts[2]


def test_sample_is_accounted_for_line_by_line() -> None:
    streams, about = parse(StraceParser, SAMPLE.read_bytes())
    counters = about.counters
    assert about.problems.total == 0
    assert counters["lines"] == accounted(counters) == SAMPLE.read_bytes().count(b"\n")
    assert counters["lines_ignored:unfinished"] == SAMPLE.read_bytes().count(b"<unfinished ...>")
    rows = only_stream(streams).rows()
    moved = {}
    for row in rows:
        moved[row["call"]] = moved.get(row["call"], 0) + row["bytes"]
    # sums of "= N" over the read and write lines of the sample, computed with grep and awk
    assert moved["read"] == 24_519
    assert moved["write"] == 1_499


_lines = st.lists(
    st.sampled_from(
        [line + b"\n" for line in SAMPLE.read_bytes().splitlines()[:120]]
        + [b"garbage\n", b"\n", b"17 1795229276.2 read(3</x>,\n", b"strace: Process 4 attached\n"]
    ),
    max_size=30,
)


@given(_lines, st.lists(st.integers(0, 10_000), max_size=6))
@settings(deadline=None)
def test_any_split_gives_the_same_events_and_every_line_is_counted(lines: list[bytes], places: list[int]) -> None:
    text = b"".join(lines)
    whole, whole_about = parse(StraceParser, text)
    split, split_about = parse(StraceParser, split_at(text, places))
    assert [stream.rows() for stream in split.values()] == [stream.rows() for stream in whole.values()]
    assert split_about.counters == whole_about.counters
    assert whole_about.counters["lines"] == accounted(whole_about.counters) == len(lines)
    problems = {str(error) for error in whole_about.problems.first}
    assert {str(error) for error in split_about.problems.first} == problems


def test_first_half_followed_by_an_unknown_line_is_dropped_wherever_the_input_is_split() -> None:
    lines = text_of(
        "17 1795229276.1 close(3</x> <unfinished ...>",
        "17 1795229276.2 <... close ",
        '17 1795229276.3 write(4</y>, "", 2 <unfinished ...>',
        "17 1795229276.4 <... write resumed>) = 2 <0.1>",
        "17 1795229276.5 <... close resumed>) = 0 <0.1>",
    ).splitlines(keepends=True)
    for at in range(len(lines)):
        streams, about = parse(StraceParser, [b"".join(lines[:at]), b"".join(lines[at:])])
        assert [row["call"] for row in only_stream(streams).rows()] == ["write"]
        assert about.counters["calls_never_resumed"] == 1
        assert [error.line for error in about.problems.first] == [2, 5]


@pytest.mark.parametrize(("descriptor", "without"), [("3", 1), ("3</scratch/x>", 0), ("1<pipe:[7]>", 0)])
def test_trace_without_paths_of_descriptors_is_reported(descriptor: str, without: int) -> None:
    _, about = parse(StraceParser, f'7 1700000000.000001 write({descriptor}, "x", 1) = 1 <0.000001>\n'.encode())
    assert sum(count for what, count in about.unsupported.counts.items() if "-y" in what) == without


@pytest.mark.parametrize(
    ("arguments", "requested", "flags"),
    [
        ("NULL, 8192, PROT_READ, MAP_PRIVATE, 3</x>, 0", 8192, Flag.LOADS),
        ("NULL, 8192, PROT_READ|PROT_WRITE, MAP_SHARED, 3</x>, 0x1000", 8192, Flag.LOADS | Flag.STORES),
        ("0x7f00, 1, PROT_WRITE, MAP_SHARED_VALIDATE|MAP_FIXED, 3</x>, 0", 1, Flag.STORES),
        ("NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE, 3</x>, 0", 8192, Flag.LOADS),
        ("NULL, 8192, PROT_NONE, MAP_SHARED, 3</x>, 0", 8192, Flag.NONE),
        ("0x7f00, 8192, PROT_READ|PROT_EXEC, MAP_PRIVATE|MAP_DENYWRITE, 3</x.so>, 0", 8192, Flag.NONE),
        ("NULL, 8192, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0", 0, Flag.NONE),
        ("NULL, 8192, PROT_READ, MAP_SHARED, 3, 0", 0, Flag.NONE),
        ("NULL, 18446744073709551615, PROT_READ, MAP_SHARED, 3</x>, 0", 0, Flag.NONE),
        ("NULL", 0, Flag.NONE),
    ],
)
def test_mapped_files_have_their_length_and_what_the_mapping_allows(
    arguments: str, requested: int, flags: Flag
) -> None:
    row = row_of(f"mmap({arguments}) = 0x7f0000000000")
    assert (row["requested"], row["flags"], row["bytes"]) == (requested, flags, 0)
    failed = row_of(f"mmap({arguments}) = -1 ENODEV (No such device)")
    assert failed["flags"] == flags | Flag.FAILED
    if flags:  # mmap2 of memory is no I/O
        other = row_of(f"mmap2({arguments}) = 0x7f0000000000")
        assert (other["requested"], other["flags"]) == (requested, flags)
