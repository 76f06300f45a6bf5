"""All lines of a piece of trace at once: by the compiled helper, or line by line where that was not built."""

from __future__ import annotations

import ctypes
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from .line import LINE, What, parse_call, parse_line
from .native_library import native

Lines: TypeAlias = npt.NDArray[Any]
"""One ``LINE`` a line."""

_NOTHING: Final = {name: np.zeros(1, LINE)[name][0].tolist() for name in LINE.names or ()}


def scan(data: bytes) -> Lines:
    """Takes whole lines, each with its end, apart."""
    library = native()
    return scan_fallback(data) if library is None else _scan(library, data)


def scan_fallback(data: bytes) -> Lines:
    """Does the same with regular expressions, which say what the helper has to do."""
    rows, at = [], 0
    for text in data.split(b"\n")[:-1]:
        fields = parse_line(text, at)
        rows.append(tuple(fields.get(name, nothing) for name, nothing in _NOTHING.items()))
        at += len(text) + 1
    return np.array(rows, LINE)


def _scan(library: ctypes.CDLL, data: bytes) -> Lines:
    lines = np.empty(int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n"))), LINE)
    library.strace_lines(data, len(data), lines.ctypes.data, len(lines))
    for at in np.flatnonzero(lines["what"] == What.UNSURE).tolist():
        begin, end = lines[at]["text"].tolist()
        for name, value in parse_call(data[begin:end], begin).items():
            lines[name][at] = value
    return lines
