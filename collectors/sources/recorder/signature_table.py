"""Table of a rank's signatures as columns, so that many calls are converted by indexing; meaning of parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from ....events import EventBatch, Interner, Kind, Layer, make_batch
from ...call_classes import classify
from ...source import UnsupportedData
from .._nesting import bytes_with_nested
from .files import Signature

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


USER_FUNCTION = 255
_COLUMNS = ("call", "layer", "kind", "tid", "file", "depth", "offset", "requested", "signature")


class Table:
    """Columns with one value for each signature.

    Args:
        signatures: signatures by number; None for unused numbers.
        functions: names by number.
        rank: rank of all calls.
        used: the numbers that calls have.
    """

    def __init__(
        self, signatures: Sequence[Signature | None], functions: Sequence[str], rank: int, used: Sequence[int]
    ) -> None:
        self.interner = Interner()
        self._rank = rank
        self._functions = functions
        self._threads: dict[int, int] = {}
        self._texts: dict[str, int] = {}
        self._lost: dict[int, str] = {}
        self._columns = {name: np.zeros(len(signatures), np.int64) for name in _COLUMNS}
        self._unmeasured = np.zeros(len(signatures), np.bool_)
        self._is_call = np.zeros(len(signatures), np.bool_)
        meanings = [self._parameters(signatures[number]) for number in used]
        files = self._files_by_handle(meanings)
        for number, meaning in zip(used, meanings, strict=True):
            signature = signatures[number]
            if signature is None or meaning is None:
                self._lost[number] = self._reason(signature)
            else:
                self._is_call[number] = True
                self._fill(number, signature, meaning, files)

    def batch(
        self, terminals: npt.NDArray[np.int32], start: npt.NDArray[np.int64], duration: npt.NDArray[np.int64]
    ) -> tuple[EventBatch, npt.NDArray[np.bool_]]:
        """Return the events of calls, and the mask of those that are I/O. The others are left out of the batch."""
        kept = self._is_call[terminals]
        rows = terminals[kept]
        columns: dict[str, npt.ArrayLike] = {name: column[rows] for name, column in self._columns.items()}
        moved: dict[str, npt.ArrayLike] = {"rank": self._rank}
        moved["bytes"] = bytes_with_nested(
            self._columns["depth"][rows], self._columns["kind"][rows], self._columns["requested"][rows],
            self._unmeasured[rows],
        )  # fmt: skip
        return make_batch(len(rows), {**columns, **moved, "start": start[kept], "duration": duration[kept]}), kept

    def report_omissions(self, counts: npt.NDArray[np.int64], unsupported: UnsupportedData) -> None:
        """Report data of calls that cannot be represented; ``counts``: number of uses of each signature."""
        for number, reason in self._lost.items():
            unsupported.add(reason, int(counts[number]))
        moving = self._is_call & (self._columns["requested"] > 0)
        unsupported.add(
            "results of calls, which Recorder does not keep: bytes are those asked for", int(counts[moving].sum())
        )
        omissions = (
            "sizes of calls of HDF5, or of MPI types that are not the standard's: bytes are those of calls within them"
        )
        unsupported.add(omissions, int(counts[self._unmeasured].sum()))

    def _parameters(self, signature: Signature | None) -> CallParameters | None:
        if signature is None or signature.function >= len(self._functions):
            return None
        function = self._functions[signature.function]
        return interpreted_parameters(function, signature.arguments) if is_io(function) else None

    def _reason(self, signature: Signature | None) -> str:
        if signature is not None and signature.function == USER_FUNCTION:
            return "functions of the program's own"
        if signature is None or signature.function >= len(self._functions):
            return "calls of functions that the trace does not name"
        return "calls of MPI that are no I/O"

    def _files_by_handle(self, meanings: Sequence[CallParameters | None]) -> dict[str, int]:
        """Return the file of each MPI handle. Returns 0 for a handle that was used for several files."""
        files: dict[str, int] = {}
        for each in meanings:
            if each is not None and each.layer == Layer.MPIIO and each.kind == Kind.CREATE and each.handle:
                number = self.interner.file(each.path)
                files[each.handle] = number if files.get(each.handle, number) == number else 0
        return files

    def _fill(self, number: int, signature: Signature, says: CallParameters, files: dict[str, int]) -> None:
        function = self._functions[signature.function]
        self._unmeasured[number] = says.bytes == UNMEASURED
        values = (
            self.interner.string(function),
            int(says.layer),
            int(says.kind),
            self._threads.setdefault(signature.thread, len(self._threads)) if signature.thread else 0,
            self.interner.file(says.path) if says.path else files.get(says.handle, 0),
            signature.level,
            says.offset,
            max(says.bytes, 0),
            self._text(f"{function}({', '.join(says.rest)})") if says.rest else 0,
        )
        for name, value in zip(_COLUMNS, values, strict=True):
            self._columns[name][number] = value

    def _text(self, text: str) -> int:
        number = self._texts.get(text)
        if number is None:
            number = self._texts[text] = self.interner.new_signature(text)
        return number
