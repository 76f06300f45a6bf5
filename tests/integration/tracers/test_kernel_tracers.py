"""Real recordings of kernel tracers, made here: the two communicating processes are ranked first in each."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from iotide.analyzers.interaction.settings import InteractionSettings
from iotide.cli.rank.from_traces import rank_traces
from iotide.cli.rank.text_reduction import write_filtered
from iotide.collectors.sources.kernel_traces.dialects import LttngParser
from iotide.collectors.sources.registry import sniff
from iotide.events import Layer
from iotide.results.interaction import Ranking
from support.formats.parsing import only_stream, parse
from support.places import TESTS
from support.system.commands import Program
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need, need_module

CHATTING = TESTS / "programs" / "chatting.py"
SCRIPT = TESTS.parent / "docs" / "examples" / "interactions.bt"
LOCKS = TESTS.parent / "docs" / "examples" / "locks.bt"
LIBC = "/lib/x86_64-linux-gnu/libc.so.6"
TRACEFS = Path("/sys/kernel/tracing")
WHILE = [sys.executable, str(CHATTING), "wait"]
NOISE = [f"noise-{number}" for number in range(3)]
OURS = {"ask", "answer", *NOISE}
PERF_EVENTS = ["-e", "sched:*", "-e", "irq:*", "-e", "irq_vectors:local_timer_*"]


@pytest.fixture(name="talk", scope="module")
def _talk() -> Iterator[None]:
    """Two processes that communicate, and three that only make noise, while a tracer records."""
    with ExitStack() as stack:
        for work in (["chat", "0.0003"], *(["noise", name] for name in NOISE)):
            process = stack.enter_context(
                Program([sys.executable, CHATTING, *work], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            )
            assert process.stdin is not None
            assert process.stdout is not None
            stack.callback(process.stdin.close)
            assert process.stdout.readline() == b"ready\n"
        yield


def run(*command: str | Path, refused: bool = False) -> bytes:
    """Return the output of a command; skip the test if the kernel refuses it and that is allowed."""
    done = subprocess.run(command, capture_output=True, timeout=DEADLINE_S, check=False, cwd="/")
    if done.returncode and refused:
        pytest.skip(f"{command[0]} cannot record here: {done.stderr.decode(errors='replace')[-200:]}")
    assert not done.returncode, done.stderr[-2000:]
    return done.stdout


@contextmanager
def buffer() -> Iterator[Path]:
    """Provide an unused ring buffer of ftrace."""
    made = TRACEFS / "instances" / f"iotide-test-{os.getpid()}"
    try:
        made.mkdir()
    except OSError as error:
        pytest.skip(f"ftrace cannot record here: {error}")
    try:
        for event in ("sched", "irq", "irq_vectors/local_timer_entry", "irq_vectors/local_timer_exit"):
            if (switch := made / "events" / event / "enable").exists():  # the last two exist on x86 only
                switch.write_text("1")
        yield made
    finally:
        if made.exists():  # trace-cmd removes it
            (made / "events" / "enable").write_text("0")
            made.rmdir()


def ranking_of(trace: Path, form: str) -> Ranking:
    assert sniff(trace.read_bytes()[:65_536], trace.name) == form
    answer = rank_traces([trace], None, InteractionSettings(top=20))
    assert not answer.problems
    return answer.ranking


def busiest(ranking: Ranking) -> set[str]:
    """Only the processes started here, because tracers record the whole machine."""
    ours = [actor for actor in ranking.actors if actor.name in OURS]
    return {actor.name for actor in sorted(ours, key=lambda actor: -actor.interactions)[:2]}


def assert_talkers_lead(trace: Path, form: str) -> None:
    """Check that communicating processes interact most and lead, and that the filtered trace has them and less of
    others.
    """
    ranking = ranking_of(trace, form)
    assert busiest(ranking) == {"ask", "answer"}
    leaders = {leader for component in ranking.components for leader in component.leaders}
    assert {"ask", "answer"} <= {actor.name for actor in ranking.actors if actor.id in leaders}
    small = trace.with_suffix(".small")
    kept, lines = write_filtered(small, trace, ranking)
    assert 0 < kept < lines
    assert busiest(ranking_of(small, form)) == {"ask", "answer"}


@pytest.mark.usefixtures("talk")
def test_perf(tmp_path: Path) -> None:
    data, trace = tmp_path / "perf.data", tmp_path / "perf.txt"
    run(need("perf"), "record", "-q", "-a", *PERF_EVENTS, "-o", data, "--", *WHILE, refused=True)
    trace.write_bytes(run("perf", "script", "-i", data))
    assert_talkers_lead(trace, "perf")
    with pytest.raises(Exception, match="perf script"):
        sniff(data.read_bytes()[:100], "perf.data")


@pytest.mark.usefixtures("talk")
def test_ftrace_and_trace_cmd(tmp_path: Path) -> None:
    need("trace-cmd")
    data, text, report = tmp_path / "trace.dat", tmp_path / "ftrace.txt", tmp_path / "report.txt"
    with buffer() as instance:
        run(*WHILE)
        (instance / "tracing_on").write_text("0")
        text.write_bytes((instance / "trace").read_bytes())
        run("trace-cmd", "extract", "-B", instance.name, "-o", data)
    report.write_bytes(run("trace-cmd", "report", "-i", data))
    assert_talkers_lead(text, "trace-cmd")
    assert_talkers_lead(report, "trace-cmd")
    with pytest.raises(Exception, match="trace-cmd report"):
        sniff(data.read_bytes()[:100], "trace.dat")


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("form", ["text", "json"])
def test_bpftrace(tmp_path: Path, form: str) -> None:
    trace = tmp_path / "bpftrace.txt"
    data = tmp_path / "unsorted.txt"
    run(need("bpftrace"), "-f", form, "-o", data, SCRIPT, "-c", " ".join(WHILE), refused=True)
    trace.write_bytes(run("sort", "-s", "-t]", "-k2,2n", data))
    assert_talkers_lead(trace, "bpftrace")


def test_mutexes_of_a_real_program(tmp_path: Path) -> None:
    program, script, data = tmp_path / "mutexes", tmp_path / "locks.bt", tmp_path / "raw.jsonl"
    source = TESTS / "programs" / "mutexes.c"
    run(need("gcc"), "-Wall", "-Wextra", "-Werror", "-static", "-pthread", "-o", program, source)
    script.write_text(LOCKS.read_text().replace(LIBC, str(program)))  # excludes other processes' mutexes
    run(need("bpftrace"), "-q", "-o", data, script, "-c", program, refused=True)
    trace = tmp_path / "locks.jsonl"
    trace.write_bytes(run("sort", "-s", "-t,", "-k5,5", data))
    assert sniff(trace.read_bytes()[:65_536], trace.name) == "locks"
    answer = rank_traces([trace], None, InteractionSettings(by="thread"))
    assert not answer.problems
    (component,) = answer.ranking.components
    named = Counter(actor.name for actor in answer.ranking.actors if actor.component == component.number)
    assert named == {"sharing": 3}


@pytest.mark.parametrize("options", [[], ["--clock-date"], ["--clock-seconds", "--no-delta"]], ids=str)
@pytest.mark.parametrize("threads", ["plain", "threads"])
def test_babeltrace_output_of_a_trace_in_lttngs_layout(tmp_path: Path, options: list[str], threads: str) -> None:
    python = "/usr/bin/python3"
    need_module(python, "bt2", "import bt2")
    run(python, TESTS / "programs" / "ctf_kernel.py", tmp_path / "ctf", threads)
    text = run(need("babeltrace2"), *options, tmp_path / "ctf")
    streams, about = parse(LttngParser, text)
    assert not about.problems.total
    assert about.counters["lines_ignored:other_event"] == 1
    stream = only_stream(streams)
    assert stream.info.host == "node1"
    rows = stream.rows()
    told: list[dict[str, Any]] = [row for row in rows if row["call"] == "sched_waking"]
    acting = [77, 0] if threads == "threads" else [7, 0]  # the second one is in a soft interrupt
    assert [(row["tid"], row["handle"], row["file"]) for row in told] == [
        (acting[0], 8, 'comm:c "d" }'),
        (acting[1], 7, "comm:a, b"),
    ]
    switches = [(row["tid"], row["handle"], row["flags"] > 0) for row in rows if row["call"] == "sched_switch"]
    assert switches == [(0, 7, False), (0, 8, False), (7, 0, True)]
    (fork,) = [row for row in rows if row["call"] == "sched_process_fork"]
    assert (fork["tid"], fork["handle"]) == (7, 9)
    calls = [row for row in rows if row["layer"] != Layer.KERNEL]
    assert [(row["call"], row["file"], row["bytes"], row["tid"]) for row in calls] == [
        ("openat", '/data/x, fd = 9, "y', 0, acting[0]),
        ("write", '/data/x, fd = 9, "y', 64, acting[0]),
    ]
    assert Counter(row["call"] for row in rows)["process_state"] == (1 if threads == "threads" else 0)
