"""Split strace's lines into parts, and convert their time stamps to Unix time.

The compiled helper splits all lines at once; regular expressions are the fallback.
"""

from __future__ import annotations

import ctypes
import re
import time
from enum import Enum, IntEnum
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from .native_library import native

_NS = 10**9
_DAY = 86_400 * _NS
_EARLIEST_EPOCH_S = 10**8  # a relative stamp of three years is a stamp since 1970
_LATEST_NS = 4_600_000_000 * _NS
_SLACK = 60 * _NS

Times = npt.NDArray[np.int64]
Extent: TypeAlias = tuple[int, int]
"""Begin and end in the data; (0, 0) for a missing part."""

LINE: Final = np.dtype(
    [
        ("stamp", np.int64),
        ("result", np.int64),
        ("duration", np.int64),
        ("text", np.uint32, 2),
        ("stamp_text", np.uint32, 2),
        ("call", np.uint32, 2),
        ("annotation", np.uint32, 2),
        ("arguments", np.uint32, 2),
        ("returned", np.uint32, 2),
        ("error", np.uint32, 2),
        ("pid", np.uint32),
        ("what", np.uint32),
    ]
)
"""The parts of a line; native/strace.h has the same layout.

``stamp`` and ``duration`` are in ns (-1 if a call's duration is missing). ``result`` is the return value (0 for
addresses and for more than 18 characters). ``what`` is a ``LineKind``. The others are extents in the data:

text: the line after its stamp; all of it if there is none.
stamp_text: the stamp.
call: name of the call. This and the following only if ``what`` is CALL; for RESUMED the name, and the second half's
text as ``arguments``.
annotation: path of the descriptor that is the first argument, if it is a plain one.
arguments: those after the annotation, or all of them.
returned: path of the returned descriptor.
error: name of the error."""

Lines: TypeAlias = npt.NDArray[Any]
"""One ``LINE`` per line."""
_NOTHING: Final = {name: np.zeros(1, LINE)[name][0].tolist() for name in LINE.names or ()}


class StampKind(Enum):
    """Stamp format of a file."""

    UNIX = "unix"
    """``-ttt``: seconds since 1970."""
    CLOCK = "clock"
    """``-t``, ``-tt``: local time of day without a date."""
    RELATIVE = "relative"
    """``-r``: seconds since the previous line."""


