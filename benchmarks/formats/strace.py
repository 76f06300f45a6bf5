"""Lines per second when reading real strace output, beside a plain regular expression per line.

The traces are recorded here: a program that reads and writes, one that walks a file tree, one that packs it, the start
of an interpreter, and concurrent processes, whose lines are half unfinished and resumed calls. The peer extracts
process, time, call, result and duration from each matching line, and nothing else: no files, no sizes, no errors, no
joined halves, no count of skipped lines.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from iotide.benchmarks.common.figures import Figure, report
from iotide.collectors.files.tail import CHUNK_BYTES
from iotide.collectors.source import Input, Origin
from iotide.collectors.sources.strace.parser import StraceParser

PROGRAMS = {
    "reads and writes (dd)": ["dd", "if=/dev/zero", "of=out", "bs=4k", "count=40000", "status=none"],
    "a tree of files (find)": ["find", "/usr/lib", "/usr/share", "-maxdepth", "4"],
    "packing files (tar)": ["tar", "cf", "out", "/usr/share/doc"],
    "start of an interpreter": [sys.executable, "-c", "import asyncio, numpy.random, unittest, xml.dom.minidom"],
    "processes in a pipe (cat)": ["sh", "-c", "seq 2000000 | cat | cat | wc -c"],
}
ROUNDS = 7
_PEER_LINE = re.compile(r"(\d+) +([\d.]+) (\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+)\S*(?: .*)? <([\d.]+)>$")


def record(command: list[str], folder: Path) -> bytes:
    trace = folder / "trace.st"
    strace = ["strace", "-f", "-ttt", "-T", "-y", "-o", str(trace)]
    subprocess.run([*strace, *command], cwd=folder, check=False, capture_output=True, timeout=300)
    return trace.read_bytes()


def decode(data: bytes) -> int:
    """Return the number of lines that were accounted for."""
    about = Input("a_n1_0.st", Origin(job="j"))
    parser = StraceParser(about)
    for at in range(0, len(data), CHUNK_BYTES):
        parser.feed(data[at : at + CHUNK_BYTES])
    parser.finish()
    ignored = sum(count for name, count in about.counters.items() if name.startswith("lines_ignored:"))
    return about.counters["events"] + ignored


def one_by_one(data: bytes) -> list[np.ndarray]:
    rows = []
    for line in data.decode(errors="replace").splitlines():
        if found := _PEER_LINE.match(line):
            pid, stamp, call, _, result, took = found.groups()
            rows.append((int(pid), float(stamp), call, int(result, 0), float(took)))
    return [np.array(column) for column in zip(*rows, strict=True)]


def least_seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return the least CPU and the least wall time of some rounds."""
    cpu, wall = [], []
    for _ in range(ROUNDS):
        begun = time.process_time(), time.perf_counter()
        work()
        cpu.append(time.process_time() - begun[0])
        wall.append(time.perf_counter() - begun[1])
    return min(cpu), min(wall)


def measure() -> list[Figure]:
    if shutil.which("strace") is None:
        print("strace is not installed: no input", file=sys.stderr)
        return []
    figures = []
    for name, command in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            data = record(command, Path(folder))
        lines = data.count(b"\n")
        if decode(data) != lines:
            raise AssertionError(f"{name}: lines were lost")
        cpu, wall = least_seconds(lambda: decode(data))  # noqa: B023
        peer_cpu, peer_wall = least_seconds(lambda: one_by_one(data))  # noqa: B023
        for kind, ours, theirs in (("CPU", cpu, peer_cpu), ("wall", wall, peer_wall)):
            figures.append(
                Figure(
                    f"{name}, {kind}",
                    lines / ours / 1e3,
                    "k lines/s",
                    ">= 300 k lines/s" if kind == "CPU" else "",
                    "regex a line",
                    lines / theirs / 1e3,
                )
            )
    return figures


if __name__ == "__main__":
    report(measure())
