"""Parse the arguments of calls: the file that each call uses, and the last numbers."""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from .calls import Numbers, PathIn
from .line import ANNOTATION, ANNOTATION_END, Extent, Lines
from .native_library import native

ARGUMENT: Final = np.dtype(
    [("requested", np.int64), ("offset", np.int64), ("path", np.uint32, (2, 2)), ("mapping", np.uint32, 2)]
)
"""Requested bytes, 0 if the call has none; then the offset, -1 if the call has none.

The others are extents of a folder (or a whole path in an annotation) and of a name in it, of which either may be empty;
then of the protection and the flags of a mapping, empty for other calls.
native/strace.h has the same layout.
"""

Arguments: TypeAlias = npt.NDArray[Any]
"""One ``ARGUMENT`` per call."""

MAX_SEARCHED: Final = 32_768
"""Maximum number of bytes searched for the last descriptor. It is two paths of PATH_MAX bytes with each byte
escaped."""

_FOLDER = re.compile(
    rb"(?:, )?(?:(?:AT_FDCWD|\d{1,20})(?:<" + ANNOTATION + rb'>(?=(?:\(deleted\))?, ")(?:\(deleted\))?)?, (?="))?'
)
_STRING = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)"')
_DESCRIPTOR = re.compile(rb"\d+<" + ANNOTATION + ANNOTATION_END)
_MAPPING = re.compile(rb"[^,]*, ([0-9]{1,18}), ([^,]*, [^,]*), ")
_ANY_DESCRIPTOR = re.compile(rb"\b\d+<" + ANNOTATION + ANNOTATION_END)


def arguments_of(data: bytes, calls: Lines, paths: npt.NDArray[np.uint8], numbers: npt.NDArray[np.uint8]) -> Arguments:
    """Parse the arguments of calls.

    Args:
        data: data to which the extents in ``calls`` refer.
        calls: lines that are calls.
        paths: a ``PathIn`` for each call.
        numbers: a ``Numbers`` for each call.
    """
    library = native()
    if library is None:
        return arguments_fallback(data, calls, paths, numbers)
    calls, found = np.ascontiguousarray(calls), np.empty(len(calls), ARGUMENT)
    library.strace_arguments(
        data, calls.ctypes.data, len(calls), paths.ctypes.data, numbers.ctypes.data, found.ctypes.data
    )
    return found


def arguments_fallback(
    data: bytes, calls: Lines, paths: npt.NDArray[np.uint8], numbers: npt.NDArray[np.uint8]
) -> Arguments:
    """Do the same with regular expressions, which are the helper's specification."""
    rows = []
    for (begin, end), annotation, returned, path, number in zip(
        *(calls[name].tolist() for name in ("arguments", "annotation", "returned")),
        paths.tolist(),
        numbers.tolist(),
        strict=True,
    ):
        values, rest = {"requested": 0, "offset": -1}, data[begin:end]
        for name in _COLUMNS_OF[number]:
            rest, _, last = rest.rpartition(b", ")
            values[name] = int(last) if last.isdigit() and len(last) < 19 else -1
        mapping = (0, 0)
        if number == Numbers.MAPPING and (found := _MAPPING.match(data, begin, end)):
            values["requested"], mapping = int(found[1]), found.span(2)
        rows.append((*values.values(), _path(data, (begin, end), annotation, returned, path), mapping))
    return np.array(rows, ARGUMENT)


_COLUMNS_OF: Final = {
    Numbers.NONE: (),
    Numbers.COUNT: ("requested",),
    Numbers.OFFSET: ("offset",),
    Numbers.COUNT_AND_OFFSET: ("offset", "requested"),
    Numbers.MAPPING: (),
}


def _path(data: bytes, arguments: Extent, annotation: Extent, returned: Extent, way: int) -> tuple[Extent, Extent]:
    begin, end = arguments
    if way == PathIn.RESULT and _size(returned):
        return returned, (0, 0)
    if way in (PathIn.RESULT, PathIn.ARGUMENT) and (named := _FOLDER.match(data, begin, end)):
        folder = named.span(1) if named[1] is not None else (0, 0)
        if string := _STRING.match(data, named.end(), end):
            return annotation if _size(annotation) else folder, string.span(1)
    if way == PathIn.DESCRIPTOR and not _size(annotation) and (own := _DESCRIPTOR.match(data, begin, end)):
        return own.span(1), (0, 0)
    if way == PathIn.LAST_DESCRIPTOR:
        part = data[begin : min(end, begin + MAX_SEARCHED)]
        found = [descriptor.span(1) for descriptor in _ANY_DESCRIPTOR.finditer(part)]
        if found and _size(found[-1]):
            return (begin + found[-1][0], begin + found[-1][1]), (0, 0)
    return annotation, (0, 0)


def _size(extent: Extent) -> int:
    return extent[1] - extent[0]
