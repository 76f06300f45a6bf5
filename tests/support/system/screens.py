"""A program on a pseudo terminal, and the resulting screen."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyte
from support.system.commands import plain_environment
from support.system.waiting import DEADLINE_S, wait_for


class OnScreen:
    """A program on a pseudo terminal, with its output drawn by an emulator."""

    def __init__(self, command: Sequence[str], folder: Path, lines: int, columns: int, term: str = "xterm") -> None:
        self._control, terminal = pty.openpty()
        self._size(terminal, lines, columns)
        os.set_blocking(self._control, False)
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        # As after GNU readline has started in a parent: the size of the window counts, not these.
        environment = plain_environment(TERM=term, LINES=str(lines), COLUMNS=str(columns))
        self.process = subprocess.Popen(
            command, stdin=terminal, stdout=terminal, cwd=folder, env=environment, start_new_session=True
        )
        os.close(terminal)

    def press(self, keys: bytes) -> None:
        """Type keys."""
        os.write(self._control, keys)

    def resize(self, lines: int, columns: int) -> None:
        """Change the size of the terminal, and clear its content."""
        self._size(self._control, lines, columns)
        self._draw()
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        os.kill(self.process.pid, signal.SIGWINCH)

    def lines(self) -> list[str]:
        """Return the lines of the screen, without trailing blanks."""
        self._draw()
        return [line.rstrip() for line in self.screen.display]

    def wait_for(self, seen: Callable[[list[str]], Any], what: str) -> list[str]:
        """Wait until the lines of the screen match, and return them."""
        return wait_for(lambda: lines if seen(lines := self.lines()) else None, what=what)

    @staticmethod
    def _size(descriptor: int, lines: int, columns: int) -> None:
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def _draw(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):  # nothing new, or the program has ended
            while data := os.read(self._control, 65_536):
                self._stream.feed(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait(DEADLINE_S)
        os.close(self._control)
