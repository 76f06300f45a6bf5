"""JSON lines that a real process writes while they are read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from iotide.collectors.source import Origin, SourceItem
from iotide.collectors.sources.registry import open_file
from support.formats.parsing import collect
from support.system.commands import Program
from support.system.waiting import DEADLINE_S, wait_for

# Obeys one letter per line: append, half a line, garbage, rotate, truncate.
WRITER = """
import json, os, sys
path, serial = sys.argv[1], 0
def text():
    global serial
    serial += 1
    return json.dumps({"call": "write", "path": "/out", "start": serial, "dur": 0.5, "size": serial})
file = open(path, "a", buffering=1)
for order in sys.stdin:
    order = order.strip()
    if order == "append":
        file.write("".join(text() + "\\n" for _ in range(1000)))
    elif order == "half":
        whole = text()
        file.write(whole[:20]); file.flush(); rest = whole[20:] + "\\n"
    elif order == "rest":
        file.write(rest)
    elif order == "garbage":
        file.write("\\x00\\x01 no JSON {\\n")
    elif order == "rotate":
        os.rename(path, path + ".1")
        file.write(text() + "\\n")
        file = open(path, "a", buffering=1)
    elif order == "truncate":
        os.truncate(path, 0)
        file = open(path, "a", buffering=1)
    file.flush()
    print(serial, flush=True)
"""


def test_growth_garbage_rotation_and_truncation_lose_no_line(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    source = open_file(path, Origin(job="j"), follow=True)
    items: list[SourceItem] = []

    def seen() -> list[int]:
        items.extend(source.poll())
        return [size for stream in collect(items).values() for size in stream.events.bytes.tolist()]

    with Program(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        for order in [
            "append",
            "garbage",
            "append",
            "half",
            "rest",
            "rotate",
            "append",
            "truncate",
            "append",
            "garbage",
            "append",
        ]:
            print(order, file=writer.stdin, flush=True)
            written = int(writer.stdout.readline())
            if order == "half":
                assert seen()[-1] == written - 1
                continue
            wait_for(lambda written=written: len(seen()) == written, what=f"line {written} after {order}")
            if order == "truncate":  # noticed only while the file is empty or differs from before
                wait_for(lambda: (seen(), source.counters["file_truncated"])[1], what="the truncation")
        writer.stdin.close()
        assert writer.wait(timeout=DEADLINE_S) == 0
    assert sorted(seen()) == list(range(1, written + 1))
    assert source.counters["lines_malformed"] == 2
    assert [error.line for error in source.problems.first] == [1001, 1001]
    assert (source.counters["file_rotated"], source.counters["file_truncated"]) == (1, 1)
    assert len(collect(items)) == 3
    source.close()
