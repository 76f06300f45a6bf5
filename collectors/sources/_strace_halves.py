"""Makes whole calls of strace's lines: joins halves by pid, and leaves out what is no completed call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ..parser import Input
from ._strace_line import LINES, TAIL, UNFINISHED, Line

EXPECTED: Final = 'a line such as 4711 12:00:00.123456 read(3</tmp/x>, "", 4096) = 0 <0.000012> (strace -f -tt -T -y)'
MAX_HALVES: Final = 65_536

Rows: TypeAlias = list[tuple[bytes, ...]]
"""Lines as tuples of their parts, in the order of ``Line``; plain tuples, because most are never looked at singly."""
Times: TypeAlias = npt.NDArray[np.int64]

_RESULT, _TAIL, _EVENT = (Line._fields.index(name) for name in ("result", "tail", "event"))
_RESUMED_BEGIN: Final = b"<... "
_RESUMED_END: Final = b" resumed>"
_INTERRUPTED: Final = re.compile(rb"(?:<[^\n]*>)? *ERESTART[A-Z_]*")
_TIMED: Final = re.compile(rb" <(?:\d+\.\d+|unavailable)>$")
_REST: Final = re.compile(rb"\) ++= (?:0x[0-9a-f]|-?\d|\?)")
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
"""A line of the table of calls that -c and -C write, after the share of the time."""


class CallAssembler:
    """Looks at the lines that are not plainly a completed call; counts those that it leaves out."""

    def __init__(self, about: Input) -> None:
        self._about = about
        self._halves: dict[bytes, tuple[int, bytes]] = {}
        """Pid -> start in ns and text of a call during which strace had to write another process's line."""

    def completed(self, numbers: Sequence[int], rows: Rows, starts: Times) -> tuple[Rows, Times]:
        """Keeps the completed calls, halves joined, with the times when they began.

        Args:
            numbers: 1-based line numbers, for messages.
            rows: the lines' parts.
            starts: the times in their stamps, ns; -1 for a stamp that could not be read.
        """
        dropped = set(np.flatnonzero(starts < 0).tolist())
        for at in sorted(dropped):
            if _SUMMARY_ROW.fullmatch(rows[at][_EVENT]):
                self._about.counters["lines_ignored:summary"] += 1
                continue
            problem = "the stamp is not of the first one's kind, or out of range"
            self._about.malformed(numbers[at], problem, EXPECTED)
        unclear = [at for at, row in enumerate(rows) if row[_EVENT] or row[_TAIL] or row[_RESULT] == b"?"]
        joined: dict[int, bytes] = {}
        for at in unclear:
            if at in dropped:
                continue
            line = Line(*rows[at])
            verdict = _judge(line)
            if isinstance(verdict, Line):
                rows[at] = verdict
                continue
            half = None if verdict else self._resume(line, numbers[at], int(starts[at]))
            if verdict:
                self._about.counters[f"lines_ignored:{verdict}"] += 1
            if half is None:
                dropped.add(at)
            else:
                starts[at], joined[at] = half
        for at, row in zip(joined, LINES.findall(b"".join(joined.values())), strict=True):
            verdict = _judge(Line(*row))
            if isinstance(verdict, Line):
                rows[at] = verdict
                continue
            dropped.add(at)
            if verdict:
                self._about.counters[f"lines_ignored:{verdict}"] += 1
            else:
                self._about.malformed(numbers[at], "the two halves of the call do not make a whole one", EXPECTED)
        if not dropped:
            return rows, starts
        kept = [at for at in range(len(rows)) if at not in dropped]
        return [rows[at] for at in kept], starts[kept]

    def finish(self) -> None:
        """Counts the halves whose other half never came."""
        self._about.counters["calls_never_resumed"] += len(self._halves)
        self._halves.clear()

    def _resume(self, line: Line, number: int, now_ns: int) -> tuple[int, bytes] | None:
        """Returns the start and the text of the call that a line ends; holds or counts a line that ends none."""
        event = line.event or line.whole_event()
        if event.endswith(UNFINISHED):
            self._hold(line.pid, (now_ns, event[: -len(UNFINISHED)]))
        elif event.startswith(_RESUMED_BEGIN) and (end := event.find(_RESUMED_END)) > 0:
            half = self._halves.pop(line.pid, None)
            if half is not None and half[1].startswith(event[len(_RESUMED_BEGIN) : end] + b"("):
                text = line.pid + b" 0.0 " + half[1] + event[end + len(_RESUMED_END) :]
                took = b" <%d.%09d>" % divmod(max(now_ns - half[0], 0), 10**9)
                took = b"" if _TIMED.search(text, max(len(text) - 24, 0)) else took
                return half[0], text + took + b"\n"
            self._about.malformed(number, "the beginning of the resumed call is missing", "its <unfinished ...> half")
        elif reason := reason_to_ignore(event):
            if reason == "exited" and self._halves.pop(line.pid, None) is not None:
                self._about.counters["calls_never_resumed"] += 1
            self._about.counters[f"lines_ignored:{reason}"] += 1
        else:
            self._about.malformed(number, "the line is no completed call, half of one, signal or exit", EXPECTED)
        return None

    def _hold(self, pid: bytes, half: tuple[int, bytes]) -> None:
        self._about.counters["lines_ignored:unfinished"] += 1
        if pid in self._halves or len(self._halves) >= MAX_HALVES:
            del self._halves[pid if pid in self._halves else next(iter(self._halves))]
            self._about.counters["calls_never_resumed"] += 1
        self._halves[pid] = half


def rest_of_call(line: Line, before: Line) -> Line | None:
    """Returns a line without a stamp as the second half of the call in the line before it, None where it is none.

    With ``-z`` and the like, strace leaves out what begins a second half.
    """
    if not (before.event or before.tail).endswith(UNFINISHED) or not _REST.search(line.unstamped):
        return None
    call = before.call or before.event.partition(b"(")[0]  # it has a call where its text looks like one with a result
    event = _RESUMED_BEGIN + call + _RESUMED_END + line.unstamped
    return Line(*[b""] * len(Line._fields))._replace(pid=before.pid, stamp=before.stamp, event=event)


def reason_to_ignore(text: bytes) -> str:
    """Returns why a line that is no call may be left out, "" where there is no reason."""
    for begin, reason in _NOT_CALLS:
        if text.startswith(begin):
            return reason
    if _SUMMARY_ROW.fullmatch(text):
        return "summary"
    return "detached" if text.endswith(b"<detached ...>") else ""


def _judge(line: Line) -> Line | str:
    """Returns a completed call, or why a call does not count, or "" for a line that is no whole call."""
    if not line.call:
        return ""
    if not line.tail:
        return "no_result" if line.result == b"?" else line
    if _INTERRUPTED.match(line.tail):
        return "interrupted"
    tail = TAIL.fullmatch(line.tail)
    if tail is None:
        return ""
    if line.result == b"?":
        return "no_result"
    more = {"duration": tail[3], "error": line.error or tail[2]}
    return line._replace(**{name: text for name, text in more.items() if text})
