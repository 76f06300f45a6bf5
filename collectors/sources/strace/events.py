"""Lines that are no calls, and why they may be left out."""

from __future__ import annotations

import re
from typing import Final

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
"""A line of the table of calls that -c and -C write, after the share of the time."""


def reason_to_ignore(text: bytes) -> str:
    """Returns why a line that is no call may be left out, "" where there is no reason."""
    for begin, reason in _NOT_CALLS:
        if text.startswith(begin):
            return reason
    if is_summary(text):
        return "summary"
    return "detached" if text.endswith(b"<detached ...>") else ""


def is_summary(text: bytes) -> bool:
    """Tells whether a line's rest is one of the table of calls; the share of time before it looks like a stamp."""
    return _SUMMARY_ROW.fullmatch(text) is not None
