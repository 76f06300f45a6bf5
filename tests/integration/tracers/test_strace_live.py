"""Real strace runs, read afterwards and while they write."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from iotide.collectors.source import Origin, SourceItem
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import Kind
from support.formats.parsing import Stream, collect, only_stream
from support.system.commands import Program
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.programs import need


def strace(options: str, trace: Path, *command: str) -> list[str]:
    return [need("strace"), *options.split(), "-o", str(trace), *command]


def check_account(counters: Counter[str]) -> None:
    ignored = sum(count for name, count in counters.items() if name.startswith("lines_ignored:"))
    assert counters["lines"] == counters["events"] + ignored + counters["lines_malformed"]
    assert counters["lines_malformed"] == 0


def moved(stream: Stream, kind: Kind, path: str) -> int:
    return sum(row["bytes"] for row in stream.rows() if row["kind"] == kind and row["file"] == path)


@pytest.mark.parametrize(
    "options",
    [
        "-f -tt -T -y",
        "-f -ttt -T -yy",
        "-f -r -T -y",
        "-f -tt -r -T -y",
        "-f -ttt -y",
        "-ttt -T -y",
        "-f --absolute-timestamps=format:unix,precision:ns -T -y",
    ],
)
def test_bytes_of_a_real_dd_are_counted_however_it_is_stamped(options: str, tmp_path: Path) -> None:
    trace, target = tmp_path / "dd_node3_5.st", tmp_path / "größe <b>.bin"
    command = ["dd", "if=/dev/zero", f"of={target}", "bs=64k", "count=20"]
    subprocess.run(strace(options, trace, *command), check=True, stderr=subprocess.DEVNULL, timeout=DEADLINE_S)
    source = open_file(trace, Origin(job="j"))
    stream = only_stream(collect(read_all(source)))
    check_account(source.counters)
    assert moved(stream, Kind.WRITE, str(target)) == 20 * 65_536
    assert moved(stream, Kind.READ, "/dev/zero") == 20 * 65_536
    assert (stream.info.command, stream.info.host, stream.info.rank) == ("dd", "node3", 5)
    near = trace.stat().st_mtime_ns if "-r" not in options or "-tt" in options else 0
    assert abs(int(stream.events.start.max()) - near) < 60 * 10**9


def test_pipeline_of_several_processes_is_joined(tmp_path: Path) -> None:
    trace, target = tmp_path / "sh_node_0.st", tmp_path / "out"
    script = f"for i in 1 2 3 4 5 6; do (seq 2000; seq 3000) | cat | cat >> {target} & done; wait"
    subprocess.run(strace("-f -tt -T -y", trace, "sh", "-c", script), check=True, timeout=DEADLINE_S)
    source = open_file(trace, Origin(job="j"))
    stream = only_stream(collect(read_all(source)))
    check_account(source.counters)
    assert source.counters["lines_ignored:unfinished"] > 0
    assert moved(stream, Kind.WRITE, str(target)) == target.stat().st_size
    assert len(set(stream.events.pid.tolist())) > 18


PROGRAM = """
import os, sys
target = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
for line in sys.stdin:
    os.pwrite(target, b"x" * 1000, 1000 * int(line))
os.unlink(sys.argv[1])
os.write(target, b"after")
"""


def test_trace_is_followed_while_the_program_runs(tmp_path: Path) -> None:
    trace, target = tmp_path / "python_node_0.st", tmp_path / "data"
    source = open_file(trace, Origin(job="j"), follow=True)
    items: list[SourceItem] = []

    def written() -> list[tuple[str, int, int]]:
        items.extend(source.poll())
        rows = [row for stream in collect(items).values() for row in stream.rows()]
        return [(row["call"], row["offset"], row["bytes"]) for row in rows if row["file"] == str(target)]

    command = strace("-f -ttt -T -y", trace, sys.executable, "-c", PROGRAM, str(target))
    with Program(command, stdin=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as program:
        assert program.stdin is not None
        for step in (1, 2, 3):
            program.stdin.write(b"%d\n" % step)
            program.stdin.flush()
            wait_for(lambda step=step: ("pwrite64", 1000 * step, 1000) in written(), what=f"write {step} in the trace")
            assert program.poll() is None
        program.stdin.close()
        assert program.wait(timeout=DEADLINE_S) == 0
    source.stop()
    wait_for(lambda: (items.extend(source.poll()), source.finished)[1], what="end of the trace")
    check_account(source.counters)
    assert written()[-1] == ("write", -1, 5)
    assert all(stream.closed for stream in collect(items).values())
