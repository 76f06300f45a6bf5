"""Recordings of kernel tracers as they lie on the disk: what to do to get the text that is read."""

from __future__ import annotations

import re
from typing import Final

_PERF: Final = "text of it: perf script -i FILE > kernel.txt"
_NOT_READ: Final = (
    (re.compile(rb"PERFILE2|2ELIFREP"), "a recording of perf is not read as it is", _PERF),
    (
        re.compile(rb'\{\s*"linux-perf-json-version"'),
        "perf's JSON does not say which events its samples are of",
        "text of the recording: perf script -i perf.data > kernel.txt",
    ),
    (
        re.compile(rb"\x17\x08Dtracing"),
        "a recording of trace-cmd is not read as it is",
        "text of it: trace-cmd report -i FILE > kernel.txt",
    ),
    (
        re.compile(rb"\xc1\x1f\xfc\xc1|\xc1\xfc\x1f\xc1|\x75\xd1\x1d\x57|\x57\x1d\xd1\x75|/\* CTF "),
        "a file of a CTF trace is not read as it is",
        "text of its folder, if LTTng wrote it: babeltrace2 FOLDER > kernel.txt",
    ),
)


def refusal(head: bytes) -> tuple[str, str] | None:
    """Tells from a file's first bytes what is the matter with it and what to give instead; None for other files."""
    for pattern, problem, expected in _NOT_READ:
        if pattern.match(head):
            return problem, expected
    return None
