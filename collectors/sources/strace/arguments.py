"""Parse the arguments of calls: the file that each call uses, the last numbers, and properties by the call's code."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ....events import Interner, Layer
from ....events.kernel import FORKS
from ...call_classes import CALLS, classify
from .line import ANNOTATION, ANNOTATION_END, Extent, Lines
from .native_library import native

MAX_CALLS = 4096


class PathIn(IntEnum):
    """Location of the file name in a call's line."""

    DESCRIPTOR = 0
    """In the annotation of the first argument."""
    RESULT = 1
    """In the annotation of the returned descriptor, otherwise as for ARGUMENT."""
    ARGUMENT = 2
    """In the first string among the arguments."""
    LAST_DESCRIPTOR = 3
    """In the last annotation among the arguments."""


class Numbers(IntEnum):
    """Meaning of the last numbers among a call's arguments."""

    NONE = 0
    COUNT = 1
    OFFSET = 2
    COUNT_AND_OFFSET = 3
    MAPPING = 4
    """Not the last ones: the length is the second argument, and protection and flags follow it."""


_RETURNS_PATH: Final = "open open64 openat openat64 openat2 creat memfd_create socket accept accept4"
_TAKES_PATH: Final = (
    "unlink unlinkat rmdir stat stat64 lstat lstat64 newfstatat fstatat64 statx statfs statfs64 access faccessat "
    "faccessat2 mkdir mkdirat mknod mknodat rename renameat renameat2 link linkat symlink symlinkat readlink "
    "readlinkat chmod fchmodat chown fchownat lchown utime utimes utimensat futimesat truncate truncate64 chdir "
    "getxattr lgetxattr setxattr lsetxattr listxattr llistxattr removexattr execve execveat mount umount2 "
    "inotify_add_watch"
)
_PATH_IN: Final = {
    **dict.fromkeys(_RETURNS_PATH.split(), PathIn.RESULT),
    **dict.fromkeys(_TAKES_PATH.split(), PathIn.ARGUMENT),
    **dict.fromkeys(("mmap", "mmap2", "copy_file_range", "splice"), PathIn.LAST_DESCRIPTOR),
}
_RINGS: Final = frozenset(("io_uring_enter", "io_submit"))
_TRANSFERS: Final = frozenset(("copy_file_range", "sendfile", "sendfile64", "splice", "tee"))
_NUMBERS: Final = {
    **dict.fromkeys(("read", "write"), Numbers.COUNT),
    **dict.fromkeys(("pread64", "pwrite64", "pread", "pwrite"), Numbers.COUNT_AND_OFFSET),
    **dict.fromkeys(("preadv", "pwritev"), Numbers.OFFSET),
    **dict.fromkeys(("mmap", "mmap2"), Numbers.MAPPING),
}


class CallTable:
    """Assigns each call name a code from 1 and stores its properties in columns. Code 0 is any further name."""

    def __init__(self, interner: Interner) -> None:
        self._interner = interner
        self._names = [""]
        self._strings = np.zeros(MAX_CALLS + 1, np.uint32)
        self.kind = np.zeros(MAX_CALLS + 1, np.uint8)
        self.layer = np.zeros(MAX_CALLS + 1, np.uint8)
        self.is_io = np.zeros(MAX_CALLS + 1, np.bool_)
        self.is_fork = np.zeros(MAX_CALLS + 1, np.bool_)
        self.path_in = np.zeros(MAX_CALLS + 1, np.uint8)
        self.numbers = np.zeros(MAX_CALLS + 1, np.uint8)
        self.is_ring = np.zeros(MAX_CALLS + 1, np.bool_)
        """Calls that hand operations to the kernel, which the trace does not have."""
        self.is_transfer = np.zeros(MAX_CALLS + 1, np.bool_)
        """Calls that move data between descriptors."""

    def add(self, call: bytes) -> int:
        """Return the code of a new name, 0 if the table is full."""
        if len(self._names) > MAX_CALLS:
            return 0
        name, code = call.decode("ascii", "replace"), len(self._names)
        self._names.append(name)
        self.layer[code], self.kind[code] = classify(name)
        self.is_io[code], self.is_fork[code] = name in CALLS, name in FORKS
        if self.is_fork[code]:
            self.layer[code] = Layer.KERNEL
        self.is_ring[code], self.is_transfer[code] = name in _RINGS, name in _TRANSFERS
        self.path_in[code] = _PATH_IN.get(name, PathIn.DESCRIPTOR)
        self.numbers[code] = _NUMBERS.get(name, Numbers.NONE)
        return code

    def strings(self, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Return the stream's string number of each code. A name is defined when an event first uses it."""
        for code in np.flatnonzero(np.bincount(codes, minlength=1)):
            if not self._strings[code] and code:
                self._strings[code] = self._interner.string(self._names[code])
        return self._strings[codes]


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
