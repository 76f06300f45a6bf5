"""A corpus of real strace output, recorded here: every line is an event, excluded by a rule, or reported."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from iotide.collectors.source import Origin
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import Kind
from support.formats.parsing import Stream, collect, only_stream
from support.formats.strace_fallback import assert_same, without_native
from support.places import PROGRAMS
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need

PROGRAM = PROGRAMS / "many_calls.py"
OPTIONS = [
    "-f -tt -T -y",
    "-f -ttt -T -yy",
    "-f -tt -T -yy -v -s 300",
    "-f -ttt -T -y -x",
    "-f -ttt -T -y -xx",
    "-f -tt -T -Y -y",
    "-f -tt -T -y -i -n",
    "-f -tt -T -y -C",
    "-f -r -T -y -a 1",
    "-f -tt -y -e trace=file,desc",
]


def record(options: str, folder: Path) -> tuple[Stream, Counter[str], bytes]:
    """Trace the program; return its stream, the parser's counts and the trace."""
    trace = folder / "many_node1_3.st"
    command = [need("strace"), *options.split(), "-o", str(trace), sys.executable, str(PROGRAM), str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=DEADLINE_S)
    source = open_file(trace, Origin(job="j"))
    stream = only_stream(collect(read_all(source)))
    assert [str(error) for error in source.problems.first] == []
    return stream, source.counters, trace.read_bytes()


def check_without_native(stream: Stream, counters: Counter[str], folder: Path) -> None:
    with without_native():
        source = open_file(folder / "many_node1_3.st", Origin(job="j"))
        twin = only_stream(collect(read_all(source)))
    assert_same({"": stream}, {"": twin})
    assert source.counters == counters


@pytest.mark.parametrize("options", OPTIONS)
def test_every_line_of_a_real_trace_is_an_event_or_left_out_by_rule(options: str, tmp_path: Path) -> None:
    stream, counters, trace = record(options, tmp_path)
    ignored = sum(count for name, count in counters.items() if name.startswith("lines_ignored:"))
    assert counters["lines"] == trace.count(b"\n") == counters["events"] + ignored
    assert counters["lines_malformed"] == 0
    assert counters["lines_ignored:unfinished"] == trace.count(b" <unfinished ...>\n")
    assert counters["lines_ignored:unfinished"] > 0
    assert counters["lines_ignored:exited"] == trace.count(b" +++ ")
    assert counters["lines_ignored:signal"] == trace.count(b" --- SIG")
    assert len(stream.events) == counters["events"]
    check_without_native(stream, counters, tmp_path)


def test_trace_contains_the_calls_of_the_program(tmp_path: Path) -> None:
    stream, counters, _ = record("-f -ttt -T -yy", tmp_path)
    rows = stream.rows()
    written: Counter[str] = Counter()
    for row in rows:
        if row["kind"] == Kind.WRITE:
            written[row["file"]] += row["bytes"]
    for number in range(4):
        assert written[f'{tmp_path}/häß <x> 名前/f {number}\n\t"q" \\ {{}} '] == 40 * (130 + 2)
    assert written[f"{tmp_path}/häß <x> 名前/bad\\xff\\xfe"] == 40
    assert written[f"{tmp_path}/häß <x> 名前/gone"] == 5
    assert sum(size for path, size in written.items() if path.startswith("TCP:")) == 3 + 2
    assert any(path.startswith("UDPv6:") for path in written)
    assert len({row["call"] for row in rows}) > 30
    assert len({row["tid"] for row in rows}) > 8
    assert counters["lines_ignored:interrupted"] > 0
    assert counters["lines_ignored:no_result"] > 0
    failed = {(row["call"], row["file"], row["errno"]) for row in rows if row["errno"]}
    assert ("openat", "/nonexist/ü", 2) in failed
    assert ("openat", "/nonexist/\\xff\\xfe", 2) in failed
