"""Classify lines without a stamp.

They are second halves of the previous line, messages, stacks, tables, or unknown text.
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from ...parser import Input
from .line import UNFINISHED, LineKind, Lines

EXPECTED: Final = 'a line such as 4711 12:00:00.123456 read(3</tmp/x>, "", 4096) = 0 <0.000012> (strace -f -tt -T -y)'

_NOT_CALLS: Final = (
    (b"+++ ", "exited"),
    (b"--- ", "signal"),
    (b"strace: ", "message"),
    (b"[ Process ", "message"),
    (b" > ", "stack"),  # -k
    (b"% time ", "summary"),  # -c, -C
    (b"------ ", "summary"),
)
_SUMMARY_ROW: Final = re.compile(rb"\d+\.\d{6} +\d+ +\d+ (?: *\d+ )? *[\w?]+")
"""A row of the table of calls that -c and -C write, after the share of the time."""
_SECOND_HALF: Final = re.compile(rb"\) += (?:0x[0-9a-f]|-?\d|\?)")


class SecondHalfFinder:
    """Finds second halves of calls without their usual beginning. strace omits it with ``-z`` and similar options.

    Such a line becomes a RESUMED line of the process in the previous line, with an empty name. Other lines are counted.
    """

    def __init__(self, about: Input) -> None:
        self._about = about
        self._before: int | None = None
        """Pid of the last line, if that is the first half of a call."""

    def find(self, data: bytes, first_line: int, lines: Lines) -> None:
        """Examine the lines without a stamp in a piece. It changes those that are second halves.

        Args:
            data: data to which the extents in ``lines`` refer.
            first_line: 1-based number of the first line, for messages.
            lines: all lines of the piece.
        """
        if not len(lines):
            return
        unstamped = np.flatnonzero(lines["what"] == LineKind.UNSTAMPED)
        halves = [self._before if at < 0 else _pid_of_half(lines[at]) for at in (unstamped - 1).tolist()]
        self._before = _pid_of_half(lines[-1])
        for at, half in zip(unstamped.tolist(), halves, strict=True):
            begin, end = lines[at]["text"].tolist()
            text = data[begin:end]
            if half is not None and _SECOND_HALF.search(text) and not text.endswith(UNFINISHED):
                lines[at]["what"], lines[at]["pid"], lines[at]["arguments"] = LineKind.RESUMED, half, (begin, end)
            elif not text.strip():
                self._about.counters["lines_ignored:blank"] += 1
            elif reason := reason_to_ignore(text):
                self._about.counters[f"lines_ignored:{reason}"] += 1
            else:
                self._about.malformed(first_line + at, "the line has no time stamp", EXPECTED)


def _pid_of_half(line: Any) -> int | None:
    return int(line["pid"]) if line["what"] == LineKind.UNFINISHED else None


def reason_to_ignore(text: bytes) -> str:
    """Return why a line that is not a call is ignored. It is "" if there is no reason."""
    for begin, reason in _NOT_CALLS:
        if text.startswith(begin):
            return reason
    if is_summary(text):
        return "summary"
    return "detached" if text.endswith(b"<detached ...>") else ""


def is_summary(text: bytes) -> bool:
    """Return whether a line's rest is a row of the table of calls. Its share of time looks like a stamp."""
    return _SUMMARY_ROW.fullmatch(text) is not None
