"""Interpret the parameters of a call in Recorder's traces: file, offset, bytes.

Recorder writes them as texts in the order of the function's parameters, with a file name in place of a descriptor or
stream.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ....events import Kind, Layer
from ...call_classes import classify

UNMEASURED: Final = -2
_LARGEST: Final = 2**62
_NUMBER: Final = re.compile(r"-?\d{1,19}")
_FILE_AT: Final = {
    function: at
    for at, functions in {
        0: "close fclose fsync fdatasync fflush creat creat64 open open64 fopen fopen64 fdopen fileno mkdir rmdir "
        "chdir link unlink symlink readlink rename chmod chown lchown utime opendir access remove truncate ftruncate "
        "ftell ftello mknod fcntl mkfifo stat lstat fstat H5Fcreate H5Fopen",
        1: "__xstat __xstat64 __lxstat __lxstat64 __fxstat __fxstat64 linkat readlinkat faccessat mknodat",
        2: "symlinkat",
        4: "mmap mmap64",
    }.items()
    for function in functions.split()
}
"""Index of the file parameter of calls that neither move bytes nor seek."""
_TYPE_BYTES: Final = {
    name: size
    for size, names in {
        1: "BYTE CHAR SIGNED_CHAR UNSIGNED_CHAR INT8_T UINT8_T PACKED CHARACTER C_BOOL CXX_BOOL",
        2: "SHORT UNSIGNED_SHORT INT16_T UINT16_T INTEGER2",
        4: "INT UNSIGNED FLOAT INT32_T UINT32_T INTEGER REAL LOGICAL INTEGER4 REAL4 WCHAR",
        8: "LONG UNSIGNED_LONG LONG_LONG LONG_LONG_INT UNSIGNED_LONG_LONG DOUBLE INT64_T UINT64_T DOUBLE_PRECISION "
        "COMPLEX REAL8 INTEGER8 AINT OFFSET COUNT 2INT FLOAT_INT C_COMPLEX C_FLOAT_COMPLEX",
        16: "DOUBLE_COMPLEX C_DOUBLE_COMPLEX LONG_DOUBLE",
    }.items()
    for name in names.split()
}
"""Sizes of MPI's types, without MPI_, on 64-bit Linux."""


@dataclass(frozen=True, slots=True)
class CallParameters:
    """Interpreted parameters of a call."""

    layer: Layer
    kind: Kind
    path: str = ""
    handle: str = ""
    """For MPI: the call's name of the file."""
    offset: int = -1
    bytes: int = 0
    """Requested bytes; UNMEASURED for HDF5, and for MPI types that are not predefined."""
    rest: tuple[str, ...] = ()
    """The other parameters."""


@lru_cache(maxsize=4096)
def is_io(function: str) -> bool:
    """Return whether a call does I/O, as opposed to calls of MPI that only communicate.

    >>> is_io("MPI_File_open"), is_io("MPI_Bcast"), is_io("H5Dwrite")
    (True, False, True)
    """
    return not function.startswith("MPI_") or function.startswith("MPI_File_")


def interpreted_parameters(function: str, arguments: list[str]) -> CallParameters:
    """Return the interpreted parameters of a call; missing ones are unknown.

    >>> said("pwrite", ["/scratch/x", "%p", "4096", "8192"]).offset
    8192
    """
    layer, kind = classify(function)
    if layer == Layer.MPIIO:
        return _of_mpi(function, arguments, kind)
    if layer == Layer.HDF5 and kind in (Kind.READ, Kind.WRITE):
        return CallParameters(
            layer, kind, bytes=UNMEASURED, rest=tuple(word for word in arguments if not _address(word))
        )
    path = offset = size = items = None
    if kind in (Kind.READ, Kind.WRITE) and layer in (Layer.POSIX, Layer.STDIO):
        if function in ("fread", "fwrite"):
            path, items, size = 3, 1, 2
        elif "printf" in function or function in ("readv", "writev"):
            path, size = 0, 1
        else:
            path, size, offset = 0, 2, 3 if function.startswith(("pread", "pwrite")) else None
    elif kind == Kind.SEEK and layer in (Layer.POSIX, Layer.STDIO):
        path, offset = 0, 1 if arguments[2:3] == ["0"] else None
    else:
        path = _FILE_AT.get(function)
    taken = [at for at in (path, offset, size, items) if at is not None]
    volume = max(_number(arguments, size, 0), 0) - ("printf" in function)  # printf's size includes the terminating NUL
    if items is not None:
        volume = volume * max(_number(arguments, items, 0), 0)
    return CallParameters(
        layer,
        kind,
        path=arguments[path] if path is not None and path < len(arguments) else "",
        offset=max(_number(arguments, offset, -1), -1),
        bytes=min(max(volume, 0), _LARGEST),
        rest=tuple(word for at, word in enumerate(arguments) if at not in taken and not _address(word)),
    )


def _of_mpi(function: str, arguments: list[str], kind: Kind) -> CallParameters:
    if function == "MPI_File_open":
        names = arguments[1:2], arguments[4:5]
        path, handle = (each[0] if each else "" for each in names)
        return CallParameters(Layer.MPIIO, kind, path=path, handle=handle, rest=(*arguments[:1], *arguments[2:4]))
    if function == "MPI_File_delete":
        return CallParameters(Layer.MPIIO, kind, path=arguments[0] if arguments else "")
    handle = arguments[0] if arguments else ""
    if kind not in (Kind.READ, Kind.WRITE):
        return CallParameters(Layer.MPIIO, kind, handle=handle, rest=tuple(arguments[1:]))
    begin = 1 if "_at" in function else None
    at = 2 if begin is None else 3
    count, type_name = _number(arguments, at, 0), arguments[at + 1] if len(arguments) > at + 1 else ""
    size = _TYPE_BYTES.get(type_name.removeprefix("MPI_"))
    volume = UNMEASURED if size is None else min(max(count, 0) * size, _LARGEST)
    taken = (0, begin, at, at + 1) if size is not None else (0, begin)
    rest = tuple(word for place, word in enumerate(arguments) if place not in taken and not _address(word))
    return CallParameters(
        Layer.MPIIO, kind, handle=handle, offset=max(_number(arguments, begin, -1), -1), bytes=volume, rest=rest
    )


def _number(arguments: list[str], at: int | None, unknown: int) -> int:
    word = arguments[at] if at is not None and at < len(arguments) else ""
    number = int(word) if _NUMBER.fullmatch(word) else unknown
    return number if abs(number) < _LARGEST else unknown


def _address(word: str) -> bool:
    return word in ("%p", "???") or word.startswith("0x")
