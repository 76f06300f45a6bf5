"""A process that is controlled by lines of text, with a deadline for each answer."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from support.system.waiting import DEADLINE_S


class LineProcess:
    """Run a command and read one of its output streams by lines. A context manager that ends the process."""

    def __init__(self, command: Sequence[str | Path], *, output: str = "stdout") -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            **{output: subprocess.PIPE},  # type: ignore[call-overload]
        )
        self.lines: list[str] = []
        self._output = self.process.stdout or self.process.stderr
        self._partial_line = b""
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)

    def write_line(self, line: str) -> None:
        """Write a line to its standard input."""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def next_line(self, wanted: Callable[[str], bool]) -> str | None:
        """Return the next matching line of those written so far, or None."""
        while self._poll.poll(0) and (data := os.read(self._output.fileno(), 65_536)):
            self._partial_line += data
        while b"\n" in self._partial_line:
            line, self._partial_line = self._partial_line.split(b"\n", 1)
            self.lines.append(line.decode())
            if wanted(self.lines[-1]):
                return self.lines[-1]
        return None

    def wait_for_line(self, wanted: Callable[[str], bool], deadline_s: float = DEADLINE_S) -> str:
        """Read lines until one matches, and return it."""
        limit = time.monotonic() + deadline_s
        while True:
            while b"\n" in self._partial_line:
                line, self._partial_line = self._partial_line.split(b"\n", 1)
                self.lines.append(line.decode())
                if wanted(self.lines[-1]):
                    return self.lines[-1]
            left = limit - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                raise AssertionError(f"no matching line within {deadline_s} s; read {self.lines}")
            data = os.read(self._output.fileno(), 65_536)
            if not data:
                raise AssertionError(f"the process ended before a matching line; read {self.lines}")
            self._partial_line += data

    def all_lines(self) -> list[str]:
        """Return all lines of a process that has ended."""
        self.lines += (self._partial_line + self._output.read()).decode().splitlines()
        self._partial_line = b""
        return self.lines

    def end(self, signal_number: int, deadline_s: float = DEADLINE_S) -> int:
        """Send a signal and return the exit status."""
        self.process.send_signal(signal_number)
        return self.process.wait(deadline_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self._output.close()
