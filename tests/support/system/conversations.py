"""A process that is talked to line by line, with a deadline for each answer."""

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
    """Runs a command; reads one of its output streams by lines. A context manager, at whose end it is gone."""

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
        """Writes a line to its standard input."""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def heard_now(self, wanted: Callable[[str], bool]) -> str | None:
        """Returns the next line that is wanted, of those that it has written by now; None where there is none."""
        while self._news.poll(0) and (data := os.read(self._output.fileno(), 65_536)):
            self._rest += data
        while b"\n" in self._rest:
            line, self._rest = self._rest.split(b"\n", 1)
            self.heard.append(line.decode())
            if wanted(self.heard[-1]):
                return self.heard[-1]
        return None

    def hear(self, wanted: Callable[[str], bool], deadline_s: float = DEADLINE_S) -> str:
        """Reads lines until one is wanted, and returns that."""
        limit = time.monotonic() + deadline_s
        while True:
            while b"\n" in self._rest:
                line, self._rest = self._rest.split(b"\n", 1)
                self.heard.append(line.decode())
                if wanted(self.heard[-1]):
                    return self.heard[-1]
            left = limit - time.monotonic()
            if left <= 0 or not self._news.poll(left * 1000):
                raise AssertionError(f"not heard within {deadline_s} s; heard {self.heard}")
            data = os.read(self._output.fileno(), 65_536)
            if not data:
                raise AssertionError(f"ended before it was heard; heard {self.heard}")
            self._rest += data

    def hear_all(self) -> list[str]:
        """Returns all lines of a process that has ended."""
        self.heard += (self._rest + self._output.read()).decode().splitlines()
        self._rest = b""
        return self.heard

    def end(self, signal_number: int, deadline_s: float = DEADLINE_S) -> int:
        """Sends a signal and returns the exit status."""
        self.process.send_signal(signal_number)
        return self.process.wait(deadline_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self._output.close()
