"""Makes whole calls of strace's lines: joins halves by pid, and leaves out what is no completed call."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ..parser import Input
from ._strace_line import LINES, RESUMED, TAIL, UNFINISHED, Line

EXPECTED: Final = 'a line such as 4711 12:00:00.123456 read(3</tmp/x>, "", 4096) = 0 <0.000012> (strace -f -tt -T -y)'
MAX_HALVES: Final = 65_536

_INTERRUPTED: Final = re.compile(rb"(?:<[^\n]*>)? *ERESTART[A-Z_]*")
_NOT_CALLS: Final = ((b"+++ ", "exited"), (b"--- ", "signal"), (b"strace: ", "message"), (b"[ Process ", "message"))


class _Half(NamedTuple):
    start_ns: int
    text: bytes


class CallAssembler:
    """Looks at the lines that are not plainly a completed call; counts those that it leaves out."""

    def __init__(self, about: Input) -> None:
        self._about = about
        self._halves: dict[bytes, _Half] = {}

    def whole(self, line: Line, number: int, start_ns: int) -> tuple[Line, int] | None:
        """Returns the completed call that a line ends, with its start; None when there is none.

        Args:
            line: its parts.
            number: its 1-based number, for messages.
            start_ns: the time in its stamp.
        """
        if line.call and (TAIL.fullmatch(line.tail) or _INTERRUPTED.match(line.tail)):
            return None if self._lacks_result(line) else (line, start_ns)
        event = line.event or line.whole_event()
        if reason := reason_to_ignore(event):
            if reason == "exited" and self._halves.pop(line.pid, None) is not None:
                self._about.counters["calls_never_resumed"] += 1
            self._ignore(reason)
        elif event.endswith(UNFINISHED):
            self._hold(line.pid, _Half(start_ns, event.removesuffix(UNFINISHED)))
            self._ignore("unfinished")
        elif event.endswith(b"<detached ...>"):
            self._ignore("detached")
        elif resumed := RESUMED.fullmatch(event):
            return self._join(line, resumed, number, start_ns)
        else:
            self._about.malformed(number, "the line is no completed call, half of one, signal or exit", EXPECTED)
        return None

    def finish(self) -> None:
        """Counts the halves whose other half never came."""
        self._about.counters["calls_never_resumed"] += len(self._halves)
        self._halves.clear()

    def _lacks_result(self, line: Line) -> bool:
        if _INTERRUPTED.match(line.tail):
            self._ignore("interrupted")
            return True
        if line.result == b"?":
            self._ignore("no_result")
            return True
        return False

    def _hold(self, pid: bytes, half: _Half) -> None:
        if pid in self._halves or len(self._halves) >= MAX_HALVES:
            del self._halves[pid if pid in self._halves else next(iter(self._halves))]
            self._about.counters["calls_never_resumed"] += 1
        self._halves[pid] = half

    def _join(self, line: Line, resumed: re.Match[bytes], number: int, now_ns: int) -> tuple[Line, int] | None:
        half = self._halves.pop(line.pid, None)
        if half is None or not half.text.startswith(resumed[1] + b"("):
            self._about.malformed(number, "the beginning of the resumed call is missing", "its <unfinished ...> half")
            return None
        joined = LINES.fullmatch(b"0.0 " + half.text + resumed[2] + b"\n")
        call = Line(*[part or b"" for part in joined.groups()]) if joined else None
        if call is None or not call.call or not TAIL.fullmatch(call.tail):
            self._about.malformed(number, "the two halves of the call do not make a whole one", EXPECTED)
            return None
        if self._lacks_result(call):
            return None
        took = max(now_ns - half.start_ns, 0)
        duration = call.duration or b"%d.%09d" % divmod(took, 10**9)
        return call._replace(pid=line.pid, stamp=line.stamp, duration=duration), half.start_ns

    def _ignore(self, reason: str) -> None:
        self._about.counters[f"lines_ignored:{reason}"] += 1


def reason_to_ignore(text: bytes) -> str:
    """Returns why a line that is no call may be left out, "" where there is no reason."""
    return next((reason for begin, reason in _NOT_CALLS if text.startswith(begin)), "")
