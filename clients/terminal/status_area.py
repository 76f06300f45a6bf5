"""Fixed lines at the bottom of a terminal while another program prints above them.

The terminal's scroll region (DECSTBM) is set to all rows except the last ones. The other program needs no pseudo
terminal, so its input and output are unchanged.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from typing import Final, TextIO

_SAVE, _RESTORE = "\x1b7", "\x1b8"
_CLEAR_LINE = "\x1b[2K"
HEIGHT: Final = 3
"""Rows of a run's status area."""


class StatusArea:
    """Owns the last ``height`` rows of a terminal between ``open`` and ``close``. Every write is one syscall."""

    def __init__(self, terminal: TextIO, height: int) -> None:
        self._terminal = terminal
        self._height = height
        self._rows = 0
        self._lines: tuple[str, ...] = ()

    @staticmethod
    def fits(terminal: TextIO, height: int) -> bool:
        """Return whether the stream is a terminal with cursor control and enough rows."""
        return (
            terminal.isatty()
            and os.environ.get("TERM", "dumb") != "dumb"
            and os.get_terminal_size(terminal.fileno()).lines >= height + 4
        )

    def open(self) -> None:
        """Reserve the rows at the bottom and keep the cursor above them."""
        self._write("\n" * self._height + f"\x1b[{self._height}A")
        self._reserve()

    def show(self, lines: Sequence[str]) -> None:
        """Draw the lines (styled, no longer than the terminal is wide)."""
        self._lines = tuple(lines[: self._height])
        if self._size()[1] != self._rows:
            self._reserve()
        self._draw()

    def close(self) -> None:
        """Clear and release the rows."""
        if not self._rows:
            return
        first = self._rows - self._height + 1
        wipe = "".join(f"\x1b[{first + at};1H{_CLEAR_LINE}" for at in range(self._height))
        self._write(f"{_SAVE}\x1b[r{wipe}{_RESTORE}")
        self._rows = 0

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return self._size()[0]

    def _size(self) -> tuple[int, int]:
        with contextlib.suppress(OSError):
            size = os.get_terminal_size(self._terminal.fileno())
            return size.columns, size.lines
        size = shutil.get_terminal_size()
        return size.columns, size.lines

    def _reserve(self) -> None:
        self._rows = self._size()[1]
        self._write(f"{_SAVE}\x1b[1;{self._rows - self._height}r{_RESTORE}")

    def _draw(self) -> None:
        first = self._rows - self._height + 1
        drawn = "".join(f"\x1b[{first + at};1H{_CLEAR_LINE}{line}" for at, line in enumerate(self._lines))
        self._write(f"{_SAVE}{drawn}{_RESTORE}")

    def _write(self, text: str) -> None:
        # Unbuffered and in one piece, so that it cannot interleave with output of the traced program.
        self._terminal.flush()
        with contextlib.suppress(OSError):
            os.write(self._terminal.fileno(), text.encode())
