"""Texts of kernel traces: acting threads, interrupts, system calls, and a count of every line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.sources.kernel_traces.dialects import (
    BpftraceParser,
    LttngParser,
    PerfParser,
    TraceCmdParser,
    looks_like_bpftrace,
    looks_like_lttng,
    looks_like_perf,
    looks_like_trace_cmd,
)
from iotide.collectors.sources.kernel_traces.lock_events import LockEventsParser, looks_like_lock_events
from iotide.events import Flag, Kind, Layer
from support.formats.nesting import DEPTH
from support.formats.parsing import only_stream, parse, split_at
from support.places import DATA

PERF = gzip.decompress((DATA / "perf_sched.txt.gz").read_bytes())
LTTNG = gzip.decompress((DATA / "lttng.txt.gz").read_bytes())


def rows_of(parser: Any, text: str) -> list[dict[str, Any]]:
    return only_stream(parse(parser, text.encode())[0]).rows()


def short(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["call"], row["tid"], row["handle"], row["file"]


SWITCH = "prev_comm=a b prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120"
WAKING = "comm=mysqld pid=861 prio=120 target_cpu=001"
EXPECTED = [
    ("process_state", 7, 0, "comm:a b"),
    ("sched_waking", 7, 861, "comm:mysqld"),
    ("sched_switch", 7, 0, "comm:swapper/1"),
]


def two(head: str, flags: str = "", subsystem: str = "sched:", switch: str = SWITCH, end: str = "") -> str:
    wakes = f"{head} [001] {flags} 12.000001: {subsystem}sched_waking:  {WAKING}{end}\n"
    return wakes + f"{head} [001] {flags} 12.000002: {subsystem}sched_switch: {switch}{end}\n"


@pytest.mark.parametrize(
    ("parser", "text"),
    [
        (PerfParser, two("       a b  7")),
        (PerfParser, two("a b 6/7")),
        (TraceCmdParser, "cpus=2\n" + two(" a b-7 ", "", "", "a b:7 [120] S ==> swapper/1:0 [120]")),
        (TraceCmdParser, "# tracer: nop\n" + two("  a b-7 ", "d..2.", "")),
        (BpftraceParser, "Attaching 4 probes...\n" + two("a b 7/7", "", "") + "\n"),
        (
            BpftraceParser,
            '{"type": "attached_probes", "data": {"probes": 4}}\n'
            + two('{"type": "printf", "data": "a b 7/7', "", "", SWITCH, '\\n"}'),
        ),
    ],
    ids=["perf", "perf with processes", "trace-cmd", "ftrace", "bpftrace", "bpftrace json"],
)
def test_tracers_in_the_kernels_format_have_the_same_events(parser: Any, text: str) -> None:
    streams, about = parse(parser, text.encode())
    rows = only_stream(streams).rows()
    assert [short(row) for row in rows] == EXPECTED
    assert [row["start"] for row in rows] == [12_000_001_000, 12_000_001_000, 12_000_002_000]
    assert rows[2]["flags"] == Flag.BLOCKING
    assert {row["layer"] for row in rows} == {Layer.KERNEL}
    assert {row["kind"] for row in rows} == {Kind.OTHER}
    assert not about.problems.total


def lttng(at: int, cpu: int, event: str, fields: str, context: str = "") -> str:
    middle = f" {{ {context} }}," if context else ""
    return f"[1412670961.{at:09}] (+0.000000001) node {event}: {{ cpu_id = {cpu} }},{middle} {{ {fields} }}\n"


def switch(comm: str, tid: int, state: int, next_comm: str, next_tid: int) -> str:
    before = f'prev_comm = "{comm}", prev_tid = {tid}, prev_prio = 20, prev_state = {state}'
    return f'{before}, next_comm = "{next_comm}", next_tid = {next_tid}, next_prio = 20'


WOKEN = 'comm = "a", tid = 1, prio = 120, success = 1, target_cpu = 0'
STATE = 'tid = 2, vtid = 2, pid = 2, vpid = 2, ppid = 1, vppid = 1, name = "b", type = 0'


def test_lttng_takes_the_acting_thread_from_the_last_switch() -> None:
    text = (
        lttng(1, 0, "sched_switch", switch("a", 1, 1, "b", 2))
        + lttng(2, 1, "sched_switch", switch("x", 8, 0, "y", 9))
        + lttng(3, 0, "sched_wakeup", WOKEN)
        + lttng(4, 1, "sched_wakeup", WOKEN)
        + lttng(5, 1, "sched_wakeup", WOKEN, 'procname = "z", tid = 77, pid = 70')
    )
    rows = rows_of(LttngParser, text)
    events = [(row["call"], row["tid"], row["handle"], row["flags"]) for row in rows if row["call"] != "process_state"]
    assert events == [
        ("sched_switch", 1, 2, Flag.BLOCKING),
        ("sched_switch", 8, 9, 0),
        ("sched_wakeup", 2, 1, 0),
        ("sched_wakeup", 9, 1, 0),
        ("sched_wakeup", 77, 1, 0),
    ]
    assert [short(row) for row in rows if row["call"] == "process_state"] == [("process_state", 77, 0, "comm:z")]
    assert rows[-1]["pid"] == 70


def test_a_thread_that_perf_has_lost_sight_of_is_named_by_the_switch() -> None:
    head = "a b 7 [001]  12.000001: sched:sched_switch: prev_comm=c prev_pid=4 prev_prio=120 prev_state=R ==> "
    text = f"{head}next_comm=a b next_pid=7 next_prio=120\n   :-1  -1 [001] 12.000002: sched:sched_switch: {SWITCH}\n"
    streams, about = parse(PerfParser, text.encode())
    rows = only_stream(streams).rows()
    assert [row["tid"] for row in rows if row["call"] == "sched_switch"] == [4, 7]
    assert {row["file"] for row in rows} == {"comm:a b", "comm:swapper/1"}
    assert not about.problems.total


def test_a_wakeup_in_an_interrupt_is_the_devices_not_the_interrupted_threads() -> None:
    wake = "sched:sched_waking: comm=b pid=2 prio=120 target_cpu=000\n"
    head = "a 1 [000] 12.00000"
    text = (
        f"{head}1: {wake}{head}2: irq:irq_handler_entry: irq=49 name=eth0\n{head}3: {wake}"
        f"{head}4: irq:softirq_entry: vec=3 [action=NET_RX]\n{head}5: irq:softirq_exit: vec=3\n{head}6: {wake}"
        f"{head}7: irq:irq_handler_exit: irq=49 ret=handled\n{head}8: {wake}"
        f"a 1 [001] 12.000009: {wake}"
    )
    streams, about = parse(PerfParser, text.encode())
    wakes = [row["tid"] for row in only_stream(streams).rows() if row["call"] == "sched_waking"]
    assert wakes == [1, 0, 0, 1, 1]
    assert about.counters["lines_ignored:context"] == 4
    hard = only_stream(parse(TraceCmdParser, f"a-1 [000] d.h1. 1.5: sched_waking: {WAKING}\n".encode())[0]).rows()
    assert hard[-1]["tid"] == 0


def test_system_calls_of_io_become_calls_with_their_files() -> None:
    text = (
        lttng(0, 0, "sched_switch", switch("a", 1, 1, "b", 2))
        + lttng(1, 0, "lttng_statedump_process_state", STATE)
        + lttng(2, 0, "lttng_statedump_file_descriptor", 'pid = 2, fd = 1, filename = "/var/log"')
        + lttng(3, 0, "syscall_entry_write", "fd = 1, buf = 0x1, count = 100")
        + lttng(13, 0, "syscall_exit_write", "ret = 64")
        + lttng(14, 0, "sys_open", 'filename = "/data", flags = 0, mode = 0')
        + lttng(15, 0, "exit_syscall", "ret = 5")
        + lttng(16, 0, "syscall_entry_read", "fd = 5, count = 10")
        + lttng(17, 0, "syscall_exit_read", "ret = -11, buf = 0x1")
        + lttng(18, 0, "syscall_entry_getpid", "")
        + lttng(19, 0, "syscall_exit_getpid", "ret = 2")
    )
    calls = [row for row in rows_of(LttngParser, text) if row["layer"] != Layer.KERNEL]
    assert [(row["call"], row["file"], row["bytes"], row["duration"], row["errno"]) for row in calls] == [
        ("write", "/var/log", 64, 10, 0),
        ("open", "/data", 0, 1, 0),
        ("read", "/data", 0, 1, 11),
    ]
    assert calls[0]["start"] == 1_412_670_961_000_000_003
    assert calls[0]["requested"] == 100
    perf = "a 4 [000] 1.000001: syscalls:sys_enter_read: fd: 0x00000003, buf: 0x7f, count: 0x00000fff\n"
    perf += "a 4 [000] 1.000003: syscalls:sys_exit_read: 0x589\n"
    (call,) = [row for row in rows_of(PerfParser, perf) if row["call"] == "read"]
    assert (call["bytes"], call["requested"], call["duration"]) == (0x589, 0xFFF, 2000)


def test_malformed_lines_are_counted_and_named_and_cost_nothing_else() -> None:
    good = f"a 7 [001] 12.000001: sched:sched_waking: {WAKING}\n"
    streams, about = parse(
        PerfParser, (good + "garbage\n" + good + "a 7 [001] 12.000002: sched:sched_waking: pid\n").encode()
    )
    assert len([row for row in only_stream(streams).rows() if row["call"] == "sched_waking"]) == 2
    assert about.problems.total == about.counters["lines_malformed"] == 2
    assert [problem.line for problem in about.problems.first] == [2, 4]
    assert "perf script" in str(about.problems.first[0])


@pytest.mark.parametrize(("parser", "text"), [(PerfParser, PERF), (LttngParser, LTTNG)], ids=["perf", "lttng"])
@settings(max_examples=8, deadline=None)
@given(places=st.lists(st.integers(0, 2**20), max_size=5))
def test_any_split_gives_the_same_events(parser: Any, text: bytes, places: list[int]) -> None:
    whole, about = parse(parser, text[:60_000])
    parts, again = parse(parser, split_at(text[:60_000], places))
    assert only_stream(parts).rows() == only_stream(whole).rows()
    assert about.counters == again.counters


HOSTILE = [
    b"\n",
    b"x [0] 1.2: a: b\n",
    b"\xff\0\n",
    b"a 1 [000] 1.1: sched_waking: comm=a pid=99999999999999999999\n",
    b"a 1 [000] 9999999999.1: sched_waking: comm=a pid=1\n",
]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([*PERF.splitlines(keepends=True)[:40], *HOSTILE]), max_size=20),
    st.integers(0, 200),
)
def test_hostile_lines_are_survived(lines: list[bytes], cut_at: int) -> None:
    data = b"".join(lines)
    for parser in (PerfParser, LttngParser, TraceCmdParser, BpftraceParser, LockEventsParser):
        parse(parser, [data[:cut_at], data[cut_at:]])


def test_real_traces_are_read_without_a_problem() -> None:
    for parser, text in ((PerfParser, PERF), (LttngParser, LTTNG)):
        _, about = parse(parser, text)
        assert not about.problems.total
        assert about.counters["lines"] == text.count(b"\n")


def test_each_tracers_text_is_told_from_the_others() -> None:
    tests = [looks_like_perf, looks_like_lttng, looks_like_trace_cmd, looks_like_bpftrace, looks_like_lock_events]
    heads = [
        PERF[:500],
        LTTNG[:500],
        f"cpus=2\n  a b-7  [001]  12.1: sched_waking:  {WAKING}\n".encode(),
        b"Attaching 4 probes...\na 7/7 [001] 1.1: sched_waking: x\n",
        b'{"event": "mutex_lock_req", "lock": "0x1", "tid": 1, "ts": 1}\n',
    ]
    assert [[test(head) for test in tests] for head in heads] == [
        [mine == other for other in range(len(tests))] for mine in range(len(heads))
    ]


@pytest.mark.parametrize(
    ("looks", "losses", "line"),
    [
        (looks_like_trace_cmd, "cpus=2\nCPU:1 [5 EVENTS DROPPED]\n", f"  a b-7  [001]  12.1: sched_waking:  {WAKING}"),
        (looks_like_trace_cmd, "buffer-7: CPU:0 [677 EVENTS DROPPED]\n", f" a-7  [001]  12.1: sched_waking:  {WAKING}"),
        (looks_like_trace_cmd, "CPU:0 [LOST 8 EVENTS]\n\n", f"  a b-7  [001]  12.1: sched_waking:  {WAKING}"),
        (looks_like_bpftrace, "Lost 12 events\n", "Attaching 4 probes..."),
        (looks_like_bpftrace, '{"type": "lost_events", "data": {"events": 7}}\n', '{"type": "attached_probes"'),
        (looks_like_lock_events, "Lost 3 events\n", '{"event": "mutex_lock_req", "lock": "0x1", "tid": 1, "ts": 1}'),
    ],
)
def test_traces_whose_first_events_were_lost_are_told_too(
    looks: Callable[[bytes], bool], losses: str, line: str
) -> None:
    assert looks(f"{losses}{line}\n".encode())
    assert looks(f"{losses}{losses}{line}\n".encode())


def test_events_of_locks_have_thread_lock_and_time() -> None:
    lines = (
        '{"event": "pthread_mutex_lock_req", "lock": "0x10", "tid": 1, "ts": 1.5, "comm": "worker"}\n'
        '{"event": "lock_acq", "lock": 16, "tid": 1, "ts_ns": 1600000000, "pid": 9}\n'
        '{"event": "spin_unlock", "lock": "0x10", "tid": 1, "ts": 1.7}\n'
        '{"event": "lock_lost", "lock": "0x10", "tid": 1, "ts": 1.7}\n{"event": 3}\n'
        f'{{"event": "unlock", "lock": 16, "tid": 1, "ts": 1.8, "nested": {"[" * DEPTH}{"]" * DEPTH}}}\n'
    )
    streams, about = parse(LockEventsParser, lines.encode())
    assert [(row["call"], row["tid"], row["file"], row["start"]) for row in only_stream(streams).rows()] == [
        ("process_state", 1, "comm:worker", 1_500_000_000),
        ("lock_req", 1, "lock:0x10", 1_500_000_000),
        ("lock_acq", 1, "lock:16", 1_600_000_000),
        ("unlock", 1, "lock:0x10", 1_700_000_000),
    ]
    assert about.counters["lines_malformed"] == 3


FTRACE = """# tracer: nop
    tmux: server-9     [001] ..... 1.000001: sys_openat(dfd: 0xffffff9c, filename: 0x55a "/data/x", flags: 0x241)
    tmux: server-9     [001] ..... 1.000002: sys_openat -> 0x3
    tmux: server-9     [001] ..... 1.000003: sys_write(fd: 3, buf: 0x55a7f2e62500, count: 0xe8b)
    tmux: server-9     [001] ..... 1.000005: sys_write -> 0xfffffffffffffff5
          <idle>-0     [001] d.h1. 1.000006: schedule <-do_idle
