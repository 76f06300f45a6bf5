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


class Talking:
    """Run a command and read one of its output streams by lines. A context manager that ends the process."""

    def __init__(self, command: Sequence[str | Path], *, listen_to: str = "stdout") -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            **{listen_to: subprocess.PIPE},  # type: ignore[call-overload]
        )
        self.heard: list[str] = []
        self._output = self.process.stdout or self.process.stderr
        self._rest = b""
        self._news = select.poll()
        self._news.register(self._output, select.POLLIN)

    def say(self, line: str) -> None:
        """Write a line to its standard input."""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def heard_now(self, wanted: Callable[[str], bool]) -> str | None:
        """Return the next matching line of those written so far, or None."""
        while self._news.poll(0) and (data := os.read(self._output.fileno(), 65_536)):
            self._rest += data
        while b"\n" in self._rest:
            line, self._rest = self._rest.split(b"\n", 1)
            self.heard.append(line.decode())
            if wanted(self.heard[-1]):
                return self.heard[-1]
        return None

    def hear(self, wanted: Callable[[str], bool], deadline_s: float = DEADLINE_S) -> str:
        """Read lines until one matches, and return it."""
        limit = time.monotonic() + deadline_s
        while True:
            while b"\n" in self._rest:
                line, self._rest = self._rest.split(b"\n", 1)
                self.heard.append(line.decode())
                if wanted(self.heard[-1]):
                    return self.heard[-1]
            left = limit - time.monotonic()
            if left <= 0 or not self._news.poll(left * 1000):
                raise AssertionError(f"no matching line within {deadline_s} s; read {self.heard}")
            data = os.read(self._output.fileno(), 65_536)
            if not data:
                raise AssertionError(f"the process ended before a matching line; read {self.heard}")
            self._rest += data

    def hear_all(self) -> list[str]:
        """Return all lines of a process that has ended."""
        self.heard += (self._rest + self._output.read()).decode().splitlines()
        self._rest = b""
        return self.heard

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
