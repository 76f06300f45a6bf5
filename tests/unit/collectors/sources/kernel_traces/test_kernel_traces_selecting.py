"""Kernel traces filtered to some threads: their wakers are unchanged, for any block boundaries."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from iotide.collectors.files.lines import Block
from iotide.collectors.source import Input, Origin
from iotide.collectors.sources.kernel_traces.dialects import LttngParser, PerfParser
from support.formats.parsing import parse

WANTED = [1, 2]
INTERRUPTS = ["irq_handler", "softirq", "hrtimer_expire"]
threads = st.integers(1, 6)
event = st.one_of(
    st.tuples(st.just("sched_switch"), threads, threads),
    st.tuples(st.just("sched_waking"), threads, threads),
    st.builds(
        lambda name, half: (f"{name}_{half}", 0, 0), st.sampled_from(INTERRUPTS), st.sampled_from(["entry", "exit"])
    ),
)
IN, OUT, WAKE = ("softirq_entry", 0, 0), ("softirq_exit", 0, 0), ("sched_waking", 5, 1)
WITHIN = [(0, what) for what in (IN, OUT, IN, WAKE, OUT, WAKE, IN, OUT)]
traces = st.lists(st.tuples(st.integers(0, 1), event), min_size=1, max_size=60)


def perf(at: int, cpu: int, name: str, one: int, other: int) -> str:
    fields = {
        "sched_switch": f"prev_comm=a prev_pid={one} prev_prio=1 prev_state=S ==> next_comm=a next_pid={other}",
        "sched_waking": f"comm=a pid={other} prio=1",
    }
    return f"a {one or 3} [{cpu:03}] 1.{at:09}: sched:{name}: {fields.get(name, 'vec=1')}\n"


def lttng(at: int, cpu: int, name: str, one: int, other: int) -> str:
    fields = {
        "sched_switch": f'prev_comm = "a", prev_tid = {one}, prev_prio = 1, prev_state = 1, '
        f'next_comm = "a", next_tid = {other}, next_prio = 1',
        "sched_waking": f'comm = "a", tid = {other}, prio = 1',
    }
    return f"[1.{at:09}] h {name}: {{ cpu_id = {cpu} }}, {{ {fields.get(name, 'vec = 1')} }}\n"


def wakes(parser: Any, text: str) -> list[tuple[int, int, int]]:
    """Return time, waker and woken thread of the wake-ups that involve a selected thread."""
    rows = [row for stream in parse(parser, text.encode())[0].values() for row in stream.rows()]
    told = [(row["start"], row["tid"], row["handle"]) for row in rows if row["call"] == "sched_waking"]
    return [wake for wake in told if wake[1] in WANTED or wake[2] in WANTED]


@pytest.mark.slow
@pytest.mark.parametrize(("parser", "written"), [(PerfParser, perf), (LttngParser, lttng)], ids=["perf", "lttng"])
@settings(deadline=None, max_examples=40)
@given(trace=traces, blocks=st.lists(st.integers(0, 60), max_size=4))
@example(trace=WITHIN, blocks=[])
def test_wakers_are_the_same_in_the_trace_filtered_to_the_threads(
    parser: Any, written: Any, trace: list[Any], blocks: list[int]
) -> None:
    lines = [written(at, cpu, *what) for at, (cpu, what) in enumerate(trace)]
    edges = sorted({0, len(lines), *(block % len(lines) for block in blocks)})
    reader = parser(Input(name="trace", origin=Origin(job="job")))
    kept: list[str] = []
    for begin, end in pairwise(edges):
        block = Block("".join(lines[begin:end]).encode(), begin + 1, end - begin)
        keep = reader.select(block, lambda host: np.array(WANTED))
        kept += [line for line, stays in zip(lines[begin:end], keep, strict=True) if stays]
    assert wakes(parser, "".join(kept)) == wakes(parser, "".join(lines))


def test_lines_of_others_go() -> None:
    lines = [perf(at, 0, "sched_waking", 5, 6) for at in range(50)] + [perf(99, 0, "sched_waking", 1, 6)]
    lines += [perf(100, 0, "softirq_entry", 0, 0), perf(101, 0, "softirq_exit", 0, 0)] * 20
    reader = PerfParser(Input(name="trace", origin=Origin(job="job")))
    keep = reader.select(Block("".join(lines).encode(), 1, len(lines)), lambda host: np.array(WANTED))
    assert np.flatnonzero(keep).tolist() == [50, len(lines) - 1]