"""


def test_system_calls_in_ftraces_own_text_are_calls() -> None:
    streams, about = parse(TraceCmdParser, FTRACE.encode())
    rows = [row for row in only_stream(streams).rows() if row["layer"] != Layer.KERNEL]
    assert [(row["call"], row["file"], row["duration"], row["errno"]) for row in rows] == [
        ("openat", "/data/x", 1000, 0),
        ("write", "/data/x", 2000, 11),
    ]
    assert {row["file"] for row in only_stream(streams).rows() if row["call"] == "process_state"} == {
        "comm:tmux: server"
    }
    assert about.counters["lines_ignored:other_event"] == 1
    assert not about.problems.total


def test_a_buffers_name_before_the_lines_of_trace_cmd_is_no_command() -> None:
    line = f"my buffer-2:             a b-7     [001]     1.5: sched_waking:         {WAKING}\n"
    row = only_stream(parse(TraceCmdParser, line.replace("my ", "my_").encode())[0]).rows()[0]
    assert short(row) == ("process_state", 7, 0, "comm:a b")


def test_descriptors_are_followed_through_copies_of_copies_and_closes() -> None:
    calls = [
        ("openat", 'dfd = 5, filename = "/a", flags = 0', 3),
        ("dup", "fildes = 3", 4),
        ("dup2", "oldfd = 4, newfd = 9", 9),
        ("close", "fd = 3", 0),
        ("write", "fd = 9, count = 5", 5),
        ("write", "fd = 3, count = 5", 5),
        ("openat", 'dfd = 5, filename = "/b", flags = 0', 3),
        ("write", "fd = 3, count = 5", 5),
    ]
    text = lttng(0, 0, "sched_switch", switch("x", 1, 0, "a", 2))
    for at, (name, fields, result) in enumerate(calls):
        text += lttng(2 * at + 1, 0, f"syscall_entry_{name}", fields)
        text += lttng(2 * at + 2, 0, f"syscall_exit_{name}", f"ret = {result}")
    for pieces in ([text.encode()], [line.encode() for line in text.splitlines(keepends=True)]):
        streams, _ = parse(LttngParser, pieces)
        assert [row["file"] for row in only_stream(streams).rows() if row["call"] == "write"] == ["/a", "", "/b"]


def test_halves_of_calls_without_the_other_are_counted() -> None:
    text = "".join(
        f"a 4 [000] 1.00000{at}: syscalls:sys_{half}\n"
        for at, half in enumerate(["exit_read: 0x1", "enter_read: fd: 3", "enter_write: fd: 3", "exit_write: 0x1"])
    )
    streams, about = parse(PerfParser, text.encode())
    assert [row["call"] for row in only_stream(streams).rows() if row["layer"] != Layer.KERNEL] == ["write"]
    assert (about.counters["calls_without_begin"], about.counters["calls_without_end"]) == (1, 1)
    assert about.counters["lines_ignored:context"] == 3


def test_a_context_names_the_thread_that_acts_and_not_the_one_that_a_line_tells_of() -> None:
    text = lttng(1, 0, "lttng_statedump_process_state", STATE, 'procname = "lttng-sessiond", tid = 77, pid = 70')
    assert [short(row) for row in rows_of(LttngParser, text)] == [("process_state", 2, 0, "comm:b")]


def test_lines_behind_later_ones_are_a_problem_of_the_whole_trace() -> None:
    line = f"a 7 [001] 12.00000%d: sched:sched_waking: {WAKING}\n"
    _, about = parse(PerfParser, (line % 5 + line % 2 + line % 4 + line % 6).encode())
    assert about.counters["lines_late"] == 2
    assert "2 lines stand behind later ones, by up to 3e-06 s" in str(about.problems.first[0])
    assert about.counters["lines_malformed"] == 0


def test_events_that_mean_nothing_are_told_by_kind() -> None:
    line = "a 7 [001] 12.000001: sched:%s: comm=a\n"
    _, about = parse(PerfParser, (line % "sched_stat_runtime" * 3 + line % "sched_process_free").encode())
    assert dict(about.unsupported.counts) == {
        "events that tell of no interaction (sched_stat_runtime 3, sched_process_free 1)": 4
    }


@pytest.mark.parametrize("parser", [PerfParser, LttngParser, TraceCmdParser, BpftraceParser])
def test_a_line_without_end_costs_itself_and_no_memory(parser: Any) -> None:
    pieces = [b"a 1 [000] " + b" 1 [000] 1.5: " * 10_000] * 30 + [b"\n"]
    streams, about = parse(parser, pieces)
    assert not streams
    assert about.counters["lines_malformed"] == about.counters["lines"] == 1


@pytest.mark.parametrize(
    ("parser", "more", "untold"),
    [
        (PerfParser, "", 2),
        (PerfParser, "a 7 [001] 12.000003: irq:softirq_exit: vec=1\n", 0),
        (TraceCmdParser, "a-7 [001] d.h1. 12.000003: sched_waking: comm=b pid=1\n", 0),
    ],
)
def test_it_is_told_that_wake_ups_by_interrupts_cannot_be_told_from_others(parser: Any, more: str, untold: int) -> None:
    head = "a 7" if parser is PerfParser else "a-7"
    _, about = parse(parser, (f"{head} [001] 12.000001: sched_waking: {WAKING}\n" * 2 + more).encode())
    assert sum(count for what, count in about.unsupported.counts.items() if "interrupt" in what) == untold


@pytest.mark.parametrize("name", ["", " ", "  a", "\t", "\x0b q", "\x01", "-", "-1", "a-1 [000]", "#a", "cpus=2"])
@pytest.mark.parametrize(
    ("parser", "begin"),
    [
        (TraceCmdParser, "{:>16}-7     [001] d..2."),
        (TraceCmdParser, "b: {:>16}-7     [001]"),
        (PerfParser, "{:>16}     7 [001]"),
        (PerfParser, "{:>16}     7/8 [001]"),
    ],
)
def test_commands_may_call_themselves_anything_but_a_new_line(parser: Any, begin: str, name: str) -> None:
    _, about = parse(parser, f"{begin.format(name)} 12.000001: sched_waking: {WAKING}\n".encode())
    assert about.counters["lines_malformed"] == about.counters["lines_ignored:heading"] == 0


@pytest.mark.parametrize(
    ("parser", "line", "lost"),
    [
        (BpftraceParser, "Lost 12 events", 12),
        (BpftraceParser, '{"type": "lost_events", "data": {"events": 7}}', 7),
        (TraceCmdParser, "CPU:1 [5 EVENTS DROPPED]", 5),
        (TraceCmdParser, "CPU:0 [LOST 8 EVENTS]", 8),
        (TraceCmdParser, "CPU:0 [EVENTS DROPPED]", 1),
        (TraceCmdParser, "buffer-7: CPU:1 [1913 EVENTS DROPPED]", 1913),
        (LockEventsParser, "Lost 3 events", 3),
        (TraceCmdParser, "cpus=2", 0),
    ],
)
def test_events_that_the_tracer_lost_are_told(parser: Any, line: str, lost: int) -> None:
    _, about = parse(parser, f"{line}\n".encode())
    assert about.unsupported.counts["events that the tracer lost"] == lost
    assert about.counters["lines_ignored:heading"] == 1


@pytest.mark.parametrize("stamp", ["5412670961.000000001", "2262-01-01 00:00:00.000000001", "9999-01-01 00:00:00.0"])
def test_stamp_later_than_any_call_is_a_malformed_line_that_costs_itself(stamp: str) -> None:
    lines = [lttng(at, 0, "sched_switch", switch("a", 1, 1, "b", 2)) for at in (1, 2, 3)]
    lines[1] = lines[1].replace(lines[1][1 : lines[1].index("]")], stamp, 1)
    if "-" in stamp:
        lines = [line.replace("1412670961.", "2020-01-01 00:00:00.", 1) for line in lines]
    streams, about = parse(LttngParser, "".join(lines).encode())
    assert [row["call"] for row in only_stream(streams).rows()].count("sched_switch") == 2
    assert max(only_stream(streams).events.start.tolist()) < 2**62
    assert about.counters["lines_malformed"] == 1
