"""Find the fields of system calls that identify file and amount. The compiled helper or its fallback does this."""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ..lexing.native_library import native
from ..lexing.template import whole_number

CALL: Final = np.dtype(
    [
        ("pid", np.int64),
        ("fd", np.int64),
        ("count", np.int64),
        ("result", np.int64),
        ("path", np.uint32, 2),
        ("has", np.uint32),
        ("unused", np.uint32),
    ]
)
"""Fields of a system call's line, as in native/traces.h. ``has`` is a mask of the numbers that are present."""

HAS_PID, HAS_FD, HAS_COUNT, HAS_RESULT = 1, 2, 4, 8

CallFields: TypeAlias = npt.NDArray[Any]
"""One ``CALL`` per line."""

# field, its bit, rank among keys of the same field (the lowest takes precedence)
_KEYS: Final[dict[bytes, tuple[str, int, int]]] = {
    b"fd": ("fd", HAS_FD, 0),
    b"fildes": ("fd", HAS_FD, 1),
    b"fd_in": ("fd", HAS_FD, 2),
    b"oldfd": ("fd", HAS_FD, 3),
    b"pid": ("pid", HAS_PID, 0),
    b"count": ("count", HAS_COUNT, 0),
    b"len": ("count", HAS_COUNT, 1),
    b"ret": ("result", HAS_RESULT, 0),
}
_PATHS: Final = {b"filename": 0, b"pathname": 1}
_LONE: Final = re.compile(rb" *(-?(?:0x[\da-fA-F]+|\d+)) *")
_TOKEN: Final = re.compile(
    rb'"[^"\\]*(?:\\.[^"\\]*)*"'
    rb"|(?P<key>%s)(?!\w) *[=:] *(?P<number>-?(?:0x[\da-fA-F]+|\d+))(?!\w)"
    rb'|(?P<which>%s)(?!\w) *[=:] *(?:(?:-\w*|\w+) +)?"(?P<path>[^"\\]*(?:\\.[^"\\]*)*)"|\w+'
    % (b"|".join(_KEYS), b"|".join(_PATHS))
)
"""Newer kernels write the text of a path after its address."""


def call_fields(data: bytes, payloads: npt.NDArray[np.uint32]) -> CallFields:
    """Find the fields in payloads, given as extents in the data of shape (n, 2). A lone number is the result."""
    library = native()
    if library is None:
        return call_fields_fallback(data, payloads)
    calls = np.empty(len(payloads), CALL)
    payloads = np.ascontiguousarray(payloads)
    library.trace_calls(data, payloads.ctypes.data, len(calls), calls.ctypes.data)
    return calls


def call_fields_fallback(data: bytes, payloads: npt.NDArray[np.uint32]) -> CallFields:
    """Do the same with a regular expression, which is the helper's specification."""
    calls = np.zeros(len(payloads), CALL)
    for call, (begin, end) in zip(calls, payloads.tolist(), strict=True):
        text = data[begin:end]
        if lone := _LONE.fullmatch(text):
            result = whole_number(lone[1])
            call["result"], call["has"] = result or 0, 0 if result is None else HAS_RESULT
            continue
        ranks: dict[str, int] = {}
        for found in _TOKEN.finditer(text):
            if (key := found["key"]) and (value := whole_number(found["number"])) is not None:
                field, bit, rank = _KEYS[key]
                if rank < ranks.get(field, 9):
                    ranks[field] = rank
                    call[field] = value
                    call["has"] |= bit
            elif (key := found["which"]) and _PATHS[key] < ranks.get("path", 9):
                ranks["path"] = _PATHS[key]
                call["path"] = begin + found.start("path"), begin + found.end("path")
    return calls
