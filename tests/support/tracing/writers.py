"""A traced program that writes on command, and a collector for it that can be killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.line_process import LineProcess
from support.system.waiting import DEADLINE_S, wait_for

_PROGRAM = """
import sys
out = open("out", "wb", buffering=0)
for line in sys.stdin:
    for _ in range(int(line)):
        out.write(bytes(1000))
    print("written", flush=True)
"""


class Writer(LineProcess):
    """Program that writes 1,000 bytes per command."""

    counts: list[int]

    def write(self, count: int) -> None:
        """Let it write the given number of times, and wait until it has."""
        self.counts.append(count)
        self.write_line(str(count))
        self.wait_for_line(lambda line: line == "written")

    def end(self) -> None:  # type: ignore[override]
        """Let it end."""
        self.process.stdin.close()
        self.process.wait(DEADLINE_S)


def _made_at(path: Path) -> int:
    try:
        return path.stat().st_ctime_ns
    except FileNotFoundError:  # a new collector removes the socket of the previous one
        return 0


@contextmanager
def collecting(folder: Path, endpoint: str, *options: str) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """Run a collector of the job ``j``, and wait until it listens."""
    tracer = folder / "t"
    command = [*IOTIDE, "collect", "--socket", str(tracer), "--connect", endpoint, "--job", "j", *options]
    before = _made_at(tracer)
    with Program(command, env=plain_environment()) as collector:
        wait_for(
            lambda: _made_at(tracer) not in (0, before) or collector.poll() is not None,
            what="the tracer's socket",
        )
        yield tracer, collector


@contextmanager
def writer(folder: Path, tracer: Path) -> Iterator[Writer]:
    environment_lines = iotide(
        "collect", "--socket", tracer, "--job", "j", "--print-environment", cwd=folder
    ).stdout.split()
    with Writer(["env", "-C", str(folder), *environment_lines, sys.executable, "-c", _PROGRAM]) as program:
        program.counts = []
        yield program