class StampReader:
    """Converts the stamps of successive lines to ns since the Unix epoch. RELATIVE stamps are since the first line.

    A time of day gets the latest date on which the first stamp is not after the file's last change, and the next date
    each time the clock jumps back by more than half a day. The machine's time zone is assumed to be the tracer's.

    Args:
        first: the file's first stamp, which determines the kind of all.
        modified_ns: time of the file's last change when it was opened, or None: then day 0 is used.
    """

    def __init__(self, first: bytes, modified_ns: int | None) -> None:
        self.kind = _kind_of(first)
        self.clock_offset_ns: int | None = {StampKind.UNIX: 0, StampKind.RELATIVE: None}.get(self.kind)
        self.resolution_ns = _NS if self.kind is StampKind.CLOCK and b"." not in first else 0
        """Of ``-t``, whose stamps are whole seconds. 0 of the others, which are fine enough for any period."""
        self._last = 0
        self._day = 0
        if self.kind is StampKind.CLOCK:
            self._last = stamp_ns(first)
            if modified_ns is not None:
                self._day = self.clock_offset_ns = _midnight_before(self._last, modified_ns)

    def read(self, times: Times) -> Times:
        """Return the time of each stamp, given in ns. Returns -1 for a stamp of another kind or out of range."""
        if self.kind is StampKind.RELATIVE:
            times = np.cumsum(np.maximum(times, 0)) + self._last
            self._last = int(times[-1]) if len(times) else self._last
            return np.where(times > _LATEST_NS, -1, times)
        wrong = (times < 0) | (times > _LATEST_NS)
        if self.kind is StampKind.UNIX:
            wrong |= times < _EARLIEST_EPOCH_S * _NS
            return np.where(wrong, -1, times)
        wrong |= times >= _DAY
        times = np.where(wrong, self._last, times)
        steps = np.diff(times, prepend=self._last)
        days = self._day + _DAY * np.cumsum((steps < -_DAY // 2).astype(np.int64) - (steps > _DAY // 2))
        if len(times):
            self._last, self._day = int(times[-1]), int(days[-1])
        return np.where(wrong, -1, times + days)


def _kind_of(stamp: bytes) -> StampKind:
    if b":" in stamp:
        return StampKind.CLOCK
    return StampKind.UNIX if int(stamp.partition(b".")[0]) >= _EARLIEST_EPOCH_S else StampKind.RELATIVE


def _midnight_before(clock: int, modified_ns: int) -> int:
    """Return the local midnight before the first stamp, ns since 1970."""
    local = time.localtime(modified_ns // _NS)
    midnight = round(time.mktime((local.tm_year, local.tm_mon, local.tm_mday, 0, 0, 0, 0, 0, -1))) * _NS
    return midnight if midnight + clock <= modified_ns + _SLACK else midnight - _DAY


def stamp_ns(text: bytes) -> int:
    """Convert ``HH:MM:SS[.fraction]`` or ``seconds[.fraction]``, with up to 9 digits of fraction, exactly to ns.

    Seconds beyond the year 2262 wrap around, as in int64.
    """
    whole, _, fraction = text.partition(b".")
    seconds = 0
    for part in whole.split(b":"):
        seconds = 60 * seconds + int(part)
    ns = seconds * _NS + int(fraction.ljust(9, b"0"))
    return (ns + 2**63) % 2**64 - 2**63


class LineKind(IntEnum):
    """Classification of a line."""

    UNSTAMPED = 0
    EVENT = 1
    """Stamped, but not a call: an exit, a signal, or unknown text."""
    CALL = 2
    NO_RESULT = 3
    """A call that never returned."""
    INTERRUPTED = 4
    """A call that will be restarted."""
    UNFINISHED = 5
    """The first half of a call that strace interrupted to write another process's line."""
    RESUMED = 6
    """The second half of such a call."""
    UNSURE = 7
    """Returned by the helper only: ``parse_call`` must decide."""


UNFINISHED: Final = b" <unfinished ...>"

ANNOTATION: Final = rb"([^<>\n]*(?:(?:->|<[^<>\n]*>)[^<>\n]*)*)"
ANNOTATION_END: Final = rb">(?=[,)( \n]|$)(?:\(deleted\))?"

_LEADER: Final = re.compile(
    rb"(?:\[pid +(?! ))?(?:(\d{1,7})(?:<[^>\n]*>)?\]? +(?! ))? *"
    rb"(\d\d:\d\d:\d\d(?:\.\d{1,9})?|\d{1,10}\.\d{1,9})(?: \(\+ +[\d.]+\)|(?! \(\+ +[\d.]+\))) +"
    rb"(?:\[ *[\da-f?]{1,16}\] +)*"  # number of the call (-n), instruction pointer (-i)
)
_CALL: Final = re.compile(
    rb"([\w?]{1,64})\((?:\d+<([^<>\n]*)>(?=[,)(])(?:\(deleted\)|(?!\(deleted\)))|(?!\d+<[^<>\n]*>[,)(]))"
    rb"([^\n]*)\) += (0x[0-9a-f]{1,16}|-?\d{1,20}|\?)(?:<([^<>\n]*)>(?= |\Z))?"
    rb"(?: (E(?!RESTART)[A-Z0-9_]+) \([^()\n]*\))?(?: <(\d{1,9}\.\d{1,9})>\Z)?([^\n]*)"
)
"""Linear in the length of a line. Optional parts precede the arguments, and the result is the first ``) = value``
from the right."""
_TAIL: Final = re.compile(
    rb"(?:<" + ANNOTATION + ANNOTATION_END + rb")? *(E[A-Z0-9_]+)?(?: ?\([^\n]*\))?"
    rb"(?: <(unavailable|\d{1,9}\.\d{1,9})>)?"
)
"""Text after a result: path of the new descriptor, name of the error, remarks, duration."""
_INTERRUPTED: Final = re.compile(rb"(?:<[^\n]*>)? *ERESTART[A-Z_]*")
_RESUMED: Final = re.compile(rb"<\.\.\. ([^\n]+?) resumed>([^\n]*)")
_BEGINNING: Final = re.compile(rb"(?:[\w?]{1,64}\(|<\.\.\. |\+\+\+ |--- )")


def looks_like_strace(head: bytes) -> bool:
    """Return whether one of the first lines is of strace. It is a stamped call, half a call, signal or exit."""
    leaders = ((_LEADER.match(line), line) for line in head.split(b"\n", 50)[:50])
    return any(leader and _BEGINNING.match(line, leader.end()) for leader, line in leaders)


def parse_line(line: bytes, at: int = 0) -> dict[str, Any]:
    """Parse a line.

    Args:
        line: the line without its end.
        at: offset of the line in the data.

    Returns:
        The fields of LINE that are not 0.
    """
    leader = _LEADER.match(line)
    if leader is None:
        return {"text": (at, at + len(line)), "what": LineKind.UNSTAMPED}
    return {
        "pid": int(leader[1] or b"0"),
        "stamp": stamp_ns(leader[2]),
        "stamp_text": _extent(leader, 2, at),
        "text": (at + leader.end(), at + len(line)),
        **parse_call(line[leader.end() :], at + leader.end()),
    }


def parse_call(text: bytes, at: int = 0) -> dict[str, Any]:
    """Parse the text after a stamp, which begins at ``at``. Returns the fields of LINE from ``call`` on."""
    if text.endswith(UNFINISHED):
        return {"what": LineKind.UNFINISHED}
    if half := _RESUMED.fullmatch(text):
        return {"call": _extent(half, 1, at), "arguments": _extent(half, 2, at), "what": LineKind.RESUMED}
    call = _CALL.fullmatch(text)
    if call is None:
        return {"what": LineKind.EVENT}
    tail = call[8]
    found = None
    if tail:
        if _INTERRUPTED.match(tail):
            return {"what": LineKind.INTERRUPTED}
        found = _TAIL.fullmatch(tail)
        if found is None:
            return {"what": LineKind.EVENT}
    if call[4] == b"?":
        return {"what": LineKind.NO_RESULT}
    returned, error = _extent(call, 5, at), _extent(call, 6, at)
    duration = call[7]
    if found is not None:
        begin = at + call.start(8)
        returned = returned if call[5] else _extent(found, 1, begin) if found[1] is not None else returned
        error = error if call[6] else _extent(found, 2, begin)
        duration = found[3]
    counts = len(call[4]) <= 18 and not call[4].startswith(b"0x")  # addresses and registers are not counts
    return {
        "call": _extent(call, 1, at),
        "annotation": _extent(call, 2, at),
        "arguments": _extent(call, 3, at),
        "result": int(call[4]) if counts else 0,
        "returned": returned,
        "error": error,
        "duration": -1 if duration is None else 0 if duration == b"unavailable" else stamp_ns(duration),
        "what": LineKind.CALL,
    }


def _extent(match: re.Match[bytes], group: int, at: int) -> Extent:
    begin, end = match.span(group)
    return (at + begin, at + end) if begin >= 0 else (0, 0)


def scan(data: bytes) -> Lines:
    """Parse whole, terminated lines."""
    library = native()
    return scan_fallback(data) if library is None else _scan(library, data)


def scan_fallback(data: bytes) -> Lines:
    """Do the same with regular expressions, which are the helper's specification."""
    rows, at = [], 0
    for text in data.split(b"\n")[:-1]:
        fields = parse_line(text, at)
        rows.append(tuple(fields.get(name, nothing) for name, nothing in _NOTHING.items()))
        at += len(text) + 1
    return np.array(rows, LINE)


def _scan(library: ctypes.CDLL, data: bytes) -> Lines:
    lines = np.empty(int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n"))), LINE)
    library.strace_lines(data, len(data), lines.ctypes.data, len(lines))
    for at in np.flatnonzero(lines["what"] == LineKind.UNSURE).tolist():
        begin, end = lines[at]["text"].tolist()
        for name, value in parse_call(data[begin:end], begin).items():
            lines[name][at] = value
    return lines
