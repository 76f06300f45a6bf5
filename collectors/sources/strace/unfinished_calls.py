"""Assemble whole calls from strace's lines: halves are joined by pid, and lines without a stamp are classified."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ...call_classes import CALLS
from ...source import Input
from .line import LINE, UNFINISHED, LineKind, Lines, Times, scan
from .native_library import native

EXPECTED: Final = 'a line such as 4711 12:00:00.123456 read(3</tmp/x>, "", 4096) = 0 <0.000012> (strace -f -tt -T -y)'

_UNRETURNED: Final = "I/O calls whose end is not in the log: their process was killed, or the log ends before"
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


Places: TypeAlias = npt.NDArray[np.int64]

STAMP: Final = b"0.0 "
"""Prefix of joined text, so that it can be parsed as a line."""
MAX_HALVES: Final = 65_536
MAX_HALVES_BYTES: Final = 64 << 20

_EXTENTS: Final = [name for name in LINE.names or () if LINE[name].shape == (2,)]
_EVENTS: Final = (LineKind.EVENT, LineKind.UNFINISHED, LineKind.RESUMED)
_WHOLE: Final = (LineKind.CALL, LineKind.NO_RESULT, LineKind.INTERRUPTED)
_NO_PID: Final = 0xFFFFFFFF


class Half(NamedTuple):
    """A call that strace interrupted to write another process's line."""

    start_ns: int
    text: bytes


class Joined(NamedTuple):
    """A call whose halves were joined, at the position of its second half."""

    place: int
    start_ns: int
    line: bytes


class CallAssembler:
    """Processes the lines that are not a plain completed call. Counts those that it leaves out."""

    def __init__(self, about: Input) -> None:
        self._about = about
        self._halves: dict[int, Half] = {}
        """Halves by pid; halves joined within one piece of trace are never stored here."""
        self._stored_bytes = 0
        """Total size of their texts, bytes."""

    def completed(self, data: bytes, first_line: int, lines: Lines, starts: Times) -> tuple[bytes, Lines, Times]:
        """Return the completed calls, with joined halves, and their start times.

        Args:
            data: data to which the extents in ``lines`` refer.
            first_line: 1-based number of the first line, for messages.
            lines: all lines of a piece; joined calls are written into them.
            starts: times of their stamps, ns; -1 for an unreadable stamp. Updated for joined calls, which begin
                earlier.

        Returns:
            The data to which the calls' extents refer, the calls and their times.
        """
        what = lines["what"].copy()
        if starts.min(initial=0) < 0:
            self._leave_out(data, first_line, lines, np.flatnonzero((starts < 0) & (what != LineKind.UNSTAMPED)))
            what[starts < 0] = LineKind.UNSTAMPED
        self._count(what)
        if len(events := np.flatnonzero(np.isin(what, _EVENTS))):
            data = self._events(data, first_line, lines, starts, what, events)
        calls = what == LineKind.CALL
        return (data, lines, starts) if calls.all() else (data, lines[calls], starts[calls])

    def finish(self) -> None:
        """Count the halves without a second half."""
        for half in self._halves.values():
            self._count_unreturned(half)
        self._halves.clear()
        self._stored_bytes = 0

    def _leave_out(self, data: bytes, first_line: int, lines: Lines, places: Places) -> None:
        for at in places.tolist():
            begin, end = lines[at]["text"].tolist()
            if is_summary(data[begin:end]):
                self._about.counters["lines_ignored:summary"] += 1
                continue
            problem = "the stamp is not of the first one's kind, or out of range"
            self._about.malformed(first_line + at, problem, EXPECTED)

    def _count(self, what: npt.NDArray[np.uint32]) -> None:
        for kind, reason in ((LineKind.NO_RESULT, "no_result"), (LineKind.INTERRUPTED, "interrupted")):
            if count := int(np.count_nonzero(what == kind)):
                self._about.counters[f"lines_ignored:{reason}"] += count

    def _events(
        self,
        data: bytes,
        first_line: int,
        lines: Lines,
        starts: Times,
        what: npt.NDArray[np.uint32],
        events: Places,
    ) -> bytes:
        """Join halves and store the calls in the lines of second halves.

        Returns the data with the joined text appended.
        """
        first, second = (events[places] for places in self._pairs(what[events], lines["pid"][events]))
        text, made = join_halves(data, lines, first, second)
        first, second = first[made], second[made]
        if len(first):
            self._about.counters["lines_ignored:unfinished"] += len(first)
        singly = np.setdiff1d(events, np.append(first, second), assume_unique=True)
        joined = [
            whole for at in singly.tolist() if (whole := self._resume(data, first_line, lines[at], at, int(starts[at])))
        ]
        places = np.append(second, np.array([each.place for each in joined], np.int64))
        begun = np.append(starts[first], np.array([each.start_ns for each in joined], np.int64))
        text += b"".join([each.line for each in joined])
        calls = scan(text)
        self._count(calls["what"])
        for at in np.sort(places[~np.isin(calls["what"], _WHOLE)]).tolist():
            self._about.malformed(first_line + at, "the two halves of the call do not make a whole one", EXPECTED)
        for name in _EXTENTS:
            calls[name] += np.uint32(len(data))
        calls["pid"] = lines["pid"][places]
        took = np.maximum(starts[places] - begun, 0)
        calls["duration"] = np.where(calls["duration"] < 0, took, calls["duration"])
        what[places], lines[places], starts[places] = calls["what"], calls, begun
        return data + text

    def _pairs(self, what: npt.NDArray[np.uint32], pids: npt.NDArray[np.uint32]) -> tuple[Places, Places]:
        """Return the indices of consecutive halves, for processes without irregular halves.

        A first half is irregular if anything but its second half follows, also if it was stored from an earlier piece.
        """
        order = np.argsort(pids, kind="stable")
        pid, kind = np.append(pids[order], _NO_PID), np.append(what[order], LineKind.EVENT)
        is_first = kind[:-1] == LineKind.UNFINISHED
        follows = pid[1:] == pid[:-1]
        paired = is_first & follows & (kind[1:] == LineKind.RESUMED)
        odd = np.unique(pid[:-1][is_first & follows & ~paired])
        if self._halves:
            begins = np.append(True, ~follows[:-1]) & (kind[:-1] != LineKind.RESUMED)
            odd = np.append(odd, [one for one in pid[:-1][begins].tolist() if one in self._halves])
        at = np.flatnonzero(paired & ~np.isin(pid[:-1], odd) if len(odd) else paired)
        return order[at], order[at + 1]

    def _resume(self, data: bytes, first_line: int, line: Any, at: int, now_ns: int) -> Joined | None:
        """Return the call that a line ends; store or count a line that ends none."""
        begin, end = line["text"].tolist()
        text, pid = data[begin:end], int(line["pid"])
        if line["what"] == LineKind.UNFINISHED:
            self._store_half(pid, Half(now_ns, text[: -len(UNFINISHED)]))
        elif line["what"] == LineKind.RESUMED:
            (name, name_end), (rest, rest_end) = line["call"].tolist(), line["arguments"].tolist()
            half = self._pop_half(pid)
            if half and (name == name_end or half.text.startswith(data[name:name_end] + b"(")):
                return Joined(at, half.start_ns, STAMP + half.text + data[rest:rest_end] + b"\n")
            problem = "the beginning of the resumed call is missing"
            self._about.malformed(first_line + at, problem, "its <unfinished ...> half")
        elif reason := reason_to_ignore(text):
            if reason == "exited" and (half := self._pop_half(pid)):
                self._count_unreturned(half)
            self._about.counters[f"lines_ignored:{reason}"] += 1
        else:
            problem = "the line is no completed call, half of one, signal or exit"
            self._about.malformed(first_line + at, problem, EXPECTED)
        return None

    def _store_half(self, pid: int, half: Half) -> None:
        self._about.counters["lines_ignored:unfinished"] += 1
        if earlier := self._pop_half(pid):
            self._count_unreturned(earlier)
        self._halves[pid] = half
        self._stored_bytes += len(half.text)
        while len(self._halves) > MAX_HALVES or self._stored_bytes > MAX_HALVES_BYTES:
            if oldest := self._pop_half(next(iter(self._halves))):
                self._count_unreturned(oldest)

    def _count_unreturned(self, half: Half) -> None:
        """Count a call without its second half. I/O calls are reported: their bytes are not known."""
        self._about.counters["calls_never_resumed"] += 1
        if half.text.partition(b"(")[0].decode(errors="replace") in CALLS:
            self._about.unsupported.add(_UNRETURNED)

    def _pop_half(self, pid: int) -> Half | None:
        half = self._halves.pop(pid, None)
        self._stored_bytes -= len(half.text) if half else 0
        return half


