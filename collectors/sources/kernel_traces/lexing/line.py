"""Parse the text before event names, many lines at once. The compiled helper or its fallback does this."""

from __future__ import annotations

import ctypes
import re
from enum import IntEnum
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from .native_library import native
from .rows import UNKNOWN_TID

LINE: Final = np.dtype(
    [
        ("stamp", np.int64),
        ("text", np.uint32, 2),
        ("event", np.uint32, 2),
        ("payload", np.uint32, 2),
        ("comm", np.uint32, 2),
        ("host", np.uint32, 2),
        ("date", np.uint32, 2),
        ("tid", np.int32),
        ("pid", np.int32),
        ("cpu", np.uint32),
        ("clock", np.uint32),
        ("inside", np.uint32),
        ("what", np.uint32),
    ]
)
"""The parts of a line; native/traces.h has the same layout.

``stamp`` is in ns, since midnight if ``clock`` is 1. ``tid`` is UNKNOWN_TID and ``pid`` is 0 if the line lacks them.
``inside`` is 1 if the line states that it was written in an interrupt. ``what`` is a ``LineKind``. The others are
extents in the data, (0, 0) for missing parts; ``text`` is the whole line."""

Lines: TypeAlias = npt.NDArray[Any]
"""One ``LINE`` per line."""


class LineKind(IntEnum):
    """Classification of a line."""

    OTHER_FORM = 0
    EVENT = 1
    UNSURE = 2
    """Returned by the helper only: the form's regular expression must decide."""


class Form(IntEnum):
    """Format of the beginning of a line; numbered as in native/traces.h."""

    PERF = 0
    BPFTRACE = 1
    TRACE_CMD = 2
    LTTNG = 3


LARGEST_TID: Final = 2**31 - 1

PRINTF: Final = b'{"type": "printf", "data": "'
"""Text before a line that bpftrace wraps in JSON."""

_IN_INTERRUPT: Final = re.compile(rb"[hHsZz]")
_CONTEXT: Final = re.compile(rb'(?:^|(?<=[ ,]))(?:(tid|pid) = (\d+)|procname = "([^"]*)")')


def scan(data: bytes, form: Form, pattern: re.Pattern[bytes]) -> Lines:
    """Parse whole, terminated lines; ``pattern`` matches the text before a payload."""
    library = native()
    return scan_fallback(data, form, pattern) if library is None else _scan(library, data, form, pattern)


def scan_fallback(data: bytes, form: Form, pattern: re.Pattern[bytes]) -> Lines:
    """Do the same with the regular expression, which is the helper's specification."""
    lines = np.zeros(data.count(b"\n"), LINE)
    at = 0
    for line, text in zip(lines, data.split(b"\n"), strict=False):
        _fill(line, text, at, form, pattern)
        at += len(text) + 1
    return lines


def _scan(library: ctypes.CDLL, data: bytes, form: Form, pattern: re.Pattern[bytes]) -> Lines:
    lines = np.empty(int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n"))), LINE)
    library.trace_lines(int(form), data, len(data), lines.ctypes.data, len(lines))
    for at in np.flatnonzero(lines["what"] == LineKind.UNSURE).tolist():
        begin, end = lines["text"][at].tolist()
        lines[at] = np.zeros((), LINE)
        _fill(lines[at], data[begin:end], begin, form, pattern)
    return lines


def _fill(line: Any, text: bytes, at: int, form: Form, pattern: re.Pattern[bytes]) -> None:
    """Parse one line, which begins at ``at``; its fields are initially 0."""
    line["text"] = at, at + len(text)
    line["tid"] = UNKNOWN_TID
    found = pattern.match(text)
    if found is None:
        return
    groups = found.groupdict()
    line["what"] = LineKind.EVENT
    line["stamp"], line["clock"] = _stamp(groups["stamp"])
    line["cpu"] = int(groups["cpu"])
    for name in ("event", "comm", "host", "date"):
        if groups.get(name):
            begin, end = found.span(name)
            line[name] = at + begin, at + end
    end = len(text)
    if form is Form.BPFTRACE and text.startswith(PRINTF) and text.endswith(b'\\n"}'):
        end = max(end - 4, found.end())
    line["payload"] = at + found.end(), at + end
    for name in ("tid", "pid"):
        if groups.get(name):
            line[name] = thread_number(groups[name])
    line["inside"] = bool(_IN_INTERRUPT.search(groups.get("flags") or b""))
    if groups.get("context"):
        _take_context(line, groups["context"], at + found.start("context"))


def _take_context(line: Any, text: bytes, at: int) -> None:
    """Read the acting thread from the context fields. A tracer writes them with each event if configured."""
    context: dict[bytes, Any] = {}
    for found in _CONTEXT.finditer(text):
        if found[1]:
            context.setdefault(found[1], thread_number(found[2]))
        else:
            context.setdefault(b"procname", (at + found.start(3), at + found.end(3)))
    if b"tid" in context:
        line["tid"], line["pid"] = context[b"tid"], context.get(b"pid", 0)
        line["comm"] = context.get(b"procname", (0, 0))


def _stamp(text: bytes) -> tuple[int, int]:
    """Return ns, wrapped to 64 bits, and whether they count from midnight."""
    whole, _, fraction = text.partition(b".")
    parts = [int(part) for part in whole.split(b":")]
    seconds = sum(part * 60**power for power, part in enumerate(reversed(parts)))
    ns = seconds * 10**9 + int(fraction.ljust(9, b"0"))
    return (ns + 2**63) % 2**64 - 2**63, int(len(parts) > 1)


def thread_number(text: bytes) -> int:
    """Return a thread number; out-of-range numbers become the largest valid one."""
    return LARGEST_TID if len(text) > 18 else min(int(text), LARGEST_TID)