def join_halves(data: bytes, lines: Lines, first: Places, second: Places) -> tuple[bytes, npt.NDArray[np.bool_]]:
    """Join halves of calls.

    Args:
        data: data to which the extents in ``lines`` refer.
        lines: lines that contain the halves.
        first: indices of first halves.
        second: index of the second half of each. One without a name matches any first half.

    Returns:
        A line for each matching pair, and the mask of matching pairs.
    """
    library = native()
    if library is None:
        return join_halves_fallback(data, lines, first, second)
    texts, rests = lines["text"][first].astype(np.int64), lines["arguments"][second].astype(np.int64)
    room = int((texts[:, 1] - texts[:, 0] + rests[:, 1] - rests[:, 0]).sum()) + (len(STAMP) + 1) * len(first)
    text, made = np.empty(room, np.uint8), np.empty(len(first), np.bool_)
    size = library.strace_join(
        data, lines.ctypes.data, first.ctypes.data, second.ctypes.data, len(first), text.ctypes.data, made.ctypes.data
    )
    return text[:size].tobytes(), made


def join_halves_fallback(
    data: bytes, lines: Lines, first: Places, second: Places
) -> tuple[bytes, npt.NDArray[np.bool_]]:
    """Do the same; this is the helper's specification."""
    joined: list[bytes] = []
    made = np.zeros(len(first), np.bool_)
    for pair, (before, after) in enumerate(zip(lines[first], lines[second], strict=True)):
        (begin, end), (name, name_end) = before["text"].tolist(), after["call"].tolist()
        if name == name_end or data.startswith(data[name:name_end] + b"(", begin, end):
            joined += STAMP, data[begin : end - len(UNFINISHED)], data[slice(*after["arguments"].tolist())], b"\n"
            made[pair] = True
    return b"".join(joined), made
